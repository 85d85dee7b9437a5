"""Promises of drafts that nothing else would notice if they were broken."""

from __future__ import annotations

import pytest

from surfaces.delivery import preflight
from surfaces.delivery.sender import claim
from surfaces.drafts import services as draft_services
from surfaces.errors import NotAllowed
from surfaces.models import Draft, Pause
from surfaces.workers.locks import WorkerLock
from tests.factories import NOON, make_approved, make_message

pytestmark = [pytest.mark.django_db, pytest.mark.engine]


def test_after_the_tenth_try_nobody_writes_an_eleventh_by_hand():
    comment = make_message(reply_attempts=10, reply_status="pending")
    with pytest.raises(NotAllowed, match="All 10 attempts"):
        draft_services.compose(
            account=comment.account,
            what="reply",
            target=comment,
            text="Once more, then.",
            by="operator:mira",
            now=NOON,
        )
    comment.refresh_from_db()
    assert (comment.reply_attempts, comment.reply_status) == (10, "pending")
    assert not Draft.objects.exists()


@pytest.mark.parametrize("scope", ["all", "surface", "account", "agent"])
def test_whatever_is_paused_after_the_claim_does_not_leave(scope: str):
    draft = make_approved(agent="iris")
    [claimed] = claim(WorkerLock(), now=NOON)
    account = draft.account
    subjects = {"all": "", "surface": account.surface.slug, "account": account.name}
    Pause.objects.create(
        scope=scope, subject=subjects.get(scope, "iris"), by="operator:mira", since=NOON
    )
    assert not preflight.start_sending(claimed, now=NOON)
    draft.refresh_from_db()
    assert (draft.state, draft.sendings) == ("approved", 0)
    assert str(draft.why).startswith("Not sent yet: ")
