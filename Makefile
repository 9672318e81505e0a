# The only front door. `make` alone prints what there is.
# Written for GNU make 3.81 and later, so that macOS's own will do.

.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
.SUFFIXES:

# notebooks run two at a time unless told otherwise
ifeq ($(filter -j%,$(MAKEFLAGS))$(filter --jobserver%,$(MAKEFLAGS)),)
MAKEFLAGS += -j2
endif

RENDERER ?= auto
export PYTHONPATH := analysis
# bytecode is written once, by the step that checks that it is whole
export PYTHONDONTWRITEBYTECODE := 1
export LC_ALL := C.UTF-8

# -- the environment: .venv from the locks, or PYTHON=... if it satisfies them ---------------

ifdef PYTHON
PY := $(PYTHON)
ENV := build/.environment-checked
DEV := build/.environment-dev-checked
PUBLISH := build/.environment-publish-checked
else
PY := .venv/bin/python
ENV := .venv/.ready
DEV := .venv/.ready-dev
PUBLISH := .venv/.ready-publish
endif

# the first Python 3.11 or later; looked for only when an environment must be made
FIND_PYTHON = for p in python3 python3.14 python3.13 python3.12 python3.11 python; do \
  if command -v $$p >/dev/null 2>&1 && $$p -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; \
  then found=$$p; break; fi; done; \
  if [ -z "$$found" ]; then echo "error: Python 3.11 or later is needed and none is on the PATH" >&2; exit 1; fi

.venv/.ready: requirements.txt analysis/environment.py
	@$(FIND_PYTHON); $$found analysis/environment.py sync .venv requirements.txt
	@touch $@

.venv/.ready-dev: .venv/.ready requirements-dev.txt
	@$(FIND_PYTHON); $$found analysis/environment.py sync .venv requirements.txt requirements-dev.txt
	@touch $@

.venv/.ready-publish: .venv/.ready requirements-publish.txt
	@$(FIND_PYTHON); $$found analysis/environment.py sync .venv requirements.txt requirements-publish.txt
	@touch $@

build/.environment-checked: requirements.txt analysis/environment.py
	@"$(PY)" analysis/environment.py check requirements.txt
	@mkdir -p build && touch $@

build/.environment-dev-checked: build/.environment-checked requirements-dev.txt
	@"$(PY)" analysis/environment.py check requirements.txt requirements-dev.txt
	@touch $@

build/.environment-publish-checked: build/.environment-checked requirements-publish.txt
	@"$(PY)" analysis/environment.py check requirements.txt requirements-publish.txt
	@touch $@

.PHONY: setup
setup: ## make or mend the environment for everything below
ifdef PYTHON
	@"$(PY)" analysis/environment.py check requirements.txt requirements-dev.txt requirements-publish.txt
else
	@$(FIND_PYTHON); $$found analysis/environment.py sync .venv requirements.txt requirements-dev.txt requirements-publish.txt
	@touch .venv/.ready && touch .venv/.ready-dev .venv/.ready-publish
endif

.PHONY: lock
lock: $(DEV) ## resolve pyproject.toml anew into the locks and environment.yml
	@"$(PY)" analysis/environment.py lock

# -- the report ----------------------------------------------------------------------------

NAMES := $(basename $(notdir $(sort $(wildcard analysis/notebooks/*.ipynb))))
# the last ones first: they take longest, and nothing should wait for one alone
EXECUTED := $(shell printf "%s\n" $(NAMES:%=build/notebooks/%.ipynb) | sort -r)
GENERATED := report/_generated
DATA := $(wildcard data/*.* data/*/*.*)
PACKAGE := $(wildcard analysis/evidence/*.py analysis/evidence/*.txt)
DOCUMENT := $(wildcard report/*.qmd report/*.yml report/*.py report/sections/*.qmd \
  report/filters/* report/theme/*) CITATION.cff

ifeq ($(filter auto embedded quarto,$(RENDERER)),)
$(error RENDERER=$(RENDERER) is not known: use auto, embedded or quarto)
endif

# what times cannot tell: the version, the renderer, the list of notebooks, and what was lost
ifneq ($(filter-out help clean,$(MAKECMDGOALS)),)
SETTLED := $(shell sh analysis/settle.sh "$(RENDERER)" $(NAMES) && echo ok)
ifneq ($(SETTLED),ok)
$(error the build folder cannot be written: check the rights of build/ and the space on the disk)
endif
endif

.PHONY: report
report: build/report/index.html build/report/report.pdf ## build build/report/index.html and report.pdf

build/report/index.html: $(GENERATED)/values.json $(GENERATED)/vega-bundle.b64 build/version.json build/renderer $(DOCUMENT)
	@echo "report: writing the page and the PDF"
	@"$(PY)" -m evidence.cite
	@"$(PY)" report/prose.py
	@"$(PY)" report/render.py --renderer $(RENDERER) --out build/report
	@echo "report: done, see build/report/index.html and build/report/report.pdf"

build/report/report.pdf: build/report/index.html
	@if [ -f $@ ]; then touch $@; else "$(PY)" report/render.py --renderer $(RENDERER) --out build/report; fi

# written above; here only for when make clean goes before in the same call
build/version.json build/renderer build/notebooks.txt:
	@sh analysis/settle.sh "$(RENDERER)" $(NAMES)

$(GENERATED)/vega-bundle.b64: requirements.txt analysis/evidence/assets.py | $(ENV)
	@echo "report: taking fonts and the Vega libraries from their packages"
	@"$(PY)" -m evidence.assets

$(GENERATED)/values.json: $(EXECUTED) build/notebooks.txt data/sources.yml $(PACKAGE)
	@echo "report: gathering what the notebooks found"
	@"$(PY)" -m evidence.assemble $(NAMES)

build/notebooks/%.ipynb: analysis/notebooks/%.ipynb analysis/evidence/execute.py | build/.data-checked
	@echo "report: running $*"
	@"$(PY)" -m evidence.execute $<

# what each notebook read the last time it ran
-include $(NAMES:%=build/deps/%.d)

build/.compiled: $(PACKAGE) analysis/bytecode.py | $(ENV)
	@"$(PY)" analysis/bytecode.py analysis/evidence
	@mkdir -p build && touch $@

build/.data-checked: $(ENV) build/.compiled $(DATA) $(PACKAGE)
	@echo "report: checking the data"
	@"$(PY)" -m evidence check data
	@mkdir -p build && touch $@

# a name from the command line is one word of the shell, and nothing in it is run: neither here
# ($(value ...) does not expand) nor on the way into the environment of a recipe
quoted = '$(subst ','\'',$(value $(1)))'
unexport DUMP BASE SITE MANIFEST

ifneq ($(filter baselines,$(MAKECMDGOALS)),)
ifndef DUMP
$(error say which file or folder: make baselines DUMP=path)
endif
endif

# -- checks --------------------------------------------------------------------------------

.PHONY: check
check: $(ENV) ## check the data, and the text for typed numbers
	@"$(PY)" -m evidence check data
	@"$(PY)" report/prose.py --text-only

.PHONY: baselines
baselines: $(ENV) ## DUMP=<path>: bring the comparators' public rows up to date
	@"$(PY)" -m evidence import-inferencex -- $(call quoted,DUMP)

.PHONY: test
test: $(DEV) $(PUBLISH) report ## run the tests
	@"$(PY)" -m pytest

.PHONY: test-slow
test-slow: $(DEV) $(PUBLISH) report ## run the tests that take minutes too
	@"$(PY)" -m pytest -m "slow or not slow"

.PHONY: lint
lint: $(DEV) check ## what the hooks before a commit check, without changing anything
	@"$(PY)" -m ruff format --check --quiet analysis report tests
	@"$(PY)" -m ruff check --quiet analysis report tests
	@"$(PY)" -m nbstripout --keep-id --verify analysis/notebooks/*.ipynb

.PHONY: audit
audit: $(DEV) ## known weaknesses of the locked packages, from the public databases
	@for lock in requirements*.txt; do echo "$$lock"; \
	  "$(PY)" -m uv tool run pip-audit --requirement $$lock --require-hashes --disable-pip || failed=1; done; exit $$failed

.PHONY: bench
bench: $(DEV) ## time the build against the floor of the same run, and print the ratios
	@"$(PY)" tests/bench.py
	@echo; echo "The ledger of synthetic claims"; "$(PY)" tests/bench_ledger.py
	@echo; echo "Importing public rows"; "$(PY)" tests/bench_inferencex.py
	@if [ -f tests/bench_page.py ]; then echo; echo "The page"; "$(PY)" tests/bench_page.py; fi

.PHONY: format
format: $(DEV) ## format the code and strip the notebooks
	@"$(PY)" -m ruff format analysis report tests
	@"$(PY)" -m ruff check --fix analysis report tests
	@"$(PY)" -m nbstripout --keep-id analysis/notebooks/*.ipynb

# -- review and publication ----------------------------------------------------------------

ifneq ($(filter compare,$(MAKECMDGOALS)),)
ifndef BASE
$(error name the version to compare with: make compare BASE=<git ref>)
endif
# an older comparison must not pass for the one that fails now
GONE := $(shell rm -f build/compare.md)
endif
ifneq ($(filter verify,$(MAKECMDGOALS)),)
ifndef MANIFEST
$(error name what to verify: make verify MANIFEST=<folder of a publication, or its address>)
endif
endif
ifneq ($(filter history,$(MAKECMDGOALS)),)
ifndef SITE
$(error name the site: make history SITE=<address>)
endif
endif

.PHONY: compare
compare: $(DEV) report ## BASE=<git ref>: what changed for the reader, in build/compare.md
	@"$(PY)" -m evidence compare --renderer $(RENDERER) -- $(call quoted,BASE)

.PHONY: publish
publish: $(PUBLISH) report ## lay out public/ from the report, with manifest, data package and RO-Crate
	@"$(PY)" -m evidence publish

.PHONY: history
history: $(ENV) ## SITE=<address>: fetch its earlier publications into public/, checked
	@"$(PY)" -m evidence history -- $(call quoted,SITE)

.PHONY: verify
verify: $(ENV) ## MANIFEST=<folder or address>: rebuild a publication, compare the bytes
	@"$(PY)" -m evidence verify -- $(call quoted,MANIFEST)

.PHONY: reproduce
reproduce: $(PUBLISH) ## build twice, as differently as can be, and compare every byte
	@"$(PY)" -m evidence reproduce --renderer $(RENDERER)

# -- the rest ------------------------------------------------------------------------------

.PHONY: clean
clean: ## remove everything that was built, and keep the environment
	@rm -rf build public report/_generated report/_output

.PHONY: help
help:
	@echo "What the public record shows of OpenAI's Jalapeño, rebuilt from its sources."
	@echo
	@awk 'BEGIN {FS = ":.*## "} /^[a-z-]+:.*## / {printf "  make %-11s %s\n", $$1, $$2}' $(firstword $(MAKEFILE_LIST))
	@echo
	@echo "  RENDERER=embedded|quarto chooses the renderer; PYTHON=python uses the active environment."
