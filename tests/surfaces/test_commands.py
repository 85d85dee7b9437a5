"""Commands that scripts rely on: JSON out, one clear sentence when refused, nothing half-done."""

from __future__ import annotations

import json
from collections.abc import Iterator
from io import StringIO
from typing import Any

import pytest
from cryptography.fernet import Fernet
from django.conf import settings
from django.core.management import CommandError, ManagementUtility, call_command
from django.utils import timezone
from django_q.models import Schedule

from config import keys as config_keys
from config.postgres.base import as_owner
from surfaces import health_checks
from surfaces.models import Account, AuditEvent, Draft, Message, Pause, Surface
from tests.factories import make_account, make_agent, make_approved, make_message, make_surface
from tests.fakes.moltbook import FakeMoltbook

pytestmark = [pytest.mark.django_db, pytest.mark.engine]


@pytest.fixture
def moltbook() -> Iterator[FakeMoltbook]:
    with FakeMoltbook() as fake:
        fake.key = fake.add_agent("iris")
        fake.add_agent("nightjar")
        yield fake


def said(*words: str, **options: Any) -> list[dict[str, Any]]:
    """What the command printed, each line as JSON."""
    out, err = StringIO(), StringIO()
    call_command(*words, stdout=out, stderr=err, **options)
    assert err.getvalue() == ""
    return [json.loads(line) for line in out.getvalue().splitlines()]


def refused(*words: str) -> str:
    """The sentence with which the command ends, with exit status 2."""
    with pytest.raises(CommandError) as raised:
        call_command(*words, stdout=StringIO(), stderr=StringIO())
    assert raised.value.returncode == 2
    assert "\n" not in str(raised.value)
    return str(raised.value)


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["connect", "moltbook"], "--agent"),
        (["connect", "moltbook", "--agent", "iris", "--every", "often"], "--every"),
        (["pause"], "--all"),
        (["pause", "--all", "--agent", "iris"], "not allowed"),
        (["resume"], "--all"),
        (["resume", "--surface", "a", "--account", "b"], "not allowed"),
        (["agents", "export"], "DIR"),
        (["agents"], "import|export"),
        (["backfill"], "account"),
        (["watch", "--twice"], "--twice"),
    ],
)
def test_a_command_used_wrongly_ends_in_one_sentence_with_status_2(
    words: list[str], says: str, capsys: Any
):
    with pytest.raises(SystemExit) as ended:
        ManagementUtility(["manage.py", *words]).execute()
    assert ended.value.code == 2
    [sentence] = capsys.readouterr().err.splitlines()
    assert says in sentence
    assert sentence.startswith(f"manage.py {words[0]}")
    assert sentence.endswith("--help.")


@pytest.fixture
def account(moltbook: FakeMoltbook, monkeypatch: pytest.MonkeyPatch) -> Account:
    monkeypatch.setenv("IRIS_TOKEN", moltbook.key)
    said("connect", "moltbook", "--agent", "iris", "--base-url", moltbook.url,
         "--token-env", "IRIS_TOKEN")  # fmt: skip
    return Account.objects.get()


# ── connect ───────────────────────────────────────────────────────────────


def test_connect_says_what_it_made(moltbook: Any, monkeypatch: Any):
    monkeypatch.setenv("IRIS_TOKEN", moltbook.key)
    [line] = said("connect", "moltbook", "--agent", "iris", "--base-url", moltbook.url,
                  "--token-env", "IRIS_TOKEN", "--every", "15", "--mode", "auto")  # fmt: skip
    assert line["agent"] == "iris"
    assert (line["every_minutes"], line["mode"], line["state"]) == (15, "auto", "ok")
    assert line["base_url"] == moltbook.url
    assert line["account"] == Account.objects.get().name
    assert moltbook.key not in json.dumps(line)


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["teletext", "--agent", "iris"], "no kind"),
        (["moltbook", "--agent", "Iris!"], "not a valid short name"),
        (["moltbook", "--agent", "iris", "--every", "0"], "1 to 1440"),
        (["moltbook", "--agent", "iris", "--mode", "loud"], "There is no mode"),
        (["moltbook", "--agent", "iris"], "needs a credential"),
        (["moltbook", "--agent", "iris", "--token-env", "NO_SUCH_VARIABLE"], "NO_SUCH_VARIABLE"),
        (["moltbook", "--agent", "iris", "--base-url", "ftp://x"], "not a valid address"),
    ],
)
def test_connect_refuses_with_one_sentence_and_keeps_nothing(words: list[str], says: str):
    assert says in refused("connect", *words)
    assert not Account.objects.exists()
    assert not Surface.objects.exists()


# ── watch and deliver ─────────────────────────────────────────────────────


@pytest.mark.django_db(transaction=True)
def test_watch_once_prints_a_line_per_account(moltbook: Any, account: Account):
    post = moltbook.add_post("iris")
    moltbook.add_comment(post, "nightjar", "What of the moon?")
    [line] = said("watch", "--once")
    assert (line["account"], line["new"], line["outcome"]) == (account.name, 2, "ok")
    assert said("watch", "--once") == [{"did": 0}]


@pytest.mark.django_db(transaction=True)
def test_deliver_once_prints_what_it_carried(moltbook: Any, account: Account):
    post = moltbook.add_post("iris")
    moltbook.add_comment(post, "nightjar", "What of the moon?")
    said("watch", "--once")
    make_approved(target=Message.objects.get(kind="comment"), not_before=timezone.now())
    [line] = said("deliver", "--once")
    assert (line["sent"], line["unknown"]) == (1, 0)
    assert len(moltbook.stored(kind="comment", author="iris")) == 1
    assert set(said("deliver", "--once")[0].values()) == {0}


# ── pause and resume ──────────────────────────────────────────────────────


@pytest.mark.parametrize("scope", ["all", "surface", "account", "agent"])
def test_pause_and_resume_say_what_they_did(scope: str):
    account, agent = make_account(), make_agent(slug="iris")
    subject = {"surface": account.surface.slug, "account": account.name, "agent": agent.slug}
    words = [f"--{scope}", *([subject[scope]] if scope in subject else [])]
    [paused] = said("pause", *words, "--why", "storm")
    assert (paused["paused"], paused["subject"]) == (scope, subject.get(scope, ""))
    assert str(Pause.objects.live().get().why) == "storm"
    [resumed] = said("resume", *words)
    assert resumed == {"resumed": scope, "subject": subject.get(scope, "")}
    assert not Pause.objects.live().exists()


@pytest.mark.parametrize(
    "words",
    [
        ["pause", "--surface", "nowhere"],
        ["pause", "--account", "nobody"],
        ["pause", "--agent", ""],
        ["pause", "--agent", "irsi"],
        ["resume", "--all"],
        ["resume", "--account", "nobody"],
    ],
)
def test_pause_and_resume_refuse_what_does_not_exist(words: list[str]):
    assert refused(*words)
    assert not Pause.objects.exists()
    assert not AuditEvent.objects.exists()


# ── backfill ──────────────────────────────────────────────────────────────


def test_backfill_reads_the_history_and_says_how_much(moltbook: Any, account: Account):
    for number in range(3):
        post = moltbook.add_post("iris", f"On tides {number}")
        moltbook.add_comment(post, "nightjar", f"What of {number}?")
    [line] = said("backfill", account.name)
    assert (line["posts"], line["new"], line["skipped"]) == (3, 6, 0)
    assert said("backfill", account.name)[0]["new"] == 0


def test_backfill_of_nobody_is_refused():
    assert "nobody" in refused("backfill", "nobody")


def test_backfill_of_an_account_whose_key_is_lost_ends_with_one_sentence():
    account = make_account()
    Account.objects.update(sealed_credential=b"sealed with a lost key")
    with pytest.raises(CommandError, match="cannot be decrypted") as raised:
        call_command("backfill", account.name, stdout=StringIO())
    assert raised.value.returncode == 1


# ── doctor ────────────────────────────────────────────────────────────────


def test_doctor_speaks_json_and_says_what_to_do():
    make_account().becomes("auth_failed", now=timezone.now(), why="the key is not taken")
    out = StringIO()
    with pytest.raises(SystemExit) as ended:
        call_command("doctor", "--json", stdout=out)
    findings = [json.loads(line) for line in out.getvalue().splitlines()]
    assert ended.value.code == 1
    assert all({"about", "says", "advice", "well"} == set(finding) for finding in findings)
    assert all(finding["advice"] for finding in findings if not finding["well"])
    assert any("key" in finding["says"] for finding in findings)


def test_doctor_says_nothing_of_a_role_that_owns_nothing():
    assert health_checks._database_role().is_well


@pytest.mark.django_db(transaction=True)
def test_doctor_says_when_the_database_role_is_too_strong():
    with as_owner():
        found = health_checks._database_role()
    assert not found.is_well
    for words in ("is a superuser", "owns tables", "may change the audit log"):
        assert words in found.says
    assert "docs/operate.md" in found.advice


# ── keys and schedules ────────────────────────────────────────────────────


@pytest.fixture
def keys(settings: Any, tmp_path: Any) -> Any:
    """A data folder of its own, as a fresh machine has it."""
    settings.DATA_DIR = tmp_path
    settings.READ_CREDENTIAL_KEYS = lambda: config_keys.credential_keys((), tmp_path)
    return tmp_path / "credential_keys"


def test_rotate_keys_puts_every_credential_under_the_newest_key(keys: Any):
    account = make_account(token="moltbook_sk_secret")
    before = bytes(account.sealed_credential)
    [line] = said("rotate_keys", "--new")
    assert line == {"rotated": 1, "keys": 2}
    row = Account.objects.get()
    assert bytes(row.sealed_credential) != before
    assert row.credential == "moltbook_sk_secret"
    [line] = said("rotate_keys", "--forget")
    assert line["keys"] == 1
    assert Account.objects.get().credential == "moltbook_sk_secret"


def test_rotate_keys_leaves_alone_what_it_cannot_open(keys: Any):
    make_account(token="moltbook_sk_secret")
    other = make_account()
    Account.objects.filter(pk=other.pk).update(sealed_credential=b"sealed with a lost key")
    kept = keys.read_text().split()
    with pytest.raises(CommandError, match="cannot be decrypted with any known key"):
        call_command("rotate_keys", "--new", "--forget", stdout=StringIO())
    assert set(kept) <= set(keys.read_text().split()), "no key goes while a credential needs it"
    assert Account.objects.exclude(pk=other.pk).get().credential == "moltbook_sk_secret"


def test_rotate_keys_does_not_touch_keys_that_were_given(monkeypatch: Any):
    from dataclasses import replace

    given = replace(settings.ENV, credential_keys=(Fernet.generate_key().decode(),))
    monkeypatch.setattr(settings, "ENV", given)
    assert "CREDENTIAL_KEYS" in refused("rotate_keys", "--new")


def test_sync_schedules_makes_the_timetable_what_settings_say():
    Schedule.objects.create(name="of an older version", func="gone.away")
    for _ in range(2):
        call_command("sync_schedules", stdout=StringIO())
    assert set(Schedule.objects.values_list("name", flat=True)) == set(settings.SCHEDULES)


def test_a_round_of_a_switched_off_surface_does_nothing():
    account = make_account(surface=make_surface(is_on=False))
    make_approved(target=make_message(account=account))
    assert said("watch", "--once") == [{"did": 0}]
    assert set(said("deliver", "--once")[0].values()) == {0}
    assert Draft.objects.get().state == "approved"
