"""Passkeys in a real Chromium, with its virtual authenticator."""

from __future__ import annotations

import re
from typing import Any

import pytest
from playwright.sync_api import BrowserContext, Page, expect

from surfaces.models import Passkey
from tests.browser.keyboard import press

RIGHT = "a good long password"


def local(live_server: Any) -> str:
    """A passkey is bound to a name: browsers take none for an address in numbers."""
    return re.sub(r"//[^:/]+", "//localhost", live_server.url)


def authenticator(page: Page, *, is_verified: bool = True) -> Any:
    tools = page.context.new_cdp_session(page)
    tools.send("WebAuthn.enable")
    wanted = {
        "protocol": "ctap2", "transport": "internal", "hasUserVerification": True,
        "isUserVerified": is_verified, "automaticPresenceSimulation": True,
    }  # fmt: skip
    made = tools.send("WebAuthn.addVirtualAuthenticator", {"options": wanted})
    return tools, made["authenticatorId"]


def sign_in(page: Page) -> None:
    page.get_by_label("Username").fill("mira")
    page.get_by_label("Password").fill(RIGHT)
    press(page, "Enter")


@pytest.fixture
def page(new_context: Any, live_server: Any, mira: Any) -> Page:
    context: BrowserContext = new_context(base_url=local(live_server))
    page = context.new_page()
    page.goto("/sign-in")
    return page


def add_passkey(page: Page, name: str = "Laptop") -> None:
    expect(page).to_have_url(re.compile(r"localhost:\d+/$"))  # signed in
    page.goto("/me/passkeys/new")
    page.get_by_label("Name").fill(name)
    page.get_by_role("button", name="Add a passkey").click()


def test_a_passkey_is_added_and_signs_in(page: Page):
    complaints: list[str] = []
    page.on("console", lambda said: complaints.append(said.text) if said.type == "error" else None)
    authenticator(page)
    sign_in(page)
    add_passkey(page)
    expect(page.get_by_text("Your recovery codes are shown once.")).to_be_visible()
    expect(page.get_by_text("Laptop", exact=True)).to_be_visible()
    page.get_by_role("button", name="Sign out").first.click()
    sign_in(page)
    expect(page).to_have_url(re.compile("/sign-in/code$"))
    page.get_by_role("button", name="Continue with a passkey").click()
    expect(page).to_have_url(re.compile(r"localhost:\d+/$"))
    assert Passkey.objects.get().used_at is not None
    # What a page still asks while its session ends is refused, too, and said to the console.
    assert [words for words in complaints if "Content Security Policy" in words] == []


def test_a_passkey_that_does_not_verify_its_user_is_not_taken(page: Page):
    tools, key = authenticator(page)
    sign_in(page)
    add_passkey(page)
    expect(page.get_by_text("Laptop", exact=True)).to_be_visible()
    page.get_by_role("button", name="Sign out").first.click()
    tools.send("WebAuthn.setUserVerified", {"authenticatorId": key, "isUserVerified": False})
    sign_in(page)
    page.get_by_role("button", name="Continue with a passkey").click()
    expect(page.get_by_text("The browser gave no passkey. Try again.")).to_be_visible()
    tools.send("WebAuthn.setUserVerified", {"authenticatorId": key, "isUserVerified": True})
    page.get_by_role("button", name="Continue with a passkey").click()
    expect(page).to_have_url(re.compile(r"localhost:\d+/$"))


def test_at_an_address_in_numbers_the_page_says_that_it_offers_no_passkeys(page: Page):
    page.goto(page.url.replace("//localhost", "//127.0.0.1"))
    sign_in(page)
    expect(page).to_have_url(re.compile(r"127.0.0.1:\d+/$"))
    page.goto("http://127.0.0.1:" + page.url.rsplit(":", 1)[1] + "me/passkeys/new")
    expect(page.get_by_text("They need https and a host name")).to_be_visible()
    expect(page.get_by_role("button", name="Add a passkey")).to_be_hidden()


def test_asking_for_the_password_again_keeps_what_was_typed(page: Page):
    from surfaces.models import Operator
    from surfaces.operators import confirmation

    sign_in(page)
    expect(page).to_have_url(re.compile(r"localhost:\d+/$"))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(confirmation, "is_confirmed", lambda session, now: False)
        page.goto("/settings/operators/new")
        page.get_by_label("Username").fill("nova")
        page.get_by_role("button", name="Add").click()
        expect(page.get_by_role("heading", name="Confirm your password")).to_be_visible()
        page.get_by_label("Your password").fill(RIGHT)
        page.get_by_role("button", name="Confirm and continue").click()
        expect(page.get_by_text("This password is shown once.")).to_be_visible()
    assert Operator.objects.filter(username="nova").exists()
