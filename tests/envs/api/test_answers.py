"""Reading answers: lenient about form, strict about meaning."""

import monsterzoo.envs as mz
import pytest
from monsterzoo.envs.api.answers import read_choice

NAMES = ["W7", "W7*", "take sum", "take low", "2: reroll low", "7: turn low to 5", "7: turn low to 6", "vampire's bite",
         "steal +1", "steal +2", "combination vampire+monk"]  # fmt: skip


@pytest.mark.parametrize(
    ("answer", "meant"),
    [
        # a name
        ("take sum", "take sum"), ("  Take SUM.\n", "take sum"), ("'take sum'", "take sum"), ("W7", "W7"),
        ("w7*", "W7*"), ("VAMPIRE’S BITE", "vampire's bite"), ("steal +1", "steal +1"), ("steal  +2!", "steal +2"),
        ("combination Vampire+Monk", "combination vampire+monk"), ("2: reroll low", "2: reroll low"),
        # a number, both, or a part that only one name has
        ("3", "take sum"), ("3.", "take sum"), ("#3", "take sum"), ("(3)", "take sum"), ("3. take sum", "take sum"),
        ("5) 2: reroll low", "2: reroll low"), ("bite", "vampire's bite"), ("take s", "take sum"),
        ("turn low to 5", "7: turn low to 5"),
        # markdown
        ("**take low**", "take low"), ("`take low`", "take low"), ("*W7*", "W7"), ("**W7***", "W7*"),
        ("> 4", "take low"),
        ("# Take low", "take low"), ("- take low", "take low"), ('{"action": "take low"}', "take low"),
        ("***take low***", "take low"), ("```\ntake low\n```", "take low"),
        # prose
        ("I take low because it is worth 9 points.", "take low"), ("My answer is **Take Sum**.", "take sum"),
        ("Final answer: 4", "take low"), ("The best choice is option 4.", "take low"), ("I choose #4 now", "take low"),
        ("take sum\nIt is worth 2 points more than 4.", "take sum"), ("I think **4** is best", "take low"),
        ("Option 1 is bad, option 3 is better.\n\nAnswer: take low", "take low"),
        ("I could take sum or take low.\nI choose: take low", "take low"),
        ("Take sum or take low would do here.\nSo I will go with take low then.", "take low"),
        ("I will go with take low then.\nBoth take sum and take low would do.", "take low"),
        ("Go with 3 or 4?\nI would say\noption 3", "take sum"), ("Let us play W7* here.", "W7*"),
    ],
)  # fmt: skip
def test_answers_are_read_forgivingly(answer: str, meant: str) -> None:
    assert NAMES[read_choice(answer, NAMES)] == meant


@pytest.mark.parametrize(
    ("answer", "problem"),
    [
        ("", "it is empty"), (" \n\t", "it is empty"), ("**", "it names none"), ("no idea", "it names none"),
        ("take", "it names none"), ("0", "there is no action 0, the numbers are 1 to 11"),
        ("12", "there is no action 12"), ("take sum or take low", "it names several actions"),
        ("option 1 or option 2", "it names several actions"), ("it is worth 9 points", "it names none"),
        ("turn low to", "it names none"), ("-3", "it names none"), ("3.5", "it names none"),
        (None, "a text, not NoneType"),
        (3, "a text, not int"), ("9" * 50, "there is no action 999"),
    ],
)  # fmt: skip
def test_unusable_answers_say_why(answer: object, problem: str) -> None:
    with pytest.raises(ValueError, match=problem):
        read_choice(answer, NAMES)


def test_every_action_of_every_game_is_read_by_name_and_number(name: str, options: dict) -> None:
    names = mz.variant(name, **options).action_names[:-1]
    for number, one in enumerate(names):
        assert read_choice(one, names) == number
        assert read_choice(f"I would say:\n**{one}**", names) == number
        assert read_choice(f"{number + 1}", names) == number


@pytest.mark.parametrize(
    ("answer", "meant"),
    [
        ("<think>take sum? No: 3 is worse.</think>\ntake low", "take low"), ("so 3 or 5…</think>4", "take low"),
        ("<thinking>3</thinking> **4**", "take low"), ("４", "take low"), ("４．　ｔａｋｅ　ｌｏｗ", "take low"),
        ("（4）", "take low"), ("「take low」", "take low"), ("我选择take low。", "take low"),
        ("我选择 4。", "take low"), ("### Final answer\n4", "take low"),
        ("Ich wähle Nummer 4.", "take low"), ("Ich spiele take low, weil es gut ist.", "take low"),
        ("Je choisis 4", "take low"), ("Elijo la opción 4, que es mejor.", "take low"),
        ('Sure! {"reasoning": "take sum is worse", "action": "take low"} Good luck!', "take low"),
        ('```json\n{"action": 4}\n```', "take low"), ('{"Move": "4"}', "take low"), ("\\boxed{4}", "take low"),
        ("take sum is worth 9, W7 too.\n<answer>4</answer>", "take low"),
        ("Option 3 is worth 9.\n**Final answer:** take low\nI hope that option 5 is not better.", "take low"),
        ("Final answer: **take low**", "take low"), ("I take low rather than take sum.", "take low"),
        ("I will not take sum, I take low.", "take low"), ("I'm sorry about that! take low", "take low"),
    ],
)  # fmt: skip
def test_more_styles_that_a_person_understands(answer: str, meant: str) -> None:
    assert NAMES[read_choice(answer, NAMES)] == meant


@pytest.mark.parametrize(
    ("answer", "problem"),
    [
        ("take sum\nActually, take low is better.", "several"),
        ("I will go with take sum here.\nActually, I would say take low is better here.", "several"),
        ("3\nWait, I meant another one.", "several"),
        ("take sum\nThis beats take low.", "several"), ("4. take sum", "it says 4, but take sum has another number"),
        ('{"action": 3} or {"action": 4}', "several"), ("<think>take low", "empty"), ("I will not take sum.", "none"),
        ("I'm sorry, I cannot take part in this game.", "none"), ("Ich nehme die kleine Zahl.", "none"),
        ('{"action": true}', "none"), ("{" * 3000, "none"),
    ],
)  # fmt: skip
def test_what_is_ambiguous_is_not_guessed(answer: str, problem: str) -> None:
    with pytest.raises(ValueError, match=problem):
        read_choice(answer, NAMES)


@pytest.mark.parametrize("value", ["1.5", "1e0", "true", "null", "[1]", "-1"])
def test_json_with_another_value_than_a_number_or_a_name_is_no_choice(value: str) -> None:
    with pytest.raises(ValueError):
        read_choice(f'{{"action": {value}}}', NAMES, "json")


def test_forms_that_are_asked_for_must_be_there() -> None:
    assert read_choice("take sum? No.\nFinal answer: 4", NAMES, "marked") == 3
    assert read_choice("FINAL ANSWER: take low.", NAMES, "marked") == 3
    assert read_choice("**Final answer**: `take low`", NAMES, "marked") == 3
    with pytest.raises(ValueError, match="it has no line 'Final answer: …'"):
        read_choice("take low", NAMES, "marked")
    assert read_choice('I think {"action": "take low"}', NAMES, "json") == 3
    with pytest.raises(ValueError, match="it holds no JSON object"):
        read_choice("take low", NAMES, "json")


def test_without_a_list_numbers_mean_nothing() -> None:
    assert read_choice("2: reroll low", NAMES, numbered=False) == 4
    for number in ("4", "option 4", "#4"):
        with pytest.raises(ValueError, match="none"):
            read_choice(number, NAMES, numbered=False)


def test_a_part_of_a_name_is_not_taken_for_it_if_it_is_another_action() -> None:
    assert read_choice("blue vampire", ["grab blue vampire heart"]) == 0
    with pytest.raises(ValueError, match="none"):
        read_choice("grab blue vampire", ["grab blue vampire heart"], others=["grab blue vampire"])
    with pytest.raises(ValueError, match="none"):
        read_choice("I grab blue vampire heart", ["grab blue vampire"], others=["grab blue vampire heart"])
