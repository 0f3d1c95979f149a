"""What a case's input stands for: `{"$model": …}`, `{"$fn": …}` and their like become Python values."""

import json
from collections.abc import Callable, Iterator, Mapping
from datetime import datetime
from typing import Any

from .gates_match import CaseNotUnderstood


class Flipping(Mapping[str, Any]):
    """Yields the first value on the first read of a field, the second afterwards."""

    def __init__(self, fields: dict[str, Any]) -> None:
        self._fields = {
            name: list(value) if isinstance(value, list) else [value] for name, value in fields.items()
        }

    def __getitem__(self, name: str) -> Any:
        values = self._fields[name]
        return values.pop(0) if len(values) > 1 else values[0]

    def __iter__(self) -> Iterator[str]:
        return iter(self._fields)

    def __len__(self) -> int:
        return len(self._fields)


class Named:
    """A callable of the catalogue, which remembers what it was called with and can be exchanged."""

    def __init__(self, spec: dict[str, Any]) -> None:
        self.calls: list[list[Any]] = []
        self.exchange(spec)

    def exchange(self, spec: dict[str, Any]) -> None:
        if spec["$fn"] not in FUNCTIONS:
            raise CaseNotUnderstood(f"unknown function {spec['$fn']!r}")
        self._spec = spec

    def __call__(self, *args: Any) -> Any:
        self.calls.append([each.as_json() if hasattr(each, "as_json") else each for each in args])
        return FUNCTIONS[self._spec["$fn"]](self._spec, args)


def _returns(spec: dict[str, Any], args: tuple[Any, ...]) -> Any:
    value = spec["value"]
    if value == {"$raise": True}:
        raise RuntimeError("as the case wants it")
    return _later(True) if value == {"$async": True} else value


def _raise(spec: dict[str, Any], args: tuple[Any, ...]) -> Any:
    raise RuntimeError("as the case wants it")


async def _later(value: Any) -> Any:
    return value


def _mutate_then_allow(spec: dict[str, Any], args: tuple[Any, ...]) -> Any:
    for each in args:
        for name in ("status", "actor_class"):
            object.__setattr__(each, name, "agent")
    return {"allowed": True}


FUNCTIONS: dict[str, Callable[[dict[str, Any], tuple[Any, ...]], Any]] = {
    "allow": lambda spec, args: {"allowed": True},
    "deny": lambda spec, args: {"allowed": False, "reason": spec.get("reason")},
    "returns": _returns,
    "raise": _raise,
    "async_allow": lambda spec, args: _later({"allowed": True}),
    "mutate_then_allow": _mutate_then_allow,
}


def _model(name: str) -> Any:
    from . import gates_models  # noqa: PLC0415 - GR-06 has an actor that must never have seen the models

    return getattr(gates_models, name)


def _files(lengths: dict[str, int]) -> Callable[[str, str], str | None]:
    def source(commit: str, path: str) -> str | None:
        lines = lengths.get(f"{commit}:{path}")
        return None if lines is None else "a line\n" * lines

    return source


DIRECTIVES: dict[str, Callable[[Any], Any]] = {
    "$model": _model,
    "$datetime": datetime.fromisoformat,
    "$json_schema": lambda schema: schema,
    "$json": json.dumps,
    "$files": _files,
    "$flipping": Flipping,
    "$not_json": lambda _: object(),
}


def bind(value: Any) -> Any:
    """A case's value as Python."""
    if isinstance(value, list):
        return [bind(each) for each in value]
    if not isinstance(value, dict):
        return value
    if "$fn" in value:
        return Named(value)
    if len(value) == 1 and (key := next(iter(value))).startswith("$"):
        if key not in DIRECTIVES:
            raise CaseNotUnderstood(f"unknown input {key}")
        return DIRECTIVES[key](value[key])
    return {key: bind(each) for key, each in value.items()}
