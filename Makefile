# hapticd: what the README tells people to type. Every target makes .venv and builds what it needs by itself.
#
#   make run        start the service with a simulated arm and grip (Ctrl-C stops it)
#   make test       the whole test suite; PYTEST_ARGS="-k loop" narrows it
#   make help       all targets

SHELL := /bin/sh
# Tests start hundreds of interpreters: without stored bytecode each compiles the whole service again.
unexport PYTHONDONTWRITEBYTECODE
.DEFAULT_GOAL := help
.DELETE_ON_ERROR:

VENV := .venv
BIN := $(VENV)/bin
PY := $(BIN)/python
STAMPS := $(VENV)/stamps
INSTALL := $(PY) -m pip --disable-pip-version-check --quiet install --upgrade --upgrade-strategy eager --constraint $(STAMPS)/constraints

# Tried in this order; the first that is 3.11.2 or newer is taken. PYTHON=/path/to/python3 comes before all.
PYTHONS := $(PYTHON) python3.11 python3 python3.12 python3.13 python3.14
RUN_ARGS ?= --simulate arm,grip
PYTEST_ARGS ?=
BENCH_ARGS ?=
# Where install-service puts the program, and its interpreter; it must be one that a service may read, not one below /root or /home.
PREFIX ?= /opt/hapticd
SERVICE_PYTHON ?= /usr/bin/python3
# File of exact versions for the virtual environment; CI uses requirements/lock.txt. Without one pip takes the newest that
# pyproject.toml allows.
CONSTRAINTS ?=
# 0 takes the C files of a build of another Python that are newer than their sources: they are the same.
REGENERATE ?= 1

SOURCES := $(shell find fastpath -name '*.pyx' -o -name '*.pxd' -o -name '*.h' -o -name '*.hpp')
PACKAGES := $(wildcard actors fastpath transport)
CHECKED := $(PACKAGES) $(wildcard clients tests bench docs/examples ops)

# A page that a module prints; the old one stays when the module fails.
page = $(PY) -m $(1) > $(STAMPS)/page && cp $(STAMPS)/page docs/$(2).md

.PHONY: help run test test-unit test-times test-slice bench bench-haptics bench-gaps bench-sets bench-page pictures soak fuzz lint docs docs-site lock wheel build clean always
.PHONY: test-robots client-types vendor wheels deb install-service uninstall-service uninstall

help:  ## show this list
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/  make \1	\2/p' Makefile | expand -t 22

run: $(STAMPS)/build $(STAMPS)/record  ## start the service with a simulated arm and grip; RUN_ARGS replaces the arguments
	@echo "to try in another terminal: $(BIN)/hapticd monitor, or $(PY) docs/examples/wall.py (needs: $(PY) -m pip install websockets); Ctrl-C stops"
	@exec $(PY) ops/foreground.py $(BIN)/hapticd run $(RUN_ARGS)

build: $(STAMPS)/build $(STAMPS)/record  ## build the extensions in place

test: $(STAMPS)/build $(STAMPS)/record $(STAMPS)/test  ## run the tests; PYTEST_ARGS are handed to pytest
	$(PY) -m tests.support.suite.shares $(PYTEST_ARGS)

test-times: $(STAMPS)/build $(STAMPS)/record $(STAMPS)/test  ## run the tests and write where their time went into docs/testing.md
	$(PY) -m tests.support.suite.shares --times

test-unit: $(STAMPS)/build $(STAMPS)/record $(STAMPS)/test  ## run the tests that open no socket, in under a minute
	$(PY) -m tests.support.suite.shares --unit

test-slice: $(STAMPS)/build $(STAMPS)/record $(STAMPS)/test  ## run the unit tests of one slice in seconds: S=device, S=transport/http
	$(PY) -m pytest -q tests/unit/$(S) $(PYTEST_ARGS)

test-robots: $(STAMPS)/build $(STAMPS)/record $(STAMPS)/test $(STAMPS)/robots  ## the plugins beside the real Gymnasium, LeRobot and Jupyter, in .venv-robots (8 GB)
	PATH="$(CURDIR)/$(BIN):$$PATH" .venv-robots/bin/python -m pytest tests/clients/robots tests/clients/notebook/test_notebook.py -q -rs $(PYTEST_ARGS)

bench: $(STAMPS)/build $(STAMPS)/record $(STAMPS)/test $(STAMPS)/dev  ## measure, print one table, write docs/performance.md; BENCH_ARGS are handed to pytest
	$(PY) -m pytest bench -q --tb=short --benchmark-enable --benchmark-only --benchmark-quiet --timeout=0 $(or $(BENCH_ARGS),--keep-results); \
	status=$$?; $(if $(BENCH_ARGS),,$(PY) -m bench.performance_page &&) exit $$status

bench-haptics: $(STAMPS)/build $(STAMPS)/record $(STAMPS)/test $(STAMPS)/dev  ## what the oscillation filter does: tables, and docs/img
	$(PY) -m bench.haptics.tables
	$(PY) -m bench.haptics.scene_table
	$(PY) -m bench.haptics.pictures docs/img

bench-gaps: $(STAMPS)/build $(STAMPS)/test  ## what gaps of the loop do to a force: the table in docs/force-path.md, about ten minutes
	OPENBLAS_NUM_THREADS=1 $(PY) -m bench.haptics.gap_tables

bench-sets: $(STAMPS)/build $(STAMPS)/test  ## the oscillation filter and two references on thousands of drawn contacts; SETS_ARGS are handed on
	OPENBLAS_NUM_THREADS=1 $(PY) -m bench.haptics.sets $(SETS_ARGS)

bench-page: $(STAMPS)/build $(STAMPS)/test $(STAMPS)/dev  ## figures and pictures of the test set in docs/force-path.md, about ten minutes
	OPENBLAS_NUM_THREADS=1 $(PY) -m bench.haptics.sets --part test --report --contacts 5000 --runs 300
	$(PY) -m bench.haptics.page build/haptics/test.npz

pictures: $(STAMPS)/build $(STAMPS)/record $(STAMPS)/test $(STAMPS)/dev  ## take the dashboard's pictures: docs/img, and every view into build/pictures
	$(PY) -m tests.support.browser.pictures $(PICTURES)

soak: $(STAMPS)/build $(STAMPS)/record $(STAMPS)/test  ## the tests that run for minutes
	$(PY) -m pytest tests -m soak -q --tb=short --timeout=0 $(PYTEST_ARGS)

fuzz: $(STAMPS)/build $(STAMPS)/record $(STAMPS)/test  ## the property tests with two hundred times the examples
	$(PY) -m pytest $(wildcard tests/unit tests/service tests/wire tests/acceptance tests/scenarios/test_schemathesis.py) --hypothesis-profile=fuzz --timeout=0 $(PYTEST_ARGS)

lint: $(STAMPS)/build $(STAMPS)/test $(STAMPS)/dev  ## ruff, mypy, pyright, cython-lint and the symbols of the loop
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/pyright & other=$$!; $(BIN)/mypy $(CHECKED); status=$$?; wait $$other && exit $$status
	PATH="$(CURDIR)/$(BIN):$$PATH" cython-lint fastpath
	$(PY) -m tests.lint.loop_symbols

docs: $(STAMPS)/build $(STAMPS)/record $(STAMPS)/test  ## write the generated reference pages
	$(call page,transport.settings_reference,settings)
	$(call page,ops.client_reference,client-reference)
	$(PY) -m transport.http.reference docs
	$(call page,actors.event.reference,events)
	$(call page,transport.cli.reference,command-line)
	$(PY) -m transport.cli.man_page > $(STAMPS)/page && cp $(STAMPS)/page ops/man/hapticd.1
	$(call page,actors.kit.reference,messages)
	$(call page,actors.kit.metric_reference,metrics)
	$(PY) -m ops.runbook_page > $(STAMPS)/page && cp $(STAMPS)/page transport/dashboard/static/runbook.html
	$(PY) -m transport.ws.asyncapi.document > $(STAMPS)/page && cp $(STAMPS)/page docs/asyncapi.json
	$(call page,tests.support.suite.promises,promises)
	$(PY) -m tests.support.suite.supervision_tree
	$(PY) -m tests.support.suite.command_table

docs-site: $(STAMPS)/build $(STAMPS)/record $(STAMPS)/docs  ## build the documentation as a site in build/site; broken links fail
	$(PY) ops/docs_site.py pages build/site-pages
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --quiet
	$(PY) ops/docs_site.py check build/site

client-types: $(STAMPS)/build  ## write the types of the TypeScript client from the service's documents; needs node and npm
	$(PY) -m ops.client_types

vendor:  ## bundle the libraries of the dashboard again; needs node and the npm registry (developers only)
	python3 ops/vendor/vendor.py

lock: $(STAMPS)/test  ## write requirements/ from the ranges in pyproject.toml
	$(PY) ops/lock.py

wheels: $(STAMPS)/dev  ## build a wheel for each Python of 3.11 to 3.13 that is here into dist/; WHEELS="3.12 /path/to/python3"
	$(PY) -m ops.wheels $(WHEELS)

deb: $(STAMPS)/dev  ## build the Debian package for the distribution's Python into dist/
	$(PY) -m ops.deb --python $(SERVICE_PYTHON)

install-service: $(STAMPS)/dev  ## as root: install and start the systemd service; DESTDIR=/folder PREFIX=/opt/hapticd
	$(PY) -m ops.install --destdir $(or $(DESTDIR),/) --prefix $(PREFIX) --python $(SERVICE_PYTHON)

uninstall-service:  ## as root: stop and remove the service; its state stays unless PURGE=1
	$(SERVICE_PYTHON) -m ops.install --uninstall $(if $(PURGE),--purge) --destdir $(or $(DESTDIR),/) --prefix $(PREFIX)

uninstall: uninstall-service

wheel: $(STAMPS)/dev  ## build the source archive and the wheel into dist/
	$(PY) -m build --outdir dist

clean:  ## remove the virtual environment and everything that was built
	rm -rf $(VENV) .venv-* build dist *.egg-info .pytest_cache .mypy_cache .ruff_cache .hypothesis .benchmarks
	rm -f transport/_build_info.json
	find fastpath -name '*.so' -delete -o -name '*.c' -delete -o -name '*.cpp' -delete
	find $(PACKAGES) tests -name __pycache__ -type d -exec rm -rf {} +

$(STAMPS)/venv:
	@set -e; found=; \
	for name in $(PYTHONS); do \
	  if "$$name" -c 'import sys; sys.exit(sys.version_info < (3, 11, 2))' 2>/dev/null; then found="$$name"; break; fi; \
	done; \
	if [ -z "$$found" ]; then \
	  echo "hapticd needs Python 3.11.2 or newer: install it, or name it with make PYTHON=/path/to/python3." >&2; exit 1; fi; \
	if ! "$$found" -c 'import ensurepip, venv' 2>/dev/null; then \
	  echo "$$found has no venv module: install it (on Debian: apt-get install python3-venv)." >&2; exit 1; fi; \
	if ! "$$found" -c 'import os, sys, sysconfig; sys.exit(not os.path.exists(os.path.join(sysconfig.get_path("include"), "Python.h")))'; then \
	  echo "$$found has no C headers: install them (on Debian: apt-get install python3-dev)." >&2; exit 1; fi; \
	if ! $(PY) -m pip --version >/dev/null 2>&1; then echo "making $(VENV) with $$found"; "$$found" -m venv --clear $(VENV); fi
	@mkdir -p $(STAMPS) && touch $@

$(STAMPS)/compiler: $(STAMPS)/venv
	@for tool in "$${CC:-cc}" "$${CXX:-c++}"; do \
	  command -v $${tool%% *} >/dev/null || { \
	    echo "hapticd needs a C and a C++17 compiler, and $$tool is not there: install GCC 11 or newer (on Debian: apt-get install build-essential)." >&2; exit 1; }; \
	done
	@touch $@

# Written only when the versions are others, so that what depends on it is not made again in vain.
$(STAMPS)/constraints: $(STAMPS)/venv always
	@cmp -s $(or $(CONSTRAINTS),/dev/null) $@ || cat $(or $(CONSTRAINTS),/dev/null) > $@

always:

# What the build itself stands on is listed once, in pyproject.toml.
$(STAMPS)/requirements: pyproject.toml $(STAMPS)/compiler $(STAMPS)/constraints
	@echo "installing what the build stands on"
	@$(PY) -c 'import tomllib; print(*tomllib.load(open("pyproject.toml", "rb"))["build-system"]["requires"], sep="\n")' > $(STAMPS)/requirements.txt
	@$(INSTALL) -r $(STAMPS)/requirements.txt
	@touch $@

# The C side of the open link's messages, from their one table; it is kept in the repository for firmware authors.
fastpath/codecs/openlink_messages.h: $(addprefix fastpath/codecs/openlink_,messages.py layout.py header.py) | $(STAMPS)/venv
	@$(PY) -m fastpath.codecs.openlink_header > $@

# A changed source rebuilds the extensions that include it; changed flags or another Cython rebuild all of them.
$(STAMPS)/build: setup.py $(SOURCES) $(STAMPS)/requirements
	@echo "building the extensions"
	@all='$(filter setup.py $(STAMPS)/requirements,$?)'; \
	CYTHON_FORCE_REGEN=$${all:+$(REGENERATE)} $(PY) setup.py --quiet build_ext --inplace $${all:+--force} --parallel 2
	@touch $@

$(STAMPS)/install: pyproject.toml $(STAMPS)/constraints | $(STAMPS)/build
	@echo "installing hapticd in place and what it stands on"
	@export HAPTICD_EXTENSIONS_ARE_BUILT=1; \
	$(INSTALL) --no-build-isolation --only-binary libusb-package --editable '.[usb]' 2>$(STAMPS)/usb.log || \
	{ echo "no wheel of libusb for this machine: USB devices need the system's libusb 1.0"; \
	$(INSTALL) --no-build-isolation --editable .; }
	@touch $@

# The record of commit and time is made again after each commit.
$(STAMPS)/record: $(wildcard .git/logs/HEAD) $(STAMPS)/build $(STAMPS)/install
	@$(PY) setup.py --quiet build_record
	@touch $@

$(STAMPS)/test: $(STAMPS)/install clients/python/pyproject.toml
	@echo "installing what the tests need"
	@HAPTICD_EXTENSIONS_ARE_BUILT=1 $(INSTALL) --no-build-isolation --editable '.[test]'
	@$(INSTALL) --no-build-isolation --editable clients/python
	@touch $@

# What the service and its tests stand on comes from the first environment, behind what LeRobot installs by itself.
$(STAMPS)/robots: clients/gym/pyproject.toml clients/lerobot/pyproject.toml | $(STAMPS)/test
	@echo "installing Gymnasium, LeRobot and Jupyter into .venv-robots"
	@$(PY) -m venv --clear .venv-robots
	@.venv-robots/bin/python -m pip --quiet install 'gymnasium>=1.1,<2' 'lerobot>=0.4,<0.6' 'anywidget>=0.9,<1' nbclient ipykernel pytest
	@$(PY) -c 'import sysconfig; print("import site; site.addsitedir(\"%s\")" % sysconfig.get_path("purelib"))' > "$$(.venv-robots/bin/python -c 'import sysconfig; print(sysconfig.get_path("purelib"))')/service.pth"
	@touch $@

$(STAMPS)/dev: $(STAMPS)/install
	@echo "installing what the checks need"
	@HAPTICD_EXTENSIONS_ARE_BUILT=1 $(INSTALL) --no-build-isolation --editable '.[test,dev]'
	@touch $@

$(STAMPS)/docs: $(STAMPS)/install
	@echo "installing what the site needs"
	@HAPTICD_EXTENSIONS_ARE_BUILT=1 $(INSTALL) --no-build-isolation --editable '.[docs]'
	@touch $@
