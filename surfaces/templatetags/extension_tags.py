"""Tags for what upper floors add to these pages."""

from django import template

from surfaces.extension_points import connect_url

register = template.Library()
register.simple_tag(connect_url)
