"""What every page of settings does: show the form, save it, undo a change."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from django.db.models import Model
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods, require_POST

from surfaces.audit.models import AuditEvent, name_of
from surfaces.errors import RuleBroken
from surfaces.operators import confirmation
from surfaces.operators.permissions import admin_required
from surfaces.settings.base_form import SettingsForm
from surfaces.settings.changes import pairs_of
from surfaces.settings.services import ChangedMeanwhile, change, events_of, undo
from surfaces.text.reasons import note
from surfaces.web import toasts
from surfaces.web.requests import OperatorRequest, parse_id
from surfaces.web.responses import redirect_back, rule_errors_as_toasts

View = Callable[..., HttpResponse]
RESET = "default"  # the button that sets one value to its default
MAX_WHY = 400


@dataclass(frozen=True, kw_only=True)
class SettingsPage:
    """A page of settings: its row, form, template, and the names of its URLs."""

    form: Callable[..., SettingsForm]
    template: str
    name: str
    undo_name: str
    key: str = ""  # the attribute of the row that stands in its URLs
    guarded: frozenset[str] = frozenset()  # a change of these asks for the password again
    context: Callable[[OperatorRequest, Any], dict[str, Any]] = lambda _request, _form: {}

    def url(self, row: Any, name: str = "") -> str:
        return reverse(name or self.name, args=[getattr(row, self.key)] if self.key else [])

    def render(
        self, request: OperatorRequest, form: SettingsForm, *, status: int = 200, **more: Any
    ) -> HttpResponse:
        shown = self.context(request, form) | {
            "form": form,
            "here": self.url(form.row),
            "undo_url": self.url(form.row, self.undo_name),
            "subject": name_of(form.spec.subject(form.row)),
            "why": why_of(request),
            **more,
        }
        return render(request, self.template, shown, status=status)

    def views(self, find: Callable[..., Any]) -> tuple[View, View]:
        """The view of the page, and the one that undoes a change. `find` reads the row."""

        @require_http_methods(["GET", "HEAD", "POST"])
        def page(request: OperatorRequest, **key: Any) -> HttpResponse:
            row = find(request, **key)
            if request.method == "POST":
                return save(request, self, row)
            return self.render(request, self.form(row))

        @require_POST
        def undo_change(request: OperatorRequest, **key: Any) -> HttpResponse:
            return undo_posted(request, self, find(request, **key))

        return page, undo_change


@admin_required
def save(request: OperatorRequest, page: SettingsPage, row: Model) -> HttpResponse:
    form = page.form(row, request.POST)
    reset = request.POST.get(RESET, "")
    form = form.with_default(reset) if reset else form
    if not form.is_valid():
        return page.render(request, form, status=422)
    if reset and form.changed_besides(reset):
        message = _("%(label)s is set to its default below. Nothing is saved yet.")
        form.notice = message % {"label": form.field_named(reset).label}
        return page.render(request, form)
    if page.guarded & form.changed() and (asked := confirmation.ask(request)):
        return asked
    values, seen, by = form.cleaned_data, form.seen_marks(), request.user.actor
    try:
        saved = change(row, values, by=by, now=timezone.now(), seen=seen, why=note(why_of(request)))
    except ChangedMeanwhile as error:
        row.refresh_from_db()
        return page.render(request, form.rebased(row, error.fields), status=409)
    except RuleBroken as error:
        form.add_error(None, str(error))
        return page.render(request, form, status=422)
    if saved:
        message = _("Saved: %(names)s.") % {"names": form.names(saved.pairs)}
        at = page.url(row, page.undo_name)
        toasts.show_toast(request, message, undo=at, line=str(saved.event_id))
    else:
        toasts.show_toast(request, _("Nothing changed."))
    return redirect(page.url(row))


@admin_required
def undo_posted(request: OperatorRequest, page: SettingsPage, row: Model) -> HttpResponse:
    """Undo the change that the form names."""
    event, form = posted_event(request, row), page.form(row)
    if page.guarded & pairs_of(event.facts).keys() and (asked := confirmation.ask(request)):
        return asked
    with rule_errors_as_toasts(request):
        try:
            undone = undo(row, event, by=request.user.actor, now=timezone.now())
        except ChangedMeanwhile as error:
            labels = [str(form.field_named(name).label) for name in error.fields]
            raise ChangedMeanwhile(labels, error.message) from None
        toasts.show_toast(request, _("Undone: %(names)s.") % {"names": form.names(undone.pairs)})
    return redirect_back(request, page.url(row))


def posted_event(request: HttpRequest, row: Model) -> AuditEvent:
    """The change of this row that a form names; one of another row is not found."""
    return get_object_or_404(events_of(row), pk=parse_id(request.POST.get("line", "")) or 0)


def why_of(request: HttpRequest) -> str:
    return " ".join(request.POST.get("why", "").replace("\0", "").split())[:MAX_WHY]
