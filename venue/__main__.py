"""The script `venue`, and `python -m venue` where no script is on the path."""

import contextlib
import io
import os
import signal
import sys

_INTERRUPTED = 130


def main() -> None:
    """Run the command line, and end at Ctrl-C whatever it is about.

    While it is being loaded, the system ends it: in the midst of an import a KeyboardInterrupt can be lost.
    Once a command was interrupted, nothing is waited for: a thread that looks up a name cannot be stopped.
    """
    handler = signal.getsignal(signal.SIGINT)
    if handler is signal.default_int_handler:
        signal.signal(signal.SIGINT, signal.SIG_DFL)
    from .cli import app  # noqa: PLC0415 - this is what takes its time

    if handler is signal.default_int_handler:
        signal.signal(signal.SIGINT, handler)
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="backslashreplace")  # a pipe need not know every letter
    try:
        app()
    except KeyboardInterrupt:
        _leave()
    except OSError as error:
        sys.exit(f"venue: {error}")
    except SystemExit as ended:
        if ended.code == _INTERRUPTED:
            _leave()
        raise


def _leave() -> None:
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(OSError, ValueError):
            stream.flush()
    os._exit(_INTERRUPTED)


if __name__ == "__main__":
    main()
