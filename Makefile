# Everything a newcomer or a CI machine needs; Python 3.11 or newer is the only thing to have beforehand.
PYTHON ?= python3
VENV   ?= .venv
BIN    := $(VENV)/bin
EXTRAS := dc,mixture,scip,learning,report,flower,ray,tensorboard,frames,dev
DEMO   := out/demo

.PHONY: demo test lint browser format bench bench-decision bench-dc bench-mixture bench-training bench-flower clean

$(VENV)/.installed: pyproject.toml constraints.txt
	$(PYTHON) -m venv $(VENV)
	$(BIN)/pip install --quiet --constraint constraints.txt --editable ".[$(EXTRAS)]"
	@touch $@

demo: $(VENV)/.installed
	@mkdir -p $(DEMO)
	@echo "== One round: who of 80 clients should train, with what share of the band and how fast?"
	@$(BIN)/wisefl fleet --clients 80 --seed 0 -o $(DEMO)/fleet.csv
	@$(BIN)/wisefl plan $(DEMO)/fleet.csv --out $(DEMO)/decision.csv
	@echo "== The same round by other methods"
	@$(BIN)/wisefl plan $(DEMO)/fleet.csv --compare certified,dc,cs-greedy,cs-random,ga-greedy,ga-random
	@echo "== Thirty rounds of learning on the embedded digits, by four methods (the first start compiles for a while)"
	@$(BIN)/wisefl sweep --preset demo --over policy.name=csra,fedavg,pow,sae --out $(DEMO)/runs
	@echo "The plan is in $(DEMO)/decision.csv, the runs and their comparison (compare.png, compare.csv) in $(DEMO)/runs."

test: lint browser
	$(BIN)/pytest -n 2 --dist worksteal

# The report is tested in a real Chromium: installs Debian's where that is possible, else says what to do.
browser:
	$(PYTHON) tools/setup_browser.py

lint: $(VENV)/.installed
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports --no-logo

format: $(VENV)/.installed
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

bench: bench-decision bench-dc bench-training bench-flower

bench-decision: $(VENV)/.installed
	$(BIN)/python benchmarks/decision.py
	$(BIN)/python benchmarks/tail.py

bench-dc: $(VENV)/.installed
	$(BIN)/python benchmarks/dc_levels.py
	$(BIN)/python benchmarks/dc_holdout.py

bench-mixture: $(VENV)/.installed
	$(BIN)/python benchmarks/mixture.py

bench-training: $(VENV)/.installed
	$(BIN)/python benchmarks/training.py

bench-flower: $(VENV)/.installed
	PYTHONPATH=tests $(BIN)/python benchmarks/flower_overhead.py

clean:
	rm -rf $(VENV) out build *.egg-info src/*.egg-info .pytest_cache .mypy_cache .ruff_cache .import_linter_cache .hypothesis
