# Everything starts here. `make demo` and `make test` need git, make and Python 3.11 or newer, nothing else.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PYTEST := $(BIN)/python -m pytest

COMPILED := .venv-compiled

.PHONY: constraints help setup compiled demo test lint test-compiled test-kube kube peers conformance bench laws generate clean

help:  ## this list
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/^([a-z-]+):.*## /  make \1\t/' | expand -t 22

setup: $(VENV)/.ready  ## make .venv with tidegate and its tools in it

$(VENV)/.ready: pyproject.toml constraints.txt
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
		{ echo "Tidegate needs Python 3.11 or newer; name one with: make PYTHON=/path/to/python3.12 setup"; exit 1; }
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt --editable '.[dev]'
	@touch $@

# An environment of its own: a file that was changed is never hidden by what was compiled from it.
compiled: $(COMPILED)/.ready  ## make .venv-compiled, in which the scheduler is compiled (a C compiler needed, 4 minutes)

$(COMPILED)/.ready: pyproject.toml setup.py constraints.txt $(shell find src/tidegate/scheduler src/tidegate/model -name '*.py')
	$(PYTHON) -m venv $(COMPILED)
	rm -rf build
	TIDEGATE_COMPILE=1 $(COMPILED)/bin/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt '.[dev]'
	rm -rf build
	@touch $@

demo: setup  ## the product in under a minute, in a temporary folder
	@$(BIN)/tidegate demo

lint: setup  ## format, style, types, and who may import whom
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports

test: lint  ## lint, and every test that needs nothing but Python
	$(PYTEST) $(or $(AGAIN),-n auto --dist loadfile)

test-compiled:  ## the planner's tests with the scheduler compiled, and that it decides the same (a C compiler needed)
	@if command -v cc >/dev/null; then \
		$(MAKE) --no-print-directory compiled && $(COMPILED)/bin/python -m pytest $(or $(AGAIN),-n auto --dist loadfile) \
			tests/compiled tests/scheduler tests/properties tests/sim; \
	else echo "left out: tests of the compiled scheduler, since there is no C compiler"; fi

kube:  ## build the real Kubernetes control plane into a cache outside the repository (Go needed, about 9 minutes)
	@$(PYTHON) tools/build_kube.py $(PROGRAMS)

test-kube: setup  ## the same API asked of the real Kubernetes and of the embedded one
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt --editable '.[dev,kube]'
	@if command -v go >/dev/null || [ -n "$$KUBEBUILDER_ASSETS" ]; then \
		$(MAKE) --no-print-directory kube PROGRAMS=kuberay-operator && $(PYTEST) -m kube $(or $(AGAIN),-n auto --dist loadfile); \
	else echo "left out: tests against the real Kubernetes, since Go is not installed (see CONTRIBUTING.md)"; fi

peers: setup  ## what is rendered, judged by Kueue's, YuniKorn's and Volcano's own code (Go needed, half an hour to build)
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt --editable '.[dev,kube]'
	@$(PYTHON) tools/build_kube.py kueue yunikorn-queues yunikorn-pods volcano-admission
	$(PYTEST) -m kube tests/dialects -n 2 --dist loadfile

conformance: setup kube  ## Kubernetes' own conformance tests of its API machinery (10 minutes to build, then some)
	@$(PYTHON) tools/build_kube.py e2e.test
	$(BIN)/python tools/run_conformance.py

bench: setup compiled kube  ## embedded against etcd + kube-apiserver, what a cycle costs, and how fast the operator admits
	$(BIN)/python -m benchmarks
	$(BIN)/python -m benchmarks.scheduler
	$(COMPILED)/bin/python -m benchmarks.scheduler
	$(BIN)/python -m benchmarks.operator

laws: setup  ## the planner's laws over 10,000 random histories each, the operator's over 1,000 full of faults (long)
	TIDEGATE_SEEDS=$(or $(SEEDS),1000) $(PYTEST) tests/sim/faults -n auto
	TIDEGATE_HISTORIES=$(or $(HISTORIES),10000) $(PYTEST) tests/properties -n auto

generate: setup  ## write what follows from the code: CRDs, manifests, the reference
	$(BIN)/python -m tools.generate

constraints:  ## renew the pinned versions from what .venv has (then run the tests)
	@{ echo "# Exact versions for development and tests; make setup uses them. Renew: make constraints"; \
	  $(BIN)/python -m pip freeze --exclude-editable | grep -E '^[A-Za-z0-9_.-]+=='; } > constraints.txt

clean:  ## remove what setup made
	rm -rf $(VENV) $(COMPILED) build .mypy_cache .ruff_cache .pytest_cache .import_linter_cache
