"""A sending in doubt is looked for, never guessed, and settled by what is found or by a person."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from surfaces.delivery import settle
from surfaces.models import Draft, Message
from tests.factories import NOON, make_approved, make_message
from tests.surfaces.delivery.scripted_service import hanging
from tests.surfaces.delivery.sender import send

pytestmark = [pytest.mark.django_db, pytest.mark.engine]


def test_stored_but_answered_500_is_found_and_never_said_twice(service: Any, clock: Any):
    draft = make_approved()
    service.next = [service.store_and_say(500)]

    assert send(service, clock).unknown == 1
    draft.refresh_from_db()
    assert draft.state == "unknown"

    clock.pass_by(minutes=1)
    assert send(service, clock).looked == 1
    draft.refresh_from_db()
    assert draft.state == "sent"
    assert draft.remote_id == "c-1"
    assert len(service.posted) == 1


def test_a_hang_after_storing_is_found_too(service: Any, clock: Any):
    draft = make_approved()
    service.next = [service.store_and_hang]
    send(service, clock)
    clock.pass_by(minutes=1)
    send(service, clock)
    draft.refresh_from_db()
    assert (draft.state, len(service.posted)) == ("sent", 1)


def test_what_is_absent_until_the_delay_is_over_is_sent_again_as_a_new_try(
    service: Any, clock: Any
):
    draft = make_approved()
    Message.objects.filter(pk=draft.target_id).update(reply_attempts=1)
    service.next = [hanging]
    send(service, clock)
    draft.refresh_from_db()
    while draft.state == "unknown":
        assert len(service.posted) == 1
        clock.now = draft.look_at
        send(service, clock)
        draft.refresh_from_db()
        if draft.state == "unknown":
            assert "may store a request 10 min late" in str(draft.why)
    assert clock.now == NOON + timedelta(minutes=10)
    assert draft.state == "sent"
    assert draft.target.reply_attempts == 2
    assert len(service.comments) == 1


def test_after_a_long_silence_of_ours_two_looks_are_needed_all_the_same(service: Any, clock: Any):
    draft = make_approved()
    service.next = [hanging]
    send(service, clock)
    clock.pass_by(hours=3)
    send(service, clock)
    draft.refresh_from_db()
    assert (draft.state, draft.absences) == ("unknown", 1)
    clock.pass_by(hours=3)
    send(service, clock)
    draft.refresh_from_db()
    assert (draft.state, len(service.posted)) == ("sent", 2)


def test_a_cut_list_leads_to_a_person_and_never_to_a_second_reply(service: Any, clock: Any):
    draft = make_approved()
    service.next = [hanging]
    service.is_cut = True
    send(service, clock)
    for _ in range(6):
        clock.pass_by(hours=2)
        send(service, clock)
    draft.refresh_from_db()
    assert (draft.state, draft.needs_person) == ("unknown", True)
    assert "cut" in str(draft.why)
    assert len(service.posted) == 1
    assert list(Draft.objects.filter(state="unknown", needs_person=True)) == [draft]


def test_a_person_says_it_is_there(service: Any, clock: Any):
    test_a_cut_list_leads_to_a_person_and_never_to_a_second_reply(service, clock)
    draft = Draft.objects.get()
    settle.settle_as_sent(draft, remote_id="c-77", by="operator:mira", now=clock.now)
    draft.refresh_from_db()
    assert (draft.state, draft.message.remote_id) == ("sent", "c-77")
    assert send(service, clock).did == 0


def test_a_person_says_it_is_not_there_and_it_is_sent_again(service: Any, clock: Any):
    test_a_cut_list_leads_to_a_person_and_never_to_a_second_reply(service, clock)
    draft = Draft.objects.get()
    settle.settle_as_not_sent(draft, by="operator:mira", now=clock.now)
    send(service, clock)
    draft.refresh_from_db()
    assert (draft.state, len(service.posted)) == ("sent", 2)


def test_our_words_read_back_by_the_watcher_settle_the_doubt(service: Any, clock: Any):
    draft = make_approved()
    service.next = [hanging]
    send(service, clock)
    make_message(post=draft.target.post, parent=draft.target, direction="outgoing", remote_id="c-9")
    clock.pass_by(minutes=1)
    send(service, clock)
    draft.refresh_from_db()
    assert (draft.state, draft.message.remote_id) == ("sent", "c-9")
