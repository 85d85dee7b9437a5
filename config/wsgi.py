"""Serve the program to a WSGI server, such as `runserver`. Open pages poll for updates then."""

import atexit
import os

from django.core.wsgi import get_wsgi_application

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
application = get_wsgi_application()

from config.processes import heartbeat  # noqa: E402 - it needs the settings

atexit.register(heartbeat.web_heartbeat().end)
