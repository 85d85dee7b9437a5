# The commands of development. `make` lists them. Needs Python 3.11 or newer.

ARGS ?=
VENV := .venv/bin
PYTHON = $(shell for python in python3.11 python3.12 python3.13 python3; do \
	"$$python" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null \
	&& command -v "$$python" && break; done)
HAVE = @$(if $(PYTHON),,echo "Python 3.11 or newer is needed, and none is on the PATH." >&2; exit 1;) \
	"$(PYTHON)" -m config.dev.bootstrap

.DEFAULT_GOAL := help
.PHONY: help run ready test test-long check bench shots messages lock

help:  ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "make %-9s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

run:  ## install, then start a dashboard with a demo; Ctrl-C stops it
	$(HAVE) run
	@exec $(VENV)/python manage.py run $(ARGS)

ready:
	$(HAVE) dev data browser

test: ready  ## install, then run all tests, browser tests included; ARGS="-k word" selects
	@COLLOQUY_DATA=.data/tests COLLOQUY_PG_FSYNC=off LOG_LEVEL=ERROR $(VENV)/python -m pytest -n 2 $(ARGS)

test-long: export COLLOQUY_LONG_TESTS = 1
test-long: ready  ## tell the crash stories in full length: 200 comments, 100 kills each
	@COLLOQUY_DATA=.data/tests COLLOQUY_PG_FSYNC=off LOG_LEVEL=ERROR $(VENV)/python -m pytest -n 2 \
		-m story $(ARGS)

check:  ## lint, types, import contracts, templates, migrations
	$(HAVE) dev
	$(VENV)/ruff check .
	$(VENV)/ruff format --check .
	$(VENV)/mypy .
	$(VENV)/lint-imports
	git ls-files --cached --others --exclude-standard '*.html' | xargs -r $(VENV)/djade --check --target-version 5.2
	$(VENV)/python manage.py makemigrations --check --dry-run

bench:  ## measure the speed promises, as ratios
	$(HAVE) dev
	@$(VENV)/python -m bench $(ARGS)

shots: ready  ## take a picture of every page of the demo, in shots/
	@$(VENV)/python -m tests.browser.shots

messages:  ## collect texts to translate and compile translations
	$(HAVE) dev
	@$(VENV)/python -m config.dev.translations

lock:  ## write the newest matching versions, with hashes, to requirements/*.txt
	$(HAVE) dev
	$(VENV)/uv pip compile --upgrade --universal --python-version 3.11 --generate-hashes \
		requirements/dev.in -o requirements/dev.txt
	$(VENV)/uv pip compile --upgrade --universal --python-version 3.11 --generate-hashes \
		requirements/run.in -o requirements/run.txt -c requirements/dev.txt
