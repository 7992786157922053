# Needs Python (3.11 to 3.14, training was tried with 3.11), pip and make, nothing else. `make demo` and `make test` work in a fresh clone.

PYTHON ?= python3
VENV ?= .venv
RUN := $(VENV)/bin/python -m
# Python compiles what it imports; compiling all that is installed takes longer than installing it.
PIP_OPTIONS := --quiet --disable-pip-version-check --no-compile
INSTALL := $(RUN) pip install $(PIP_OPTIONS) --constraint constraints.txt --editable
RESULTS := benchmarks/results
PACKAGING := pyproject.toml setup.py constraints.txt

# Libraries with pins of their own: each has an environment of its own, and tests in tests/libraries.
TRAINING := openspiel rllib tianshou torchrl benchmarl skrl agilerl
LIBRARIES := $(TRAINING) wrappers mcp mcp1 inspect
SEPARATE := $(LIBRARIES) peers docs
EXTRA_mcp1 := mcp  # both major versions of one library
# Examples with pins in their own folders.
EXAMPLES := verifiers openenv trl

.PHONY: help demo test test-slow test-all test-browser test-libraries environments chromium lint fuzz kills soak benchmark generated
.PHONY: clean docs peers speeds test-matrix $(LIBRARIES:%=test-%) $(SEPARATE:%=%-env) $(EXAMPLES:%=test-%) $(EXAMPLES:%=%-env)

help:
	@echo "make demo       train a network for a minute and let it play, into a new folder in runs"
	@echo "make test       ruff, mypy and pytest, but for the slow tests"
	@echo "make test-slow  the rest: guides, fuzzing, kills, packaging, and compiling into caches of their own"
	@echo "make test-all   both together"
	@echo "make test-browser  whole games by clicks in Chromium; screenshots in build/screenshots"
	@echo "make test-libraries  tests of the RL libraries below, each in an environment of its own"
	@echo "make test-L     tests of a library in an environment of its own; L is one of:"
	@echo "                $(LIBRARIES) $(EXAMPLES)"
	@echo "make test-matrix  conformance and batches with the oldest and newest versions, on every Python found"
	@echo "make docs       the documentation site, into build/docs/html; warnings are errors"
	@echo "make speeds     how fast each of them learns, as docs/libraries.md has it"
	@echo "make peers      random play and search beside OpenSpiel, RLCard, PettingZoo Classic, Pgx and EnvPool, kept in benchmarks/results"
	@echo "make fuzz       odd and impossible inputs at every entrance, for MINUTES=30"
	@echo "make kills      kill every command that keeps its work KILLS=50 times, and let it go on"
	@echo "make soak       STEPS=1e9 steps of all games (MINUTES=30 at most), looking for leaks and lost cards"
	@echo "make benchmark  the full throughput table, kept in benchmarks/results"
	@echo "make generated  rewrite the tables, playthroughs and scenes that are made from code"
	@echo "make clean      remove the virtual environment and caches"

DEMO := runs/demo-$(shell date +%Y%m%d-%H%M%S)
demo: $(VENV)/.demo
	$(VENV)/bin/monsterzoo train pikit_v0 --players 2 --updates 100 --num-envs 256 --minibatch 1024 --evaluate-every 12 \
		--log none --out $(DEMO)
	$(VENV)/bin/monsterzoo arena pikit_v0 --players 2 --policies random heuristic net:$(DEMO) --games 3000 --batch 512 \
		--quiet --output $(DEMO)/arena
	@echo "$(DEMO)/curve.png is the training curve, $(DEMO)/arena.png the ratings, $(DEMO)/arena.json all numbers"

test: lint
	$(RUN) pytest -n 2 -m "not slow"

test-slow: $(VENV)/.test
	$(RUN) pytest -n 2 -m slow

test-all: lint
	$(RUN) pytest -n 2

HAS_CHROMIUM := command -v chromium > /dev/null && command -v chromedriver > /dev/null
# Debian's Chromium and its driver, installed where they are missing.
chromium:
	@$(HAS_CHROMIUM) || { echo "installing Chromium: apt-get install chromium chromium-driver"; \
		apt-get update > /dev/null && apt-get install --yes chromium chromium-driver > /dev/null; }

test-browser: $(VENV)/.test chromium
	MONSTERZOO_BROWSER=1 $(RUN) pytest tests/browser

lint: $(VENV)/.test
	$(RUN) ruff format --check .
	$(RUN) ruff check .
	$(RUN) mypy
	PYTHONPATH=.typecheck $(VENV)/bin/lint-imports --no-cache

fuzz: $(VENV)/.test
	$(VENV)/bin/python tests/fuzz/run.py --minutes $(or $(MINUTES),30)

KILLS ?= 50
kills: $(VENV)/.test
	$(VENV)/bin/python tests/killed.py --kills $(KILLS)

STEPS ?= 1e9
soak: $(VENV)/.test
	$(VENV)/bin/python tests/fuzz/soak.py --steps $(STEPS) $(MINUTES:%=--minutes %) --write docs/soak.md

benchmark: $(VENV)/.test
	$(VENV)/bin/monsterzoo bench throughput --json $(RESULTS)/throughput.json --picture $(RESULTS)/throughput.png

generated: $(VENV)/.test
	$(RUN) tools.tables
	$(RUN) tools.playthrough
	$(RUN) tools.gallery

docs: docs-env
	$(VENV)/docs/bin/python -m sphinx --quiet --fail-on-warning --keep-going --fresh-env --jobs auto -c docs \
		-d build/docs/doctrees . build/docs/html
	$(VENV)/docs/bin/python -m pytest -n 0 tests/site

peers: peers-env
	$(VENV)/peers/bin/python -m monsterzoo.cli bench peers --json $(RESULTS)/peers.json \
		--picture $(RESULTS)/peers.png

test-libraries: $(LIBRARIES:%=test-%) $(EXAMPLES:%=test-%)

# All that `make test-browser`, `make test-libraries` and `make docs` install, which can be done while other tests run.
environments: chromium docs-env $(LIBRARIES:%=%-env) $(EXAMPLES:%=%-env)

extra = $(strip $(or $(EXTRA_$*),$*))
$(LIBRARIES:%=test-%): test-%: %-env
	$(VENV)/$*/bin/python -m pytest -n 0 $(wildcard tests/libraries/test_$(extra).py tests/libraries/test_$(extra)_*.py) \
		$(if $(filter $*,$(TRAINING)),tests/docs/test_guides.py -k "libraries or readme_works and $*")

$(EXAMPLES:%=test-%): test-%: %-env
	$(VENV)/$*/bin/python -m pytest -n 0 tests/libraries/test_$*.py

test-matrix: $(VENV)/.test
	$(VENV)/bin/python tests/matrix.py

speeds: $(TRAINING:%=%-env)
	$(RUN) pip --python $(VENV)/benchmarl/bin/python install $(PIP_OPTIONS) --constraint constraints/benchmarl.txt vmas
	cd tests/libraries && ../../$(VENV)/bin/python speeds.py sb3
	cd tests/libraries && for library in $(TRAINING); do ../../$(VENV)/$$library/bin/python speeds.py $$library; done

$(SEPARATE:%=%-env) $(EXAMPLES:%=%-env): %-env: $(VENV)/%/.ready

# Stamps: installing again is only needed when the packaging has changed.

$(VENV)/.python:
	$(PYTHON) -m venv $(VENV)
	@touch $@

$(VENV)/.demo: $(VENV)/.python $(PACKAGING)
	@echo "installing into $(VENV), torch is large: a minute or more, the first time only"
	$(INSTALL) ".[train]"
	@touch $@

$(VENV)/.test: $(VENV)/.python $(PACKAGING)
	@echo "installing into $(VENV), torch is large: a minute or more, the first time only"
	$(INSTALL) ".[test,train,render,play]"
	@touch $@ $(VENV)/.demo

# Whatever is not pinned otherwise comes from the environment of the tests, MonsterZoo's editable install included.
SITES := import sys; print(*(f'import site; site.addsitedir({p!r})' for p in sys.path if p.endswith('-packages')), sep='\n')
define ENVIRONMENT
	$(VENV)/bin/python -m venv --without-pip $(VENV)/$*
	$(VENV)/bin/python -c "$(SITES)" \
		> $$($(VENV)/$*/bin/python -c "import sysconfig; print(sysconfig.get_path('purelib'))")/tests.pth
	$(RUN) pip --python $(VENV)/$*/bin/python install $(PIP_OPTIONS) --no-build-isolation
endef

$(SEPARATE:%=$(VENV)/%/.ready): $(VENV)/%/.ready: constraints/%.txt $(VENV)/.test
	$(ENVIRONMENT) --constraint constraints/$*.txt "monsterzoo[$(extra)]"
	@touch $@

$(EXAMPLES:%=$(VENV)/%/.ready): $(VENV)/%/.ready: examples/%/requirements.txt $(VENV)/.test
	$(ENVIRONMENT) --requirement examples/$*/requirements.txt monsterzoo
	@touch $@

clean:
	rm -rf $(VENV) build dist *.egg-info .pytest_cache .mypy_cache .ruff_cache .hypothesis
