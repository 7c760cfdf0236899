# silu: `make run` starts the workspace, `make test` tests it. Both do all the set-up first.

PYTHON ?= $(shell for p in python3 python3.13 python3.12 python3.11; do \
	$$p -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && echo $$p && break; \
	done || echo python3)
BIN := .venv/bin
ARGS ?=

.PHONY: help run test test-long setup setup-dev check fix web lock screenshots measures bench clean

help: ## this list
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/  make \1\t\2/p' $(MAKEFILE_LIST) | expand -t 20

run: setup ## set up, build the web app, start the workspace and print its URL
	@exec $(BIN)/silu serve $(ARGS)

test: setup-dev ## set up and run every test (under ten minutes on two cores)
	@$(BIN)/python scripts/test.py

test-long: setup-dev ## the long tests
	@$(BIN)/python scripts/test.py --long

setup: ## .venv from requirements.lock, and the web app
	@$(PYTHON) scripts/venv.py run
	@$(BIN)/python scripts/webapp.py build

setup-dev:
	@$(PYTHON) scripts/venv.py dev
	@$(PYTHON) scripts/system.py

check: setup-dev ## the house rules only: lint, format, types, imports, names, lengths
	@$(BIN)/pytest tests/house -n 2

fix: ## format, and mend what ruff can
	@$(BIN)/ruff check --fix-only --quiet . && $(BIN)/ruff format --quiet .

web: ## build the web app into the package, if it changed
	@$(BIN)/python scripts/webapp.py build

lock: ## write the lock files anew from pyproject.toml (ARGS=--upgrade for newer versions)
	@$(BIN)/python -m pip install -q uv
	@$(BIN)/python scripts/lock.py $(ARGS)

screenshots: setup-dev web ## take the pictures of docs/tour.md again
	@$(BIN)/python scripts/screenshots.py

measures: setup-dev web ## how smooth the page is while much streams into it (needs Chromium)
	@$(BIN)/python -m tests.web.measures

bench: setup-dev ## speed against the floor, as ratios
	@$(BIN)/python -m bench $(ARGS)

clean: ## remove everything that was made
	rm -rf .venv build dist web/node_modules web/dist src/silu/gateway/static .coverage* \
		.pytest_cache .ruff_cache .import_linter_cache .hypothesis
