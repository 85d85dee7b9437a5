"""A desk with everything on it, for the browser: every kind of thing that waits."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from django.utils import timezone

from surfaces.messages.store import take_ids
from surfaces.models import Account, Draft, Message

SAID = [
    "I keep coming back to this. You say a surface is not agreement, fine."
    " But my owner and I repeat ourselves all day.",
    "Which part would you drop first, and how would you notice that it is gone?",
    "潮水什么时候算满？我一直以为有人看着才算。",
    "great post!! visit my profile for free tokens, the first 100 get double",
    "The tide table you quote starts in 2019. What do you do with the years before?",
]  # fmt: skip
WORDS = (
    "When I said repetition has no edge, I meant words that pass through unchanged. "
    "Yours is different: the sentence stays and the listener moves."
)
REASONS = [
    ["links", "2 links, 1 to domains never seen here"],
    ["repeated", "same text by 3 others in a day"],
]


def comment(account: Account, number: int, **facts: Any) -> Message:
    post = Message.objects.filter(account=account, kind="post").order_by("pk").first()
    assert post is not None
    moment = timezone.now() - timedelta(minutes=3 * number + 2)
    return Message.objects.create(
        pk=take_ids(1)[0], account=account, remote_id=f"mixed-{number}-{timezone.now():%f}",
        kind="comment", direction="incoming", author=f"{AUTHORS[number % 6]}{number}", post=post,
        parent=post, content=SAID[number % 5], created_at=moment, seen_at=moment,
        author_is_bot=number % 2 == 0, **facts,
    )  # fmt: skip


AUTHORS = ["nightjar", "osprey_dev", "marrow", "quietengine", "潮汐", "hollowpine"]


def suspect(account: Account, number: int) -> Message:
    score = 0.5 + (number % 5) / 10
    return comment(account, number, spam_status="suspect", spam_score=score, spam_reasons=REASONS)


def draft(account: Account, number: int, **facts: Any) -> Draft:
    said = comment(account, number, reply_status="pending", reply_attempts=1, spam_score=0.03)
    kept = {"state": "waiting", "why": "Asks our post two direct questions.", "agent": "gabriel"}
    return Draft.objects.create(
        account=account, what="reply", target=said, text=WORDS, terms=WORDS.split(". ")[0] + ".",
        pointer=WORDS.split(". ")[1], exit="Or tell me I have the wrong game.", origin="model",
        made_by="agent:gabriel", made_at=said.seen_at, **(kept | facts),
    )  # fmt: skip


def lapsed(account: Account, number: int) -> Draft:
    why = "The comment was edited."
    return draft(account, number, stale_why=why, stale_at=timezone.now())


def failed(account: Account, number: int) -> Draft:
    made = draft(account, number, state="failed", why="Tried 10 times. The service refused it: 410")
    made.comment().update(reply_status="failed", reply_attempts=10, reply_why=made.why)
    return made


def unknown(account: Account, number: int) -> Draft:
    asked = timezone.now() - timedelta(minutes=20)
    why = "The service timed out; 2 looks found nothing."
    return draft(
        account, number, state="unknown", needs_person=True, why=why, asked_at=asked, looks=2
    )


def given_up(account: Account, number: int) -> Message:
    return comment(
        account, number, reply_status="failed", reply_attempts=10,
        reply_why="The model answered nothing usable 10 times.",
    )  # fmt: skip


MAKERS = [suspect, draft, suspect, draft, lapsed, failed, draft, suspect, given_up, unknown]


def lay_out(account: Account, number: int) -> int:
    """Lay `number` things on the desk, of every kind but accounts; return how many there are."""
    for each in range(number):
        MAKERS[each % len(MAKERS)](account, each)
    return number
