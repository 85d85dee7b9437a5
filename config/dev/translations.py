"""The catalogs of translations: found in the source, kept in `locale/`, compiled. `make messages`.

For people who work on the program; nothing here runs on a server. The same sentences give the
same bytes.
"""

import io
import os
import re
import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from babel.messages.catalog import Catalog
from babel.messages.extract import extract
from babel.messages.mofile import write_mo
from babel.messages.pofile import read_po, write_po
from django.utils.translation.template import templatize

ROOT = Path(__file__).resolve().parents[2]
LOCALES = {"zh_Hans": "nplurals=1; plural=0;"}
Key = tuple[str, str]  # context, words
HEADER = "Simplified Chinese. One word, one meaning: the glossary is docs/glossary.md."
KEYWORDS: dict[str, tuple[int | tuple[int, str], ...] | None] = {
    **dict.fromkeys(("_", "_lazy", "gettext", "gettext_lazy", "gettext_noop", "later", "now")),
    "ngettext": (1, 2),
    "ngettext_lazy": (1, 2),
    "pgettext": ((1, "c"), 2),
    "pgettext_lazy": ((1, "c"), 2),
    "npgettext": ((1, "c"), 2, 3),
}
INDENT = re.compile(r"^[ \t]+", re.MULTILINE)  # of HTML: to Python it would be a syntax error
APPS = ("config", "surfaces", "dialogue")
COUNTED = re.compile(r"""\|count:_?\(?(?:"([^"]+)"|'([^']+)')""")
COUNTED_IN_PYTHON = re.compile(r"""\bcount\([^()"]*(?:\([^()]*\))?[^()"]*, "([a-z, ]+)"\)""")


@dataclass(frozen=True, slots=True, order=True)
class Entry:
    """One thing to translate."""

    words: str
    many: str = ""
    context: str = ""


def of_tree(root: Path) -> Iterator[Entry]:
    for kind in ("*.html", "*.txt"):
        for path in sorted((root / "templates").rglob(kind)):
            yield from of_template(path.read_text("utf-8"), path.name)
    for app in APPS:
        for path in sorted((root / app).rglob("*.py")):
            yield from of_python(path.read_text("utf-8"))


def of_template(source: str, name: str = "") -> Iterator[Entry]:
    yield from of_python(INDENT.sub("", templatize(source, origin=name)))
    for found in COUNTED.finditer(source):
        yield counted(found[1] or found[2])


def of_python(source: str) -> Iterator[Entry]:
    lines = io.BytesIO(source.encode())
    for _, words, _, context in extract("python", lines, KEYWORDS, options={"encoding": "utf-8"}):
        one, many = (words[0], words[1]) if isinstance(words, tuple) else (words, "")
        if one:
            yield Entry(one, str(many or ""), context or "")
    for found in COUNTED_IN_PYTHON.finditer(source):
        yield counted(found[1])


def counted(nouns: str) -> Entry:
    """What the filter `count` looks up: "{n} draft", "{n} drafts"."""
    one, _, many = nouns.partition(",")
    return Entry(f"{{n}} {one}", f"{{n}} {many or one + 's'}")


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
    for words, context in sorted({(entry.words, entry.context) for entry in entries}):
        said, plural = known.get((context, words), ""), many.get((context, words))
        one = (words, plural) if plural else words
        book.add(one, (said,) if plural else said, context=context or None)
    return book


def as_text(book: Catalog, plurals: str) -> bytes:
    out = io.BytesIO()
    write_po(out, book, width=100, omit_header=True)
    comment = "".join(f"# {line}\n" for line in HEADER.splitlines())
    lines = ["MIME-Version: 1.0", "Content-Type: text/plain; charset=utf-8",
             "Content-Transfer-Encoding: 8bit", f"Plural-Forms: {plurals}"]  # fmt: skip
    head = "\n".join(f'"{line}\\n"' for line in lines)
    return f'{comment}msgid ""\nmsgstr ""\n{head}\n\n'.encode() + out.getvalue()


class _Compiled(Catalog):
    """What goes into a .mo file: no date, nobody's version."""

    plurals = ""

    @property
    def mime_headers(self) -> list[tuple[str, str]]:
        return [("Content-Type", "text/plain; charset=utf-8"), ("Plural-Forms", self.plurals)]


def compiled(book: Catalog, plurals: str) -> bytes:
    """A .mo file."""
    bare = _Compiled(fuzzy=False)
    bare.plurals = plurals
    for message in book:
        if message.id and _first(message.string):
            bare.add(message.id, message.string, context=message.context)
    out = io.BytesIO()
    write_mo(out, bare)
    return out.getvalue()


def main() -> None:
    import django

    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
    django.setup()
    found = set(of_tree(ROOT))
    for locale, plurals in LOCALES.items():
        path = path_of(ROOT, locale)
        book = merged(found, translations(read(path, locale)), locale)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(as_text(book, plurals))
        path.with_suffix(".mo").write_bytes(compiled(book, plurals))
        missing = sum(not said for said in translations(book).values())
        sys.stdout.write(f"{locale}: {len(found)} entries, {missing} without a translation\n")


if __name__ == "__main__":
    main()
