"""The types that cases name by `$model`. Loaded only by an actor that is handed one (GR-06 looks)."""

from typing import Annotated

from pydantic import AfterValidator, BaseModel, Field


def _even(n: int) -> int:
    if n % 2:
        raise ValueError("must be even")
    return n


class Approval(BaseModel):
    approved: bool
    note: str | None = None


class EvenNumber(BaseModel):
    n: Annotated[int, AfterValidator(_even)]


class LongNote(BaseModel):
    note: str = Field(min_length=5)


class _Inner(BaseModel):
    n: int


class Nested(BaseModel):
    inner: _Inner
