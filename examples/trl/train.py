"""GRPO with TRL on positions: the prompt is a position, the answer one token, the reward whether it is legal.

    python train.py --steps 50

The model is a random transformer of 100,000 weights and its tokenizer is made here from the prompts' words; nothing is
downloaded. It learns to answer with a legal number, not to play well: see the README.
"""

import argparse
from random import Random
from typing import Any

import torch
from datasets import Dataset
from monsterzoo import TextGame
from monsterzoo.envs.api.answers import read_choice
from monsterzoo.envs.api.prompts import legal_actions
from tokenizers import Tokenizer, models, pre_tokenizers
from transformers import LlamaConfig, LlamaForCausalLM, PreTrainedTokenizerFast
from trl import GRPOConfig, GRPOTrainer


def positions(count: int, purpose: str = "training", seed: int = 0) -> Dataset:
    """Questions from random games: the prompt, and the names of the legal actions."""
    game, random, rows = TextGame("pikit_v0", players=2, opponents="random", rules="never"), Random(seed), []
    index = 0
    while len(rows) < count:
        turn = game.reset(**game.task(index, purpose))
        index += 1
        while not turn.done:
            names = [game.env.action_name(action) for action in legal_actions(game.env, turn.agent)]
            rows.append({"prompt": turn.text, "names": names})
            turn = game.say(random.choice(names))
    return Dataset.from_list(random.sample(rows, count))


def legality(completions: list[str], names: list[list[str]], **_: Any) -> list[float]:
    """1 for an answer that names a legal action, else 0."""
    rewards = []
    for answer, listed in zip(completions, names):
        try:
            read_choice(answer, listed)
            rewards.append(1.0)
        except ValueError:
            rewards.append(0.0)
    return rewards


def make_tokenizer(texts: list[str]) -> PreTrainedTokenizerFast:
    """Words and punctuation of some texts."""
    split = pre_tokenizers.Whitespace()
    words = sorted({word for text in texts for word, _ in split.pre_tokenize_str(text)})
    vocabulary = {word: number for number, word in enumerate(["<pad>", "<eos>", "<unk>", *words])}
    tokenizer = Tokenizer(models.WordLevel(vocabulary, unk_token="<unk>"))
    tokenizer.pre_tokenizer = split
    special = {"pad_token": "<pad>", "eos_token": "<eos>", "unk_token": "<unk>"}
    return PreTrainedTokenizerFast(tokenizer_object=tokenizer, padding_side="left", **special)


def make_model(tokenizer: PreTrainedTokenizerFast) -> LlamaForCausalLM:
    """A tiny transformer with random weights."""
    config = LlamaConfig(
        vocab_size=len(tokenizer), hidden_size=64, intermediate_size=128, num_hidden_layers=2, num_attention_heads=4,
        max_position_embeddings=512, pad_token_id=tokenizer.pad_token_id, eos_token_id=tokenizer.eos_token_id,
        bos_token_id=None, tie_word_embeddings=False,
    )  # fmt: skip
    return LlamaForCausalLM(config)


@torch.no_grad()
def share_legal(model: LlamaForCausalLM, tokenizer: PreTrainedTokenizerFast, rows: Dataset, seed: int = 0) -> float:
    """How many sampled answers are legal."""
    torch.manual_seed(seed)
    batch = tokenizer(list(rows["prompt"]), return_tensors="pt", padding=True).to(model.device)
    logits = model(input_ids=batch["input_ids"], attention_mask=batch["attention_mask"]).logits[:, -1]
    answers = tokenizer.batch_decode(torch.multinomial(logits.softmax(-1), 1))
    return sum(legality(answers, rows["names"])) / len(rows)


def train(steps: int, output: str, seed: int = 0) -> tuple[float, float]:
    """Train; returns the share of legal answers on other deals before and after."""
    torch.manual_seed(seed)
    torch.set_num_threads(1)  # more only get in each other's way with so few weights
    rows, others = positions(400), positions(200, "curve")
    tokenizer = make_tokenizer(rows["prompt"])
    model = make_model(tokenizer)
    before = share_legal(model, tokenizer, others)
    arguments = GRPOConfig(
        output_dir=output, max_steps=steps, per_device_train_batch_size=128, num_generations=16,
        max_completion_length=1,
        learning_rate=3e-3, lr_scheduler_type="constant", beta=0.0, temperature=1.0, seed=seed,
        use_cpu=True, bf16=False,
        gradient_checkpointing=False, report_to="none", save_strategy="no", logging_steps=10, disable_tqdm=True,
    )  # fmt: skip
    trainer = GRPOTrainer(model, legality, args=arguments, train_dataset=rows, processing_class=tokenizer)
    trainer.train()
    return before, share_legal(trainer.model, tokenizer, others)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--steps", type=int, default=50)
    parser.add_argument("--output", default="runs/trl")
    given = parser.parse_args()
    before, after = train(given.steps, given.output)
    print(f"legal answers on other deals: {before:.1%} before, {after:.1%} after {given.steps} steps")
