# Needs Python >= 3.11 and nothing else; uses uv where it is installed.
#   make demo    train LinearNet on two processes
#   make test    all tests, with branch coverage
#   make check   ruff, mypy and the architecture test
#   make kernels the GPU kernels, compiled without a GPU; CUDA=12 takes NVRTC 12.9, for GPUs below 7.5,
#                and KERNELS="--changed main" other architectures than 9.0 for changed files alone
#   make names   the lists of public op names, after an op was added
#   make docs    write docs/compatibility.md again
#   make bench   every benchmark, short; BENCH="linear_net" picks, PEERS="python ..." adds peers
#   make soak    memory, descriptors and processes over many steps and spawns; faults; delays
# ARGS is handed to pytest: make test ARGS="-k lerp"

PYTHON ?= $(shell for p in python3 python3.14 python3.13 python3.12 python3.11; do \
	$$p -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && { echo $$p; break; }; done)
VENV ?= .venv
BIN := $(VENV)/bin
STAMPS := $(VENV)/.stamps
BENCH ?= linear_net op_overhead large lerp allreduce dp import_time
PEERS ?=
CUDA ?= 13
KERNELS ?=
ARGS ?=

ifneq ($(shell command -v uv 2>/dev/null),)
NEW_VENV = uv venv --quiet --python $(PYTHON) $(VENV)
INSTALL = uv pip install --quiet --python $(BIN)/python
else
NEW_VENV = $(PYTHON) -m venv $(VENV)
INSTALL = $(BIN)/python -m pip install --quiet --disable-pip-version-check
endif

.PHONY: demo test check kernels names docs bench soak clean

demo: $(STAMPS)/base
	$(BIN)/python examples/linear_net.py --demo

# pytest's summary is repeated below the coverage table, so that it is the last line.
test: $(STAMPS)/test
	@rm -f $(STAMPS)/failed; $(BIN)/coverage erase; \
	{ $(BIN)/coverage run -m pytest $(ARGS) || touch $(STAMPS)/failed; } 2>&1 | tee $(STAMPS)/pytest.log; \
	$(BIN)/coverage combine --quiet && $(BIN)/coverage report; \
	tail -n 1 $(STAMPS)/pytest.log; test ! -e $(STAMPS)/failed

check: $(STAMPS)/dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/python -m pytest -q -s tests/test_architecture.py tests/test_architecture_rules.py

kernels: $(STAMPS)/kernels$(if $(filter 12,$(CUDA)),-cuda12)
	$(BIN)/python -m tools.compile_kernels --cuda $(CUDA) $(KERNELS)

names: $(STAMPS)/dev
	$(BIN)/python -m tools.public_names

docs: $(STAMPS)/test
	$(BIN)/python -m docs.compatibility

bench: $(STAMPS)/test
	@for name in $(BENCH); do \
		$(BIN)/python -m benchmarks $$name --quick $(foreach p,$(PEERS),--peer $(p)) || exit 1; done

soak: $(STAMPS)/test
	$(BIN)/python -m benchmarks.soak

clean:
	rm -rf $(VENV) .coverage .coverage.* .mypy_cache .pytest_cache .ruff_cache

$(BIN)/python:
	@test -n "$(PYTHON)" || { echo "minipaddle needs Python >= 3.11 on PATH (or: make PYTHON=...)"; exit 1; }
	$(NEW_VENV)

# The stamps: base is the package alone, the others add the extras of these names.
$(STAMPS)/base: pyproject.toml | $(BIN)/python
	$(INSTALL) -e .
	@mkdir -p $(STAMPS) && touch $@

EXTRAS := test dev kernels kernels-cuda12
$(addprefix $(STAMPS)/,$(EXTRAS)): $(STAMPS)/%: pyproject.toml | $(BIN)/python
	$(INSTALL) -e '.[$*]'
	@mkdir -p $(STAMPS) && touch $@ $(STAMPS)/base
