"""Send one mail and return the outcome. Uses no models."""

import smtplib
from dataclasses import dataclass
from datetime import timedelta

from django.conf import settings
from django.core.mail import BadHeaderError, EmailMessage

from surfaces.notices.smtp import BrokenOff
from surfaces.text.format import one_line
from surfaces.text.reasons import StoredReason, reason

NOT_SET_UP = "mail.not_set_up"
NO_ADDRESS = "mail.no_address"


@dataclass(frozen=True, kw_only=True, slots=True)
class Email:
    """One mail to one person. `key` makes its Message-ID: the same for every try."""

    to: str
    subject: str
    text: str
    key: str
    settings_page: str
    host: str


@dataclass(frozen=True, kw_only=True, slots=True)
class EmailResult:
    is_taken: bool = False
    is_final: bool = False  # trying again would change nothing
    is_needless: bool = False  # nothing was left to say
    is_server_away: bool = False  # the next mail would fare no better
    why: StoredReason | str = ""
    wait: timedelta | None = None


def send(letter: Email) -> EmailResult:
    """Whatever happens is an outcome; nothing is raised for it."""
    if not settings.MAIL_IS_SET_UP:
        return EmailResult(is_server_away=True, why=NOT_SET_UP)
    if not letter.to:
        return EmailResult(is_final=True, why=NO_ADDRESS)
    try:
        message_of(letter).send()
    except (BadHeaderError, UnicodeError) as error:
        return EmailResult(is_final=True, why=reason("mail.not_written", name=type(error).__name__))
    except smtplib.SMTPException as error:
        return classify_error(error)
    except OSError as error:
        return EmailResult(is_server_away=True, why=_unreached(error))
    return EmailResult(is_taken=True)


def message_of(letter: Email) -> EmailMessage:
    """Plain text. Machines must not answer it, and who tires of it finds the settings."""
    return EmailMessage(
        subject=one_line(letter.subject, 200),
        body=letter.text,
        to=[letter.to],
        headers={
            "Message-ID": f"<{letter.key}@{letter.host}>",
            "List-Unsubscribe": f"<{letter.settings_page}>",
            "Auto-Submitted": "auto-generated",
        },
    )


def classify_error(error: smtplib.SMTPException) -> EmailResult:
    """A refusal of this letter is not a refusal of the next; a code of 500 or more is for good."""
    if isinstance(error, smtplib.SMTPRecipientsRefused):
        code, said = next(iter(error.recipients.values()), (550, b""))
        why = reason("mail.address_refused", said=_said(code, said))
        return EmailResult(is_final=code >= 500, why=why)
    if isinstance(error, smtplib.SMTPAuthenticationError):
        why = reason("mail.login_refused", smtp_code=str(error.smtp_code))
        return EmailResult(is_server_away=True, why=why)
    if isinstance(error, smtplib.SMTPDataError | smtplib.SMTPSenderRefused):
        why = reason("mail.refused", said=_said(error.smtp_code, error.smtp_error))
        return EmailResult(is_final=error.smtp_code >= 500, why=why)
    if isinstance(error.__context__, OSError):  # its own words hide which one
        return EmailResult(is_server_away=True, why=_unreached(error.__context__))
    if isinstance(error, smtplib.SMTPServerDisconnected):
        return EmailResult(is_server_away=True, why="mail.hung_up")
    return EmailResult(is_server_away=True, why=reason("mail.failed", name=type(error).__name__))


def _said(code: int, words: bytes | str) -> str:
    text = words.decode("utf-8", "replace") if isinstance(words, bytes) else words
    return f"{code} {one_line(text, 160)}".strip()


def _unreached(error: OSError) -> StoredReason:
    if isinstance(error, BrokenOff):
        return reason("mail.broken_off")
    if isinstance(error, TimeoutError):
        return reason("mail.timeout", email_timeout=settings.EMAIL_TIMEOUT)
    if isinstance(error, ConnectionError):
        return reason("mail.not_reached")
    return reason("mail.not_reached_because", name=type(error).__name__)
