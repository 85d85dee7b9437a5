"""Keep the keys that nobody gave us: made once, readable by us alone.

Losing these files means signing in again and connecting accounts again;
nothing else in the database depends on them.
"""

import os
import secrets
from pathlib import Path

from cryptography.fernet import Fernet


def secret_key(given: str, data: Path) -> str:
    """Return Django's secret key: the given one, or the one kept in the data folder."""
    return given or _kept(data / "secret_key", secrets.token_urlsafe(50))


def credential_keys(given: tuple[str, ...], data: Path) -> list[str]:
    """Return the Fernet keys for credentials, newest first."""
    if given:
        return list(given)
    return _kept(data / "credential_keys", Fernet.generate_key().decode()).split()


def _kept(path: Path, fresh: str) -> str:
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_suffix(f".{os.getpid()}")
    if not path.exists():
        descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(descriptor, "w") as file:
            file.write(fresh)
        try:
            # A link cannot replace: of two first starts, one key wins for both.
            os.link(temporary, path)
        except FileExistsError:
            pass
        finally:
            temporary.unlink()
    return path.read_text("utf-8").strip()
