# Everything a newcomer or a CI machine needs; Python 3.11 or newer is the only thing to have beforehand.
PYTHON ?= python3
VENV   ?= .venv
BIN    := $(VENV)/bin
EXTRAS := dc,mixture,scip,learning,report,flower,ray,tensorboard,frames,excel,serve,dev
DEMO   := out/demo

.PHONY: demo shell test lint browser format screenshot campaign clean
.PHONY: bench bench-decision bench-dc bench-mixture bench-campaign bench-training bench-flower bench-serve

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
	@echo "== Thirty rounds of learning by four methods, five seeds each (minutes; the first start compiles for a while)"
	@echo "   The embedded digits over 30 clients, of whom 24 lack classes: the same data, radio and number of clients a"
	@echo "   round, so that what differs is who trains. Read accuracy beside energy; intervals that overlap decide nothing."
	@$(BIN)/wisefl sweep --preset demo --set data.concentration=0.2 \
	    --over policy.name=csra,fedavg,pow,sae --over seed=0..4 --out $(DEMO)/runs
	@echo "The plan is in $(DEMO)/decision.csv, the runs and their comparison (compare.png, compare.csv) in $(DEMO)/runs."
	@echo "Everything was installed into $(VENV) ($$(du -sh $(VENV) | cut -f1), with every extra). To call wisefl yourself:"
	@echo "    make shell                    # or: source $(BIN)/activate"
	@echo "    wisefl run --preset quick     # Fashion-MNIST, fetched once"
	@echo "And to see the round, move the sliders and ask why, with these runs beside it:"
	@echo "    $(BIN)/wisefl serve --runs $(DEMO)/runs"

shell: $(VENV)/.installed
	@echo "wisefl is on your PATH in this shell; exit leaves it."
	@PATH="$(CURDIR)/$(BIN):$$PATH" VIRTUAL_ENV="$(CURDIR)/$(VENV)" $${SHELL:-sh}

test: lint browser
	$(BIN)/pytest -n 2 --dist worksteal

# Report and explorer are tested in a real Chromium: installs Debian's where that is possible, else says what to do.
browser:
	$(PYTHON) tools/setup_browser.py

# The picture of the explorer in the documents.
screenshot: $(VENV)/.installed browser
	PYTHONPATH=tests $(BIN)/python tools/picture_explorer.py

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

bench-campaign: $(VENV)/.installed
	$(BIN)/python benchmarks/campaign.py

bench-mixture: $(VENV)/.installed
	$(BIN)/python benchmarks/mixture.py splits
	$(BIN)/python benchmarks/mixture.py many

bench-training: $(VENV)/.installed
	$(BIN)/python benchmarks/training.py

bench-flower: $(VENV)/.installed
	PYTHONPATH=tests $(BIN)/python benchmarks/flower_overhead.py
	PYTHONPATH=tests $(BIN)/python benchmarks/flower_policies.py --all

bench-serve: $(VENV)/.installed
	$(BIN)/python benchmarks/serve.py
	PYTHONPATH=tests $(BIN)/python benchmarks/serve_drag.py

# Faults by the thousand: figures for the docs, not part of the tests. The disk's part wants root on Linux.
campaign: $(VENV)/.installed
	PYTHONPATH=tests $(BIN)/python benchmarks/campaign_answers.py
	PYTHONPATH=tests $(BIN)/python benchmarks/campaign_kills.py
	$(BIN)/pip install --quiet atheris==3.0.0
	$(BIN)/python benchmarks/campaign_files.py
	$(BIN)/python benchmarks/campaign_disk.py
	PYTHONPATH=tests $(BIN)/python benchmarks/campaign_decisions.py
	PYTHONPATH=tests $(BIN)/python benchmarks/flower_liars.py

clean:
	rm -rf $(VENV) out build *.egg-info src/*.egg-info .pytest_cache .mypy_cache .ruff_cache .import_linter_cache .hypothesis
