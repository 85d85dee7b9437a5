"""Serve the program to a WSGI server: `gunicorn config.wsgi`."""

import os

from django.core.wsgi import get_wsgi_application

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
application = get_wsgi_application()

from config.processes import heartbeat  # noqa: E402 - it needs the settings

heartbeat.web_heartbeat()
