"""The filter's reasons in words, with how often each was given and found right."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from surfaces.spam_replay import Decision, Firing, firings
from surfaces.spam_rules import Sign

# In the order of `spam_rules`.
RULES: dict[str, tuple[str | Promise, str | Promise]] = {
    Sign.LINKS: (
        _("Links"),
        _("How many, to where, and whether the place was ever named in a clean comment."),
    ),
    Sign.HIDING_LINKS: (
        _("Hidden links"),
        _("Shortened, dressed up as another address, or written as numbers."),
    ),
    Sign.REPEATED: (_("Repeated text"), _("The same words by other authors within a day.")),
    Sign.HASTY: (_("Hurry"), _("Many comments by one author within 10 min.")),
    Sign.MENTIONS: (_("Mentions"), _("A row of @names instead of an answer.")),
    Sign.HIDDEN: (_("Hidden letters"), _("Invisible or look-alike characters.")),
    Sign.INJECTION: (
        _("Orders to our agents"),
        _("“Ignore your instructions” and its kin: suspect at least, always."),
    ),
    Sign.LURE: (_("Lures"), _("Wallets, prizes, cures, invitations to write elsewhere.")),
    Sign.SHOUTING: (_("Shouting"), _("Capitals and exclamation marks. Alone never spam.")),
    Sign.MONOTONE: (_("One note"), _("The same few words over and over.")),
    Sign.UNREAD: (
        _("Too long to read"),
        _("Only the first 20,000 characters are looked at: suspect at least, always."),
    ),
    Sign.WORDS: (_("Learned words"), _("What operators called spam before. Alone never spam.")),
}
FAVOURS = [
    (_("Known author"), _("Was answered or cleared here before: halves the score.")),
    (_("Words known as clean"), _("What operators called clean before: lowers the score.")),
]


@dataclass(frozen=True, slots=True)
class Rule:
    name: str | Promise
    words: str | Promise
    firing: Firing


def rules(fired: dict[str, int], decisions: Iterable[Decision]) -> list[Rule]:
    """Every rule, those that were given most often first; what never fired last."""
    found = {firing.sign: firing for firing in firings(fired, decisions)}
    silent = {sign: Firing(sign, 0, 0, 0) for sign in RULES if sign not in found}
    return [
        Rule(*RULES.get(sign, (sign.replace("_", " "), "")), firing)
        for sign, firing in (found | silent).items()
    ]
