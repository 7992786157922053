"""One's own players."""

from functools import partial

import gymnasium
import numpy as np
import pytest
from monsterzoo import policies
from monsterzoo.envs import IllegalActionError, make_vec
from monsterzoo.envs.api.gym import SeatVectorEnv
from needs import needs


def asked():
    return make_vec("yokai_septet_v0", 12, seed=1).decisions()


def test_from_function_batched_and_row_by_row():
    batched = policies.from_function(lambda observations, masks: masks.argmax(axis=1), "first")
    single = policies.from_function(lambda observation, mask: int(mask.argmax()), batched=False)
    assert batched.name == "first"
    assert policies.from_function(allow_all).name == "allow_all"
    assert policies.from_function(partial(allow_all)).name == "function"
    np.testing.assert_array_equal(batched.act(asked()), single.act(asked()))
    env = SeatVectorEnv("yokai_septet_v0", 3, opponents=batched)
    env.reset(seed=0)
    env.step(env.action_masks().argmax(axis=1))


@pytest.mark.parametrize("wrong", [lambda o, m: m.argmin(axis=1), lambda o, m: [1.5] * len(m), lambda o, m: [0]])
def test_from_function_refuses_what_is_no_legal_action(wrong):
    with pytest.raises(IllegalActionError, match="mine"):
        policies.from_function(wrong, "mine").act(asked())


def allow_all(observations, masks):
    masks[:] = 1
    return [masks.shape[1] - 1] * len(masks)


@pytest.mark.parametrize(
    "wrong", [allow_all, lambda o, m: m.argmax(axis=1) > 0, lambda o, m: [10**12] * len(m), lambda o, m: None]
)
def test_from_function_cannot_talk_its_way_out(wrong):
    with pytest.raises(IllegalActionError, match="mine"):
        policies.from_function(wrong, "mine").act(asked())


@pytest.mark.parametrize("wrong", [1.0, True, None, float("nan"), -1, 10**30, "W2", [1, 2]])
def test_from_function_row_by_row_wants_whole_numbers(wrong):
    with pytest.raises(IllegalActionError, match="mine"):
        policies.from_function(lambda observation, mask: wrong, "mine", batched=False).act(asked())


def test_from_torch_takes_the_best_legal_action_or_draws_one():
    torch = needs("torch")
    decisions = asked()
    observations, masks = decisions.observations, decisions.action_masks
    torch.manual_seed(0)
    module = torch.nn.Linear(observations.shape[1], masks.shape[1])
    best = policies.from_torch(module).act(decisions)
    logits = module(torch.as_tensor(observations, dtype=torch.float32)).detach().numpy()
    np.testing.assert_array_equal(best, np.where(masks != 0, logits, -np.inf).argmax(axis=1))
    one, again = (policies.from_torch(module, sample=True, seed=4) for _ in range(2))
    for _ in range(3):
        drawn = one.act(decisions)
        np.testing.assert_array_equal(drawn, again.act(decisions))
        assert masks[np.arange(len(masks)), drawn].all()


@pytest.mark.parametrize("kind", ["MaskablePPO", "PPO", "DQN"])
def test_from_sb3_plays_legal_actions(kind):
    library = needs("sb3_contrib" if kind == "MaskablePPO" else "stable_baselines3")
    import monsterzoo.envs  # noqa: F401

    env = gymnasium.make("monsterzoo/YokaiSeptet-v0")
    more = {"buffer_size": 100} if kind == "DQN" else {"n_steps": 8}
    model = getattr(library, kind)("MultiInputPolicy", env, device="cpu", **more)
    policy = policies.from_sb3(model)
    decisions = asked()
    chosen = policy.act(decisions)
    assert policy.name == kind.lower()
    assert policies.from_sb3(model, "mine").name == "mine"
    assert decisions.action_masks[np.arange(len(decisions)), chosen].all()
    drawn = np.stack([policies.from_sb3(model, deterministic=False).act(decisions) for _ in range(30)])
    assert (drawn != drawn[0]).any() == (kind == "MaskablePPO"), "the others take their best action"
    if kind != "MaskablePPO":
        import torch

        tensors, _ = model.policy.obs_to_tensor(
            {"observation": decisions.observations, "action_mask": decisions.action_masks}
        )
        with torch.no_grad():
            worth = model.q_net(tensors) if kind == "DQN" else model.policy.get_distribution(tensors).distribution.probs
        best = np.where(decisions.action_masks != 0, worth.numpy(), -np.inf).argmax(axis=1)
        np.testing.assert_array_equal(chosen, best)


def test_from_torch_reads_tuples_and_dicts_and_divides_logits_by_the_temperature():
    torch = needs("torch")
    logits = torch.tensor([0.0, 2.0, 9.0, 1.0])
    variant = make_vec("yokai_septet_v0", 1, seed=0).variant
    count = 4000
    masks = np.zeros((count, variant.num_actions), np.int8)
    masks[:, :2] = 1  # the likeliest one is not legal
    decisions = policies.Decisions(
        variant, np.zeros((count, variant.layout.size), np.int8), masks, np.zeros(count, int)
    )

    class Model(torch.nn.Module):
        def __init__(self, form):
            super().__init__()
            self.form = form

        def forward(self, observations):
            padded = torch.nn.functional.pad(logits, (0, variant.num_actions - 4)).expand(len(observations), -1)
            return self.form(padded)

    for form in (lambda out: out, lambda out: (out, None), lambda out: {"values": None, "logits": out}):
        policy = policies.from_torch(Model(form))
        assert policy.name == "model"
        assert (policy.act(decisions) == 1).all()
    for temperature in (1.0, 4.0):
        drawn = policies.from_torch(Model(lambda out: out), sample=True, temperature=temperature).act(decisions)
        wanted = np.exp(2 / temperature) / (1 + np.exp(2 / temperature))
        assert drawn.mean() == pytest.approx(wanted, abs=0.03)
