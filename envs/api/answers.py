"""Reading answers: which of some actions a text means.

Lenient about form (markdown, JSON, tags, case, full-width characters, prose), strict about meaning: a text that could
mean two actions, or a number that contradicts a name, is refused and not guessed at.
"""

import json
import re
from collections.abc import Sequence
from functools import lru_cache
from typing import Any
from unicodedata import normalize

FORMS = {
    "plain": "Answer with {} of one action.",
    "marked": "Think if you like, then end with a line 'Final answer: ' and {} of one action.",
    "json": 'Answer with a JSON object {{"action": …}}: {} of one action.',
}
"""What answers look like, and how they are asked for."""

_THOUGHT = re.compile(r"<(think\w*|reasoning)>.*?(?:</\1>|\Z)|\A.*</(?:think\w*|reasoning)>", re.DOTALL | re.IGNORECASE)
_MARKED = re.compile(r".*final answer(?:\*\*|__)?(?: is)?\s*?(?:[:=]|\n)(?:\*\*|__)?(.*)", re.DOTALL | re.IGNORECASE)
_TAGGED = re.compile(r"<(answer|action|move)>(.*?)</\1>|\\boxed\{([^{}]*)\}", re.DOTALL | re.IGNORECASE)
_KEYS = ("action", "move", "answer", "choice", "final_answer", "name", "number")
_EMPHASIS = re.compile(r"(\*\*|__|``|[*_`\"“”「『«])(\S(?:.{0,200}?\S)?)(\1|[”」』»])")
_LABEL = re.compile(
    r"^(?:so,? |thus,? |therefore,? )?(?:(?:my|the|final|chosen|best) )*(?:answer|action|choice|move|decision|number|"
    r"option|i(?:'ll| will)? (?:choose|play|pick|take|lay|go with|select))\b(?: is)?\s*[:=-]?\s*"
)
_POINTED_AT = re.compile(
    r"(?:(?:answer|action|choice|move|number|option|choose|play|pick|select|go with|nummer|aktion|wähle|spiele|réponse|"
    r"numéro|choisis|opción|acción|número|elijo|numero|scelgo|opção|escolho|номер|вариант|выбираю|选择|选|選|答案|番号)"
    r"(?: is| ist| est| es| é)?[: ]*#?|#|\()(\d+)(?!\.?\d|\w)|(?:\*\*|__|`)(\d+)(?:\*\*|__|`)"
)
"""A number in the middle of a text that is meant as an answer: numbers in prose can be anything."""
_DENIED = r"(?<!not )(?<!n't )(?<!never )(?<!avoid )(?<!instead of )(?<!rather than )(?<!over )(?<!better than )"
_SECOND_THOUGHT = re.compile(r"\b(?:actually|wait|correction|second thoughts?|scratch that|on reflection)\b")
LONGEST = 20_000
"""Characters of an answer that are read, from its end."""
SEVERAL, NONE = "it names several actions", "it names none of the actions"


def read_choice(
    answer: Any, names: Sequence[str], form: str = "plain", numbered: bool = True, others: Sequence[str] = ()
) -> int:
    """Which of some actions an answer means: an index into `names`; raises `ValueError` saying what is wrong with it.

    Thoughts in tags are left out. Then only what follows "Final answer:" counts, or is the action in a JSON object, or
    stands in answer tags, where there is such a thing (in the forms "marked" and "json" there must be). In this text
    the following is looked for, in this order: a line (the last or the first one) that is a name, a number from 1 to
    the number of names (if they are `numbered`), both, or a part of one name alone; a line, then the whole text, in
    which just one of the names occurs; a text in which one number is pointed at ("option 3", "**3**"). `others` are
    names of actions that are no choices.
    """
    if not isinstance(answer, str):
        raise ValueError(f"an answer is a text, not {type(answer).__name__}")
    answer = answer[-LONGEST:].replace("’", "'")
    text = _marked(_THOUGHT.sub("", normalize("NFKC", answer)), form)
    known = [_plain(name) for name in names]
    every = [*known, *{_plain(name) for name in others}.difference(known)]
    lines = [line for line in map(_plain, text.splitlines()) if line]
    if not lines:
        raise ValueError("it is empty")
    whole, count = " ".join(lines), len(known)
    wavers = _SECOND_THOUGHT.search(whole)
    for line in (lines[-1], lines[0]):
        for part in (line, _bare(line), _bare(_LABEL.sub("", _bare(line)))):
            choice = _said(part, known, numbered)
            if choice is None or part in every[count:]:
                continue
            if line is not lines[-1] and (wavers or _named(lines[-1], every, count) - {choice}):
                raise ValueError(SEVERAL)
            return choice
    for part in [whole] if wavers else [lines[-1], lines[0], whole]:
        if len(named := _named(part, every, count)) == 1:
            return named.pop()
    if named:
        raise ValueError(SEVERAL)
    numbers = {int(one or other) for one, other in _POINTED_AT.findall(text.casefold())}
    numbers |= {int(line) for line in (_bare(lines[-1]), _bare(lines[0])) if line.isdecimal()}
    if not numbers or not numbered:
        raise ValueError(NONE)
    if len(numbers) > 1:
        raise ValueError(SEVERAL)
    if not 1 <= (number := numbers.pop()) <= count:
        raise ValueError(f"there is no action {number}, the numbers are 1 to {count}")
    return number - 1


def _marked(text: str, form: str) -> str:
    """The part of an answer that counts."""
    if found := _json_actions(text) if form != "marked" else None:
        if len(found) > 1:
            raise ValueError(SEVERAL)
        return found.pop()
    if form == "json":
        raise ValueError('it holds no JSON object {"action": …}')
    if marked := _MARKED.match(text):
        text = marked[1]
    elif form == "marked":
        raise ValueError("it has no line 'Final answer: …'")
    tagged = [inner or boxed for _, inner, boxed in _TAGGED.findall(text)]
    return tagged[-1] if tagged else text


def _json_actions(text: str) -> set[str]:
    """The actions in the JSON objects of a text."""
    found = set()
    for brace in re.finditer(r"\{", text):
        try:
            value = json.JSONDecoder().raw_decode(text, brace.start())[0]
        except (ValueError, RecursionError):
            continue
        value = {str(key).casefold(): one for key, one in value.items()}
        action = next((value[key] for key in _KEYS if key in value), None)
        if isinstance(action, str | int) and not isinstance(action, bool):
            found.add(str(action))
    return found


@lru_cache(4096)
def _plain(text: str) -> str:
    """Lower case, single spaces, no markdown around words."""
    text = text.casefold().strip()
    text = re.sub(r"^(?:#+ |> ?|[-*] )+", "", text)
    for _ in range(3):  # bold and italic and code, one inside of the other
        text = _EMPHASIS.sub(r"\2", text)
    return " ".join(text.split())


def _bare(text: str) -> str:
    return text.strip(" .,;:!?'\"()[]{}。、「」“”")


def _said(text: str, names: list[str], numbered: bool) -> int | None:
    """What a text that is nothing but a choice means."""
    if text in names:
        return names.index(text)
    found = re.fullmatch(r"[(#]*(\d+)\s*(?:[.):]|[.):–-]+ *(?P<name>.+))?", text)
    if found is not None and numbered:
        number, name = int(found[1]), found["name"]
        if name in names and number != names.index(name) + 1:
            raise ValueError(f"it says {number}, but {name} has another number")
        if 1 <= number <= len(names) and (name is None or name in names):
            return number - 1
    if not text or (found is not None and (numbered or text.isdecimal())):
        return None
    having = [k for k, name in enumerate(names) if re.search(rf"(?<!\w){re.escape(text)}", name, re.ASCII)]
    return having[0] if len(having) == 1 else None


def _named(text: str, names: list[str], count: int) -> set[int]:
    """Which of the first names occur in a text, without denied ones and those that are only part of a longer one."""
    found: set[int] = set()
    for choice in sorted((k for k, name in enumerate(names) if name in text), key=lambda one: -len(names[one])):
        pattern = rf"(?<![\w+]){re.escape(names[choice])}(?![\w*+])"
        if choice < count and re.search(_DENIED + pattern, text, re.ASCII):
            found.add(choice)
        text = re.sub(pattern, "\n", text, flags=re.ASCII)
    return found
