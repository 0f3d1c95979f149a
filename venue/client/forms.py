"""A pydantic model as asks, and the answers as an instance of it (D34). Pure.

bool is an approval, a Literal or an Enum a choice, a set, list or tuple of one of these checkboxes, str a
text. A field that may be None, or that has a default, need not be answered. Asks go by the names of fields,
never by their aliases.
"""

import types
from collections.abc import Mapping, Sequence
from enum import Enum
from typing import Annotated, Any, Literal, TypeAlias, TypeVar, Union, get_args, get_origin

from pydantic import BaseModel, RootModel, ValidationError
from pydantic.fields import FieldInfo

from .errors import BadAnswer, BadForm
from .models import Answered, Offer

M = TypeVar("M", bound=BaseModel)

Asks: TypeAlias = Sequence[Mapping[str, object]]
"""Asks as the venue takes them, written out."""

Form: TypeAlias = type[BaseModel] | Asks
"""What to ask: a model, or asks."""

Grants: TypeAlias = Mapping[str, Sequence[Offer] | Mapping[Any, Sequence[Offer]]]
"""Offers by field: of a bool a list, of a choice or checkboxes a list for each option that has any."""

_COLLECTIONS = (list, set, frozenset, tuple)


def asks_of(form: Form, grants: Grants | None = None) -> list[dict[str, Any]]:
    """The asks that a form amounts to, with offers on the choices that trigger them.

    Raises BadForm for what no ask can carry, and for grants on something that cannot confer them.
    """
    if not isinstance(form, type):
        if grants:
            raise BadForm(
                "grants: in asks that are written out, offers stand on the asks and options themselves"
            )
        return [dict(ask) for ask in form]
    if not _has_fields(form):
        raise BadForm(
            f"{form.__name__} is no model with fields; ask with a pydantic model, or with a list of asks"
        )
    if not form.model_fields:
        raise BadForm(f"{form.__name__} has no fields: there is nothing to ask")
    offered = dict(grants or {})
    asks = [_ask(name, field, offered.pop(name, None)) for name, field in form.model_fields.items()]
    if offered:
        raise BadForm(f"grants: {form.__name__} has no field {min(offered)!r}")
    return asks


def _has_fields(form: type) -> bool:
    """Types are not checked when a program runs: `ask("…", bool)` arrives here too."""
    return issubclass(form, BaseModel) and not issubclass(form, RootModel)


def answer_of(model: type[M], answered: Answered) -> M:
    """The instance that the answers amount to. Raises BadAnswer when the model itself will not have them."""
    values: dict[str, Any] = {}
    for name, field in model.model_fields.items():
        if name in answered.answers:
            values[name] = _value(_bare(field.annotation), answered.answers[name])
        elif field.is_required() and _may_be_none(field.annotation):
            values[name] = None
    try:
        return model.model_validate(values, by_name=True, by_alias=False)
    except ValidationError as error:
        found = error.errors(include_url=False, include_context=False, include_input=False)
        problems = "; ".join(
            f"{'.'.join(map(str, each['loc'])) or 'all of it'}: {each['msg']}" for each in found
        )
        raise BadAnswer(f"The answer does not fit {model.__name__}: {problems}", answered) from None


def _ask(name: str, field: FieldInfo, offers: Any) -> dict[str, Any]:
    annotation = _bare(field.annotation)
    required = field.is_required() and not _may_be_none(field.annotation)
    prompt = field.description or field.title or name.replace("_", " ").capitalize()
    ask: dict[str, Any] = {"id": name, "prompt": prompt, "required": required}
    if annotation is bool:
        return {**ask, "type": "approval", **_approval_grants(name, offers)}
    if annotation is str:
        if offers is not None:
            raise BadForm(f"grants.{name}: a text triggers nothing, and can confer nothing")
        return {**ask, "type": "text"}
    if _is_choice(annotation):
        return {**ask, "type": "choice", "options": _options(name, annotation, offers)}
    if get_origin(annotation) in _COLLECTIONS and _is_choice(_element(annotation)):
        return {**ask, "type": "checkboxes", "options": _options(name, _element(annotation), offers)}
    raise BadForm(
        f"{name}: no ask can carry {annotation}; use bool, str, a Literal or an Enum, or a set or list of one"
    )


def _approval_grants(name: str, offers: Any) -> dict[str, Any]:
    if offers is None:
        return {}
    if isinstance(offers, Mapping | str):
        raise BadForm(f"grants.{name}: an approval takes a list of offers")
    return {"grants": list(offers)}


def _options(name: str, annotation: Any, offers: Any) -> list[dict[str, Any]]:
    if not isinstance(offers, Mapping | None):
        raise BadForm(f"grants.{name}: say which option each offer belongs to")
    by_option = {_id_of(key): list(listed) for key, listed in (offers or {}).items()}
    options: dict[str, dict[str, Any]] = {}
    for value in _choices(annotation):
        identifier = _id_of(value)
        if not identifier or identifier in options:
            raise BadForm(f"{name}: the option {value!r} has no name of its own")
        label = value.name.replace("_", " ") if isinstance(value, Enum) else identifier
        options[identifier] = {"id": identifier, "label": label}
        if identifier in by_option:
            options[identifier]["grants"] = by_option.pop(identifier)
    if by_option:
        raise BadForm(f"grants.{name}: there is no option {min(by_option)!r}")
    if not options:
        raise BadForm(f"{name}: there is nothing to choose from")
    return list(options.values())


def _value(annotation: Any, answer: Any) -> Any:
    """An answer as the model's own value: options by what they stand for."""
    if _is_choice(annotation):
        return next((value for value in _choices(annotation) if _id_of(value) == answer), answer)
    kind = get_origin(annotation)
    if kind in _COLLECTIONS and isinstance(answer, list):
        return kind(_value(_element(annotation), chosen) for chosen in answer)
    return answer


def _is_choice(annotation: Any) -> bool:
    return get_origin(annotation) is Literal or (
        isinstance(annotation, type) and issubclass(annotation, Enum)
    )


def _choices(annotation: Any) -> list[Any]:
    """The values that a Literal or an Enum allows. None among them says that no answer is one."""
    values = get_args(annotation) if get_origin(annotation) is Literal else annotation
    return [value for value in values if value is not None]


def _id_of(value: Any) -> str:
    return str(value.value) if isinstance(value, Enum) else str(value)


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
    if get_origin(annotation) is Annotated:
        return _may_be_none(get_args(annotation)[0])
    if get_origin(annotation) is Literal:
        return None in get_args(annotation)
    if get_origin(annotation) in (Union, types.UnionType):
        return any(argument is type(None) or _may_be_none(argument) for argument in get_args(annotation))
    return False
