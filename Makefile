# make run: Phase 1 for the model of config/config.yaml. make test: lint and tests. Both set up what they need.

PYTHON ?= python3
BIN := .venv/bin

.PHONY: run test lint clean

run: .venv/run.stamp
	$(BIN)/snakemake --cores all all

test: .venv/dev.stamp lint
	$(BIN)/python -m pytest

lint: .venv/dev.stamp
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/snakefmt --check Snakefile rules
	$(BIN)/snakemake --lint

# A stamp is written last, so a set-up that was interrupted is done again.
.venv/run.stamp: requirements.txt | toolchain
	$(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -r requirements.txt
	touch $@

.venv/dev.stamp: requirements-dev.txt .venv/run.stamp
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -r requirements-dev.txt
	touch $@

# Asked first, because what is missing here can't be installed by pip.
.PHONY: toolchain
toolchain:
	@$(PYTHON) -c 'import sys; sys.version_info >= (3, 11) or sys.exit("error: $(PYTHON) is Python %d.%d; 3.11 or later is needed: make PYTHON=python3.12 ..." % sys.version_info[:2])'
	@$(PYTHON) -m scripts.targets.compiler > /dev/null

# The environment and everything that runs have written.
clean:
	rm -rf .venv .snakemake results
