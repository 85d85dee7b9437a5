"""Notify operators of processes without a heartbeat.

Who runs the rounds of notices is one of them, and cannot say that it is silent itself.
"""

from __future__ import annotations
