"""Encrypt secrets at rest, with rotatable keys."""

from cryptography.fernet import Fernet, InvalidToken, MultiFernet
from django.conf import settings

__all__ = ["InvalidToken", "decrypt", "encrypt", "reencrypt"]


def encrypt(secret: str) -> bytes:
    """Return `secret` encrypted with the newest key; empty stays empty."""
    return _box().encrypt(secret.encode()) if secret else b""


def decrypt(seal: bytes | memoryview) -> str:
    """Return the decrypted secret, or raise `InvalidToken` if its key is missing."""
    return _box().decrypt(bytes(seal)).decode() if seal else ""


def reencrypt(seal: bytes) -> bytes:
    """Encrypt the same secret with the newest key."""
    return _box().rotate(seal)


def _box() -> MultiFernet:
    return MultiFernet([Fernet(key) for key in settings.READ_CREDENTIAL_KEYS()])
