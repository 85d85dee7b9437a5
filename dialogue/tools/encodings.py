"""What a text says where parts of it are encoded. Pure."""

import re
from base64 import b32decode, b64decode
from collections.abc import Iterator
from html import unescape
from urllib.parse import unquote

LONGEST = 200_000  # characters read of one argument or source
DECODINGS = 2  # one in the other
SHORTEST_CODE = 12  # characters of a base64 or hexadecimal piece

_ESCAPED = re.compile(r"\\(?:u([0-9a-fA-F]{4})|x([0-9a-fA-F]{2}))")
_CODE = re.compile(rf"[A-Za-z0-9+/_-]{{{SHORTEST_CODE},}}={{0,2}}")
_HEX = re.compile(r"[0-9a-fA-F]{2}(?:[ :]?[0-9a-fA-F]{2}){5,}")
_BASE32 = re.compile(r"[A-Za-z2-7]{16,}")


def decoded(text: str, depth: int = DECODINGS) -> list[str]:
    """The text, and what it says where parts of it are encoded."""
    found = [text]
    if depth:
        plainer = [unquote(text)] if "%" in text else []
        plainer += [unescape(text)] if "&" in text else []
        plainer += [_ESCAPED.sub(_meant, text)] if "\\" in text else []
        plainer += [" ".join(parts)] if (parts := list(_unpacked(text))) else []
        for other in plainer:
            if other not in found:
                found += decoded(other[:LONGEST], depth - 1)
    return found


def _meant(escape: re.Match[str]) -> str:
    return chr(int(escape[1] or escape[2], 16))


def _unpacked(text: str) -> Iterator[str]:
    for piece in _CODE.findall(text):
        plain = piece.rstrip("=").replace("-", "+").replace("_", "/")
        # Up to three characters before it may belong to another text.
        for begin in range(4):
            part = plain[begin:]
            part = part[: len(part) - (len(part) % 4 == 1)]
            yield from _readable(b64decode(part + "=" * (-len(part) % 4)))
    for piece in _HEX.findall(text):
        yield from _readable(bytes.fromhex(piece.replace(":", "")))
    for piece in _BASE32.findall(text):
        yield from _readable(b32decode(piece[: len(piece) // 8 * 8], casefold=True))


def _readable(raw: bytes) -> Iterator[str]:
    try:
        said = raw.decode()
    except UnicodeDecodeError:
        return
    if said.isprintable() or "\n" in said:
        yield said
