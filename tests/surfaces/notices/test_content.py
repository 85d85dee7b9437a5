"""What strangers wrote can neither steer a mail nor pass for ours."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import HealthCheck, given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

from surfaces.models import InstanceSettings
from surfaces.notices.email import Email, message_of
from tests.factories import make_account
from tests.fakes.receiver import Receiver
from tests.surfaces.notices.factories import go_round, make_hearer, make_item, make_rule
from tests.surfaces.notices.factories import smtp as smtp

pytestmark = [pytest.mark.django_db, pytest.mark.engine]
HOSTILE = (
    "Hi\r\nBcc: all@example.org\r\n\r\n> «urgent»\u202e click http://evil.example " + "x" * 500
)


@hypothesis_settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.text(max_size=400))
def test_no_subject_can_begin_a_header(words: str):
    letter = Email(
        to="mira@example.org", subject=words, text="x", key="k", settings_page="http://h/", host="h"
    )
    raw = message_of(letter).message().as_bytes()
    head = raw.partition(b"\n\n")[0].decode("ascii")
    names = [
        line.partition(":")[0] for line in head.splitlines() if not line.startswith((" ", "\t"))
    ]
    assert {name.lower() for name in names} <= {
        "content-type", "mime-version", "content-transfer-encoding", "subject", "from", "to",
        "date", "message-id", "list-unsubscribe", "auto-submitted",
    }  # fmt: skip


def test_strangers_words_are_short_marked_and_never_in_the_subject(smtp: Any, clock: Any):
    make_rule()
    make_item(author=HOSTILE[:200], words=HOSTILE)
    go_round(clock)
    (mail,) = smtp.got
    assert mail.to == [mail.message["To"]]
    assert mail.message["Bcc"] is None
    assert "evil" not in mail.subject
    (quoted,) = [line for line in mail.text.splitlines() if "evil" in line]
    assert quoted.startswith("  > ")
    assert len(quoted) < 260
    assert quoted.count("«") == 1
    assert "\u202e" not in mail.text
    assert mail.message["Auto-Submitted"] == "auto-generated"
    assert "/settings/notices/" in mail.message["List-Unsubscribe"]


def test_a_mail_names_the_house_and_the_hour_of_who_reads_it(smtp: Any, clock: Any):
    InstanceSettings.objects.create(pk=1, name="Tide House")
    make_rule(make_hearer(time_zone="Asia/Shanghai"))
    make_item()
    go_round(clock)
    (mail,) = smtp.got
    assert mail.subject.startswith("[Tide House] ")
    assert "2026-11-21 20:00 CST" in mail.text


def test_a_webhook_is_signed_and_says_what_waits(clock: Any, settings: Any):
    from surfaces.notices import rules

    settings.WAKE_PRIVATE_ADDRESSES = True
    with Receiver() as receiver:
        operator = make_hearer()
        given = {"channel": "webhook", "url": receiver.url, "hears_items": True, "pace": "once"}
        kept = rules.add(operator, given, now=clock())
        receiver.secret = kept.new_secret.removeprefix("whsec_")
        receiver.is_punctual = False
        item = make_item(make_account(), author="eve", words=HOSTILE)
        assert go_round(clock).told == 1
        (got,) = receiver.got
    assert got.body["type"] == "desk.notice"
    assert got.body["data"]["count"] == 1
    (told,) = got.body["data"]["items"]
    assert told["url"].endswith(f"/desk/draft/{item.item_id}/")
    assert len(told["excerpt"]) <= 160
    assert kept.new_secret not in str(got.body)


def test_a_webhook_into_our_own_network_is_refused(clock: Any, settings: Any):
    from surfaces.errors import BadInput
    from surfaces.notices import rules

    settings.WAKE_PRIVATE_ADDRESSES = False
    given = {"channel": "webhook", "url": "https://127.0.0.1/x", "hears_items": True}
    with pytest.raises(BadInput, match="loopback"):
        rules.add(make_hearer(), given, now=clock())


def test_a_name_that_leads_into_our_network_is_not_called(clock: Any, settings: Any):
    from surfaces.models import NoticeDelivery

    settings.WAKE_PRIVATE_ADDRESSES = False
    make_rule(channel="webhook", url="https://hooks.example.org/x", sealed_secret=b"")
    make_item()
    assert go_round(clock, resolve=lambda host, port: ["10.0.0.5"]).later == 1
    assert "a private address" in str(NoticeDelivery.objects.get().why)


def test_who_is_gone_is_switched_off(clock: Any, settings: Any):
    from surfaces.models import NoticeRule
    from surfaces.notices import rules

    settings.WAKE_PRIVATE_ADDRESSES = True
    with Receiver() as receiver:
        given = {"channel": "webhook", "url": receiver.url, "hears_items": True, "pace": "once"}
        kept = rules.add(make_hearer(), given, now=clock())
        receiver.next = [410]
        make_item()
        assert go_round(clock).failed == 1
    assert not NoticeRule.objects.get(pk=kept.rule.pk).is_on
