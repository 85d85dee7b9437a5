"""Pages for sign-in and sign-out."""

from django.contrib.auth import login, logout
from django.contrib.auth.decorators import login_not_required
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils import timezone
from django.utils.http import urlencode
from django.utils.translation import gettext_lazy as _lazy
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_http_methods, require_POST
from django_htmx.http import HttpResponseClientRedirect

from surfaces.errors import NotAllowed, RuleBroken
from surfaces.operators import sign_in as operator_sign_in
from surfaces.operators.permissions import MANAGES
from surfaces.web.requests import OperatorRequest, client_ip
from surfaces.web.responses import is_local_path

TOO_LATE = _lazy("The five minutes for the code are over. Sign in again.")


@login_not_required
@sensitive_post_parameters("password")
@require_http_methods(["GET", "HEAD", "POST"])
def sign_in(request: OperatorRequest) -> HttpResponse:
    if request.htmx:  # a fragment was asked for by somebody whose session is over
        asked = {"next": request.htmx.current_url_abs_path or "/"}
        then = urlencode(asked | ({"lost": "1"} if "lost" in request.GET else {}))
        return HttpResponseClientRedirect(f"{request.path}?{then}")
    if request.user.is_authenticated:
        return redirect(_wanted(request))
    if request.method != "POST":
        return render(request, "surfaces/operators/sign_in.html", {"next": _wanted(request)})
    try:
        operator = operator_sign_in.sign_in(
            request,
            username=request.POST.get("username", ""),
            password=request.POST.get("password", ""),
            address=client_ip(request),
            now=timezone.now(),
        )
    except RuleBroken as error:
        return _refused(request, "sign_in", error, next=_wanted(request))
    if operator.has_two_factor:
        then = _wanted(request)
        operator_sign_in.remember_pending(request.session, operator, then=then, now=timezone.now())
        return redirect("surfaces:sign_in_code")
    login(request, operator)
    return redirect(_wanted(request))


@login_not_required
@sensitive_post_parameters("code")
@require_http_methods(["GET", "HEAD", "POST"])
def sign_in_code(request: OperatorRequest) -> HttpResponse:
    now = timezone.now()
    if request.user.is_authenticated:
        return redirect("surfaces:home")
    half = operator_sign_in.pending_second_factor(request.session, now=now)
    if half is None:
        shown = {"why": TOO_LATE, "next": "/"}
        return render(request, "surfaces/operators/sign_in.html", shown, status=422)
    operator, then = half
    if request.method != "POST":
        return render(request, "surfaces/operators/sign_in_code.html")
    try:
        code = request.POST.get("code", "")
        operator_sign_in.check_code(operator, code, address=client_ip(request), now=now)
    except RuleBroken as error:
        return _refused(request, "sign_in_code", error)
    operator_sign_in.forget_pending(request.session)
    login(request, operator)
    return redirect(then)


@login_not_required
def admin_sign_in(request: OperatorRequest) -> HttpResponse:
    """The administration's own sign-in page is never shown."""
    if request.user.is_authenticated:
        raise PermissionDenied(MANAGES)
    return redirect(f"{reverse('surfaces:sign_in')}?{urlencode({'next': _wanted(request)})}")


@require_POST
def sign_out(request: OperatorRequest) -> HttpResponse:
    logout(request)
    return redirect("surfaces:sign_in")


def _wanted(request: HttpRequest) -> str:
    wanted = request.POST.get("next") or request.GET.get("next") or "/"
    return wanted if is_local_path(wanted) else "/"


def _refused(request: HttpRequest, page: str, error: RuleBroken, **shown: str) -> HttpResponse:
    status = 429 if isinstance(error, NotAllowed) else 422
    shown["why"] = str(error)
    return render(request, f"surfaces/operators/{page}.html", shown, status=status)
