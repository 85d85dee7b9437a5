"""Loaded once by the fork server."""

import django

django.setup()
