"""`python -m config.catalog`: bring every catalog up to date; `--check` only says what is not."""

from __future__ import annotations

import os
import sys
from pathlib import Path

from config.catalog import books, marked, sentences

ROOT = Path(__file__).resolve().parent.parent.parent


def entries(root: Path = ROOT) -> set[marked.Entry]:
    found = set(marked.of_tree(root))
    known = {entry.words for entry in found if not entry.context}
    return found | {marked.Entry(words) for words in sentences.of_tree(root) if words not in known}


def main() -> None:
    import django

    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
    django.setup()
    found = entries()
    for locale, plurals in books.LOCALES.items():
        path = books.path_of(ROOT, locale)
        book = books.merged(found, books.translations(books.read(path, locale)), locale)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(books.as_text(book, plurals))
        path.with_suffix(".mo").write_bytes(books.compiled(book, plurals))
        missing = sum(not said for said in books.translations(book).values())
        sys.stdout.write(f"{locale}: {len(found)} entries, {missing} without a translation\n")


if __name__ == "__main__":
    main()
