# One word for each thing people do here; Python 3.11 or newer and make are all they need.

PYTHON ?= python3
NSYS ?= nsys
NSYS_AI ?= nsys-ai
BIN := .venv/bin
READY := .venv/.ready

.PHONY: demo test coverage lint bench bench-compare samples docs site fuzz lowest dist clean

demo: $(READY)  ## analyse a sample report
	@$(BIN)/nsys-analyze sample_reports/llama-thunder.sqlite.xz

test: lint  ## check everything
	$(BIN)/pytest --numprocesses auto

coverage: $(READY)  ## run the tests, in their child processes too, and say which lines and branches none reaches
	$(BIN)/coverage erase
	$(BIN)/coverage run -m pytest --numprocesses auto
	$(BIN)/coverage combine --quiet
	$(BIN)/coverage report --fail-under 95

lint: $(READY)  ## check style and types
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

bench: .bench/large.sqlite .bench/huge.sqlite  ## measure the whole command on reports of all sizes
	$(BIN)/python benchmarks/whole.py .bench/small.sqlite .bench/tenth.sqlite .bench/large.sqlite .bench/huge.sqlite

bench-compare: .bench/large.sqlite  ## measure it beside nsys stats and nsys-ai (on PATH, or NSYS=..., NSYS_AI=...)
	$(BIN)/python benchmarks/peers.py .bench/tenth.sqlite .bench/large.sqlite --nsys $(NSYS) --nsys-ai $(NSYS_AI)

samples: $(READY)  ## make sample reports of captured cases: make samples CASES='out/llama out/vit'
	$(BIN)/python benchmarks/make_samples.py $(CASES)

docs: $(READY)  ## write the outputs, pictures and references in README.md and docs anew
	$(BIN)/python -m tests.test_cli_docs
	$(BIN)/python -m tests.test_pages

site: $(READY)  ## build the documentation as a site, without network
	$(BIN)/python -m sphinx -q -W --keep-going -b html docs .site
	@echo .site/index.html

fuzz: $(READY)  ## try the command on wrong reports for MINUTES
	$(BIN)/python -m tests.fuzz --minutes $(or $(MINUTES),10)

lowest:  ## run the tests with the lowest versions that pyproject.toml allows, then with the highest
	$(PYTHON) -m venv .lowest/tools && .lowest/tools/bin/pip install --quiet uv
	for which in lowest-direct highest; do \
	  .lowest/tools/bin/uv pip compile --quiet --resolution $$which --extra test -o .lowest/$$which.txt pyproject.toml && \
	  $(PYTHON) -m venv .lowest/$$which && \
	  .lowest/$$which/bin/pip install --quiet --requirement .lowest/$$which.txt && \
	  .lowest/$$which/bin/pip install --quiet --no-deps --editable . && \
	  .lowest/$$which/bin/pytest --numprocesses auto || exit 1; done

dist: $(READY)  ## build and check wheel and sdist, and look for known holes in what they need
	$(BIN)/pip install --quiet build twine pip-audit
	rm -rf dist && $(BIN)/python -m build --outdir dist . && $(BIN)/twine check --strict dist/*
	$(BIN)/pip-audit --skip-editable

clean:  ## remove what the other targets made
	rm -rf .venv .bench .site .lowest .coverage* dist

$(READY): pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit("Python 3.11 or newer, please: make PYTHON=..." if sys.version_info < (3, 11) else 0)'
	@$(PYTHON) -m venv .venv
	@$(BIN)/pip install --quiet --disable-pip-version-check --editable '.[test,docs]'
	@touch $@

.bench/large.sqlite: $(READY)
	mkdir -p .bench
	xz --decompress --stdout sample_reports/vit-train-eager.sqlite.xz > .bench/small.sqlite
	$(BIN)/python benchmarks/grow.py .bench/small.sqlite 20 .bench/tenth.sqlite
	$(BIN)/python benchmarks/grow.py .bench/small.sqlite 200 $@

.bench/huge.sqlite: .bench/large.sqlite
	$(BIN)/python benchmarks/grow.py .bench/small.sqlite 2000 $@
