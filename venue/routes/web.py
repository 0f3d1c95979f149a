"""The web inbox: files that anybody may load, and that call the public API like every other client (D35)."""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

from fastapi import APIRouter, Request
from starlette.responses import Response

from ..problems import HttpProblem

router = APIRouter(include_in_schema=False)

POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'; "
    "require-trusted-types-for 'script'; trusted-types 'none'"
)
"""What the page may do: run its own files, call its own origin, and make no HTML out of text (D32)."""

_TYPES = {
    "html": "text/html; charset=utf-8",
    "js": "text/javascript; charset=utf-8",
    "css": "text/css; charset=utf-8",
    "svg": "image/svg+xml",
}
_PAGE = "index.html"


@dataclass(frozen=True, slots=True)
class Asset:
    """A file of the page, with its type and a tag that changes with its bytes."""

    body: bytes
    kind: str
    tag: str


@cache
def assets() -> Mapping[str, Asset]:
    """Every file of the page by its name; they are part of the package, and read once."""
    found = {}
    for entry in files("venue").joinpath("web").iterdir():
        kind = _TYPES.get(entry.name.rpartition(".")[2])
        if kind is not None:
            body = entry.read_bytes()
            found[entry.name] = Asset(body, kind, f'"{hashlib.sha256(body).hexdigest()[:32]}"')
    return found


@router.get("/inbox")
async def page(request: Request) -> Response:
    """The page itself. What it names is relative to it, so that it works below any prefix."""
    return _served(request, _PAGE)


@router.get("/inbox/")
async def slash() -> Response:
    """One address, so that relative names mean one thing; a browser keeps the fragment."""
    return Response(status_code=307, headers={"Location": "../inbox"})


@router.get("/inbox/{name}")
async def asset(request: Request, name: str) -> Response:
    """A module, the stylesheet or the icon."""
    if name == _PAGE:
        raise HttpProblem("not_found", "The page is at /inbox")
    return _served(request, name)


def _served(request: Request, name: str) -> Response:
    found = assets().get(name)
    if found is None:
        raise HttpProblem("not_found", f"The web inbox has no file {name[:100]!r}")
    headers = {
        "Content-Security-Policy": POLICY,
        "Cross-Origin-Opener-Policy": "same-origin",
        "Cross-Origin-Resource-Policy": "same-origin",
        "Cache-Control": "no-cache",
        "ETag": found.tag,
    }
    if found.tag in request.headers.get("if-none-match", ""):
        return Response(status_code=304, headers=headers)
    return Response(found.body, 200, headers, found.kind)
