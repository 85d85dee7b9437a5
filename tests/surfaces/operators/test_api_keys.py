"""Keys for programs: shown once, never more than their owner, and no way to any page."""

from __future__ import annotations

import re
from datetime import timedelta
from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from django.utils import timezone

from surfaces.errors import BadInput, NotAllowed
from surfaces.models import ApiKey, AuditEvent, Operator, SignInAttempt
from surfaces.operators import api_keys
from tests.factories import NOON, make_account, make_agent, make_operator, make_presence

pytestmark = pytest.mark.django_db


def make_key(**given: Any) -> api_keys.IssuedKey:
    if "agent" not in given and "operator" not in given:
        given["operator"] = make_operator()
    ordinary = {"name": "nightly report", "scope": "read", "by": "operator:ada", "now": NOON}
    return api_keys.issue(**(ordinary | given))


def ask(client: Client, token: str, **headers: str) -> Any:
    return client.get("/api/me", headers={"Authorization": f"Bearer {token}", **headers})


# ── making and revoking ───────────────────────────────────────────────────


def test_only_the_digest_is_kept():
    issued = make_key()
    assert re.fullmatch(r"clq_[a-z0-9]{8}_[A-Za-z0-9_-]{43}", issued.token)
    secret = issued.token.rpartition("_")[2] if issued.token.count("_") == 2 else issued.token[13:]
    row = ApiKey.objects.filter(pk=issued.key.pk).values().get()
    assert secret not in str(row)
    assert issued.key.prefix in issued.token
    line = AuditEvent.objects.called("api_key.issued").get()
    assert secret not in str(line.facts)


def test_a_token_finds_its_key_and_a_changed_one_none():
    issued = make_key()
    assert api_keys.authenticate(issued.token, now=NOON) == issued.key
    last = "A" if issued.token[-1] != "A" else "B"
    for wrong in (issued.token[:-1] + last, issued.token[:-1], issued.token + "A", "", "clq_",
                  issued.token.replace("clq_", "CLQ_"), "\0" * 56, f" {issued.token}"):  # fmt: skip
        assert api_keys.authenticate(wrong, now=NOON) is None


def test_the_secret_of_one_key_does_not_open_another():
    one, other = make_key(), make_key()
    mixed = f"clq_{one.key.prefix}_{other.token[13:]}"
    assert api_keys.authenticate(mixed, now=NOON) is None


def test_a_revoked_key_opens_nothing_and_stays_revoked():
    issued = make_key()
    api_keys.revoke(issued.key, by="operator:ada", now=NOON)
    assert api_keys.authenticate(issued.token, now=NOON) is None
    with pytest.raises(NotAllowed, match="revoked already"):
        api_keys.revoke(issued.key, by="operator:ada", now=NOON)
    assert AuditEvent.objects.called("api_key.revoked").count() == 1


def test_a_key_ends_when_it_was_said_to():
    issued = make_key(expires_at=NOON + timedelta(days=1))
    assert api_keys.authenticate(issued.token, now=NOON + timedelta(hours=23))
    assert api_keys.authenticate(issued.token, now=NOON + timedelta(days=1)) is None


def test_a_key_rests_while_its_owner_is_locked_out():
    owner = make_operator()
    issued = make_key(operator=owner)
    Operator.objects.update(is_active=False)
    assert api_keys.authenticate(issued.token, now=NOON) is None


@pytest.mark.parametrize(
    ("given", "why"),
    [
        ({"name": " "}, "Give it a name"),
        ({"name": "x" * 81}, "Give it a name"),
        ({"scope": "all"}, "is not a scope"),
        ({"operator": None}, "one operator or to one agent"),
        ({"agent": "nobody", "operator": None}, "There is no agent nobody"),
        ({"agents": ["nobody"]}, "There is no agent nobody"),
        ({"expires_at": NOON}, "in the future"),
        ({"expires_at": NOON + timedelta(days=9_000)}, "three years"),
    ],
)
def test_what_cannot_be_made_is_said(given: Any, why: str):
    with pytest.raises(BadInput, match=why):
        make_key(**given)
    assert not ApiKey.objects.exists()


def test_the_last_use_is_written_once_a_minute():
    token = make_key().token
    api_keys.authenticate(token, now=NOON)
    api_keys.authenticate(token, now=NOON + timedelta(seconds=59))
    assert ApiKey.objects.get().last_used_at == NOON
    api_keys.authenticate(token, now=NOON + timedelta(seconds=60))
    assert ApiKey.objects.get().last_used_at == NOON + timedelta(seconds=60)


# ── what it may ───────────────────────────────────────────────────────────


def test_a_key_reaches_no_further_than_its_owner():
    here, away = make_account(), make_account()
    owner = make_operator()
    owner.surfaces.add(here.surface)
    wide, narrow = make_key(operator=owner), make_key(operator=owner, surfaces=[away.surface])
    assert ApiKey.objects.get(pk=wide.key.pk).reach.accounts == {here.pk}
    assert ApiKey.objects.get(pk=narrow.key.pk).reach.accounts == frozenset()
    assert api_keys.limits(narrow.key) == {"surfaces": [], "agents": None}


def test_the_key_of_an_agent_reaches_that_agent():
    presence = make_presence(agent=make_agent(slug="iris"))
    make_presence(agent=make_agent(slug="gabriel"))
    key = make_key(agent="iris").key
    assert key.reach.agents == {"iris"}
    assert key.reach.accounts == {presence.account_id}
    assert make_key(agent="iris", agents=["gabriel"]).key.reach.accounts == frozenset()


def test_a_key_to_write_is_worth_what_its_owner_may():
    owner = make_operator(role="moderator")
    key = make_key(operator=owner, scope="write").key
    assert key.may_write
    owner.role = "viewer"
    assert not key.may_write
    assert make_key(agent=make_agent().slug, scope="write").key.may_write


# ── asked by a program ────────────────────────────────────────────────────


def test_a_key_is_told_what_it_is(client: Client):
    place, iris = make_account().surface, make_agent(slug="iris")
    ends = timezone.now() + timedelta(days=30)
    issued = make_key(surfaces=[place], agents=[iris.slug], expires_at=ends, now=timezone.now())
    with CaptureQueriesContext(connection) as asked:
        answer = ask(client, issued.token)
    assert answer.status_code == 200
    assert answer.json() == {
        "name": "nightly report",
        "scope": "read",
        "limits": {"surfaces": [place.slug], "agents": ["iris"]},
        "expires_at": ends.isoformat(),
    }
    assert len(asked) <= 4
    assert not client.cookies


@pytest.mark.parametrize("header", ["", "Bearer", "Bearer x", "Basic bWlyYTp4", "Bearer clq_a_b"])
def test_without_a_key_one_sentence_says_what_to_do(client: Client, header: str):
    answer = client.get("/api/me", headers={"Authorization": header})
    assert answer.status_code == 401
    assert answer["WWW-Authenticate"].startswith("Bearer")
    assert "An administrator" in answer.json()["error"]


def test_a_session_is_no_key(desk: Client):
    assert desk.get("/api/me").status_code == 401


def test_a_key_is_no_session(client: Client):
    token = make_key(operator=make_operator(role="admin"), scope="write").token
    for path in ("/", "/messages/", "/settings/keys/", "/admin/", "/me"):
        answer = client.get(path, headers={"Authorization": f"Bearer {token}"})
        assert answer.status_code == 302, path
        assert answer.url.startswith("/"), path
    posted = client.post("/pause", {"what": "all:"}, headers={"Authorization": f"Bearer {token}"})
    assert posted.url.startswith("/sign-in")


def test_many_wrong_keys_wait_and_a_right_one_does_not(client: Client):
    token = make_key().token
    for number in range(30):
        assert ask(client, f"clq_wrong{number}").status_code == 401
    answer = ask(client, "clq_wrong")
    assert answer.status_code == 429
    assert 0 < int(answer["Retry-After"]) <= 900
    assert "Wait 15 min" in answer.json()["error"]
    assert ask(client, token).status_code == 200
    assert SignInAttempt.objects.count() == 30


def test_wrong_keys_lock_nobody_out_at_the_door(client: Client):
    make_operator(username="mira")
    for number in range(30):
        ask(client, f"clq_wrong{number}")
    knock = {"username": "mira", "password": "a good long password"}
    assert client.post("/sign-in", knock).status_code == 302


# ── the pages ─────────────────────────────────────────────────────────────


@pytest.fixture
def admin(client: Client) -> Client:
    client.force_login(make_operator(username="ada", role="admin"))
    return client


def test_a_key_is_shown_once_and_listed_by_its_prefix(admin: Client):
    make_agent(slug="iris", name="Iris")
    posted = {"name": "wake", "owner": "agent:iris", "scope": "read", "days": "90"}
    answer = admin.post(reverse("surfaces:new_key"), posted).content.decode()
    found = re.search(r'class="once">(clq_[^<]+)<', answer)
    assert found
    listed = admin.get(reverse("surfaces:keys")).content.decode()
    assert found[1] not in listed
    assert found[1][:12] in listed
    assert ask(Client(), found[1]).json()["limits"] == {"surfaces": None, "agents": ["iris"]}


def test_what_cannot_be_made_stands_in_the_form(admin: Client):
    answer = admin.post(reverse("surfaces:new_key"), {"name": "wake", "owner": "agent:nobody"})
    assert answer.status_code == 422
    assert "Not saved" in answer.content.decode()
    assert 'value="wake"' in answer.content.decode()


def test_revoking_says_that_it_is_for_good(admin: Client):
    issued = make_key()
    assert "cannot be undone" in admin.get(reverse("surfaces:keys")).content.decode()
    shown = admin.post(reverse("surfaces:revoke_key", args=[issued.key.pk]), follow=True)
    assert "revoked." in shown.content.decode()
    assert "revoked" in shown.content.decode()
    assert ask(Client(), issued.token).status_code == 401


def test_the_queries_of_the_list_do_not_grow_with_its_rows(admin: Client):
    def asked() -> int:
        with CaptureQueriesContext(connection) as found:
            admin.get(reverse("surfaces:keys"))
        return len(found)

    make_key(surfaces=[make_account().surface])
    few = asked()
    for _ in range(12):
        make_key(surfaces=[make_account().surface])
    assert asked() == few
    assert few <= 12


def test_a_wrong_method_is_refused_in_json():
    answer = Client(enforce_csrf_checks=True).post("/api/me")
    assert answer.status_code == 405
    assert answer.json() == {"error": "The method POST is not allowed here."}
