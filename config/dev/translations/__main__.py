"""`python -m config.dev.translations`: bring every catalog up to date."""

from __future__ import annotations

import os
import sys
from pathlib import Path

from config.dev.translations import marked_strings, po_files

ROOT = Path(__file__).resolve().parents[3]


def main() -> None:
    import django

    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
    django.setup()
    found = set(marked_strings.of_tree(ROOT))
    for locale, plurals in po_files.LOCALES.items():
        path = po_files.path_of(ROOT, locale)
        book = po_files.merged(found, po_files.translations(po_files.read(path, locale)), locale)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(po_files.as_text(book, plurals))
        path.with_suffix(".mo").write_bytes(po_files.compiled(book, plurals))
        missing = sum(not said for said in po_files.translations(book).values())
        sys.stdout.write(f"{locale}: {len(found)} entries, {missing} without a translation\n")


if __name__ == "__main__":
    main()
