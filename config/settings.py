"""Settings of the program. What may differ between machines comes from `config.env`."""

from functools import partial
from typing import Any
from urllib.parse import urlsplit

import django_stubs_ext

from config import email as config_email
from config import env as environment
from config import keys
from config.logs import configuration
from config.postgres.url import database

# Lets admin classes name their model, e.g. ModelAdmin[Message].
django_stubs_ext.monkeypatch()

ENV = environment.load()
BASE_DIR = environment.BASE
DATA_DIR = ENV.colloquy_data

SECRET_KEY = keys.secret_key(ENV.secret_key, DATA_DIR)
# Read anew each time: a rotated key is known to running processes at once.
READ_CREDENTIAL_KEYS = partial(keys.credential_keys, ENV.credential_keys, DATA_DIR)
DEBUG = ENV.debug
STYLE_GUIDE = DEBUG  # /settings/components/ exists; tests switch it on
IS_HTTPS = ENV.colloquy_url.startswith("https://")
ALLOWED_HOSTS = [*ENV.allowed_hosts]
if ENV.colloquy_url:
    _port = urlsplit(ENV.colloquy_url).port
    CSRF_TRUSTED_ORIGINS = [ENV.colloquy_url]
    ALLOWED_HOSTS.append(urlsplit(ENV.colloquy_url).netloc.removesuffix(f":{_port}"))

INSTALLED_APPS = [
    "django.contrib.admin",
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "django.contrib.messages",
    "django.contrib.postgres",
    "django.contrib.humanize",
    "django.forms",
    "whitenoise.runserver_nostatic",
    "django.contrib.staticfiles",
    "django_htmx",
    "django_q",
    "config",
    "surfaces",
    "dialogue",
]

MIDDLEWARE = [
    "config.middleware.assign_request_id",
    "django.middleware.security.SecurityMiddleware",
    "django.middleware.gzip.GZipMiddleware",
    "whitenoise.middleware.WhiteNoiseMiddleware",
    "config.middleware.security_headers",
    "surfaces.web.middleware.drop_unreadable_cookies",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "surfaces.web.middleware.refuse_charset",
    "surfaces.operators.middleware.SignInRequired",
    "django.contrib.messages.middleware.MessageMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
    "django_htmx.middleware.HtmxMiddleware",
    "surfaces.operators.middleware.require_setup",
    "surfaces.operators.middleware.note_session_seen",
    "surfaces.operators.middleware.activate_time_zone",
    "surfaces.operators.middleware.activate_language",
    "surfaces.web.middleware.explain_wrong_method",
    "surfaces.web.middleware.refuse_unreadable",
]

ROOT_URLCONF = "config.urls"
WSGI_APPLICATION = "config.wsgi.application"
ASGI_APPLICATION = "config.asgi.application"

TEMPLATES: list[dict[str, Any]] = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "DIRS": [BASE_DIR / "templates"],
        "OPTIONS": {
            "loaders": [
                (
                    "surfaces.web.template_loader.Loader",
                    [
                        "django.template.loaders.filesystem.Loader",
                        "django.template.loaders.app_directories.Loader",
                    ],
                )
            ],
            "context_processors": [
                "django.template.context_processors.request",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
                "surfaces.home.frame.page_frame",
            ],
            "builtins": ["surfaces.templatetags.formatting"],
        },
    }
]

try:
    DATABASES = {
        "default": database(
            ENV.database_url,
            DATA_DIR,
            owner_url=ENV.database_owner_url,
            is_safe=ENV.colloquy_pg_fsync,
        )
    }
except ValueError as error:
    raise SystemExit(f"Colloquy cannot start: {error}") from error
# Our templates/django/forms/ tell the words of choices in the language of who looks.
FORM_RENDERER = "django.forms.renderers.TemplatesSetting"
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"

AUTH_USER_MODEL = "surfaces.Operator"
AUTH_PASSWORD_VALIDATORS = [
    {"NAME": f"django.contrib.auth.password_validation.{name}"}
    for name in (
        "UserAttributeSimilarityValidator",
        "MinimumLengthValidator",
        "CommonPasswordValidator",
        "NumericPasswordValidator",
    )
]
LOGIN_URL = "surfaces:sign_in"
LOGIN_REDIRECT_URL = "surfaces:home"
LOGOUT_REDIRECT_URL = "surfaces:sign_in"

SESSION_ENGINE = "surfaces.operators.session_store"
# Over https the browser itself refuses these cookies from another host or path.
_PREFIX = "__Host-" if IS_HTTPS else ""
SESSION_COOKIE_NAME = f"{_PREFIX}sessionid"
CSRF_COOKIE_NAME = f"{_PREFIX}csrftoken"
KNOWN_BROWSER_COOKIE_NAME = f"{_PREFIX}known"
SESSION_COOKIE_HTTPONLY = True
SESSION_COOKIE_SAMESITE = "Lax"
SESSION_COOKIE_AGE = 14 * 24 * 3600
SESSION_COOKIE_SECURE = IS_HTTPS
CSRF_COOKIE_SECURE = IS_HTTPS
CSRF_FAILURE_VIEW = "surfaces.web.views.errors.csrf_failure"
SECURE_SSL_REDIRECT = IS_HTTPS
SECURE_HSTS_SECONDS = 365 * 24 * 3600 if IS_HTTPS else 0
SECURE_HSTS_INCLUDE_SUBDOMAINS = IS_HTTPS
SECURE_HSTS_PRELOAD = IS_HTTPS
SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https") if IS_HTTPS else None
# Whoever asks for our health is on this machine or beside it, without TLS.
SECURE_REDIRECT_EXEMPT = [r"^healthz$"]
SECURE_REFERRER_POLICY = "same-origin"
X_FRAME_OPTIONS = "DENY"
# A pasted text of 2 MB is answered with a sentence, not with a broken connection.
DATA_UPLOAD_MAX_MEMORY_SIZE = 5 * 1024 * 1024

LANGUAGE_CODE = "en"  # the house's, for browsers that ask for none we know
LANGUAGES = [("en", "English"), ("zh-hans", "简体中文")]
LOCALE_PATHS = [BASE_DIR / "locale"]
TIME_ZONE = "UTC"
USE_I18N = True
USE_TZ = True

STATIC_URL = "static/"
STATIC_ROOT = DATA_DIR / "static"
STATIC_ROOT.mkdir(parents=True, exist_ok=True)  # or whitenoise warns at every start
STATICFILES_DIRS = [BASE_DIR / "static"]
WHITENOISE_USE_FINDERS = True
WHITENOISE_AUTOREFRESH = DEBUG
STORAGES = {
    "default": {"BACKEND": "django.core.files.storage.FileSystemStorage"},
    "staticfiles": {"BACKEND": "django.contrib.staticfiles.storage.StaticFilesStorage"},
}

LOGGING = configuration(ENV.log_level, ENV.log_format)
MESSAGE_STORAGE = "django.contrib.messages.storage.session.SessionStorage"

# Clusters of these names activate agents for their kind of work and do nothing else; one of any
# other name does everything.
POOLS = ("notification", "exploration", "hybrid")
# django-q2. `timeout < retry`, or a running task is handed out a second time. Both are above the
# 60 s in which a task begins activations and the 300 s of one.
Q_CLUSTER: dict[str, Any] = {
    "name": "colloquy" if ENV.q_cluster_name in POOLS else ENV.q_cluster_name,
    "ALT_CLUSTERS": {pool: {} for pool in POOLS},
    "workers": ENV.q_workers,
    "timeout": 420,
    "retry": 480,
    "max_attempts": 3,
    "ack_failures": True,
    "bulk": 10,
    "poll": 0.5,
    "save_limit": 0,
    "catch_up": False,
    "label": "Task queue",
    **({"redis": ENV.redis_url} if ENV.redis_url else {"orm": "default"}),
}

SCHEDULES = {
    # what for: (task, every so many minutes, for the clusters of a pool)
    "poll accounts that are due": ("surfaces.tasks.watch_due", 1),
    "activate agents that have work": ("dialogue.tasks.activate_due", 1),
    **{f"activate agents: {pool}": ("dialogue.tasks.activate_due", 1, pool) for pool in POOLS},
    "send what is due": ("surfaces.tasks.deliver_due", 1),
    "withdraw what nobody decided": ("surfaces.tasks.expire_drafts", 1),
    "tell operators what waits": ("surfaces.tasks.notice", 1),
    "report what agents did": ("dialogue.tasks.report", 5),
    "put old rounds and sessions away": ("surfaces.tasks.prune", 60),
    "put old transcripts away": ("dialogue.tasks.prune", 60),
}

# What each floor adds to the pages below it.
EXTENSIONS = ["surfaces.extensions.EXTENSION", "dialogue.extensions.EXTENSION"]

SEND_LEASE_SECONDS = ENV.send_lease_seconds
LOOK_AFTER_SECONDS = ENV.look_after_seconds
# May we knock at addresses of our own network to wake an agent?
WAKE_PRIVATE_ADDRESSES = ENV.wake_private_addresses
WEB_THREADS = ENV.web_threads
LIVE_CLIENTS = ENV.colloquy_live_clients
# Where links in what we send lead to.
COLLOQUY_URL = ENV.colloquy_url or f"http://{ENV.host}:{ENV.port}"

# Mails to operators. Without EMAIL_URL none is sent, and the pages say so.
MAIL = config_email.read(ENV.email_url)
MAIL_IS_SET_UP = MAIL.is_set_up
EMAIL_HOST, EMAIL_PORT = MAIL.host, MAIL.port
EMAIL_HOST_USER, EMAIL_HOST_PASSWORD = MAIL.name, MAIL.password
EMAIL_USE_TLS, EMAIL_USE_SSL = MAIL.has_tls, MAIL.has_ssl
EMAIL_BACKEND = "surfaces.notices.smtp.EmailBackend"
EMAIL_TIMEOUT = 10  # seconds for one step; the backend bounds the whole
DEFAULT_FROM_EMAIL = ENV.mail_from or f"colloquy@{urlsplit(COLLOQUY_URL).hostname}"
