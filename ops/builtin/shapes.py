"""Shapes that are shown to callers and checked elsewhere: what came is kept as it came.

An ask is stored as it was sent, for the digest is taken over that (D13), and an answer is judged by the asks
that it answers (D14). The catalogue still says what each looks like.
"""

from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter
from pydantic.annotated_handlers import GetJsonSchemaHandler
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import CoreSchema

from inbox.model import Ask, Offer


class Shown:
    """Publishes the JSON Schema of another type; what is checked stays what the annotation says."""

    def __init__(self, kind: Any) -> None:
        self._kind = kind

    def __get_pydantic_json_schema__(self, _: CoreSchema, handler: GetJsonSchemaHandler) -> JsonSchemaValue:
        """The schema of the other type, in the place of one's own."""
        return handler(TypeAdapter(self._kind).core_schema)


class Capability(BaseModel):
    """What an agent may do, and where in your namespace."""

    model_config = ConfigDict(extra="forbid")

    with_: str = Field(alias="with", description="A path such as w/reports; empty for everything of yours.")
    can: str = Field(min_length=1, description="The ability, such as crud/read; * for every one.")


class Narrower(BaseModel):
    """What is to be granted instead of the whole offer; it lies inside it."""

    model_config = ConfigDict(extra="forbid")

    with_: str | None = Field(default=None, alias="with", description="A resource inside the offered one.")
    can: str | None = Field(default=None, description="An ability inside the offered one.")
    exp: int | None = Field(default=None, description="An earlier end, in unix seconds.")


class Echo(Offer):
    """An offer, repeated as it was offered: what is not repeated is not granted."""

    narrow: Narrower | None = Field(default=None, description="To grant less than was offered.")


Answer = str | bool | list[str] | None
"""A text, a yes or no, an option's id, several of them, or a signed token; null is no answer."""

Asks = Annotated[list[Any], Shown(Annotated[list[Ask], Field(min_length=1)])]
Answers = Annotated[Any, Shown(dict[str, Answer] | None)]
Comments = Annotated[Any, Shown(dict[str, str] | None)]
Comment = Annotated[Any, Shown(str | None)]
Echoes = Annotated[Any, Shown(list[Echo] | None)]
Capabilities = Annotated[list[Any] | None, Shown(list[Capability] | None)]
