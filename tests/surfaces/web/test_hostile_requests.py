"""What no page of ours sends: it is answered, and nobody is led away by it."""

from __future__ import annotations

import pytest
from django.test import Client
from django.urls import reverse

from surfaces.models import Pause
from tests.factories import make_message, make_operator

pytestmark = pytest.mark.django_db


@pytest.fixture
def desk(client: Client) -> Client:
    client.force_login(make_operator(role="moderator"))
    return client


@pytest.mark.parametrize("name", ["actor", "action", "subject"])
def test_a_nul_in_a_filter_of_the_ledger_is_refused(desk: Client, name: str):
    answer = desk.get(reverse("surfaces:ledger"), {name: "\0"})
    assert answer.status_code == 400
    assert "contains a NUL character" in answer.content.decode()


@pytest.mark.parametrize(
    "page", ["-1", "nowhere", "9" * 30, "home", "http://evil.test/", "//evil.test",
             "javascript:alert(1)", "/\\evil.test", "\n/drafts/"],
)  # fmt: skip
def test_a_page_to_go_back_to_that_is_none_of_ours_is_left_out(desk: Client, page: str):
    answer = desk.post(reverse("surfaces:pause"), {"what": "all", "next": page})
    assert (answer.status_code, answer["Location"]) == (302, "/")


CHARSETS = ["utf-7", "UTF-16", "idna", "rot13", "base64", "unicode_escape", "punycode", "latin-1",
            "x-none", ""]  # fmt: skip
FORM = {
    "multipart/form-data; boundary=b": b'--b\r\nContent-Disposition: form-data; name="what"\r\n\r\n'
    b"all+AGE-\xff\r\n--b--\r\n",
    "application/x-www-form-urlencoded": b"what=all%FF+AGE-",
}


@pytest.mark.parametrize("charset", CHARSETS)
@pytest.mark.parametrize("form", FORM)
def test_a_form_in_another_charset_is_refused_with_a_sentence(
    desk: Client, form: str, charset: str
):
    kind = f"{form}; charset={charset}"
    for place in (reverse("surfaces:pause"), reverse("surfaces:sign_in"), "/api/me"):
        answer = desk.generic("POST", place, FORM[form], content_type=kind)
        assert answer.status_code == 400, place
        assert "not UTF-8" in answer.content.decode()
    answer = desk.get("/messages/?q=%E6%BD%AE", headers={"Content-Type": kind})
    assert answer.status_code == 400
    assert not Pause.objects.exists()


@pytest.mark.parametrize("charset", ["utf-8", "UTF-8", '"utf-8"', "utf8"])
def test_a_form_in_utf_8_may_say_so(desk: Client, charset: str):
    kind = f"application/x-www-form-urlencoded; charset={charset}"
    answer = desk.generic("POST", reverse("surfaces:pause"), b"what=all", content_type=kind)
    assert answer.status_code == 302


@pytest.mark.parametrize("page", ["-1", "nowhere", "http://evil.test/", "//evil.test"])
def test_the_door_leads_home_where_it_is_asked_for_no_page_of_ours(desk: Client, page: str):
    answer = desk.get(reverse("surfaces:sign_in"), {"next": page})
    assert (answer.status_code, answer["Location"]) == (302, "/")


@pytest.mark.parametrize("name", ["username", "password"])
def test_a_nul_in_a_name_or_password_is_refused(client: Client, name: str):
    make_operator(username="ada")
    typed = {"username": "ada", "password": "wrong"} | {name: "a\0da"}
    assert client.post(reverse("surfaces:sign_in"), typed).status_code == 400


@pytest.mark.parametrize("page", ["\0", "x\0y"])
def test_a_nul_in_a_page_to_go_back_to_is_refused(desk: Client, page: str):
    assert desk.post(reverse("surfaces:pause"), {"what": "all", "next": page}).status_code == 400
    assert desk.get(reverse("surfaces:sign_in"), {"next": page}).status_code == 400
    assert not Pause.objects.exists()


def test_a_nul_in_the_path_or_in_the_name_of_a_field_is_refused(desk: Client):
    assert desk.get("/agents/a%00b/").status_code == 400
    assert desk.post(reverse("surfaces:pause"), {"wh\0at": "all"}).status_code == 400
    assert desk.get("/messages/?q%00=x").status_code == 400


@pytest.mark.parametrize("query", ["q=%FF", "q=%ED%A0%80", "%C3=x"])
def test_a_query_that_is_no_text_is_refused(desk: Client, query: str):
    answer = desk.get(f"/messages/?{query}")
    assert answer.status_code == 400
    assert "not valid UTF-8" in answer.content.decode()


def test_a_query_in_any_script_is_text(desk: Client):
    for query in ("q=%E6%BD%AE%E6%B1%90", "q=潮汐", "q=a+b%20c"):
        assert desk.get(f"/messages/?{query}").status_code == 200


def test_a_part_of_a_page_says_what_is_wrong_and_keeps_what_was_typed(desk: Client):
    place = reverse("surfaces:answer", args=[make_message().pk])
    answer = desk.post(place, {"text": "a\0b"}, headers={"HX-Request": "true"})
    assert (answer.status_code, answer["HX-Retarget"]) == (400, "#toasts")
    assert "<html" not in answer.content.decode()


def test_after_an_act_the_page_it_was_done_on_comes_back(desk: Client):
    odd = make_message()
    place = reverse("surfaces:thread", args=[odd.post_id]) + f"?message={odd.pk}#m{odd.pk}"
    answer = desk.post(reverse("surfaces:mark_spam", args=[odd.pk]), {"next": place})
    assert (answer.status_code, answer["Location"]) == (302, place)


@pytest.mark.parametrize("path", ["/", "/healthz", "/desk/", "/api/me"])
@pytest.mark.parametrize("name", ["sessionid", "csrftoken"])
def test_a_cookie_with_a_nul_is_ignored(client: Client, path: str, name: str):
    client.cookies.load(f'{name}="\\000aaaaaaaaaaaa"')
    assert client.get(path).status_code < 500


@pytest.mark.parametrize("url", ["http://[::zz", "http://[1:2]/"])
def test_a_page_that_is_no_address_is_refused(desk: Client, url: str):
    for path in ("/", "/desk/", "/messages/"):
        answer = desk.get(path, headers={"HX-Request": "true", "HX-Current-URL": url})
        assert answer.status_code == 400, path


@pytest.mark.parametrize(
    "address",
    ["/messages/?before=0001-01-01T00:00:00%2B23:59~1",
     "/threads/?after=9999-12-31T23:59:59-23:59~1",
     "/desk/?after=9999-12-31T23:59:59-23:59~1"],
)  # fmt: skip
def test_a_key_of_a_year_that_no_database_holds_is_refused(desk: Client, address: str):
    assert desk.get(address).status_code == 400
