"""Over https the browser itself binds our cookies to this host; over http they have plain names."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
ASK = """
import django; django.setup()
from django.conf import settings as s
print(s.SESSION_COOKIE_NAME, s.CSRF_COOKIE_NAME, s.KNOWN_BROWSER_COOKIE_NAME)
print(s.SESSION_COOKIE_SECURE, s.CSRF_COOKIE_SECURE)
print(s.SESSION_COOKIE_PATH, s.CSRF_COOKIE_PATH, s.SESSION_COOKIE_DOMAIN, s.CSRF_COOKIE_DOMAIN)
"""


@pytest.mark.parametrize(
    ("address", "prefix"), [("https://desk.example.org", "__Host-"), ("http://localhost:8000", "")]
)
def test_cookies_are_host_bound_over_https_and_plain_over_http(
    tmp_path: Path, address: str, prefix: str
):
    env = {
        "PATH": os.environ["PATH"], "COLLOQUY_DATA": str(tmp_path), "COLLOQUY_URL": address,
        "DATABASE_URL": "postgres://nobody@127.0.0.1:9/none",
        "DJANGO_SETTINGS_MODULE": "config.settings",
    }  # fmt: skip
    done = subprocess.run(
        [sys.executable, "-c", ASK], cwd=ROOT, env=env, capture_output=True, text=True, timeout=120
    )
    names, secure, places = done.stdout.splitlines()
    assert names.split() == [f"{prefix}sessionid", f"{prefix}csrftoken", f"{prefix}known"]
    assert secure == f"{bool(prefix)} {bool(prefix)}"
    assert places == "/ / None None"
