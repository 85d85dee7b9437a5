"""Signs of life of real processes that we do not loop ourselves."""

import subprocess
import sys
import time
from collections.abc import Callable

import pytest
from django.db import connection

from surfaces.models import Worker

pytestmark = pytest.mark.django_db(transaction=True)

BEGIN = """
import os, sys, time, django
os.environ["DJANGO_SETTINGS_MODULE"] = "config.settings"
from django.conf import settings
settings.DATABASES["default"]["NAME"] = sys.argv[1]
"""
WEB = "from config.wsgi import application; sys.stdin.read()"
TASKS = """
django.setup()
from multiprocessing import get_context
from django_q.signals import post_spawn, pre_execute

def work():
    post_spawn.send("django_q", proc_name="Process-1:1")
    pre_execute.send("django_q", func=None, task={"name": "send what is due"})
    sys.stdin = open(0)
    sys.stdin.read()

process = get_context("fork").Process(target=work)
process.start()
process.join()
"""


def start(code: str) -> subprocess.Popen[bytes]:
    name = str(connection.settings_dict["NAME"])
    return subprocess.Popen(
        [sys.executable, "-c", BEGIN + code, name], stdin=subprocess.PIPE, stdout=subprocess.DEVNULL
    )


def wait(is_so: Callable[[], bool], patience: float = 30) -> None:
    end = time.monotonic() + patience
    while not is_so():
        assert time.monotonic() < end, "it never came"
        time.sleep(0.05)


def test_a_web_process_beats_from_the_moment_it_is_loaded_until_it_ends():
    process = start(WEB)
    try:
        wait(lambda: Worker.objects.filter(kind="web", pid=process.pid).exists())
        process.communicate(timeout=30)
    finally:
        process.kill()
    assert not Worker.objects.exists()


def test_a_worker_of_the_queue_beats_under_its_own_name_until_it_ends():
    process = start(TASKS)
    try:
        wait(lambda: Worker.objects.filter(kind="tasks").exists())
        row = Worker.objects.get()
        assert (row.name, row.pid != process.pid) == ("Process-1:1", True)
        process.communicate(timeout=30)
    finally:
        process.kill()
    assert not Worker.objects.exists()
