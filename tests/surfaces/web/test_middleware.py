from __future__ import annotations

import pytest
from django.test import Client

from tests.factories import make_operator

pytestmark = pytest.mark.django_db


def test_an_address_that_only_takes_forms_says_so(client: Client):
    client.force_login(make_operator())
    answer = client.get("/drafts/1/approve")
    assert (answer.status_code, answer["Allow"]) == (405, "POST")
    assert "This address only accepts form submissions." in answer.content.decode()
    assert "accepts no form" in client.post("/ledger/").content.decode()
