"""Open one model: find who speaks its protocol, with the key and the address we were given.

No key and no proxy comes from the environment. A server may not send us elsewhere, and an
answer is dropped once it is larger than 4 MB.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any, cast
from urllib.parse import urlsplit

import httpx2
from pydantic_ai.exceptions import UserError
from pydantic_ai.models import Model, infer_model
from pydantic_ai.providers import Provider, infer_provider_class

from dialogue.errors import VoiceMisset
from dialogue.voice.base import Mind
from dialogue.voice.failures import PACKED, TOO_LARGE, Unreadable

LARGEST_ANSWER = 4 * 1024 * 1024  # bytes
LONGEST_CONNECT = 10.0  # seconds
NO_KEY = "no-key"  # for servers of one's own, which often want none
OLLAMA = "http://localhost:11434/v1"
# Said aloud, because the libraries would look for them in the environment.
HOMES = {
    "openai": "https://api.openai.com/v1",
    "openai-chat": "https://api.openai.com/v1",
    "openai-responses": "https://api.openai.com/v1",
    "anthropic": "https://api.anthropic.com",
}


class Narrow(httpx2.AsyncBaseTransport):
    """Lets answers through that are plain and not too large."""

    def __init__(self, inner: httpx2.AsyncBaseTransport) -> None:
        self._inner = inner

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        response = await self._inner.handle_async_request(request)
        if response.headers.get("content-encoding", "identity") != "identity":
            await response.aclose()
            raise Unreadable(PACKED)  # a small one may unpack to anything
        return httpx2.Response(
            response.status_code,
            headers=response.headers,
            stream=_Counted(response),
            extensions=response.extensions,
        )

    async def aclose(self) -> None:
        await self._inner.aclose()


class _Counted(httpx2.AsyncByteStream):
    def __init__(self, inner: httpx2.Response) -> None:
        self._inner = inner

    async def __aiter__(self) -> AsyncIterator[bytes]:
        size = 0
        async for chunk in cast(httpx2.AsyncByteStream, self._inner.stream):
            size += len(chunk)
            if size > LARGEST_ANSWER:
                raise Unreadable(TOO_LARGE)
            yield chunk

    async def aclose(self) -> None:
        await self._inner.aclose()


def open_wire(timeout: float, transport: httpx2.AsyncBaseTransport | None) -> httpx2.AsyncClient:
    """A client for one conversation; close it afterwards."""
    return httpx2.AsyncClient(
        transport=Narrow(transport or httpx2.AsyncHTTPTransport(trust_env=False)),
        headers={"Accept-Encoding": "identity"},
        timeout=httpx2.Timeout(timeout, connect=min(timeout / 2, LONGEST_CONNECT)),
        follow_redirects=False,
        trust_env=False,
    )


def open_model(mind: Mind, wire: httpx2.AsyncClient) -> Model:
    """Open the model that `mind` names, or raise `VoiceMisset`."""
    provider, _, name = mind.model.partition(":")
    if not provider or not name or "/" in provider:
        raise VoiceMisset(f"{mind.model!r} is no model. Write provider:name.")
    if mind.base_url and not _is_address(mind.base_url):
        raise VoiceMisset(
            f"The address of {mind.model} must begin with http:// or https:// and a host."
        )
    if not (mind.key.isascii() and mind.key.isprintable()):
        raise VoiceMisset(f"The key of {mind.model} holds a sign that no key has. Set it again.")
    if not (mind.key or mind.base_url or provider == "ollama"):
        raise VoiceMisset(f"No key is set for {mind.model}.")
    try:
        return _opened(provider, name, mind, wire)
    except ImportError as error:
        raise VoiceMisset(f"The library that speaks to {provider} is not installed.") from error
    except (UserError, TypeError, ValueError) as error:
        raise VoiceMisset(
            f"{mind.model} cannot be asked. Check its name, or give the address of a server "
            "that speaks the protocol of OpenAI."
        ) from error


def _is_address(url: str) -> bool:
    try:
        parts = urlsplit(url)
        httpx2.URL(url)
        return parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except (ValueError, httpx2.InvalidURL):
        return False


def _opened(provider: str, name: str, mind: Mind, wire: httpx2.AsyncClient) -> Model:
    key = mind.key or NO_KEY
    if provider == "ollama":
        from pydantic_ai.models.ollama import OllamaModel
        from pydantic_ai.providers.ollama import OllamaProvider

        home = OllamaProvider(mind.base_url or OLLAMA, key, http_client=wire)
        return OllamaModel(name, provider=home)
    if mind.base_url and provider != "anthropic":
        # Somebody's own server: nearly all of them speak chat completions.
        from pydantic_ai.models.openai import OpenAIChatModel
        from pydantic_ai.providers.openai_compatible import OpenAICompatibleProvider

        compatible = OpenAICompatibleProvider(
            provider, base_url=mind.base_url, api_key=key, http_client=wire
        )
        return OpenAIChatModel(name, provider=compatible)
    return infer_model(mind.model, lambda named: _provider(named, mind, wire))


def _provider(named: str, mind: Mind, wire: httpx2.AsyncClient) -> Provider[Any]:
    kind: Any = infer_provider_class(named)
    given: dict[str, Any] = {"api_key": mind.key or NO_KEY, "http_client": wire}
    if address := mind.base_url or HOMES.get(named):
        given["base_url"] = address
    # Whoever takes no key from us, but looks for one elsewhere, fails here: a TypeError.
    provider: Provider[Any] = kind(**given)
    return provider
