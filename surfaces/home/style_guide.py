"""What the page of components shows: the colours of the stylesheet with their contrast, and one
sample of each part. The colours are read from `static/site.css`, so the page cannot be wrong.
"""

import re
from datetime import timedelta
from functools import cache
from math import cos, radians, sin
from pathlib import Path
from typing import Any, NamedTuple

from django.conf import settings
from django.http import QueryDict
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy as later

from surfaces.audit.models import AuditEvent
from surfaces.desk.kinds import RowSummary, kinds
from surfaces.desk.models import DeskItem
from surfaces.desk.queue import DeskRow
from surfaces.drafts.models import Draft
from surfaces.messages.models import Message
from surfaces.operators.models.operator import Operator
from surfaces.settings.forms import InstanceForm
from surfaces.settings.history import History
from surfaces.settings.instance import InstanceSpec
from surfaces.settings.models import InstanceSettings
from surfaces.threads.timeline import TimelineEvent
from surfaces.web import charts

STYLES = Path(settings.BASE_DIR) / "static" / "site.css"
OKLCH = r"oklch\(\s*([\d.]+)%\s+([\d.]+)\s+([\d.]+)\s*\)"
TOKEN = re.compile(rf"--([a-z0-9-]+):\s*light-dark\({OKLCH},\s*{OKLCH}\)")
LENGTH = re.compile(r"--([tsr]\d|control|bar|round):\s*([\d.]+(?:rem|px))")

TEXT, SHAPE = 4.5, 3.0  # AA: for words, and for what only has to be seen
GROUNDS = ("page", "sheet", "well", "hover")
STATES = ("ok", "wait", "danger", "info")


class Colour(NamedTuple):
    """In OKLCH, as the stylesheet has it: lightness 0 to 1, chroma, hue in degrees."""

    lightness: float
    chroma: float
    hue: float

    @property
    def luminance(self) -> float:
        """Relative luminance as WCAG 2 counts it, of the colour a screen can show."""
        a, b = self.chroma * cos(radians(self.hue)), self.chroma * sin(radians(self.hue))
        long = (self.lightness + 0.3963377774 * a + 0.2158037573 * b) ** 3
        medium = (self.lightness - 0.1055613458 * a - 0.0638541728 * b) ** 3
        short = (self.lightness - 0.0894841775 * a - 1.2914855480 * b) ** 3
        linear = (
            4.0767416621 * long - 3.3077115913 * medium + 0.2309699292 * short,
            -1.2684380046 * long + 2.6097574011 * medium - 0.3413193965 * short,
            -0.0041960863 * long - 0.7034186147 * medium + 1.7076147010 * short,
        )
        red, green, blue = (min(1.0, max(0.0, part)) for part in linear)
        return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(one: Colour, other: Colour) -> float:
    """1 to 21, as WCAG 2 counts it."""
    dark, light = sorted((one.luminance, other.luminance))
    return (light + 0.05) / (dark + 0.05)


class DesignToken(NamedTuple):
    light: Colour
    dark: Colour


class Pair(NamedTuple):
    """One colour on another, in both themes."""

    ink: str
    ground: str
    needs: float
    light: float
    dark: float

    @property
    def passes(self) -> bool:
        return min(self.light, self.dark) >= self.needs


@cache
def tokens_of(path: Path = STYLES) -> dict[str, DesignToken]:
    found = {}
    for name, *parts in TOKEN.findall(path.read_text(encoding="utf-8")):
        light, dark, chroma, deep, hue, night = (float(parts[i]) for i in (0, 3, 1, 4, 2, 5))
        day, dusk = Colour(light / 100, chroma, hue), Colour(dark / 100, deep, night)
        found[name] = DesignToken(day, dusk)
    return found


@cache
def lengths_of(path: Path = STYLES) -> dict[str, str]:
    return dict(LENGTH.findall(path.read_text(encoding="utf-8")))


def wanted() -> list[tuple[str, str, float]]:
    """Every pair the stylesheet uses: ink, ground, and what it needs."""
    words = [(ink, ground, TEXT) for ground in GROUNDS for ink in ("ink", "ink-2")]
    words += [("ink-3", ground, TEXT) for ground in ("page", "sheet", "well")]
    words += [("accent", ground, TEXT) for ground in ("page", "sheet", "well", "accent-wash")]
    words += [("on-accent", ground, TEXT) for ground in ("accent", "accent-2", "danger")]
    for state in STATES:
        words += [(state, ground, TEXT) for ground in ("sheet", "page", f"{state}-wash")]
        words += [("ink", f"{state}-wash", TEXT)]
    return [*words, ("ink", "accent-wash", TEXT), ("edge", "sheet", SHAPE), ("edge", "page", SHAPE)]


def pairs() -> list[Pair]:
    known, found = tokens_of(), []
    for ink, ground, needs in wanted():
        light, dark = map(contrast, known[ink], known[ground])
        found.append(Pair(ink, ground, needs, light, dark))
    return found


# ── one of each part ──────────────────────────────────────────────────────

TYPE = [
    ("t6", later("The title of a page")),
    ("t5", later("The title of a pane")),
    ("t4", later("What a person wrote and we must read")),
    ("t3", later("The interface itself")),
    ("t2", later("Lists, tables, controls")),
    ("t1", later("Meta, badges, table heads")),
]
DRAFT = {
    "terms": "A tide table is a promise about water.",
    "pointer": "You write “the tide comes in without it”.",
    "exit": "What would you leave out?",
}


def shown(user: Operator) -> dict[str, Any]:
    """Everything the page needs. Nothing of it is in the database."""
    found, row = pairs(), sample_row()
    return {
        "tokens": tokens_of(),
        "pairs": found,
        "failing": [pair for pair in found if not pair.passes],
        "type": [(name, words, lengths_of()[name]) for name, words in TYPE],
        "space": [(name, size) for name, size in lengths_of().items() if name[0] == "s"],
        "form": sample_form(user),
        "message": Message(
            author="hollowpine",
            kind="comment",
            direction="incoming",
            spam_status="suspect",
            spam_score=0.71,
            content="What does the word add? The tide comes in without it.",
            created_at=timezone.now() - timedelta(minutes=22),
        ),
        "draft": Draft(what="reply", state="waiting", text=" ".join(DRAFT.values()), **DRAFT),
        "row": row,
        "named": {"kind": row.kind, "item_id": 0},
        "steps": sample_steps(),
        "pages": {"newer": "", "older": "page=2"},
        "spark": charts.spark([2, 3, 1, 4, 6, 5, 3, 7, 4, 6]),
        "columns": charts.columns([4, 9, 7, 12, 3, 8, 10], 10),
        "bar": charts.bar(64, 100, 0.58),
    }


def sample_form(user: Operator) -> InstanceForm:
    """A form that was refused: one value is out of bounds, one was changed before."""
    row, data = InstanceSettings(pk=1), QueryDict(mutable=True)
    data.update({name: str(value) for name, value in InstanceForm(row).values.items()})
    data["undo_seconds"] = "90"
    form = InstanceForm(row, data)
    event = AuditEvent(
        at=timezone.now() - timedelta(days=2),
        action=InstanceSpec.action,
        actor=user.actor,
        subject="",
        why=_("People asked for more time."),
        facts={"drafts_wait_hours": [48, 0]},
    )
    form.history = History(form, [event])
    return form


def sample_row() -> DeskRow:
    now = timezone.now()
    item = DeskItem(pk=0, kind="draft", item_id=0, since=now - timedelta(hours=3))
    item.expires_at = now + timedelta(minutes=14)
    line = RowSummary(
        who="gabriel@hub", place="Hub", author="hollowpine", said="What does the word add?",
        whys=(_("An operator approves first."),),
    )  # fmt: skip
    return DeskRow(item=item, kind=kinds()["draft"], line=line)


def sample_steps() -> list[TimelineEvent]:
    """One of each mark."""
    seen, failed, waits = (timezone.now() - timedelta(minutes=ago) for ago in (22, 21, 20))
    why = _("The model returned no text.")
    return [
        TimelineEvent(at=seen, words=_("Seen on the surface"), how="done"),
        TimelineEvent(at=failed, words=_("Attempt 1 of 10 failed"), how="fail", why=why),
        TimelineEvent(at=waits, words=_("Waiting for review"), how="warn"),
        TimelineEvent(at=None, words=_("Sent"), how="next"),
    ]
