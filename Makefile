# The two commands: make demo, make test. `make help` lists the rest. Everything else is CMake's (see CMakePresets.json).
JOBS ?= $(shell nproc 2>/dev/null || echo 2)
PRESET ?= release
BUILD := build/$(PRESET)
VENV_PYTHON := $(CURDIR)/.venv/bin/python

# The generator of a new build folder. With makefiles one new source file makes all others compile again.
export CMAKE_GENERATOR ?= $(if $(shell command -v ninja 2>/dev/null),Ninja,Unix Makefiles)

.PHONY: help command demo demo-bec demo-universe docs test test-all check build adios2 deps deps-browser deps-demo deps-docs deps-test configure clean
.DEFAULT_GOAL := help
# The prerequisites below are steps, in this order; compilations run in parallel by themselves.
.NOTPARALLEL:
MAKEFLAGS += --no-print-directory

help:
	@echo "make demo    build, run a simulation in three ways and show what came out (demo-results/)"
	@echo "make command build the command, $(BUILD)/tools/sidestream"
	@echo "make demo-universe  a universe in a box: halos, spectra, the Lyman-alpha forest"
	@echo "make demo-bec  vortices of a Bose-Einstein condensate: figures and a film made while they are simulated"
	@echo "make test    build everything and test it"
	@echo "make check   the same without the tests that take long"
	@echo "make test-all  the same with all combinations, kills, two hosts, MPICH and long faults: an hour and more"
	@echo "make test-all PART=NAME  a part of it:"
	@scripts/test-part --list | sed 's/^/               /'
	@echo "make docs    build the documentation as a site to read and search without a network (build/site/index.html)"
	@echo "make build   build everything into $(BUILD)"
	@echo "make deps    install what is missing: with apt if that is allowed, otherwise say what to install"
	@echo "make clean   remove $(BUILD), build/site and demo-results/"
	@echo "Settings: JOBS=$(JOBS) (parallel compilations and tests), PRESET=$(PRESET) (release, debug, asan, tsan),"
	@echo "PYTHON=python3 (what .venv is made from)"

# The Python packages that draw are installed while the rest compiles.
demo: deps-demo configure
	@scripts/python-environment requirements-demo.txt & environment=$$!; \
	  cmake --build $(BUILD) --parallel $(JOBS) --target oscillators sidestream_visualisation \
	  ; built=$$?; wait $$environment && exit $$built
	@$(VENV_PYTHON) examples/demo/run --program $(BUILD)/simulations/oscillators/oscillators

# The command, for those who go on after the demo. The demo does not need it.
command: deps-demo configure
	@cmake --build $(BUILD) --parallel $(JOBS) --target sidestream_tool

# A universe in a box with halos, spectra and the Lyman-alpha forest, in minutes.
demo-universe: deps-test configure
	@cmake --build $(BUILD) --parallel $(JOBS) --target universe sidestream_modules
	@$(VENV_PYTHON) examples/universe/run --program $(BUILD)/simulations/universe/universe

# Quantum vortices: a stretch of 400 steps at two cadences, a film, spectra of energies.
demo-bec: deps-test configure
	@cmake --build $(BUILD) --parallel $(JOBS) --target bec sidestream_modules
	@$(VENV_PYTHON) examples/bec/run --program $(BUILD)/simulations/bec/bec

# The command prints the reference, which is part of the site and not of the repository.
docs: deps-demo configure
	@scripts/python-environment requirements-docs.txt
	@cmake --build $(BUILD) --parallel $(JOBS) --target sidestream_tool sidestream_modules
	@SIDESTREAM=$(CURDIR)/$(BUILD)/tools/sidestream NO_MKDOCS_2_WARNING=1 \
	  $(VENV_PYTHON) -m mkdocs build --strict --quiet --site-dir build/site
	@echo "Open build/site/index.html"

# $(call run-tests,ARGUMENTS OF CTEST). Its closing lines say how many tests passed. It hides what a test that passes says,
# but what could not be tested on this machine must be seen; and what failed, in a line each, is easier found at the end than
# in the middle. Two more tests at a time than there are cores: a test keeps 0.4 of one busy, and waits otherwise.
define run-tests
@ctest --test-dir $(BUILD) --output-on-failure --parallel $$(($(JOBS) + 2)) $(1); status=$$?; \
  log=$(BUILD)/Testing/Temporary/LastTest.log; grep -h "NOT TESTED" $$log | sort -u; \
  sed -nE 's/^([0-9]+) cases? runs? in .make test-all. only.*/\1/p' $$log \
    | awk '{n += $$1} END {if (n) print n " cases of Python tests run in `make test-all` only."}'; \
  [ $$status -eq 0 ] || grep -hE '^(FAILED|ERROR) |:[0-9]+: (FATAL )?ERROR: ' $$log; exit $$status
endef

test: deps-test adios2 configure
	@cmake --build $(BUILD) --parallel $(JOBS)
	$(call run-tests,--label-exclude '^all$$')

# Before a release, and every night: all combinations of values that `make test` runs about once each or less, and what takes
# long. Python tests see by the variable that their cases marked `test_all` are wanted.
test-all: export SIDESTREAM_TEST_ALL := 1
test-all: CONFIGURE := -DSIDESTREAM_TEST_MPICH=ON
test-all: deps-test deps-docs deps-browser adios2 configure
	@cmake --build $(BUILD) --parallel $(JOBS)
	@[ -z "$(PART)" ] || scripts/test-part $(BUILD) "$(PART)" >$(BUILD)/test-part
	$(call run-tests,$(if $(PART),-R "$$(cat $(BUILD)/test-part)"))

# Without what only long tests need, and without the long tests: what takes more than some seconds (tests/costs.txt), kills,
# memory that runs out, two hosts, ADIOS2, every kind of mesh and of ghosts in every placement.
check: build
	$(call run-tests,--label-exclude '^(long|all)$$')

build: deps-test configure
	@cmake --build $(BUILD) --parallel $(JOBS)

# Once; then it is in a cache, where `make build` finds it too. Without it everything but the engine `sst` of streams is
# built and tested.
adios2:
	@scripts/build-adios2 >/dev/null || echo "SST is NOT TESTED: ADIOS2 is not there; streams are tested through files."

deps: deps-test

deps-demo:
	@scripts/install-dependencies

deps-test:
	@scripts/install-dependencies --tests
	@scripts/python-environment requirements-demo.txt requirements-test.txt
	@scripts/python-environment requirements-codes.txt 2>/dev/null \
	  || echo "Veros is NOT TESTED: it could not be installed (see build/python-requirements-codes.log)."
	@scripts/python-environment requirements-cinema.txt 2>/dev/null \
	  || echo "pycinema is NOT TESTED: it could not be installed (see build/python-requirements-cinema.log)."

deps-docs:
	@scripts/python-environment requirements-docs.txt 2>/dev/null \
	  || echo "The site is NOT TESTED: MkDocs could not be installed (see build/python-requirements-docs.log)."

# The browser itself is Debian's Chromium, or the one that SIDESTREAM_CHROMIUM names.
deps-browser:
	@scripts/python-environment requirements-browser.txt 2>/dev/null \
	  || echo "The page is NOT TESTED in a browser: Playwright could not be installed (see build/python-requirements-browser.log)."

configure:
	@mkdir -p build
	@cmake --preset $(PRESET) -DSIDESTREAM_PYTHON=$(VENV_PYTHON) $(CONFIGURE) >build/configure.log 2>&1 \
	  || { tail -n 40 build/configure.log; echo "Configuring failed: see above and build/configure.log."; exit 1; }
	@sed -n 's/^--   without  /  without /p' build/configure.log

clean:
	@rm -rf $(BUILD) build/site demo-results
