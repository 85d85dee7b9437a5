"""Press keys as a person does: on a page that has arrived."""

from playwright.sync_api import Page


def press(page: Page, *keys: str) -> None:
    """A page can be read before its script runs; a key pressed in between is lost."""
    page.wait_for_load_state()
    for key in keys:
        page.keyboard.press(key)


def wait_until_keys_decide(page: Page) -> None:
    """An item that follows a decided one takes no decision in the moment it is shown."""
    page.wait_for_function("() => !document.querySelector('#item[data-unread]')")
