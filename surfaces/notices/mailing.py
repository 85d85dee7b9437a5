"""Send one mail, and say what came of it in a sentence. Knows no models."""

from __future__ import annotations

import smtplib
from dataclasses import dataclass, field
from datetime import timedelta

from django.conf import settings
from django.core.mail import BadHeaderError, EmailMessage

from surfaces.showing import plain

NOT_SET_UP = "Mail is not set up here: an administrator sets EMAIL_URL and MAIL_FROM."
NO_ADDRESS = "You have no mail address. Enter one on your page."


@dataclass(frozen=True, kw_only=True, slots=True)
class Letter:
    """One mail to one person. `key` makes its Message-ID: the same for every try."""

    to: str
    subject: str
    text: str
    key: str
    settings_page: str
    host: str


@dataclass(frozen=True, kw_only=True, slots=True)
class Sent:
    """What came of a mail or a call. `why` says what went wrong."""

    is_taken: bool = False
    is_final: bool = False  # trying again would change nothing
    is_needless: bool = False  # nothing was left to say
    is_server_away: bool = False  # the next mail would fare no better
    why: str = ""
    wait: timedelta | None = field(default=None)


def send(letter: Letter) -> Sent:
    """Whatever happens is an outcome; nothing is raised for it."""
    if not settings.MAIL_IS_SET_UP:
        return Sent(is_server_away=True, why=NOT_SET_UP)
    if not letter.to:
        return Sent(is_final=True, why=NO_ADDRESS)
    try:
        message_of(letter).send()
    except (BadHeaderError, UnicodeError) as error:
        return Sent(is_final=True, why=f"The mail could not be written ({type(error).__name__}).")
    except smtplib.SMTPException as error:
        return judged(error)
    except OSError as error:
        return Sent(is_server_away=True, why=_unreached(error))
    return Sent(is_taken=True)


def message_of(letter: Letter) -> EmailMessage:
    """Plain text. Machines must not answer it, and who tires of it finds the settings."""
    return EmailMessage(
        subject=plain(letter.subject, 200),
        body=letter.text,
        to=[letter.to],
        headers={
            "Message-ID": f"<{letter.key}@{letter.host}>",
            "List-Unsubscribe": f"<{letter.settings_page}>",
            "Auto-Submitted": "auto-generated",
        },
    )


def judged(error: smtplib.SMTPException) -> Sent:
    """A refusal of this letter is not a refusal of the next; a code of 500 or more is for good."""
    if isinstance(error, smtplib.SMTPRecipientsRefused):
        code, said = next(iter(error.recipients.values()), (550, b""))
        why = f"The mail server refused your address: {_said(code, said)}"
        return Sent(is_final=code >= 500, why=why)
    if isinstance(error, smtplib.SMTPAuthenticationError):
        why = f"The mail server did not take our name and password ({error.smtp_code})."
        return Sent(is_server_away=True, why=why)
    if isinstance(error, smtplib.SMTPDataError | smtplib.SMTPSenderRefused):
        why = f"The mail server refused the mail: {_said(error.smtp_code, error.smtp_error)}"
        return Sent(is_final=error.smtp_code >= 500, why=why)
    if isinstance(error.__context__, OSError):  # its own words hide which one
        return Sent(is_server_away=True, why=_unreached(error.__context__))
    if isinstance(error, smtplib.SMTPServerDisconnected):
        return Sent(is_server_away=True, why="The mail server hung up.")
    return Sent(is_server_away=True, why=f"The mail server failed us ({type(error).__name__}).")


def _said(code: int, words: bytes | str) -> str:
    text = words.decode("utf-8", "replace") if isinstance(words, bytes) else words
    return f"{code} {plain(text, 160)}".strip()


def _unreached(error: OSError) -> str:
    if isinstance(error, TimeoutError):
        return f"The mail server did not answer within {settings.EMAIL_TIMEOUT} s."
    if isinstance(error, ConnectionError):
        return "The mail server could not be reached."
    return f"The mail server could not be reached ({type(error).__name__})."
