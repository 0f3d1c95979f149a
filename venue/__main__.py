"""`python -m venue`: the command `venue` where no script is on the path."""

from .cli import main

main()
