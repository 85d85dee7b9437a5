"""`manage.py reply` takes what it can do, and says what it cannot."""

from __future__ import annotations

import json
from io import StringIO

import pytest
from django.core.management import CommandError, call_command

pytestmark = pytest.mark.django_db


@pytest.mark.parametrize("workers", [-3, 0, 65, 10**9])
def test_a_number_of_voices_that_cannot_be_is_refused_with_status_2(workers: int):
    out = StringIO()
    with pytest.raises(CommandError, match=f"--workers must be 1 to 64, not {workers}") as refused:
        call_command("reply", "--once", f"--workers={workers}", stdout=out)
    assert refused.value.returncode == 2
    assert out.getvalue() == ""


def test_once_with_nothing_due_is_one_line_of_zeros():
    out = StringIO()
    call_command("reply", "--once", "--workers=64", stdout=out)
    [line] = out.getvalue().splitlines()
    assert set(json.loads(line).values()) == {0}
