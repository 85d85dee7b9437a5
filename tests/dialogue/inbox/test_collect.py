from datetime import timedelta
from threading import Barrier, Thread
from time import sleep

import pytest
from django.db import connection, transaction

from dialogue.agents import presences
from dialogue.inbox import collect
from dialogue.models import Notification, ReadCursor
from surfaces.drafts import retry
from surfaces.drafts import services as draft_services
from surfaces.models import AuditEvent, Message
from surfaces.spam import feedback
from tests.factories import NOON, make_account, make_draft, make_message, make_post, make_presence

pytestmark = [pytest.mark.django_db, pytest.mark.engine]


def only() -> Notification:
    return Notification.objects.get()


def test_a_comment_becomes_a_notification_once_however_often_we_look():
    presence = make_presence()
    message = make_message(account=presence.account)
    assert collect.collect(now=NOON).new == 1
    assert collect.collect(now=NOON).new == 0
    assert (only().message, only().agent, only().look_at) == (message, presence.agent, NOON)
    assert only().read_at is None


def test_an_answer_to_our_words_is_a_reply_and_our_name_elsewhere_a_mention():
    presence = make_presence(account=make_account(handle="iris"))
    ours = make_post(account=presence.account)
    theirs = make_post(account=presence.account, direction="incoming", author="ana")
    made = {
        "under our post": make_message(post=ours),
        "names us": make_message(post=theirs, content="what says @Iris to this?"),
        "by the way": make_message(post=theirs, content="a quiet word"),
    }
    collect.collect(now=NOON)
    kinds = {name: Notification.objects.about(row).get().kind for name, row in made.items()}
    assert kinds == {"under our post": "reply", "names us": "mention", "by the way": "comment"}


def test_a_post_that_names_us_is_kept_for_the_agent_and_no_other_post_is():
    presence = make_presence(account=make_account(handle="iris"))
    make_post(account=presence.account, direction="incoming", author="ana")
    named = make_post(account=presence.account, direction="incoming", title="@iris, a question")
    collect.collect(now=NOON)
    assert (only().message, only().kind, only().look_at) == (named, "mention", NOON)


def test_a_link_post_that_names_us_is_kept_although_it_has_no_text():
    presence = make_presence(account=make_account(handle="iris"))
    link = make_post(
        account=presence.account, direction="incoming", title="@iris, see this", content=None
    )
    collect.collect(now=NOON)
    assert (only().message, only().kind) == (link, "mention")


@pytest.mark.parametrize(
    "given",
    [
        {"spam_status": "spam"},
        {"spam_status": "suspect"},
        {"direction": "outgoing"},
        {"deleted_at": NOON},
        {"seen_at": NOON - timedelta(days=1)},
    ],
)
def test_what_is_not_its_business_stays_out(given):
    presence = make_presence()
    make_message(account=presence.account, **given)
    assert collect.collect(now=NOON).new == 0


def test_an_ended_presence_hears_nothing():
    presence = make_presence(ended_at=NOON)
    make_message(account=presence.account)
    assert collect.collect(now=NOON).new == 0


def test_a_comment_called_clean_by_a_person_comes_in_late():
    presence = make_presence()
    old = make_message(account=presence.account, spam_status="suspect")
    for _ in range(3):
        collect.collect(now=NOON)
    feedback.mark(old, is_spam=False, by="operator:mira", now=NOON)
    assert collect.collect(now=NOON).opened == 1
    assert only().message == old
    assert collect.collect(now=NOON).opened == 0


def test_an_unmarked_comment_is_opened_again_once():
    presence = make_presence()
    message = make_message(account=presence.account)
    collect.collect(now=NOON)
    only().note(read_at=NOON, outcome="passed", verdict="spam", why="No reply: it is spam.")
    AuditEvent.objects.record("message.unmarked", actor="operator:mira", subject=message)
    collect.collect(now=NOON)
    assert only().read_at is None
    Notification.objects.update(read_at=NOON, outcome="passed")
    collect.collect(now=NOON)
    assert only().read_at == NOON


def test_what_was_answered_is_never_opened_again():
    presence = make_presence()
    message = make_message(account=presence.account)
    collect.collect(now=NOON)
    Notification.objects.update(read_at=NOON, outcome="answered")
    AuditEvent.objects.record("message.retried", actor="operator:mira", subject=message)
    collect.collect(now=NOON)
    assert only().read_at == NOON


def test_a_draft_sent_back_asks_for_another_at_once():
    presence = make_presence()
    message = make_message(account=presence.account)
    collect.collect(now=NOON)
    draft = make_draft(target=message, origin="scripted", agent=presence.agent.slug)
    only().note(draft=draft, look_at=None)
    later = NOON + timedelta(minutes=5)
    draft_services.send_back(draft, note="Shorter, please.", by="operator:mira", now=later)
    collect.collect(now=later)
    assert (only().draft, only().look_at, only().asked_at) == (None, later, later)


@pytest.mark.parametrize(
    ("state", "facts", "outcome"),
    [
        ("sent", {"sent_at": NOON}, "answered"),
        ("withdrawn", {}, ""),
        ("failed", {}, ""),
        ("shadowed", {}, ""),
        ("waiting", {}, ""),
    ],
)
def test_only_a_sent_draft_answers_its_notification(state, facts, outcome):
    presence = make_presence()
    message = make_message(account=presence.account)
    collect.collect(now=NOON)
    draft = make_draft(target=message, state=state, **facts)
    only().note(draft=draft, look_at=None)
    collect.collect(now=NOON)
    assert str(only().outcome) == outcome
    assert (only().look_at == NOON) == (state in {"withdrawn", "failed", "shadowed"})


def test_a_notification_cannot_be_read_without_a_word_why():
    presence = make_presence()
    make_message(account=presence.account)
    collect.collect(now=NOON)
    with pytest.raises(Exception, match="notification_read_says_why"), transaction.atomic():
        Notification.objects.update(read_at=NOON, outcome="passed", why="")


def test_the_mark_moves_and_what_lies_behind_it_is_read_no_more(monkeypatch):
    presence = make_presence()
    for _ in range(5):
        make_message(account=presence.account)
    monkeypatch.setattr(collect, "OVERLAP", 0)
    newest = Message.objects.order_by("-pk").first()
    for _ in range(3):
        collect.collect(now=NOON)
    # Inside a test's own transaction nothing older ever ends, so the mark waits with it.
    assert ReadCursor.objects.get(name="messages").candidate == newest.pk


@pytest.mark.django_db(transaction=True)
def test_a_message_that_commits_late_is_not_lost(monkeypatch):
    """Ids are given before transactions commit: a later id may be seen first."""
    monkeypatch.setattr(collect, "OVERLAP", 0)
    presence = make_presence()
    early, late = Barrier(2), Barrier(2)

    def store_slowly() -> None:
        with transaction.atomic():
            make_message(account=presence.account, content="the early id")
            early.wait(20)
            late.wait(20)
        connection.close()

    thread = Thread(target=store_slowly)
    thread.start()
    early.wait(20)
    make_message(account=presence.account, content="the later id")
    for _ in range(4):
        collect.collect(now=NOON)
    assert Notification.objects.count() == 1
    late.wait(20)
    thread.join()
    collect.collect(now=NOON)
    assert Notification.objects.count() == 2


@pytest.mark.django_db(transaction=True)
def test_the_mark_passes_what_has_committed(monkeypatch):
    monkeypatch.setattr(collect, "OVERLAP", 0)
    presence = make_presence()
    newest = make_message(account=presence.account)
    for _ in range(600):  # whatever else runs on this server must end first
        collect.collect(now=NOON)
        if ReadCursor.objects.get(name="messages").through == newest.pk:
            break
        sleep(0.1)
    assert ReadCursor.objects.get(name="messages").through == newest.pk


@pytest.mark.django_db(transaction=True)
def test_many_looking_at_once_make_one_notification_each():
    presence = make_presence()
    for _ in range(20):
        make_message(account=presence.account)
    start = Barrier(4)

    def look() -> None:
        start.wait(20)
        for _ in range(3):
            collect.collect(now=NOON)
        connection.close()

    threads = [Thread(target=look) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    collect.collect(now=NOON)
    assert Notification.objects.count() == 20


def test_gathering_takes_the_same_queries_for_one_and_for_many(django_assert_max_num_queries):
    presence = make_presence()
    collect.collect(now=NOON)
    for _ in range(30):
        make_message(account=presence.account)
    with django_assert_max_num_queries(19):
        assert collect.collect(now=NOON).new == 30


def test_what_an_agent_elsewhere_answered_by_itself_is_read():
    presence = make_presence()
    comment = make_message(account=presence.account)
    collect.collect(now=NOON)
    only().note(look_at=None, verdict="elsewhere", why="Waiting: it lives elsewhere.")
    make_message(post=comment.post, parent=comment, direction="outgoing", author="iris")
    assert collect.collect(now=NOON).answered == 1
    assert str(only().outcome) == "answered"


def test_a_comment_asked_for_again_belongs_to_the_presence_that_lives_now():
    presence = make_presence()
    message = make_message(account=presence.account)
    collect.collect(now=NOON)
    Notification.objects.update(read_at=NOON, outcome="passed", why="No reply: it ended.")
    presences.leave(presence, by="operator:mira", now=NOON)
    again = presences.join(presence.agent, presence.account, by="operator:mira", now=NOON)
    retry.retry_message(message, by="operator:mira", now=NOON)
    collect.collect(now=NOON)
    assert (only().presence, only().read_at) == (again, None)


def test_a_longer_name_and_an_address_are_not_our_name():
    presence = make_presence(account=make_account(handle="iris"))
    theirs = make_post(account=presence.account, direction="incoming", title="By the @irish sea")
    other = make_message(post=theirs, content="@iris_2, @iris.blue, write to x@iris.com")
    ours = make_message(post=theirs, content="你好@Iris你说, and (@iris).")
    collect.collect(now=NOON)
    assert not Notification.objects.about(theirs).exists()
    assert Notification.objects.about(other).get().kind == "comment"
    assert Notification.objects.about(ours).get().kind == "mention"


@pytest.mark.parametrize("handle", ["小明", "Élan", "a\\b", "[x](y)", "$^|", "iris:place.org"])
def test_a_name_in_any_script_is_found(handle):
    presence = make_presence(account=make_account(handle=handle))
    theirs = make_post(account=presence.account, direction="incoming", author="ana")
    named = make_message(post=theirs, content=f"well, @{handle.swapcase()}, what now?")
    collect.collect(now=NOON)
    assert Notification.objects.about(named).get().kind == "mention"


def test_a_name_with_signs_in_it_is_found_as_it_stands():
    presence = make_presence(account=make_account(handle="i.r+s"))
    theirs = make_post(account=presence.account, direction="incoming", author="ana")
    named = make_message(post=theirs, content="well, @I.R+S?")
    other = make_message(post=theirs, content="well, @ixrrs?")
    collect.collect(now=NOON)
    assert Notification.objects.about(named).get().kind == "mention"
    assert Notification.objects.about(other).get().kind == "comment"


def test_an_edit_does_not_shorten_the_wait_between_tries_and_a_person_does():
    presence = make_presence()
    message = make_message(account=presence.account)
    collect.collect(now=NOON)
    later = NOON + timedelta(hours=6)
    only().note(not_before=later, look_at=later)
    AuditEvent.objects.record("message.edited", actor="watcher", subject=message)
    collect.collect(now=NOON)
    assert (only().look_at, only().not_before) == (NOON, later)
    AuditEvent.objects.record("message.retried", actor="operator:mira", subject=message)
    collect.collect(now=NOON)
    assert (only().look_at, only().not_before) == (NOON, None)
