"""A pydantic model as asks, and the answers as an instance of it (D34). Pure.

bool is an approval, a Literal or an Enum a choice, a set, list or tuple of one of these checkboxes, str a
text. A field that may be None, or that has a default, need not be answered.
"""

import types
from collections.abc import Mapping, Sequence
from enum import Enum
from typing import Annotated, Any, Literal, TypeVar, Union, get_args, get_origin

from pydantic import BaseModel, ValidationError
from pydantic.fields import FieldInfo

from .errors import BadForm
from .models import Offer

M = TypeVar("M", bound=BaseModel)
Grants = Mapping[str, Sequence[Offer] | Mapping[str, Sequence[Offer]]]
"""Offers by field: of a bool a list, of a choice or checkboxes a list for each option by its id."""

_COLLECTIONS = (list, set, frozenset, tuple)


def asks_of(model: type[BaseModel], grants: Grants | None = None) -> list[dict[str, Any]]:
    """The asks that a model's fields amount to, with offers on the choices that trigger them.

    Raises BadForm for a field of another type, and for grants on something that cannot carry them.
    """
    offered = dict(grants or {})
    asks = [_ask(name, field, offered.pop(name, None)) for name, field in model.model_fields.items()]
    if offered:
        raise BadForm(f"grants: {model.__name__} has no field {min(offered)!r}")
    return asks


def answer_of(model: type[M], answers: Mapping[str, Any]) -> M:
    """The instance that the answers amount to. Raises BadForm when the model itself will not have them."""
    values: dict[str, Any] = {}
    for name, field in model.model_fields.items():
        if name in answers:
            values[field.alias or name] = _value(_bare(field.annotation), answers[name])
        elif not field.is_required():
            continue
        elif _may_be_none(field.annotation):
            values[field.alias or name] = None
    try:
        return model.model_validate(values)
    except ValidationError as error:
        raise BadForm(f"The answer does not fit {model.__name__}: {error.error_count()} problems") from error


def _ask(name: str, field: FieldInfo, offers: Any) -> dict[str, Any]:
    annotation = _bare(field.annotation)
    required = field.is_required() and not _may_be_none(field.annotation)
    prompt = field.description or field.title or name.replace("_", " ").capitalize()
    ask: dict[str, Any] = {"id": name, "prompt": prompt, "required": required}
    if annotation is bool:
        return _with_offers({**ask, "type": "approval"}, name, offers)
    if annotation is str:
        return _without_offers({**ask, "type": "text"}, name, offers)
    if _choices(annotation) is not None:
        return {**ask, "type": "choice", "options": _options(name, annotation, offers)}
    if get_origin(annotation) in _COLLECTIONS and _choices(_element(annotation)) is not None:
        return {**ask, "type": "checkboxes", "options": _options(name, _element(annotation), offers)}
    raise BadForm(
        f"{name}: no ask can carry a {annotation}; use bool, str, a Literal or an Enum, or a set of one"
    )


def _with_offers(ask: dict[str, Any], name: str, offers: Any) -> dict[str, Any]:
    if offers is None:
        return ask
    if isinstance(offers, Mapping):
        raise BadForm(f"grants.{name}: an approval takes a list of offers")
    return {**ask, "grants": list(offers)}


def _without_offers(ask: dict[str, Any], name: str, offers: Any) -> dict[str, Any]:
    if offers is not None:
        raise BadForm(f"grants.{name}: a text triggers nothing, and can confer nothing")
    return ask


def _options(name: str, annotation: Any, offers: Any) -> list[dict[str, Any]]:
    by_option = dict(offers or {}) if isinstance(offers, Mapping | None) else None
    if by_option is None:
        raise BadForm(f"grants.{name}: say which option each offer belongs to")
    options: list[dict[str, Any]] = []
    for identifier, value in (_choices(annotation) or {}).items():
        label = value.name.replace("_", " ") if isinstance(value, Enum) else str(value)
        option: dict[str, Any] = {"id": identifier, "label": label}
        if identifier in by_option:
            option["grants"] = list(by_option.pop(identifier))
        options.append(option)
    if by_option:
        raise BadForm(f"grants.{name}: there is no option {min(by_option)!r}")
    return options


def _value(annotation: Any, answer: Any) -> Any:
    """An answer as the model's own value: options by what they stand for."""
    choices = _choices(annotation)
    if choices is not None:
        return choices.get(answer, answer)
    if get_origin(annotation) in _COLLECTIONS and isinstance(answer, list):
        return [_value(_element(annotation), chosen) for chosen in answer]
    return answer


def _choices(annotation: Any) -> dict[str, Any] | None:
    """The values that a Literal or an Enum allows, by the text that names each; None for anything else."""
    if get_origin(annotation) is Literal:
        return {str(value): value for value in get_args(annotation)}
    if isinstance(annotation, type) and issubclass(annotation, Enum):
        return {str(member.value): member for member in annotation}
    return None


def _element(annotation: Any) -> Any:
    arguments = [argument for argument in get_args(annotation) if argument is not Ellipsis]
    return _bare(arguments[0]) if len(arguments) == 1 else None


def _bare(annotation: Any) -> Any:
    """A type without None and without annotations."""
    if get_origin(annotation) is Annotated:
        return _bare(get_args(annotation)[0])
    if get_origin(annotation) in (Union, types.UnionType):
        rest = [argument for argument in get_args(annotation) if argument is not type(None)]
        return _bare(rest[0]) if len(rest) == 1 else annotation
    return annotation


def _may_be_none(annotation: Any) -> bool:
    return get_origin(annotation) in (Union, types.UnionType) and type(None) in get_args(annotation)
