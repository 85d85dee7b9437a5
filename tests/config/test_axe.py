"""How a bare machine comes to axe-core: from a registry, pinned, whole or not at all."""

from __future__ import annotations

import io
import tarfile
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from config import axe


def packed(**files: bytes) -> bytes:
    kept = io.BytesIO()
    with tarfile.open(fileobj=kept, mode="w:gz") as archive:
        for name, content in files.items():
            entry = tarfile.TarInfo(f"package/{name.replace('_', '.')}")
            entry.size = len(content)
            archive.addfile(entry, io.BytesIO(content))
    return kept.getvalue()


GOOD = packed(axe_min_js=b"window.axe = {};", package_json=b"{}")


class Registry:
    """A registry on this machine that gives `content`, and knows what it was asked for."""

    def __init__(self) -> None:
        self.content, self.status, self.asked = GOOD, 200, list[str]()
        kept = self

        class Answer(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                kept.asked.append(self.path)
                self.send_response(kept.status)
                self.send_header("Content-Length", str(len(kept.content)))
                self.end_headers()
                self.wfile.write(kept.content)

            def log_message(self, *args: Any) -> None:
                """Quiet."""

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Answer)
        self.url = f"http://127.0.0.1:{self.server.server_port}"


@pytest.fixture
def registry(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[Registry]:
    made = Registry()
    threading.Thread(target=made.server.serve_forever, daemon=True).start()
    pinned = tmp_path / "axe-core.txt"
    pinned.write_text(f"# why\naxe-core 9.9.9 {axe._integrity(GOOD)}\n")
    monkeypatch.setattr(axe, "PINNED", pinned)
    monkeypatch.setenv("npm_config_registry", f"{made.url}/")
    yield made
    made.server.shutdown()
    made.server.server_close()


def refusal(data: Path) -> str:
    with pytest.raises(SystemExit) as stopped:
        axe.have_axe(data)
    assert list(data.glob("*axe*.js*")) == []
    words = str(stopped.value)
    assert "\n" not in words
    assert words.startswith("The browser tests need axe-core, and it could not be fetched: ")
    return words


def test_the_pinned_version_is_fetched_and_only_its_script_kept(registry, tmp_path):
    data = tmp_path / "data"
    axe.have_axe(data)
    assert registry.asked == ["/axe-core/-/axe-core-9.9.9.tgz"]
    assert [path.name for path in data.iterdir()] == ["axe-core-9.9.9.min.js"]
    assert axe.script(data).read_bytes() == b"window.axe = {};"


def test_what_is_here_is_not_fetched_again(registry, tmp_path):
    axe.have_axe(tmp_path)
    registry.server.shutdown()
    axe.have_axe(tmp_path)
    assert len(registry.asked) == 1


def test_another_package_than_the_pinned_one_is_refused(registry, tmp_path):
    registry.content = packed(axe_min_js=b"window.axe = 'another';")
    assert "is not what axe-core.txt names; nothing was kept" in refusal(tmp_path)


def test_half_a_package_is_refused(registry, tmp_path):
    registry.content = GOOD[:-20]
    assert "is not what axe-core.txt names" in refusal(tmp_path)


def test_a_pinned_package_without_the_script_is_refused(registry, tmp_path):
    registry.content = packed(package_json=b"{}")
    integrity = axe._integrity(registry.content)
    axe.PINNED.write_text(f"axe-core 9.9.9 {integrity}\n")
    assert "holds no package/axe.min.js" in refusal(tmp_path)


def test_a_registry_that_refuses_or_is_away_is_one_clear_sentence(registry, tmp_path, monkeypatch):
    registry.status = 404
    assert f"{registry.url}/axe-core/-/axe-core-9.9.9.tgz: Not Found." in refusal(tmp_path)
    monkeypatch.setenv("npm_config_registry", "http://127.0.0.1:9")
    assert "A network is needed once." in refusal(tmp_path)
    monkeypatch.setenv("npm_config_registry", "file:///etc")
    assert "is no address of the web" in refusal(tmp_path)


def test_the_registry_is_the_one_that_npm_would_ask(tmp_path):
    npmrc = tmp_path / "npmrc"
    npmrc.write_text("fund=false\nregistry = https://npm.example.org/all/\n")
    kept = {"NPM_CONFIG_USERCONFIG": str(npmrc)}
    assert axe.registry(kept) == "https://npm.example.org/all"
    assert axe.registry({**kept, "npm_config_registry": "http://a.test/"}) == "http://a.test"
    assert axe.registry({"npm_config_userconfig": str(tmp_path / "none")}) == axe.PUBLIC


def test_what_is_pinned_is_a_version_with_its_sum():
    pin = axe.pin()
    assert pin.name == "axe-core"
    assert pin.version.count(".") == 2
    assert pin.integrity.startswith("sha512-")
