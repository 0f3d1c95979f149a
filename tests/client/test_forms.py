"""A model as asks and back; what no ask can carry is refused by name, and nothing is sent (D34)."""

from enum import Enum, IntEnum
from typing import Annotated, Any, Literal, Optional

import httpx
import pytest
from pydantic import AliasChoices, BaseModel, ConfigDict, Field, RootModel, field_validator

from venue.client import Answered, BadAnswer, BadForm, Venue
from venue.client.forms import answer_of, asks_of

OFFER = {"with": "w/a/", "can": "crud/write", "lifetime": 60}


class Place(Enum):
    """Where to."""

    TEST = "t"
    LIVE_SITE = "l"


class Level(IntEnum):
    """How much."""

    LOW = 1
    HIGH = 2


class Everything(BaseModel):
    """One field of each kind."""

    ship: bool = Field(description="Ship it?")
    place: Place
    level: Level | None
    color: Literal["red", "green"] = "red"
    number: Optional[Literal[1, 2]] = None  # noqa: UP045 - the other spelling
    maybe: Literal["yes", None]
    parts: set[Literal["a", "b"]]
    frozen: frozenset[Place] = frozenset()
    listed: list[Literal[1, 2]] = []
    several: tuple[Level, ...] = ()
    note: Annotated[str, Field(max_length=9)] = "none"
    title_of_it: str | None = Field(default=None, title="A title")


def answered(**answers: Any) -> Answered:
    return Answered(id="1", outcome="answer", answers=answers)


def test_each_field_becomes_the_ask_of_its_kind() -> None:
    asks = {ask["id"]: ask for ask in asks_of(Everything)}
    assert list(asks) == list(Everything.model_fields)
    kinds = {name: ask["type"] for name, ask in asks.items()}
    assert kinds == {
        "ship": "approval",
        **dict.fromkeys(("place", "level", "color", "number", "maybe"), "choice"),
        **dict.fromkeys(("parts", "frozen", "listed", "several"), "checkboxes"),
        **dict.fromkeys(("note", "title_of_it"), "text"),
    }
    assert {name for name, ask in asks.items() if ask["required"]} == {"ship", "place", "parts"}
    assert asks["ship"]["prompt"] == "Ship it?"
    assert (asks["place"]["prompt"], asks["title_of_it"]["prompt"]) == ("Place", "A title")
    assert asks["place"]["options"] == [{"id": "t", "label": "TEST"}, {"id": "l", "label": "LIVE SITE"}]
    assert [option["id"] for option in asks["number"]["options"]] == ["1", "2"]
    assert [option["id"] for option in asks["maybe"]["options"]] == ["yes"]


def test_the_answers_become_the_model() -> None:
    given = answered(
        ship=False,
        place="l",
        number="2",
        parts=["b", "a"],
        frozen=["t"],
        listed=["2", "1"],
        several=["1"],
        note="",
    )
    assert answer_of(Everything, given) == Everything(
        ship=False,
        place=Place.LIVE_SITE,
        level=None,
        number=2,
        maybe=None,
        parts={"a", "b"},
        frozen=frozenset({Place.TEST}),
        listed=[2, 1],
        several=(Level.LOW,),
        note="",
    )


class Strict(BaseModel):
    """Takes exact Python types only, and goes by other names outside."""

    model_config = ConfigDict(strict=True, extra="forbid")

    parts: frozenset[Literal["a"]] = Field(alias="theParts")
    place: Place = Field(validation_alias=AliasChoices("x", "y"))
    ok: bool = Field(serialization_alias="okay")


def test_a_strict_model_and_aliases_change_nothing() -> None:
    assert [ask["id"] for ask in asks_of(Strict)] == ["parts", "place", "ok"]
    read = answer_of(Strict, answered(parts=["a"], place="t", ok=True))
    assert (read.parts, read.place, read.ok) == (frozenset({"a"}), Place.TEST, True)


class Inner(BaseModel):
    """A model inside another."""

    ok: bool


class Empty(Enum):
    """Nothing to choose from."""


def model(annotation: Any) -> type[BaseModel]:
    return type("Odd", (BaseModel,), {"__annotations__": {"fine": bool, "odd": annotation}})


@pytest.mark.parametrize(
    "annotation",
    [
        int,
        float,
        dict[str, str],
        list[str],
        set,
        list,
        Inner,
        list[Inner],
        str | bool,
        Literal["a"] | bool,
        tuple[Literal["a"], Literal["b"]],
        tuple[()],
        bytes,
        Any,
        None,
        Empty,
        Literal[1, "1"],
        Literal[""],
        Literal[None],
        list[Literal["a"] | int],
    ],
    ids=str,
)
def test_what_no_ask_can_carry_is_refused_by_name(annotation: Any) -> None:
    with pytest.raises(BadForm, match="odd"):
        asks_of(model(annotation))


@pytest.mark.parametrize("form", [bool, int, type("None_", (BaseModel,), {}), RootModel[bool]], ids=str)
def test_what_has_no_fields_is_no_form(form: Any) -> None:
    with pytest.raises(BadForm):
        asks_of(form)


def test_grants_stand_on_what_triggers_them() -> None:
    asks = {
        ask["id"]: ask
        for ask in asks_of(
            Everything,
            {
                "ship": [OFFER],
                "place": {Place.TEST: [OFFER]},
                "parts": {"b": [OFFER]},
                "listed": {2: [OFFER]},
            },
        )
    }
    assert asks["ship"]["grants"] == [OFFER]
    for name, option in (("place", "t"), ("parts", "b"), ("listed", "2")):
        by_id = {each["id"]: each.get("grants") for each in asks[name]["options"]}
        assert {key for key, offers in by_id.items() if offers} == {option}


@pytest.mark.parametrize(
    ("grants", "named"),
    [
        ({"shop": [OFFER]}, "shop"),
        ({"ship": {"yes": [OFFER]}}, "ship"),
        ({"note": [OFFER]}, "note"),
        ({"place": [OFFER]}, "place"),
        ({"place": {"nowhere": [OFFER]}}, "nowhere"),
    ],
)
def test_grants_that_nothing_can_trigger_are_refused_by_name(grants: Any, named: str) -> None:
    with pytest.raises(BadForm, match=named):
        asks_of(Everything, grants)


def test_grants_beside_asks_that_are_written_out_are_refused() -> None:
    with pytest.raises(BadForm):
        asks_of([{"id": "a", "type": "approval", "prompt": "?"}], {"a": [OFFER]})  # type: ignore[list-item]


class Picky(BaseModel):
    """Has a rule that no inbox knows."""

    note: str

    @field_validator("note")
    @classmethod
    def _long(cls, value: str) -> str:
        if len(value) < 5:
            raise ValueError("say more")
        return value


def test_an_answer_that_the_model_refuses_is_not_lost() -> None:
    given = answered(note="s3cr")
    with pytest.raises(BadAnswer, match="say more") as caught:
        answer_of(Picky, given)
    assert caught.value.answered == given
    assert "s3cr" not in str(caught.value)


def test_nothing_is_sent_for_a_bad_form() -> None:
    with Venue("http://127.0.0.1:1", patience=0) as venue, pytest.raises(BadForm):
        venue.ask("T", model(int))


@pytest.mark.parametrize(
    "given", [{"description": "\ud800"}, {"timeout": float("nan")}, {"key": "ä"}, {"to": {"a"}}], ids=str
)
def test_what_is_no_json_is_not_sent(given: Any) -> None:
    heard: list[httpx.Request] = []

    def answer(request: httpx.Request) -> httpx.Response:
        heard.append(request)
        return httpx.Response(200, json={"did": "did:web:venue.example"})

    transport = httpx.MockTransport(answer)
    with Venue("http://venue.example", transport=transport) as venue, pytest.raises(BadForm):
        venue.ask("T", Inner, wait=False, **given)
    assert [request.method for request in heard] == ["GET"]
