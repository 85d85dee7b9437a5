"""Prepare a bare machine: a virtual environment with our locked packages, a browser for tests.

`make` runs this with the system's Python, before anything is installed: the
standard library only. What is in place already is left alone, without a network.
"""

import hashlib
import importlib.util
import os
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
VENV = ROOT / ".venv"
PYTHON = VENV / "bin" / "python"
# dev.txt holds all of run.txt: who has the first needs not fetch the second.
INCLUDES = {"run": ["run"], "dev": ["dev", "run"], "data": ["data"]}
ALONE = {"data"}  # installed without their dependencies
BROWSERS = (
    "chromium-headless-shell",  # without a window it needs the least
    "chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome",
)  # fmt: skip


def main(words: Sequence[str]) -> None:
    for word in words:
        if word == "browser":
            ensure_browser()
        else:
            ensure_packages(word)


def ensure_packages(name: str) -> None:
    """Install requirements/<name>.txt, unless exactly that is installed."""
    stamp = _stamp(name)
    is_current = stamp.is_file() and stamp.read_text("utf-8") == _digest(name)
    if is_current and _works([str(PYTHON), "--version"]):
        return
    _have_venv()
    print(f"Installing the packages of requirements/{name}.txt into .venv ...", flush=True)
    pip = [str(PYTHON), "-m", "pip", "--disable-pip-version-check", "--no-input", "install"]
    quiet = [] if sys.stdout.isatty() else ["--quiet"]
    alone = ["--no-deps"] if name in ALONE else []
    wanted = [*alone, "--require-hashes", "--requirement", str(_requirements(name))]
    if subprocess.run([*pip, *quiet, *wanted], check=False).returncode:
        sys.exit("The packages could not be installed: see above; a network is needed once.")
    for included in INCLUDES[name]:
        _stamp(included).write_text(_digest(included), "utf-8")


def _requirements(name: str) -> Path:
    return ROOT / "requirements" / f"{name}.txt"


def _stamp(name: str) -> Path:
    return VENV / f".installed-{name}"


def _digest(name: str) -> str:
    return hashlib.sha256(_requirements(name).read_bytes()).hexdigest()


def _have_venv() -> None:
    if _works([str(PYTHON), "-m", "pip", "--version"]):
        return
    if importlib.util.find_spec("ensurepip") is None or importlib.util.find_spec("venv") is None:
        package = f"python3.{sys.version_info.minor}-venv"
        sys.exit(
            f"This Python cannot make virtual environments: install the package {package} "
            f"(on Debian and Ubuntu: apt-get install {package}) and try again."
        )
    # A half-made one, from a start that was interrupted, is made anew.
    made = subprocess.run([sys.executable, "-m", "venv", "--clear", str(VENV)], check=False)
    if made.returncode:
        sys.exit(f"The virtual environment {VENV} could not be made: see above.")


def _works(command: list[str]) -> bool:
    try:
        return subprocess.run(command, capture_output=True, check=False).returncode == 0
    except OSError:
        return False


def ensure_browser() -> None:
    """See that a Chromium is here, and as root on Debian fetch one."""
    if _browser():
        return
    if os.geteuid() == 0 and shutil.which("apt-get"):
        print("Installing Chromium for the browser tests ...", flush=True)
        _apt_get("update")
        for package in ("chromium-headless-shell", "chromium"):
            if not _browser():
                _apt_get("install", "-y", "--no-install-recommends", package)
    if not _browser():
        sys.exit(
            "The browser tests need Chromium: install it (on Debian: apt-get install chromium) "
            "or name one in COLLOQUY_CHROMIUM."
        )


def _apt_get(*words: str) -> None:
    quiet = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
    command = ["apt-get", "-qq", *words]
    subprocess.run(command, env=quiet, check=False, stdout=subprocess.DEVNULL)


def _browser() -> str | None:
    named = os.environ.get("COLLOQUY_CHROMIUM")
    return shutil.which(named) if named else next(filter(None, map(shutil.which, BROWSERS)), None)


if __name__ == "__main__":
    main(sys.argv[1:])
