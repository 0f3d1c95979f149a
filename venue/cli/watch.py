"""stub"""

from .connection import Connection


def run(connection: Connection) -> None:
    """stub"""
