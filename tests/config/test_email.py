"""Where mails go is read from one variable, and its password is in no sentence of ours."""

from __future__ import annotations

import pytest

from config.email import Mail
from config.email import read as read_mail
from config.env import Env, WrongValue, read


@pytest.mark.parametrize(
    ("url", "mail"),
    [
        ("", Mail()),
        ("smtp://mail.example.org", Mail(host="mail.example.org", port=25)),
        (
            "smtp://mira:p%40ss%2F@mail.example.org/?tls=1",
            Mail(host="mail.example.org", port=587, name="mira", password="p@ss/", has_tls=True),
        ),
        ("smtps://mail.example.org:8465", Mail(host="mail.example.org", port=8465, has_ssl=True)),
    ],
)
def test_one_address_says_it_all(url: str, mail: Mail):
    assert read_mail(url) == mail
    assert mail.is_set_up == bool(url)


@pytest.mark.parametrize(
    "url",
    [
        "mail.example.org",
        "http://u:hunter2@mail.example.org",
        "smtp://u:hunter2@",
        "smtp://u:hunter2@mail.example.org:99999",
        "smtp://u:hunter2@mail.example.org/inbox",
        "smtp://u:hunter2@mail.example.org/?tls=yes",
        "smtp://u:hunter2@mail.example.org/?ssl=1",
        "smtps://u:hunter2@mail.example.org/?tls=1",
    ],
)
def test_a_wrong_one_is_refused_without_its_password(url: str):
    with pytest.raises(WrongValue, match="EMAIL_URL") as refused:
        read({"EMAIL_URL": url})
    assert "hunter2" not in str(refused.value)
    assert refused.value.__cause__ is None


def test_the_environment_does_not_show_the_password():
    assert "hunter2" not in repr(read({"EMAIL_URL": "smtp://u:hunter2@mail.example.org"}))
    assert Env().email_url == ""


@pytest.mark.parametrize("sender", ["colloquy@example.org", "The House <colloquy@example.org>", ""])
def test_one_sender_is_one_sender(sender: str):
    assert read({"MAIL_FROM": sender}).mail_from == sender


@pytest.mark.parametrize("sender", ["nobody", "a@b.org\nBcc: c@d.org", "a@b.org, c@d.org", "a b@c"])
def test_nothing_else_can_begin_a_header(sender: str):
    with pytest.raises(WrongValue, match="MAIL_FROM"):
        read({"MAIL_FROM": sender})
