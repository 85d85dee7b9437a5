"""Ids and addresses as a request gives them."""

from __future__ import annotations

import pytest
from django.core.exceptions import BadRequest
from django.test import RequestFactory

from surfaces.web.requests import client_ip, int_param, parse_id


@pytest.mark.parametrize(
    ("text", "number"),
    [("0", 0), ("12", 12), ("9" * 18, 10**18 - 1), ("9" * 19, None), ("-1", None), ("²", None),
     ("٣", None), (" 1", None), ("1.0", None), ("", None)],
)  # fmt: skip
def test_an_id_is_digits_that_fit_its_column(text: str, number: int | None):
    assert parse_id(text) == number


def test_a_missing_number_is_none_and_a_broken_one_is_refused():
    assert int_param({}, "pk") is None
    assert int_param({"pk": ""}, "pk") is None
    assert int_param({"pk": "7"}, "pk") == 7
    with pytest.raises(BadRequest, match="“x” is not a valid value for “pk”"):
        int_param({"pk": "x"}, "pk")


def test_the_proxys_last_word_counts_only_behind_a_proxy(settings):
    request = RequestFactory().get("/", REMOTE_ADDR="10.0.0.1", headers={"X-Forwarded-For": "a, b"})
    settings.SECURE_PROXY_SSL_HEADER = None
    assert client_ip(request) == "10.0.0.1"
    settings.SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https")
    assert client_ip(request) == "b"
