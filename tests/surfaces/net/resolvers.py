"""Public addresses, and resolvers that a test decides."""

from __future__ import annotations

from collections.abc import Callable

PUBLIC = "93.184.215.14"
PUBLIC_6 = "2606:2800:21f:cb07:6820:80da:af6b:8b2c"


def leading_to(*answers: str) -> Callable[[str, int], list[str]]:
    return lambda host, port: list(answers)


def unasked(host: str, port: int) -> list[str]:
    raise AssertionError(f"{host} was resolved")
