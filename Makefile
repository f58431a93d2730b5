# Everything a contributor runs. Needs Python 3.11 or newer and make; `make help` lists the targets.

PYTHON ?= python3
BIN    := .venv/bin
READY  := .venv/.ready
LOCK   := requirements.lock
MODEL  := .models/minilm-l6-int8/pond-model.json
UV     := uv==0.13.7
SPREAD := --numprocesses=auto --dist=loadfile

# $(call step,name,command): one line when it works, the whole output when it does not.
step = @printf '%-12s' '$(1)'; \
  if out=$$({ $(2); } 2>&1); then echo ok; else echo FAILED; printf '%s\n' "$$out"; exit 1; fi

.DEFAULT_GOAL := help
.PHONY: help demo test check-format check-lint check-types check-layers check-generated check-schemas check-golden \
  check-tests generate publish format bench bench-search bench-serve against soak fuzz stories torture mutate clients conformance model lock clean

help: ## List the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "make %-12s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

# A request over HTTP, as any program would send it.
define ASK
import json, sys, urllib.request
body = json.dumps({"protocol_version": 1, "query": "which plant needs water", "limit": 1}).encode()
asked = urllib.request.Request(sys.argv[1], body, {"content-type": "application/json"})
found = json.load(urllib.request.urlopen(asked))
print(json.dumps(found["hits"][:1], indent=2))
endef
export ASK

# A search over MCP, as a coding client would send it.
define CALL
import json, subprocess
call = {"name": "pond_search", "arguments": {"query": "watering tray 7", "limit": 1}}
line = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": call}).encode()
answer = json.loads(subprocess.run(["pond", "mcp"], input=line, capture_output=True, check=True).stdout)
print(answer["result"]["content"][0]["text"])
endef
export CALL

demo: $(READY) ## Store the bundled sessions in a scratch lake, search and restore them, take one to another client, serve it
	@set -e; PATH="$(CURDIR)/$(BIN):$$PATH"; out=$$(mktemp -d); trap 'rm -rf "$$out"' EXIT; \
	  mkdir "$$out/sessions"; cp -r adapters/claude_code/fixtures/tour adapters/claude_code/fixtures/subagents "$$out/sessions"; \
	  cp -r adapters/codex/fixtures/tour "$$out/sessions/codex"; cd "$$out"; export POND_LAKE="$$out/lake"; \
	  run() { echo "$$ pond $$*"; pond "$$@"; echo; }; \
	  run ingest sessions; \
	  run ingest sessions; \
	  run list; \
	  run get e1a7b6f9 --tail 2; \
	  echo '# No message has the words "plant", "needs" or "water".'; \
	  run search which plant needs water --limit 1; \
	  run restore e1a7b6f9 -o restored; \
	  run verify restored; \
	  run restore e1a7b6f9 --to codex -o for-codex; \
	  head -n 4 for-codex/sessions/*/*/*/*.jsonl | cut -c 1-150; echo '  ...'; echo; \
	  echo '$$ pond serve &'; export XDG_RUNTIME_DIR="$$out"; pond serve --port 0 > serving & server=$$!; \
	  trap 'kill $$server; wait $$server || true; rm -rf "$$out"' EXIT; \
	  while [ ! -s serving ] && kill -0 $$server; do sleep 0.1; done; cat serving; \
	  echo '$$ POST /v1/search {"protocol_version": 1, "query": "which plant needs water"}'; \
	  python -c "$$ASK" "$$(sed 's/.* //' serving)/v1/search"; echo; \
	  echo '$$ pond mcp  # as a coding client starts it: tools/call pond_search'; python -c "$$CALL"

test: check-format check-lint check-types check-layers check-generated check-schemas check-golden check-tests ## Check everything, as CI does

check-format: $(READY)
	$(call step,format,$(BIN)/ruff format --check .)
check-lint: $(READY)
	$(call step,lint,$(BIN)/ruff check .)
check-types: $(READY)
	$(call step,types,$(BIN)/mypy)
check-layers: $(READY)
	$(call step,layers,$(BIN)/lint-imports --no-logo)
check-generated: $(READY)
	$(call step,generated,$(BIN)/python -m codegen --check)
# Within a version the schemas only grow, compared with what was published last.
check-schemas: $(READY)
	$(call step,schemas,$(BIN)/pond schema check --against schema/published)
# Compares the last commit and the working tree with what was before. An archive has no commits, a shallow clone only one.
# In CI the checkout often belongs to another user. `safe.directory` tells git that this is fine.
check-golden: $(READY)
	@printf '%-12s' golden; export GIT_CONFIG_COUNT=1 GIT_CONFIG_KEY_0=safe.directory GIT_CONFIG_VALUE_0='*'; \
	  known() { git rev-parse --verify -q "$$1" >/dev/null 2>&1; }; \
	  if known HEAD^; then base=HEAD^; elif known HEAD; then base=HEAD; else echo 'ok, nothing to compare: no git history'; exit 0; fi; \
	  if out=$$($(BIN)/pond golden --base $$base 2>&1); then printf 'ok, %s\n' "$$out" | head -n 1; \
	  else echo FAILED; printf '%s\n' "$$out"; exit 1; fi
# A file's tests stay together and in order (`loadfile`): they share what its fixtures have built. The last lines say how
# many passed, what was not run, and which ten took longest.
check-tests: $(READY) $(MODEL)
	@printf '%-12s' tests; \
	  if out=$$($(BIN)/pytest -q $(SPREAD) --durations=10 2>&1); then printf '%s\n' "$$out" | tail -n 1; \
	  printf '%s\n' "$$out" | grep -E '^not run:|^[0-9.]+s (call|setup|teardown) ' || true; \
	  else echo FAILED; printf '%s\n' "$$out"; exit 1; fi

generate: $(READY) ## Write the generated files again from schema/ and adapters/
	$(call step,generate,$(BIN)/python -m codegen)

publish: $(READY) ## Keep the schemas as they are now as the version published last; refuses where they would break it
	$(call step,publish,{ [ ! -d schema/published ] || $(BIN)/pond schema check --against schema/published; } && \
	  rm -rf schema/published && for folder in schema/bundle/v*; do to=schema/published/$${folder##*/}; \
	  mkdir -p $$to && cp $$folder/*.json $$to; done)

format: $(READY) ## Format the code and fix what the linter can fix
	$(call step,format,$(BIN)/ruff check --fix . && $(BIN)/ruff format .)

bench: $(READY) ## Measure speed, memory and size; prints a table (BENCH=--full: on a lake of 2 GB)
	@$(BIN)/python -m tests.bench $(BENCH)

bench-search: $(READY) ## Measure how fast and how well search finds (BENCH=--full: among a million messages)
	@$(BIN)/python -m tests.bench.search $(BENCH)

bench-serve: $(READY) ## Measure a server against the operations it calls; prints a table (about 20 minutes)
	@$(BIN)/python -m tests.bench.serving $(ARGS)

against: $(READY) ## Measure convert and ingest against another revision, in turns: make against REV=v1 (minutes)
	@$(BIN)/python -m tests.bench.against $(REV) $(ARGS)

soak: $(READY) $(MODEL) ## Run every check at full size: more examples, all cuts, all samples (long)
	@POND_SOAK=1 $(BIN)/pytest -q $(SPREAD) --durations=10 --hypothesis-profile=soak $(ARGS)

fuzz: $(READY) ## Run the property tests on millions of random records, then whole damaged stores, with a new seed (minutes)
	@seed=$${POND_SEED:-$$(date +%s)}; \
	  POND_CASES=$${POND_CASES:-2000000} POND_SEED=$$seed $(BIN)/pytest -q -m hypothesis --hypothesis-profile=fuzz && \
	  $(BIN)/python -m tests.fuzz --seed $$seed $(ARGS)

stories: $(READY) ## Let files grow into scratch lakes in hundreds of ways, interrupted and repeated; with a new seed (minutes)
	@POND_STORIES=$${POND_STORIES:-50} POND_SEED=$${POND_SEED:-$$(date +%s)} $(BIN)/pytest -q tests/operations/test_stories.py

torture: $(READY) ## Kill writers at hundreds of points, crowd and spoil the lake's storage; prints a table (long)
	@$(BIN)/python -m tests.lake.torture $(ARGS)

mutate: $(READY) ## Flip single rules of the mappings and see whether a test notices (long)
	@$(BIN)/python -m tests.mutation

# docs/clients.md and docs/mcp.md have the tables; ARGS=--write-docs updates them.
clients: $(READY) ## Let the real clients resume what pond wrote and use pond as their memory; fetches them once (minutes)
	@$(BIN)/python -m tests.clients --install $(ARGS)
	@$(BIN)/python -m tests.clients.memory --install $(if $(findstring --write-docs,$(ARGS)),--write-docs)

conformance: $(READY) ## Run the official MCP inspector and conformance suite against pond; fetches them once
	@$(BIN)/python -m tests.mcp.conformance

model: $(MODEL) ## Fetch the model that the tests embed with (17 MB), and those that search is measured with (220 MB)
	$(call step,models,$(BIN)/python -m tests.embed.fetch --all)

lock: ## Pin the dependencies of pyproject.toml again; UPGRADE=--upgrade takes the newest
	$(call step,lock,$(PYTHON) -m venv .venv-lock && .venv-lock/bin/pip install -q $(UV) && \
	  .venv-lock/bin/uv pip compile --quiet --universal --python-version 3.11 --extra embed --group dev --generate-hashes \
	  --no-emit-index-url --no-emit-find-links --no-annotate --custom-compile-command 'make lock' $(UPGRADE) \
	  pyproject.toml --output-file $(LOCK))

clean: ## Remove the environment and what the tools leave behind
	@rm -rf .venv .venv-lock .models .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache mutants build dist
	@find . -name __pycache__ -type d -prune -exec rm -rf {} +

$(MODEL): tests/embed/model.lock | $(READY)
	$(call step,model,rm -rf $(@D) && $(BIN)/python -m tests.embed.fetch && touch $@)

# The stamp is only older than its prerequisites after a change of dependencies, so a second run costs nothing.
$(READY): pyproject.toml $(LOCK)
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	  { echo 'pond needs Python 3.11 or newer; name one with: make PYTHON=python3.12'; exit 1; }
	$(call step,environment,$(PYTHON) -m venv .venv && \
	  $(BIN)/python -m pip install -q --disable-pip-version-check --require-hashes -r $(LOCK) && \
	  $(BIN)/python -m pip install -q --disable-pip-version-check --no-deps --no-build-isolation -e . && touch $@)
