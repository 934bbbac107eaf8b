# Everything a newcomer or a CI machine needs; Python 3.11 or newer is the only thing to have beforehand.
PYTHON ?= python3
VENV   ?= .venv
BIN    := $(VENV)/bin
EXTRAS := scip,learning,report,dev

.PHONY: demo test lint format bench bench-decision clean

$(VENV)/.installed: pyproject.toml constraints.txt
	$(PYTHON) -m venv $(VENV)
	$(BIN)/pip install --quiet --constraint constraints.txt --editable ".[$(EXTRAS)]"
	@touch $@

demo: $(VENV)/.installed
	@mkdir -p out/demo
	@$(BIN)/wisefl fleet --clients 80 --seed 0 -o out/demo/fleet.csv
	@$(BIN)/wisefl plan out/demo/fleet.csv --out out/demo/decision.csv
	@$(BIN)/wisefl plan out/demo/fleet.csv --compare certified,dc,cs-greedy,cs-random,ga-greedy,ga-random
	@$(BIN)/wisefl pareto out/demo/fleet.csv -o out/demo/pareto.csv
	@echo "The decision is in out/demo/decision.csv, the latency-energy front in out/demo/pareto.csv and out/demo/pareto.png."

test: lint
	$(BIN)/pytest -n 2 --dist worksteal

lint: $(VENV)/.installed
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

format: $(VENV)/.installed
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

bench: bench-decision

bench-decision: $(VENV)/.installed
	$(BIN)/python benchmarks/decision.py

clean:
	rm -rf $(VENV) out build *.egg-info src/*.egg-info .pytest_cache .mypy_cache .ruff_cache .hypothesis
