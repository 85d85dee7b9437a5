"""Open one model with the client library for its protocol, its key and its address.

Keys and proxies are never read from the environment. Redirects are not followed, and answers
over 4 MB are refused.
"""

from collections.abc import AsyncIterator
from typing import Any, cast
from urllib.parse import urlsplit

import httpx2
from pydantic_ai.exceptions import UserError
from pydantic_ai.models import Model, infer_model
from pydantic_ai.providers import Provider, infer_provider_class

from dialogue.errors import VoiceMisconfigured
from dialogue.voice.base import ModelConfig
from dialogue.voice.llm.errors import PACKED, TOO_LARGE, UnreadableAnswer
from surfaces.text.reasons import reason

LARGEST_ANSWER = 4 * 1024 * 1024  # bytes
LONGEST_CONNECT = 10.0  # seconds
NO_KEY = "no-key"  # for private servers, which often need no key
OLLAMA = "http://localhost:11434/v1"
# Explicit, because the libraries would read them from the environment.
HOMES = {
    "openai": "https://api.openai.com/v1",
    "openai-chat": "https://api.openai.com/v1",
    "openai-responses": "https://api.openai.com/v1",
    "anthropic": "https://api.anthropic.com",
}


class SizeLimitedTransport(httpx2.AsyncBaseTransport):
    """Refuse compressed and too large answers."""

    def __init__(self, inner: httpx2.AsyncBaseTransport) -> None:
        self._inner = inner

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        response = await self._inner.handle_async_request(request)
        if response.headers.get("content-encoding", "identity") != "identity":
            await response.aclose()
            raise UnreadableAnswer(PACKED)  # a small answer may decompress to any size
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
                raise UnreadableAnswer(TOO_LARGE)
            yield chunk

    async def aclose(self) -> None:
        await self._inner.aclose()


def open_wire(timeout: float, transport: httpx2.AsyncBaseTransport | None) -> httpx2.AsyncClient:
    """Create a client for one conversation; the caller closes it."""
    return httpx2.AsyncClient(
        transport=SizeLimitedTransport(transport or httpx2.AsyncHTTPTransport(trust_env=False)),
        headers={"Accept-Encoding": "identity"},
        timeout=httpx2.Timeout(timeout, connect=min(timeout / 2, LONGEST_CONNECT)),
        follow_redirects=False,
        trust_env=False,
    )


def open_model(mind: ModelConfig, wire: httpx2.AsyncClient) -> Model:
    """Open the model that `mind` names, or raise `VoiceMisconfigured`."""
    provider, _, name = mind.model.partition(":")
    if not provider or not name or "/" in provider:
        raise VoiceMisconfigured(reason("voice.no_model_name", model=repr(mind.model)))
    if mind.base_url and not _is_address(mind.base_url):
        raise VoiceMisconfigured(reason("voice.address_scheme", model=mind.model))
    if not (mind.key.isascii() and mind.key.isprintable()):
        raise VoiceMisconfigured(reason("voice.key_sign", model=mind.model))
    if not (mind.key or mind.base_url or provider == "ollama"):
        raise VoiceMisconfigured(reason("voice.no_key", model=mind.model))
    try:
        return _opened(provider, name, mind, wire)
    except ImportError as error:
        raise VoiceMisconfigured(reason("voice.no_library", provider=provider)) from error
    except (UserError, TypeError, ValueError) as error:
        raise VoiceMisconfigured(reason("voice.cannot_be_asked", model=mind.model)) from error


def _is_address(url: str) -> bool:
    try:
        parts = urlsplit(url)
        httpx2.URL(url)
        return parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except (ValueError, httpx2.InvalidURL):
        return False


def _opened(provider: str, name: str, mind: ModelConfig, wire: httpx2.AsyncClient) -> Model:
    key = mind.key or NO_KEY
    if provider == "ollama":
        from pydantic_ai.models.ollama import OllamaModel
        from pydantic_ai.providers.ollama import OllamaProvider

        home = OllamaProvider(mind.base_url or OLLAMA, key, http_client=wire)
        return OllamaModel(name, provider=home)
    if (url := mind.base_url) and provider != "anthropic":
        # A private server: nearly all support chat completions.
        from pydantic_ai.models.openai import OpenAIChatModel
        from pydantic_ai.providers.openai_compatible import OpenAICompatibleProvider

        server = OpenAICompatibleProvider(provider, base_url=url, api_key=key, http_client=wire)
        return OpenAIChatModel(name, provider=server)
    return infer_model(mind.model, lambda named: _provider(named, mind, wire))


def _provider(named: str, mind: ModelConfig, wire: httpx2.AsyncClient) -> Provider[Any]:
    kind: Any = infer_provider_class(named)
    given: dict[str, Any] = {"api_key": mind.key or NO_KEY, "http_client": wire}
    if address := mind.base_url or HOMES.get(named):
        given["base_url"] = address
    # A provider that takes no key argument raises TypeError here.
    provider: Provider[Any] = kind(**given)
    return provider
