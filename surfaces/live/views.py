"""Live updates: as a stream, or by polling."""

import hashlib
import random
from functools import partial
from typing import cast

from django.contrib.auth.decorators import login_not_required
from django.http import HttpRequest, HttpResponse, JsonResponse, QueryDict, StreamingHttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import render
from django.utils import timezone
from django.utils.cache import get_conditional_response
from django.views.decorators.http import require_GET

from surfaces.desk import queue
from surfaces.live.snapshot import SharedSnapshot, snapshot
from surfaces.live.streams import Stream, of_this_process
from surfaces.web.async_body import ASYNC_BODY
from surfaces.web.requests import OperatorRequest, int_param

ASK_AGAIN = 15  # seconds
_shared = SharedSnapshot()


@login_not_required  # a script asks: 401 says more to it than a page to sign in
@require_GET
def live(request: OperatorRequest) -> HttpResponseBase:
    """Server-sent events. The head is a page's; the event loop writes the rest."""
    if not request.user.is_authenticated:
        return HttpResponse(status=401)
    async_body = request.META.get(ASYNC_BODY)
    if async_body is None:
        return HttpResponse(status=204)  # to a browser's EventSource: do not come back
    streams = of_this_process()
    if not streams.has_room:
        return HttpResponse(status=503, headers={"Retry-After": ASK_AGAIN})
    session = cast(str, request.session.session_key)
    stream = Stream(operator=request.user.pk, session=session, reach=request.user.reach)
    async_body.append(partial(streams.hold, stream))
    # After a restart not everybody comes back in the same second.
    first = f"retry: {random.randint(2000, 6000)}\n\n"  # noqa: S311 - nothing secret
    response = StreamingHttpResponse([first], content_type="text/event-stream; charset=utf-8")
    response["Cache-Control"] = "no-store, no-transform"
    response["Content-Encoding"] = "identity"  # gzip would wait for more
    response["X-Accel-Buffering"] = "no"
    return response


@login_not_required
@require_GET
def now(request: OperatorRequest) -> HttpResponse:
    """The same for polling; 304 if nothing changed."""
    if not request.user.is_authenticated:
        return HttpResponse(status=401)
    reach = request.user.reach
    words = _shared.get(("now", reach), lambda: snapshot(reach, timezone.now()))
    etag = f'"{hashlib.sha256(words.encode()).hexdigest()[:16]}"'
    response = HttpResponse(words, content_type="application/json", headers={"ETag": etag})
    return cast(HttpResponse, get_conditional_response(request, etag=etag, response=response))


@login_not_required
@require_GET
def news(request: OperatorRequest) -> HttpResponse:
    """How many came since a page was made that it would show: `queue`, `after`, and `seen`."""
    if not request.user.is_authenticated:
        return HttpResponse(status=401)
    reach, given = request.user.reach, request.GET
    after, asked = int_param(given, "after") or 0, given.get("queue", "")[:2000]
    filters = {name: str(value) for name, value in QueryDict(asked).dict().items()}
    # `seen` is the newest id the browser was told of: an older answer is no answer.
    key = ("news", reach, asked, after, int_param(given, "seen"))
    count = _shared.get(key, lambda: queue.news(filters, reach, after))
    return JsonResponse({"count": count, "words": queue.capped(count)})


@require_GET
def sending(request: HttpRequest) -> HttpResponse:
    """The pause switch of a page, in its current state."""
    return render(request, "surfaces/pauses/_switch.html")
