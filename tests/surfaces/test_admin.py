"""Django's administration: our own rows, nothing secret, nothing changed behind the audit log."""

from __future__ import annotations

import re
from typing import Any

import pytest
from django.contrib import admin
from django.test import Client
from django.urls import reverse

from surfaces.admin import ReadOnlyAdmin
from surfaces.models import AuditEvent, Surface
from tests.factories import make_account, make_operator, make_surface

pytestmark = pytest.mark.django_db
REGISTERED = sorted(admin.site._registry, key=lambda model: model._meta.label)
SECRET = re.compile("sealed_|(password|digest|key_digest|totp_step|session_key)$")


@pytest.fixture
def ada(client: Client) -> Client:
    client.force_login(make_operator(username="ada", role="admin"))
    return client


@pytest.mark.parametrize("model", REGISTERED, ids=lambda model: model._meta.label)
def test_every_page_of_the_administration_is_ours_and_shows_rows_only(model: Any, ada: Client):
    page = admin.site._registry[model]
    assert model._meta.app_label in {"surfaces", "dialogue"}
    assert isinstance(page, ReadOnlyAdmin)
    names = [*page.get_fields(None), *page.list_display]
    assert [name for name in names if SECRET.match(name)] == []
    path = f"admin:{model._meta.app_label}_{model._meta.model_name}"
    assert ada.get(reverse(f"{path}_changelist")).status_code == 200
    assert ada.get(reverse(f"{path}_add")).status_code == 403
    may = page.get_model_perms(ada.get("/admin/").wsgi_request)
    assert not may["add"]
    assert not may["delete"]
    assert may["change"] == (model is Surface)


@pytest.mark.parametrize("name", ["schedule", "success", "failure", "ormq"])
def test_no_page_of_the_task_queue_can_name_a_function(ada: Client, name: str):
    assert ada.get(f"/admin/django_q/{name}/").status_code == 404
    act = {"func": "subprocess.getoutput", "args": "'id'", "schedule_type": "O"}
    assert ada.post(f"/admin/django_q/{name}/add/", act).status_code == 404


def test_a_hidden_column_cannot_be_guessed_by_filtering(ada: Client):
    make_operator(username="mira")
    place = "/admin/surfaces/operator/"
    assert ada.get(f"{place}?role__exact=admin").status_code == 200
    assert ada.get(f"{place}?password__startswith=md5").status_code == 400
    account = "/admin/surfaces/account/"
    make_account()
    assert ada.get(f"{account}?surface__limits__isnull=0").status_code == 400


def test_a_limit_that_is_set_there_stands_in_the_audit_log(ada: Client):
    surface = make_surface(limits={"comment": [50, 3600]})
    place = f"/admin/surfaces/surface/{surface.pk}/change/"
    given = {"limits": '{"comment": [20, 3600]}', "name": "Elsewhere", "base_url": "http://x.org"}
    assert ada.post(place, given).status_code == 302
    after = Surface.objects.get(pk=surface.pk)
    assert (after.limits, after.name) == ({"comment": [20, 3600]}, surface.name)
    event = AuditEvent.objects.get(action="surface.changed")
    assert event.actor == "operator:ada"
    assert event.facts["limit_comment"] == [[50, 3600], [20, 3600]]


def test_saving_it_without_a_change_leaves_no_event(ada: Client):
    surface = make_surface(limits={"comment": [50, 3600]})
    ada.post(f"/admin/surfaces/surface/{surface.pk}/change/", {"limits": '{"comment": [50, 3600]}'})
    assert not AuditEvent.objects.filter(action="surface.changed").exists()
