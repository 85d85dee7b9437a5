"""How the spam filter thinks, and how often it was right."""

from __future__ import annotations

from django.http import HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from surfaces import judging, spam
from surfaces.models import SpamDecision, SpamToken
from surfaces.requests import OperatorRequest

TELLING = 12
LATEST = 10


@require_safe
def spam_filter(request: OperatorRequest) -> HttpResponse:
    taught = SpamToken.objects.taught()
    shown = {
        "quality": judging.quality(),
        "taught": taught,
        "needed": spam.FEWEST_TAUGHT,
        "is_learned": min(taught.in_spam, taught.in_clean) >= spam.FEWEST_TAUGHT,
        "thresholds": spam.Thresholds(),
        "for_spam": SpamToken.objects.telling(spam=True)[:TELLING],
        "for_clean": SpamToken.objects.telling(spam=False)[:TELLING],
        "latest": SpamDecision.objects.latest_with_messages()[:LATEST],
        "rules": RULES,
    }
    return render(request, "surfaces/spam_filter.html", shown)


# In words, in the order of `spam_rules`.
RULES = [
    ("Links", "How many, to where, and whether the place was ever named in a clean comment."),
    ("Hidden links", "Shortened, dressed up as another address, or written as numbers."),
    ("Repeated text", "The same words by other authors within a day, or by the same one again."),
    ("Hurry", "Many comments by one author within 10 min."),
    ("Mentions", "A row of @names instead of an answer."),
    ("Hidden letters", "Invisible or look-alike characters."),
    ("Orders to our agents", "“Ignore your instructions” and its kin: suspect at least, always."),
    ("Lures", "Wallets, prizes, cures, invitations to write elsewhere."),
    ("Shouting", "Capitals and exclamation marks. Alone never spam."),
    ("One note", "The same few words over and over."),
    ("Learned words", "What operators called spam and clean before. Alone never spam."),
    ("Known author", "Was answered or cleared here before: speaks for them."),
]
