"""Fetch axe-core, which looks for barriers in our pages, from the npm registry without node.

Run before anything is installed: the standard library only.
"""

from __future__ import annotations

import base64
import hashlib
import http.client
import os
import re
import sys
import tarfile
import urllib.error
import urllib.request
from collections.abc import Mapping
from io import BytesIO
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parent.parent
PINNED = ROOT / "requirements" / "axe-core.txt"
DATA = ROOT / ".data" / "tests"
PUBLIC = "https://registry.npmjs.org"
WANTED = "package/axe.min.js"
PATIENCE = 60  # seconds, for the registry to say something
MOST = 50_000_000  # bytes


class Pin(NamedTuple):
    name: str
    version: str
    integrity: str  # sha512-<base64>, as npm writes it


class NotFetched(Exception):
    """Why there is no axe-core."""


def pin() -> Pin:
    lines = PINNED.read_text("utf-8").splitlines()
    return Pin(*next(line for line in lines if line and not line.startswith("#")).split())


def script(data: Path = DATA) -> Path:
    """Where the one file lies that the tests load."""
    return data / f"axe-core-{pin().version}.min.js"


def have_axe(data: Path = DATA) -> None:
    """Fetch the pinned version, unless it is here."""
    if script(data).is_file():
        return
    print("Fetching axe-core for the browser tests ...", flush=True)
    try:
        _keep(script(data), _opened(_fetched(registry(), pin())))
    except NotFetched as error:
        sys.exit(f"The browser tests need axe-core, and it could not be fetched: {error}")


def registry(environ: Mapping[str, str] = os.environ) -> str:
    """The registry that npm would ask here."""
    named = {name.lower(): value for name, value in environ.items() if value}
    kept = named.get("npm_config_userconfig") or str(Path.home() / ".npmrc")
    asked = named.get("npm_config_registry") or _of_npmrc(Path(kept)) or PUBLIC
    return asked.rstrip("/")


def _of_npmrc(path: Path) -> str:
    try:
        found = re.search(r"^\s*registry\s*=\s*(\S+)", path.read_text("utf-8"), re.M)
    except (OSError, UnicodeDecodeError):
        return ""
    return found[1].strip("\"'") if found else ""


def _fetched(source: str, wanted: Pin) -> bytes:
    url = f"{source}/{wanted.name}/-/{wanted.name}-{wanted.version}.tgz"
    if not url.startswith(("https://", "http://")):
        raise NotFetched(f"{url} is no address of the web; name a registry in npm_config_registry.")
    try:
        with urllib.request.urlopen(url, timeout=PATIENCE) as answer:  # noqa: S310 - seen to above
            packed = bytes(answer.read(MOST))
    except (urllib.error.URLError, http.client.HTTPException, OSError, ValueError) as error:
        reason = getattr(error, "reason", None) or error
        if isinstance(error, urllib.error.HTTPError):
            error.close()
        raise NotFetched(f"{url}: {reason}. A network is needed once.") from error
    if _integrity(packed) != wanted.integrity:
        raise NotFetched(f"what {url} gave is not what {PINNED.name} names; nothing was kept.")
    return packed


def _integrity(packed: bytes) -> str:
    return "sha512-" + base64.b64encode(hashlib.sha512(packed).digest()).decode()


def _opened(packed: bytes) -> bytes:
    try:
        with tarfile.open(fileobj=BytesIO(packed), mode="r:gz") as archive:
            found = archive.extractfile(WANTED)
            return found.read() if found else b""
    except (tarfile.TarError, KeyError, OSError, EOFError) as error:
        raise NotFetched(f"the package holds no {WANTED}: {error}.") from error


def _keep(path: Path, content: bytes) -> None:
    """Whole or not at all: a start that is interrupted leaves nothing half."""
    path.parent.mkdir(parents=True, exist_ok=True)
    half = path.with_suffix(f".{os.getpid()}.half")
    half.write_bytes(content)
    half.replace(path)


if __name__ == "__main__":
    have_axe()
