"""Read, merge, write and compile a catalog. The same sentences give the same bytes."""

from __future__ import annotations

import io
from collections.abc import Iterable
from pathlib import Path

from babel.messages.catalog import Catalog
from babel.messages.mofile import write_mo
from babel.messages.pofile import read_po, write_po

from config.dev.translations.marked_strings import Entry

LOCALES = {"zh_Hans": "nplurals=1; plural=0;"}
Key = tuple[str, str]  # context, words
HEADER = "Simplified Chinese. One word, one meaning: the glossary is docs/glossary.md."


def path_of(root: Path, locale: str) -> Path:
    return root / "locale" / locale / "LC_MESSAGES" / "django.po"


def read(path: Path, locale: str) -> Catalog:
    if not path.is_file():
        return Catalog(locale)
    with path.open("rb") as file:
        return read_po(file, locale)


def translations(book: Catalog) -> dict[Key, str]:
    """What was translated, by context and words."""
    return {
        (message.context or "", _first(message.id)): _first(message.string)
        for message in book
        if message.id
    }


def _first(forms: object) -> str:
    """Of a plural, the singular; Chinese has one form of each."""
    return str((forms[0] if isinstance(forms, tuple | list) else forms) or "")


def merged(entries: Iterable[Entry], known: dict[Key, str], locale: str) -> Catalog:
    """Every entry with the translation it had. A plural makes one entry with its singular."""
    book = Catalog(locale)
    many = {(entry.context, entry.words): entry.many for entry in entries if entry.many}
    for key in sorted({(entry.context, entry.words) for entry in entries}, key=lambda k: k[::-1]):
        said, plural = known.get(key, ""), many.get(key)
        book.add(
            (key[1], plural) if plural else key[1],
            (said,) if plural else said,
            context=key[0] or None,
        )
    return book


def as_text(book: Catalog, plurals: str) -> bytes:
    out = io.BytesIO()
    write_po(out, book, width=100, omit_header=True)
    comment = "".join(f"# {line}\n" for line in HEADER.splitlines())
    return f'{comment}msgid ""\nmsgstr ""\n{_head(plurals)}\n\n'.encode() + out.getvalue()


def _head(plurals: str) -> str:
    lines = ["MIME-Version: 1.0", "Content-Type: text/plain; charset=utf-8",
             "Content-Transfer-Encoding: 8bit", f"Plural-Forms: {plurals}"]  # fmt: skip
    return "\n".join(f'"{line}\\n"' for line in lines)


class _Compiled(Catalog):
    """What goes into a .mo file: no date, nobody's version."""

    plurals = ""

    @property
    def mime_headers(self) -> list[tuple[str, str]]:
        return [("Content-Type", "text/plain; charset=utf-8"), ("Plural-Forms", self.plurals)]


def compiled(book: Catalog, plurals: str) -> bytes:
    """A .mo file. The same sentences give the same bytes."""
    bare = _Compiled(fuzzy=False)
    bare.plurals = plurals
    for message in book:
        if message.id and _first(message.string):
            bare.add(message.id, message.string, context=message.context)
    out = io.BytesIO()
    write_mo(out, bare)
    return out.getvalue()
