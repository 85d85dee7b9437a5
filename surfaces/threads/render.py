"""Render the page of one thread, also with what an operator typed and could not save."""

from typing import Any

from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils import timezone

from surfaces.drafts.models import RejectionReason
from surfaces.threads import page, timeline
from surfaces.web.requests import OperatorRequest, int_param


def thread_page(
    request: OperatorRequest,
    pk: int,
    *,
    around: int | None = None,
    typed: dict[str, Any] | None = None,
    status: int = 200,
) -> HttpResponse:
    reach, now = request.user.reach, timezone.now()
    post = get_object_or_404(page.thread_queryset(reach=reach, now=now), pk=pk)
    if not post.is_post:
        place = reverse("surfaces:thread", args=[post.post_id])
        return redirect(f"{place}?message={pk}#m{pk}")
    asked = int_param(request.GET, "message")
    found = page.build_page(post, around=around or asked, reach=reach)
    current = found.find(asked) or found.pressing
    told = current or found.newest or found.root
    shown = {
        "thread": found, "post": post, "current_pk": current.message.pk if current else None,
        "told": told,
        "steps": timeline.of_message(
            told.message,
            found.drafts.get(told.message.pk, []),
            maker=found.makers.get(told.message.pk),
            also=found.told.steps.get(told.message.pk, []),
            thresholds=found.thresholds,
        ),
        "held": {reader.item: reader for reader in found.readers if reader.is_draft},
        "printed": now, "reasons": RejectionReason.choices, "typed": typed or {"pk": None},
    }  # fmt: skip
    return render(request, "surfaces/threads/thread.html", shown, status=status)
