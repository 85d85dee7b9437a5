"""The filter's reasons in words, with how often each was given and found right."""

from collections.abc import Iterable
from dataclasses import dataclass

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from surfaces.spam.replay import Firing, ReplayDecision, firings
from surfaces.spam.rules import RuleCode

# In the order of `spam_rules`.
RULES: dict[str, tuple[str | Promise, str | Promise]] = {
    RuleCode.LINKS: (_("Links"),
        _("Number of links, their domains, and whether a domain appeared in a clean comment"
          " before.")),
    RuleCode.HIDING_LINKS: (_("Hidden links"),
        _("Shortened links, links that show another address, and numeric addresses.")),
    RuleCode.REPEATED: (_("Repeated text"), _("The same text by other authors within a day.")),
    RuleCode.HASTY: (_("Frequent comments"), _("Many comments by one author within 10 min.")),
    RuleCode.MENTIONS: (_("Mentions"), _("Many @names and little other text.")),
    RuleCode.HIDDEN: (_("Hidden characters"), _("Invisible or look-alike characters.")),
    RuleCode.INJECTION: (_("Prompt injection"),
        _("Instructions to an agent, such as “ignore your instructions”. Always at least"
          " suspect.")),
    RuleCode.LURE: (_("Scam phrases"),
        _("Wallets, prizes, cures, and requests to continue elsewhere.")),
    RuleCode.SHOUTING: (_("Shouting"), _("Capitals and exclamation marks. Never spam by itself.")),
    RuleCode.MONOTONE: (_("Repetition"), _("The same few words repeated many times.")),
    RuleCode.UNREAD: (_("Overlong text"),
        _("Only the first 20,000 characters are checked. Always at least suspect.")),
    RuleCode.WORDS: (_("Learned words"),
        _("Words from comments that operators marked as spam. Never spam by themselves.")),
}  # fmt: skip
FAVOURS = [
    (_("Known author"), _("The author was answered or marked clean before. Halves the score.")),
    (_("Clean words"), _("Words from comments that operators marked as clean. Lowers the score.")),
]


@dataclass(frozen=True, slots=True)
class SpamRule:
    name: str | Promise
    words: str | Promise
    firing: Firing


def rules(fired: dict[str, int], decisions: Iterable[ReplayDecision]) -> list[SpamRule]:
    """Every rule, those that were given most often first; what never fired last."""
    found = {firing.sign: firing for firing in firings(fired, decisions)}
    silent = {sign: Firing(sign, 0, 0, 0) for sign in RULES if sign not in found}
    return [
        SpamRule(*RULES.get(sign, (sign.replace("_", " "), "")), firing)
        for sign, firing in (found | silent).items()
    ]
