# Every target does its own set-up: a machine with Python >= 3.11, pip and make is enough.
PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/$(if $(filter Windows_NT,$(OS)),Scripts,bin)

.PHONY: demo test check format bench docs browse clean
.DEFAULT_GOAL := test

$(VENV)/.python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
		{ echo "sidelight needs Python 3.11 or newer; name one with: make PYTHON=python3.12 $(MAKECMDGOALS)"; exit 2; }
	$(PYTHON) -m venv $(VENV)
	@touch $@

# One stamp per set of extras, so that the demo does not wait for the tools of the tests.
$(VENV)/.with-%: $(VENV)/.python pyproject.toml
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e '.[$*]'
	@touch $@

.PRECIOUS: $(VENV)/.with-%

demo: $(VENV)/.with-all
	$(BIN)/sidelight demo --force

test: $(VENV)/.with-test
	$(BIN)/python -m pytest -n 2

check: $(VENV)/.with-dev
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/codespell src tests docs examples benchmarks *.md

format: $(VENV)/.with-dev
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

bench: $(VENV)/.with-test
	$(BIN)/python benchmarks/passes.py

# Every example of the gallery runs; a warning is an error, as is a link that leads nowhere. Nothing is fetched but the
# packages of the environment.
docs: $(VENV)/.with-docs
	$(BIN)/python -m sphinx -W --keep-going -b html -j 2 docs build/docs
	$(BIN)/python docs/check_links.py build/docs

# Some of its pages in headless Chromium, where that is installed.
browse: docs $(VENV)/.with-test
	$(BIN)/python docs/browse.py build/docs

clean:
	rm -rf $(VENV) build dist docs/gallery docs/reference/generated docs/reference/backreferences
