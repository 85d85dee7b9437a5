"""Keep secrets encrypted at rest, under keys that can be rotated."""

from __future__ import annotations

from cryptography.fernet import Fernet, InvalidToken, MultiFernet
from django.conf import settings

__all__ = ["InvalidToken", "opened", "resealed", "sealed"]


def sealed(secret: str) -> bytes:
    """Return `secret` encrypted under the newest key; nothing stays nothing."""
    return _box().encrypt(secret.encode()) if secret else b""


def opened(seal: bytes | memoryview) -> str:
    """Return the secret in the clear, or raise `InvalidToken`: its key is gone."""
    return _box().decrypt(bytes(seal)).decode() if seal else ""


def resealed(seal: bytes) -> bytes:
    """Return the same secret under the newest key."""
    return _box().rotate(seal)


def _box() -> MultiFernet:
    return MultiFernet([Fernet(key) for key in settings.READ_CREDENTIAL_KEYS()])
