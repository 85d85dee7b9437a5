"""Filters of messages, parsed from a query string and back."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Self

from django.db.models import OuterRef, Q, Subquery
from django.db.models.lookups import IsNull
from django.utils.translation import gettext as _

from surfaces.messages.models import (
    AWAITING,
    Direction,
    Message,
    MessageKind,
    ReplyStatus,
    SpamStatus,
    excerpt,
)
from surfaces.web.requests import parse_id

LONGEST = 200  # of one value
NONE = "none"
# Words are not parted in these scripts, so full-text search cannot find them; pg_trgm, which
# could, is not in the embedded PostgreSQL. They are looked for as they stand, window by window.
UNPARTED = re.compile("[\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff\uac00-\ud7af\U00020000-\U0003ffff]")
UNBOUNDED = re.compile(r"(^|\s)-|\bor\b", re.IGNORECASE)  # asks for almost everything


@dataclass(frozen=True, kw_only=True, slots=True)
class Filters:
    """Filters. Invalid values are reported and ignored."""

    account: int | None = None
    direction: str = ""
    kind: str = ""
    spam_status: str = ""  # or "none"
    reply_status: str = ""  # or "none"
    community: str = ""
    author: str = ""
    waiting: bool = False
    words: str = ""
    within: frozenset[int] | None = None  # accounts somebody may see at all; None is all
    notes: tuple[str, ...] = ()

    @classmethod
    def of(cls, given: Mapping[str, str], *, within: frozenset[int] | None = None) -> Self:
        """Read a query string: `account=3&spam_status=none&q=@ann+tide`."""
        notes: list[str] = []

        def one_of(name: str, values: list[str]) -> str:
            value = given.get(name, "")
            if value and value not in values:
                named = {"name": name, "value": value[:40], "value2": ", ".join(values)}
                notes.append(_("%(name)s “%(value)s” is not one of %(value2)s.") % named)
                return ""
            return value

        def text(name: str) -> str:
            value = given.get(name, "").strip()
            if len(value) > LONGEST:
                named = {"name": name, "longest": LONGEST}
                notes.append(_("%(name)s was cut to %(longest)s characters.") % named)
            return value[:LONGEST]

        asked = text("q").split()
        names = [word[1:] for word in asked if len(word) > 1 and word.startswith("@")]
        author = text("author").removeprefix("@") or (names[0] if names else "")
        kept = [word for word in asked if word != f"@{author}"]
        account = given.get("account", "")
        if account and parse_id(account) is None:
            notes.append(_("account “%(account)s” is not a number.") % {"account": account[:40]})
        return cls(
            account=parse_id(account), direction=one_of("direction", Direction.values),
            kind=one_of("kind", MessageKind.values),
            spam_status=one_of("spam_status", [*SpamStatus.values, NONE]),
            reply_status=one_of("reply_status", [*ReplyStatus.values, NONE]),
            community=text("community"), author=author, waiting=one_of("waiting", ["1"]) == "1",
            words=" ".join(kept), within=within, notes=tuple(notes),
        )  # fmt: skip

    def query(self) -> dict[str, str]:
        texts = ("direction", "kind", "spam_status", "reply_status", "community", "author")
        asked = {"account": str(self.account or "")}
        asked |= {name: getattr(self, name) for name in texts}
        asked |= {"waiting": "1" if self.waiting else "", "q": self.words}
        return {name: value for name, value in asked.items() if value}

    @property
    def is_unset(self) -> bool:
        return not self.query()

    def conditions(self) -> dict[str, Q]:
        """Each wish by the name of the index that serves it, or by its own."""
        found: dict[str, Q] = {}
        if self.account is not None:
            found["account"] = Q(account=self.account)
        if self.within is not None:
            if len(self.within) == 1 and self.account is None:
                found["account"] = Q(account=min(self.within))  # of one, an index is in order
            else:
                found["within"] = Q(account__in=sorted(self.within))
        if self.direction:
            ours = self.direction == Direction.OUTGOING
            found["is_ours" if ours else "direction"] = Q(direction=self.direction)
        if self.kind:
            found["is_post" if self.kind == MessageKind.POST else "kind"] = Q(kind=self.kind)
        for name in ("spam_status", "reply_status"):
            value = getattr(self, name)
            if value == NONE:
                found[f"no_{name}"] = Q(**{name: None})
            elif value:
                found[name] = Q(**{name: value})
        if self.community:
            found["community"] = Q(submolt=self.community) & ~Q(submolt="")
        if self.author:
            found["author"] = Q(author=self.author)
        if self.waiting:
            found["is_waiting"] = AWAITING
            # As `unanswered()`, but asked row by row, so that a page reads a page.
            answers = Message.objects.outgoing().filter(parent=OuterRef("pk")).values("pk")
            found["is_unanswered"] = Q(IsNull(Subquery(answers[:1]), True))
        if self.words and UNPARTED.search(self.words):
            for word in self.words.split():
                found[word] = Q(content__contains=word) | Q(title__contains=word)
        elif self.words:
            found["words"] = excerpt(self.words)
        return found

    @property
    def reaches_nothing(self) -> bool:
        return self.within is not None and not self.within

    @property
    def is_indexed(self) -> bool:
        """Whether the word index can answer alone, at a bounded price."""
        words = self.words
        return bool(words) and not UNPARTED.search(words) and not UNBOUNDED.search(words)
