"""Games in words, for language models: `TextGame` asks for decisions and reads the answers, `text_game` plays a game.

A question is what the seat knows and what it may do; nothing else goes into it, so nothing can leak.
"""

import re
from collections.abc import Mapping, Sequence
from random import Random
from typing import Any

from ..core.options import Choice, Integer, checked, is_whole
from ..core.registry import find_game
from ..core.rng import MEASURING, deal_seed, env_seed
from ..match.driver import Move, carry_out, is_over, moves
from ..match.players import act_in, make_player
from ..match.seating import default_spec, make_players, one_each
from ..render.perspective import narrate
from .answers import FORMS, NONE, read_choice
from .prompts import TextResult, Turn, legal_actions, patterns, question, rules_in_short

SETTINGS = {
    "legal": Choice("listed", "hidden"),
    "answers": Choice(*FORMS),
    "rules": Choice("once", "always", "never"),
    "show": Choice("view", "events"),
}
UNUSABLE = re.compile(r"(?:again:(\d+),)?(forfeit|random)")


class TextGame:
    """A game in which some seats answer questions and policies have the others.

    ```python
    game = TextGame("pikit_v0", players=2, opponents="heuristic")
    turn = game.reset(seed=0, seat=1)
    while not turn.done:
        turn = game.say(model(turn.text))
    print(game.result.returns, game.result.unusable)
    ```

    Args:
        game: its name, or an AEC environment of ours.
        opponents: policies or specs for the seats that are not asked: one for all or one each, clockwise.
        legal: "listed" numbers the legal actions in every question; "hidden" says once how actions are written.
        unusable: "again:2,forfeit" tells why an answer names no legal action and asks up to twice more, then the seat
            loses; with "…,random" a random legal action is taken instead.
        answers: "plain", "marked" ("Final answer: …") or "json" ({"action": …}).
        rules: the rules in short with the first question, with every one, or never. "always" makes every question
            complete in itself, for models without a memory.
        show: "view", all that the seat knows; or "events", what has happened and changed since its last decision.
        regret: a spec of search, such as "search:200": `Turn.regret` says by how much, from 0 to 1, the last action was
            less likely to win than the best one, as search sees it that knows what the seat knows.

    A forfeit gives -1 to the seat's side and 1 / (sides - 1) to every other. An unfinished game has the rewards so far:
    none with reward="win". Raises `ValueError` for settings that are not allowed.
    """

    def __init__(
        self,
        game: Any,
        *,
        opponents: Any = None,
        legal: str = "listed",
        unusable: str = "again:2,forfeit",
        answers: str = "plain",
        rules: str = "once",
        show: str = "view",
        regret: str | None = None,
        **options: Any,
    ) -> None:
        from .aec import GameEnv

        self.env = GameEnv(find_game(game), **options) if isinstance(game, str) else game.unwrapped
        self.variant = self.env.variant
        given = {"legal": legal, "answers": answers, "rules": rules, "show": show}
        self.settings = {name: checked(name, value, SETTINGS[name]) for name, value in given.items()}
        after = UNUSABLE.fullmatch(unusable) if isinstance(unusable, str) else None
        if after is None:
            raise ValueError(f"unusable={unusable!r} is not allowed; allowed: 'again:N,forfeit', 'again:N,random'")
        self._again, self._forfeits = int(after[1] or 0), after[2] == "forfeit"
        self._critic = None if regret is None else make_player(self.variant, regret)
        if regret is not None and not hasattr(self._critic, "search"):
            raise ValueError(f"regret={regret!r} is not allowed; allowed: 'search:BUDGET'")
        self.opponents = opponents
        self._request = FORMS[answers].format("the number or the name" if legal == "listed" else "the name")
        self._turn: Turn | None = None

    def task(self, index: int, purpose: str = "training", seed: int = 0, group: int = 1, opponents: Any = None) -> dict:
        """Arguments of `reset` for one of endlessly many tasks; the same index is always the same task.

        `group` neighbouring tasks have the same deal (and `opponents`, one of a list), seats in turn. Deals of the
        purposes "training", "curve", "choosing" and "publishing" never meet, see `training.evaluation.seeds`.
        """
        checked("purpose", purpose, Choice("training", *MEASURING))
        deal, place = divmod(checked("index", index, Integer(0)), checked("group", group, Integer(1)))
        lineups = list(opponents) if isinstance(opponents, list | tuple) else [opponents]
        return {
            "seed": env_seed(seed, deal) if purpose == "training" else deal_seed(purpose, seed, deal),
            "seat": (place + deal // len(lineups)) % self.variant.players,
            "opponents": lineups[deal % len(lineups)],
        }

    def reset(self, seed: int | None = None, seat: int | Sequence[int] | None = 0, opponents: Any = None) -> Turn:
        """Begin a game, with one seat that is asked, several, or all (None); opponents as in the constructor.

        Policies that are named by specs are made anew, from the seed. Raises `ValueError` for bad arguments.
        """
        count = self.variant.players
        asked: list[Any] = [*range(count)] if seat is None else list(seat) if isinstance(seat, list | tuple) else [seat]
        if not asked or len(set(asked)) < len(asked) or not all(is_whole(one) and 0 <= one < count for one in asked):
            raise ValueError(f"seat={seat!r} is not allowed; seats are 0 to {count - 1}, each once")
        others = [place for k in range(count) if (place := (asked[0] + k) % count) not in asked]
        given = opponents if opponents is not None else self.opponents
        given = one_each(default_spec(self.variant) if given is None else given, len(others), "opponents")
        players = make_players(self.variant, given, 0 if seed is None else seed)
        self.env.reset(seed=seed)
        return self.begin({self.variant.agents[place]: one for place, one in zip(others, players)}, seed)

    def begin(self, policies: Mapping[str, Any], seed: int | None = None) -> Turn:
        """Go on with the environment's game as it is; agents without a policy are asked."""
        agents = self.variant.agents
        self._policies, self._random = policies, Random(seed)
        self._counts = {name: dict.fromkeys(agents, 0) for name in ("decisions", "unusable", "random_actions")}
        self._returns, self._paid = dict.fromkeys(agents, 0.0), dict.fromkeys(agents, 0.0)
        self._news: dict[str, list[str]] = {agent: [] for agent in agents}
        self._known: dict[str, str] = {}
        self._forfeited: str | None = None
        return self._advance()

    def say(self, answer: str) -> Turn:
        """Answer the last question; an unusable answer is asked again, and then costs what `unusable` says."""
        agent = self._asked()
        legal = legal_actions(self.env, agent)
        try:
            action = self._read(answer, agent, legal)
        except ValueError as error:
            self._counts["unusable"][agent] += 1
            self._failed += 1
            if self._failed <= self._again:
                return self._ask(agent, f"Your last answer could not be used: {error}. {self._request}\n")
            if self._forfeits:
                return self.stop(forfeit=True)
            action = self._random.choice(legal)
            self._counts["random_actions"][agent] += 1
        regret = self._regret(agent, action)
        self._news[agent].clear()
        self._see(carry_out(self.env, agent, action))
        return self._advance(regret)

    def stop(self, forfeit: bool = False) -> Turn:
        """End the game unfinished, or let the agent that is asked lose it."""
        agent, teams = self._asked(), self.variant.teams.values()
        if forfeit:
            self._forfeited = agent
            for team in teams:
                for one in team:
                    self._returns[one] += -1.0 if agent in team else 1 / (len(teams) - 1)
        return self._end()

    @property
    def result(self) -> TextResult:
        """The result so far."""
        winners = [self.variant.agents[seat] for seat in self.env.snapshot()["winners"]]
        if self._forfeited is not None:
            winners = [agent for team in self.variant.teams.values() if self._forfeited not in team for agent in team]
        truncated = self._forfeited is None and not any(self.env.terminations.values())
        counts = {name: dict(count) for name, count in self._counts.items()}
        return TextResult(dict(self._returns), winners, **counts, forfeited=self._forfeited, truncated=truncated,
                          record=self.env.record())  # fmt: skip

    # --- Playing ---

    def _asked(self) -> str:
        if self._turn is None or self._turn.done:
            raise ValueError("there is no question: call reset()")
        return self._turn.agent

    def _advance(self, regret: float | None = None) -> Turn:
        """Let policies decide until an agent must be asked."""
        for move in moves(self.env, self._choose):
            self._see(move)
        if is_over(self.env):
            return self._end(regret)
        agent = self.env.agent_selection
        self._counts["decisions"][agent] += 1
        self._failed, self._head, self._question = 0, self._introduce(agent), self._pose(agent)
        return self._ask(agent, regret=regret)

    def _choose(self, agent: str) -> int | None:
        if agent not in self._policies:
            return None
        self._counts["decisions"][agent] += 1
        return act_in(self._policies[agent], self.env)

    def _see(self, move: Move) -> None:
        for seat, agent in enumerate(self.variant.agents):
            self._returns[agent] += self.env.rewards[agent]
            if agent not in self._policies and self.settings["show"] == "events":
                self._news[agent] += [event.text for event in narrate(self.variant, seat, *move)]

    def _read(self, answer: Any, agent: str, legal: list[int]) -> int:
        """The legal action that an answer means; raises `ValueError` saying what is wrong with it."""
        names, form = [self.env.action_name(action) for action in legal], self.settings["answers"]
        if self.settings["legal"] == "listed":
            return legal[read_choice(answer, names, form, others=self.variant.action_names)]
        try:
            action = read_choice(answer, self.variant.action_names[:-1], form, numbered=False)
        except ValueError as error:  # a part of a name may be clear among the legal ones
            if str(error) != NONE:
                raise
            return legal[read_choice(answer, names, form, numbered=False)]
        if refusal := self.env.refusal(agent, action):
            raise refusal
        return action

    def _regret(self, agent: str, action: int) -> float | None:
        """How much less likely to win an action is than search's choice; 0 where search has not tried it."""
        if self._critic is None:
            return None
        decisions = self.env.decisions(agent)
        found = self._critic.search(decisions.observations, decisions.seats, self.env.states)
        lost = float(found.values[0, found.best()[0]] - found.values[0, action])
        return min(max(lost, 0.0), 1.0) if lost == lost else 0.0

    # --- Asking ---

    def _ask(self, agent: str, complaint: str = "", regret: float | None = None) -> Turn:
        question = "\n".join(filter(None, [self._question, complaint]))
        parts = {"system": self._head, "user": question}
        if complaint and self.settings["rules"] != "always":
            parts = {"user": complaint}
        rewards = {one: self._returns[one] - paid for one, paid in self._paid.items()}
        self._paid = dict(self._returns)
        messages = [{"role": role, "content": content} for role, content in parts.items() if content]
        text = "\n\n".join(filter(None, [self._head, question]))
        self._turn = Turn(agent, text, messages, rewards, regret)
        return self._turn

    def _end(self, regret: float | None = None) -> Turn:
        winners = " and ".join(self.result.winners) or "nobody"
        self._head, self._question = "", f"The game is over: {winners} won.\n"
        return self._ask("", regret=regret)

    def _introduce(self, agent: str) -> str:
        """What comes before the first question, or every one: the rules, and how hidden actions are written."""
        if agent in self._known and self.settings["rules"] != "always":
            return ""
        hidden = f"Actions are written: {patterns(self.variant.action_names[:-1])}."
        parts = [self.settings["rules"] != "never" and rules_in_short(self.variant.game, self.variant.options),
                 self.settings["legal"] == "hidden" and hidden]  # fmt: skip
        return "\n\n".join(part for part in parts if part)

    def _pose(self, agent: str) -> str:
        """The question to an agent."""
        view, before = self.env.text_observation(agent), self._known.get(agent)
        self._known[agent] = view
        if self.settings["show"] == "events" and before is not None:
            changed = [line for line in view.splitlines() if line not in before.splitlines()]
            view = "\n".join(["Since your last action:", *(f"- {news}" for news in self._news[agent]), *changed])
        names = [self.env.action_name(action) for action in legal_actions(self.env, agent)]
        return question(self.variant.game, view, names if self.settings["legal"] == "listed" else [], self._request)


# --- Whole games ---


def text_game(env: Any, players: Any, *, seed: int | None = None, rules: bool = False) -> TextResult:
    """Play a game to its end between functions `str -> str` and policies.

    Args:
        env: an AEC environment of ours, wrapped or not. A game in progress goes on; with a seed, and where there is
            none in progress, one is begun.
        players: one for each seat, in order or by agent's name, or one for all: a function that answers a question, a
            policy, or a policy's spec such as "heuristic".
        seed: of the game, and of the actions drawn in place of unusable answers.
        rules: whether questions begin with the game's rules in short, where its package has them.

    After three unusable answers a random legal action is taken. Raises `ValueError` for anything else as a player.
    """
    raw = env.unwrapped
    game = TextGame(raw, unusable="again:2,random", rules="always" if rules else "never")
    seated = _seated(raw, players)
    if seed is not None or not raw.agents or is_over(raw):
        env.reset(seed=seed)
    turn = game.begin({agent: one for agent, one in seated.items() if hasattr(one, "act")}, seed)
    while not turn.done:
        turn = game.say(seated[turn.agent](turn.text))
    return game.result


def _seated(raw: Any, players: Any) -> dict[str, Any]:
    """Who plays for each agent; policies are made from their specs."""
    agents = raw.possible_agents
    if isinstance(players, Mapping):
        if set(players) != set(agents):
            raise ValueError(f"players are wanted for {', '.join(agents)}, not for {', '.join(map(str, players))}")
        players = [players[agent] for agent in agents]
    seated = dict(zip(agents, one_each(players, len(agents), "players")))
    for agent, one in seated.items():
        if isinstance(one, str) or hasattr(one, "act"):
            seated[agent] = make_players(raw.variant, [one])[0]
        elif isinstance(one, type) or not callable(one):
            raise ValueError(f"{agent}: {one!r:.80} is neither a function str -> str, nor a policy or its name")
    return seated
