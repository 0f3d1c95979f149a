"""A validation error as one sentence for a person, naming the place (`asks[0].options[1]`). Pure."""

from pydantic import ValidationError

_SHOWN = 3
_LONGEST = 64


def explain(error: ValidationError, place: str = "") -> str:
    """Say what is wrong and where, below `place`.

    Never repeats a value that was sent: it may be an answer or a secret. A name is cut for the same reason.
    """
    problems = error.errors(include_url=False, include_context=False, include_input=False)
    shown = [f"{_place(place, problem['loc'])}: {_lowered(problem['msg'])}" for problem in problems[:_SHOWN]]
    more = len(problems) - len(shown)
    return "; ".join(shown) + (f"; and {more} more" if more > 0 else "")


def shortened(name: str) -> str:
    """A name that was sent, as an error may repeat it: one may hold anything, and be as long as a body."""
    return name if len(name) <= _LONGEST else f"{name[:_LONGEST]}…"


def _place(text: str, location: tuple[int | str, ...]) -> str:
    for part in location:
        text += f"[{part}]" if isinstance(part, int) else f".{shortened(part)}" if text else shortened(part)
    return text or "input"


def _lowered(message: str) -> str:
    return message[:1].lower() + message[1:]
