"""The menu: one entry is marked, and it is that of the page."""

from __future__ import annotations

import re

import pytest
from django.test import Client

from surfaces.extension_points import Extension, NavLink

pytestmark = pytest.mark.django_db
EXTENSION = Extension(nav_items=(NavLink(view="surfaces:more", label="Help", icon="info"),))


def marked(client: Client, place: str) -> list[str]:
    menu = client.get(place).content.decode().split('id="places"')[1].split("</nav>")[0]
    return re.findall(r'href="([^"]+)"[^>]*aria-current="page"', menu)


@pytest.mark.parametrize("place", ["/", "/messages/", "/agents/"])
def test_an_entry_added_by_the_ground_floor_is_marked_on_its_own_page_only(
    desk: Client, settings, place
):
    settings.EXTENSIONS = [f"{__name__}.EXTENSION", *settings.EXTENSIONS]
    assert marked(desk, place) == [place]
    assert marked(desk, "/more") == ["/more"]
