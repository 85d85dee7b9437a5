"""Serve the program to an ASGI server: `uvicorn config.asgi:application`."""

import os

from django.core.asgi import get_asgi_application

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
application = get_asgi_application()

from config.processes import heartbeat  # noqa: E402 - it needs the settings

heartbeat.web_heartbeat()
