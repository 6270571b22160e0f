# `make` lists the targets.
SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help

GO ?= go
WEB := dashboard-api/web
export CGO_ENABLED ?= 1
# Without the path of the checkout in what is built, all checkouts share one build cache.
export GOFLAGS := $(strip $(GOFLAGS) -trimpath)

.PHONY: help run build test test-unit test-browser verify stress lint fmt bench bench-engine bench-history bench-live bench-page bench-web sim outages faults fuzz mutations load generate clean deps deps-run web

help: ## show this list
	@awk -F':.*## ' '/^[a-z-]+:.*## / {printf "  make %-12s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

run: build ## build and run everything on this machine; prints the URL (ARGS="--demo --port 9000")
	@bin/probefleet up $(ARGS)

build: web ## build the four programs into bin/
	@mkdir -p bin
	@echo "building bin/ (a first build compiles every library: about a minute)"
	@$(GO) build -o bin/ ./publisher ./prober ./dashboard-api ./deploy/probefleet

# Vite's output is embedded into dashboard-api. Rebuilt when a source is newer.
WEB_SOURCES := $(shell find $(WEB) -type f -not -path '*/node_modules/*' -not -path '*/dist/*' -not -path '*/e2e/*' 2>/dev/null)
web: $(WEB)/dist/index.html

$(WEB)/node_modules/.package-lock.json: $(WEB)/package.json $(WEB)/package-lock.json
	@echo "installing the dashboard's packages"
	@cd $(WEB) && npm ci --no-audit --no-fund --loglevel=error
	@touch $@

$(WEB)/dist/index.html: $(WEB)/node_modules/.package-lock.json $(WEB_SOURCES)
	@echo "building the dashboard"
	@cd $(WEB) && npm run --silent build
	@touch $@

deps: ## install what the tests need: redis-server, postgresql, chromium, caddy and nginx through apt
	@deploy/install-test-deps.sh

test: deps ## what every change must pass: unit, integration, faults, end to end, browser, linters (about a quarter of an hour on two cores)
	@$(GO) run ./internal/testsuite test

test-unit: ## only what needs no server, for every save
	@$(GO) run ./internal/testsuite unit

verify: deps ## what takes long by nature, for releases: every test in full, fuzzing, mutations (PART=stage,stage; goes on where it stopped)
	@$(GO) run ./internal/testsuite verify

stress: deps ## tests of the packages changed since a commit, 20 times beside busy loops and on one core (PKG=./folder/... or SINCE=commit)
	@$(GO) run ./internal/testsuite stress

test-browser: web ## the pages in a real Chromium, against the real programs
	$(GO) test -vet=off -count=1 -timeout 2h -tags browser ./internal/e2e

lint: ## golangci-lint and the dashboard's linter
	$(GO) run github.com/golangci/golangci-lint/v2/cmd/golangci-lint@v2.15.0 run ./...
	@cd $(WEB) && npm run --silent lint

fmt: ## format everything
	gofmt -w $$(git ls-files '*.go')
	@cd $(WEB) && npm run --silent format

bench: ## benchmarks of the hot paths, and then bench-engine
	$(GO) test -run '^$$' -bench . -benchmem ./publisher/internal/schedule/ ./prober/internal/probe/ ./internal/checkstream/ ./internal/resultstore/ ./internal/recorder/ ./internal/spool/
	@$(MAKE) --no-print-directory bench-engine

bench-engine: ## what a check costs, beside bare sockets, net/http, wrk, hey and blackbox_exporter, and what the whole prober does; writes docs/bench.json (ROUNDS SECONDS, PROFILE=folder, PART=Engine|Hanging|HangingBeside|Error|Pace|Whole|Overload)
	@deploy/install-test-deps.sh wrk hey
	$(GO) test -count=1 -v -p 1 -timeout 50m -tags bench -run '^Test(Engine|Program)$$/^($(PART))' ./prober/internal/probe/race ./prober/internal/programrace
	@$(GO) test -count=1 ./internal/architecture -run ReadmeFigures -update

bench-history: ## every question of the history at 10, 25, 50 and 100 million results; writes docs/bench-history.json (ROWS=50 of the main table, GROWTH=10,25,50,100, DIR=folder to keep and to go on in; TARGETS DAYS BATCH RUNS)
	$(GO) test -count=1 -v -timeout 12h -tags bench -run '^TestHistory$$' ./publisher/internal/historybench
	@$(GO) test -count=1 ./internal/architecture -run ReadmeFigures -update

bench-live: ## the live feed to 10,000 browsers on one node: memory, delay, and how soon 2,000 are back that were cut off at once; writes docs/bench-readers.json
	$(GO) test -count=1 -v -timeout 15m -tags bench ./dashboard-api/internal/wsconn/fanout
	@$(GO) test -count=1 ./internal/architecture -run ReadmeFigures -update

bench-page: ## a status page of 50 components asked for over loopback: rate, p50, p99 and gzipped size, within their bounds; writes docs/bench-readers.json
	$(GO) test -count=1 -v -timeout 5m -tags bench -run '^TestPageUnderLoad$$' ./dashboard-api
	@$(GO) test -count=1 ./internal/architecture -run ReadmeFigures -update

bench-web: build ## the dashboard in Chromium: 2,000 targets at 200 results a second, 10,000 targets, delays, the heap; writes docs/bench-web.json (MINUTES=10 CHANGES=200 LOADS=9 PART=first|live|changes|many)
	$(GO) test -count=1 -v -timeout 90m -tags bench -run '^TestBenchWeb$$' ./internal/e2e
	@$(GO) test -count=1 ./internal/architecture -run ReadmeFigures -update

sim: ## faults of regions and outages of targets against the rules of verdicts, RUNS (200) times each: false pages, blindness, detection
	$(GO) test -count=1 -v -timeout 60m -tags bench -run '^TestSimulation$$' ./internal/sim -args -runs $${RUNS:-200}

faults: ## one row of docs/faults.md in full, until it has N good trials (ROW=F10 N=50; also TARGETS INTERVAL OUTAGE, SEED FIRST to repeat)
	$(GO) test -count=1 -v -timeout 12h -tags faults -run 'TestRow$$' ./internal/faults
	@$(GO) test -count=1 ./internal/faults -run TableIsCurrent -update

# New inputs are made smaller in twenty tries: the default, a minute for each, would leave no time for others.
fuzz: ## every decoder and the address guard, for FUZZTIME (30s) each (FUZZ=FuzzURL or a part of a name for some)
	@git grep -oE '^func Fuzz[A-Za-z0-9]+' -- '*_test.go' | sed -E 's/^(.*):func (Fuzz.*)$$/\1 \2/' | grep -E -- "$${FUZZ:-Fuzz}" | while read -r file name; do \
		echo "$$name in $$(dirname $$file)"; \
		$(GO) test -run '^$$' -fuzz "^$$name\$$" -fuzztime $${FUZZTIME:-30s} -fuzzminimizetime 20x ./$$(dirname $$file) </dev/null || exit 1; done

mutations: ## switch every safety measure off, one at a time: the tests named for it must fail; writes docs/mutations.md (NAME=one)
	$(GO) test -count=1 -v -timeout 3h -tags mutations -run TestMutations ./internal/faults

outages: ## incidents under fire: how soon other regions confirm one, and the API killed every ten seconds while a hundred sites flap (TARGETS=n MINUTES=n)
	$(GO) test -count=1 -v -timeout 60m -tags load -run 'TestConfirmed|TestKilledEvaluator' ./internal/e2e/...

load: build ## 10,000 targets a minute for ten minutes against a local lab; writes docs/load.json (MINUTES=n TARGETS=n)
	$(GO) test -count=1 -v -timeout 60m -tags load -run TestLoad ./internal/e2e/...

generate: ## generated files: docs/config.md, docs/routes.md, docs/faults.md, docs/testing.md, the figures in README.md and the dashboard's types of the live feed
	$(GO) test -count=1 ./dashboard-api/internal/httpapi -run RoutesDocIsCurrent -update
	$(GO) test -count=1 ./internal/architecture -run Current -update
	$(GO) test -count=1 ./internal/faults -run TableIsCurrent -update
	$(GO) test -count=1 ./dashboard-api/internal/httpapi -run LiveTypesCurrent -update

clean: ## remove what was built (not ./data)
	rm -rf bin $(WEB)/node_modules
	find $(WEB)/dist -mindepth 1 -not -name .gitkeep -delete
