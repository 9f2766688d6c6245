# All tasks of this repository. `make` lists them.

SHELL       := /bin/bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help
.NOTPARALLEL:
.DELETE_ON_ERROR:

# The workspace in go.work contains all modules except those in tools/. This
# folder is not a module: use the package pattern `work`. Never run
# `go work sync`: it would raise the requirements of every module to the highest
# version that any module requires.
export GOWORK := $(CURDIR)/go.work

# Build gin without MessagePack. That code takes longer to compile than all our code, and twice as long with the race
# detector. The flag is exported for tests that build programs.
export GOFLAGS := $(strip $(shell go env GOFLAGS) -tags=nomsgpack)

# Variables that a caller may set.
# The number of packages that are built and tested in parallel. Of three, one usually waits for a database or a browser.
# On two cores, four took a minute longer.
P ?= 3
# The timeout for the tests of a package. It is long, so that tests do not fail on a slow machine.
TIMEOUT ?= 40m
# `make test RACE=` is faster and finds less.
RACE ?= -race
# Additional flags for go test.
ARGS ?=
# The time for each fuzz target: make fuzz T=60s.
FUZZTIME ?= $(or $(T),10s)
# The benchmarks to run, and the number of runs. benchstat needs several.
BENCH ?= .
COUNT ?= 6
# If the vulnerability database is not reachable: -db file://DIR
VULNFLAGS ?=
# The version that modules require of each other. A release sets it.
SIBLINGS ?= v0.0.0

BIN := $(CURDIR)/.bin
# The folders of all modules, from go.work.
MODULES = $(shell sed -n 's|^[[:space:]]*\(use \)\{0,1\}\./||p' go.work)
# The same as package patterns, for tools that do not know `work`.
PATTERNS = $(MODULES:%=./%/...)
# Folders that find skips, and that contain no generated code.
PRUNE := \( -name '.?*' -o -name node_modules -o -name testdata \) -prune -o

.PHONY: help
help: ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  %-14s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

# --- the two commands of the README

.PHONY: run
run: ## start the example application
	go run ./examples/stdlib

.PHONY: test
test: ## install missing programs and run all tests, with real databases and browsers
	.ci/install
	LATCHKEY_TEST_REQUIRE=all $(MAKE) --no-print-directory test-work

# --- before a commit

.PHONY: check
check: build vet fmt-check link-check generate-check providers-check tidy-check arrows size staticcheck alone test-tools test-work ## all checks that must pass before a commit

# Without -o, go build writes the program of a module with a single program into its folder.
.PHONY: build
build: ## compile every package of the workspace
	go build -o /dev/null -p $(P) work

.PHONY: test-32
test-32: ## compile everything for 386, and run the tests of core there (amd64 can run 386 programs)
	GOARCH=386 CGO_ENABLED=0 go build -o /dev/null -p $(P) work
	GOARCH=386 CGO_ENABLED=0 go test ./core/...

.PHONY: vet
vet: ## go vet over the workspace
	go vet -p $(P) work

.PHONY: fmt-check
fmt-check: ## all files are formatted by gofmt
	@list=$$(find . $(PRUNE) -name '*.go' -print0 | xargs -0 -r gofmt -l); \
	if [ -n "$$list" ]; then echo "not formatted, run gofmt -w:"; echo "$$list"; exit 1; fi

.PHONY: staticcheck
staticcheck: $(BIN)/staticcheck ## staticcheck over the workspace
	$(BIN)/staticcheck work

.PHONY: arrows
arrows: $(BIN)/arrows ## packages import only what tools/arrows allows
	$(BIN)/arrows

.PHONY: size
size: $(BIN)/size $(BIN)/vale ## names, lines and unclear sentences stay below their limits (tools/size/limits.txt)
	$(BIN)/size -vale $(BIN)/vale

# Build flags of test programs. They omit debug information and the inlining of other projects' code, which saves a
# third of the CPU time. The race detector skips code that computes on memory it does not share, because that code runs
# four to seven times slower under it: cryptography, big numbers, regular expressions, compression, and SQLite's code,
# which is translated from C (its driver copies its results). It also skips the DynamoDB client, which contains none of
# our code and passes each request through thirty functions. That client is built without inlining, so that the race
# detector still sees the locks between its goroutines. The flags are exported for tests that build programs.
UNWATCHED := $(foreach p,bigmod nistec nistec/fiat edwards25519 edwards25519/field sha256 sha512 sha3 mlkem rsa,crypto/internal/fips140/$p) \
	regexp regexp/syntax compress/flate golang.org/x/crypto/... modernc.org/sqlite/lib modernc.org/libc
test-work: private export GOFLAGS := $(GOFLAGS) $(RACE) -ldflags=-s '-gcflags=all=-dwarf=false -l' \
	-gcflags=std=-dwarf=false -gcflags=github.com/latchkey-go/...=-dwarf=false \
	$(foreach p,$(UNWATCHED),'-gcflags=$p=-dwarf=false -race=false') \
	'-gcflags=github.com/aws/...=-dwarf=false -l -race=false'
# GOGC and GOMEMLIMIT apply to compilers and test programs: garbage is collected when the heap is four times the memory
# in use, and more often above 1 GiB. GORACE: a test program waits 0.1 s instead of 1 s for late race reports when it
# ends, because there are 80 programs. The race detector clears its shadow memory of up to 256 KiB, which is faster than
# mapping new pages.
test-work: private export GOGC := 300
test-work: private export GOMEMLIMIT := 1GiB
test-work: private export GORACE := atexit_sleep_ms=100 clear_shadow_mmap_threshold=1048576

# The longest packages start first. If they started last, they would run alone at the end. Packages that compute are
# mixed with packages that wait for a database. The many packages that take one second each run last.
LONG := ./conformance/proof/browser ./storage/dynamodb ./conformance/proof/attacks ./storage/mongodb \
	./conformance/proof/people ./storage/postgres ./conformance/proof/replay ./storage/mysql ./storage/sqlite \
	./storage/etcd ./storage/redis

# vet is a separate check. Here it would read all imported packages again.
.PHONY: test-work
test-work: $(BIN)/report ## go test over the workspace, without installing programs
	go test -json -vet=off -p $(P) -timeout $(TIMEOUT) $(ARGS) $(LONG) work | $(BIN)/report

.PHONY: test-tools
test-tools: ## test the programs in tools/, and the citations in documents and comments
	cd tools && GOWORK=off go vet ./... && GOWORK=off go test -count 1 ./... # the test cache ignores files of other modules

# Every module must also build without the workspace, as it does for its users.
# The tests ran in the workspace; here vet type-checks every module again.
.PHONY: alone
alone: ## vet each module without the workspace
	@for m in $(MODULES); do \
		packages=$$(cd $$m && GOWORK=off go list ./...); \
		if [ -z "$$packages" ]; then continue; fi; \
		echo "alone: $$m"; \
		(cd $$m && GOWORK=off go vet -p $(P) ./...); \
	done

# --- generated files

# Each folder separately, because a module may be in the folder of another module.
TEMPLS = $(sort $(dir $(shell find . $(PRUNE) \( -name '*.templ' -o -name '*_templ.go' \) -print)))

.PHONY: screenshots
screenshots: ## take screenshots of every page into docs/screenshots: light, dark, 320 px, right to left, 200 %
	LATCHKEY_SCREENSHOTS=$(CURDIR)/docs/screenshots go test -count 1 -run '^TestLooks$$' ./conformance/proof/browser

.PHONY: demo-pictures
demo-pictures: ## take screenshots and an animation of examples/board into docs/pictures
	@tmp=$$(mktemp -d); trap 'rm -rf "$$tmp"' EXIT; \
	LATCHKEY_SCREENSHOTS=$$tmp go test -count 1 -run '^TestBoard' ./conformance/proof/browser; \
	cp $$tmp/board.png $$tmp/board-dark.png $$tmp/board-team.png $$tmp/board-phone.png $$tmp/board-arabic.png docs/pictures/; \
	cd tools && GOWORK=off go run ./film -out ../docs/pictures $$tmp

.PHONY: docs
docs: ## build the documentation site in .site, with a search that works offline
	cd tools && GOWORK=off go run ./site -top .. -out ../.site

.PHONY: pictures
pictures: ## draw the diagrams of docs/how and docs/performance
	cd tools && GOWORK=off go run ./draw ../docs/how/*.seq ../docs/performance/*.curve

.PHONY: generate
generate: $(BIN)/templ ## generate Go from the templ files
	@for d in $(TEMPLS); do (cd $$d && $(BIN)/templ generate -include-version=false); done

# Runs in a copy, so that a check changes no files.
.PHONY: generate-check
generate-check: $(BIN)/templ ## generated code is up to date
	@tmp=$$(mktemp -d); trap 'rm -rf "$$tmp"' EXIT; \
	for d in $(TEMPLS); do \
		mkdir -p $$tmp/old $$tmp/new; \
		for c in old new; do find $$d -maxdepth 1 \( -name '*.templ' -o -name '*_templ.go' \) -exec cp {} $$tmp/$$c \; ; done; \
		(cd $$tmp/new && $(BIN)/templ generate -include-version=false >$$tmp/log 2>&1 || { cat $$tmp/log; exit 1; }); \
		if ! diff -ru $$tmp/old $$tmp/new; then echo "$$d: generated code is out of date: run make generate"; exit 1; fi; \
		rm -rf $$tmp/old $$tmp/new; \
	done

.PHONY: providers
providers: ## print the table of providers for docs/providers.md
	@go run ./conformance/proof/goldens/table

.PHONY: providers-check
providers-check: ## docs/providers.md is up to date
	@go run ./conformance/proof/goldens/table | diff -u docs/providers.md - || { echo "run: make providers >docs/providers.md"; exit 1; }

.PHONY: link
link: $(BIN)/link ## write the requirements between our modules into go.mod (tools/link)
	$(BIN)/link -version $(SIBLINGS)

.PHONY: link-check
link-check: $(BIN)/link ## these requirements are up to date
	$(BIN)/link -version $(SIBLINGS) -check

# Starts with the modules that require no other of our modules, because the requirements of a module depend on those of
# the modules it requires.
.PHONY: tidy
tidy: link ## go mod tidy in each module, and go.work.sum
	@for m in $$($(BIN)/link -list) tools tools/lint tools/ferretdb; do echo "tidy: $$m"; (cd $$m && GOWORK=off go mod tidy); done
	$(BIN)/link -version $(SIBLINGS) -check
	go list -deps -test work >/dev/null
	go list -m all >/dev/null
	go mod download

.PHONY: tidy-check
tidy-check: ## every go.mod and go.sum is tidy
	@for m in $(MODULES) tools tools/lint tools/ferretdb; do \
		(cd $$m && GOWORK=off go mod tidy -diff) || { echo "$$m: go.mod or go.sum is not tidy: run make tidy"; exit 1; }; \
	done

# --- releases

.PHONY: release
release: $(BIN)/link $(BIN)/release ## create the commit and the tags of a version, and push nothing: make release VERSION=v0.1.0
	$(BIN)/release -link $(BIN)/link -version '$(VERSION)'

# Takes minutes, most of them to compile. It checks the files in the working tree, committed or not.
.PHONY: release-check
release-check: $(BIN)/link $(BIN)/release ## publish into a local folder, download every module from it, and run an example
	$(BIN)/release -link $(BIN)/link -check

# --- occasional checks

.PHONY: lint
lint: $(BIN)/golangci-lint ## run golangci-lint with .golangci.yml
	$(BIN)/golangci-lint run $(PATTERNS)

.PHONY: vuln
vuln: $(BIN)/govulncheck ## find known vulnerabilities in the code that we import and call
	@for m in $(MODULES); do \
		packages=$$(cd $$m && GOWORK=off go list ./...); \
		if [ -z "$$packages" ]; then continue; fi; \
		echo "vuln: $$m"; (cd $$m && GOWORK=off $(BIN)/govulncheck $(VULNFLAGS) -test ./...); \
	done

SBOM ?= sbom
.PHONY: sbom
sbom: ## write an SBOM of each module in CycloneDX: make sbom [SBOM=folder] [VERSION=v0.1.0]
	cd tools && GOWORK=off go run ./sbom -root .. -out '$(abspath $(SBOM))' $(if $(VERSION),-version '$(VERSION)')

.PHONY: fuzz
fuzz: ## run every fuzz target of all modules: make fuzz [T=60s]
	@found=; failed=; \
	while IFS=: read -r file name; do \
		found=1; dir=$$(dirname $$file); echo "fuzz: $$dir $$name"; \
		go test -run '^$$' -fuzz "^$$name\$$" -fuzztime $(FUZZTIME) -fuzzminimizetime 100x ./$$dir </dev/null || failed="$$failed $$dir:$$name"; \
	done < <(find $(MODULES) $(PRUNE) -name '*_test.go' -print0 | xargs -0 -r grep -HoE '^func Fuzz[A-Za-z0-9_]*' | sed 's/:func /:/' | sort -u); \
	if [ -z "$$found" ]; then echo "fuzz: no targets found"; exit 1; fi; \
	if [ -n "$$failed" ]; then echo "fuzz: failed:$$failed"; exit 1; fi

# To measure the effect of a change, save the previous results as .bench/old.txt:
#   make bench && mv .bench/new.txt .bench/old.txt; (change the code); make bench
.PHONY: bench
bench: $(BIN)/benchstat ## run benchmarks, and compare them with .bench/old.txt if it exists
	@mkdir -p .bench
	go test -p 1 -run '^$$' -bench '$(BENCH)' -benchmem -count $(COUNT) $(ARGS) work | tee .bench/new.txt
	$(BIN)/benchstat $$(ls .bench/old.txt 2>/dev/null) .bench/new.txt

.PHONY: bench-http
bench-http: ## compare the cost of the auth routes with a baseline and with plain handlers, on all routers (needs wrk; STRICT=1 to fail)
	@mkdir -p $(BIN)
	go build -o $(BIN)/load ./conformance/proof/load
	$(BIN)/load

.PHONY: start-up
start-up: ## measure the start time and memory of a program with ten providers, alone and with 100 tenants
	@mkdir -p $(BIN)
	go build -o $(BIN)/startup ./conformance/proof/load/startup
	$(BIN)/startup

# The maximum number of sessions in a store, and the time in which DeleteExpired must delete half of them.
SESSIONS ?= 1000000
CLEANING ?= 5m

# With ten million sessions Redis needs 12 GB of memory, and each other database needs as much disk space.
.PHONY: curves
curves: ## measure how cost grows and draw the curves of docs/performance (needs wrk): make curves [SESSIONS=100000] [CLEANING=0s]
	@mkdir -p .bench $(BIN)
	go build -o $(BIN)/load ./conformance/proof/load
	$(BIN)/load -growth | tee .bench/growth.txt
	go test -run '^$$' -bench '^BenchmarkGrowth$$/^(claims|providers|tenants)$$' -benchtime 0.3s -count 3 ./conformance/proof/load | tee -a .bench/growth.txt
	go test -run '^$$' -bench '^BenchmarkGrowth$$/^sessions$$' -benchtime 1x -timeout 6h ./conformance/proof/load -args -sessions $(SESSIONS) -cleaning $(CLEANING) | tee -a .bench/growth.txt
	cd tools && GOWORK=off go run ./draw -bench ../.bench/growth.txt ../docs/performance/*.curve

# The number of users in each database. Half of them have an expired session.
ROWS ?= 1000000

.PHONY: bench-stores
bench-stores: ## benchmark stores with many rows, and requests while expired rows are deleted: make bench-stores [ROWS=100000]
	for d in sqlite postgres mysql redis; do \
	  (cd storage/$$d && LATCHKEY_ROWS=$(ROWS) go test -run '^$$' -bench '^BenchmarkScale$$' -benchtime 1x -timeout 2h .) || exit 1; \
	done

# The number of kills for each database (every tenth one kills the database itself), and the databases.
KILLS   ?= 100
ENGINES ?= sqlite,postgres,redis,mariadb,etcd

.PHONY: storm
storm: ## kill servers and databases while users sign in: make storm [KILLS=100] [ENGINES=sqlite,redis]
	LATCHKEY_TEST_REQUIRE=all go test -count 1 -v -timeout 2h -run '^TestStorm$$' ./conformance/proof/storm -args -kills $(KILLS) -engines $(ENGINES)

.PHONY: faults
faults: ## make each store call of each flow fail in each way, on all databases: make faults [ENGINES=sqlite,redis]
	LATCHKEY_TEST_REQUIRE=all go test -count 1 -v -timeout 2h -parallel 12 -run '^TestFaults$$' ./conformance/proof/faults \
	  -args -long -engines $(if $(filter command environment,$(firstword $(origin ENGINES))),$(ENGINES),all)

# --- pinned tools; their dependencies are not in our modules

TOOLS := templ staticcheck govulncheck benchstat

$(TOOLS:%=$(BIN)/%) &: tools/go.mod tools/go.sum
	@mkdir -p $(BIN)
	cd tools && GOWORK=off go build -o $(BIN)/ tool
	@touch $(TOOLS:%=$(BIN)/%)

# Takes a minute and a half the first time.
$(BIN)/golangci-lint: tools/lint/go.mod tools/lint/go.sum
	@mkdir -p $(BIN)
	cd tools/lint && GOWORK=off go build -o $(BIN)/ github.com/golangci/golangci-lint/v2/cmd/golangci-lint
	@touch $@

$(BIN)/vale: tools/lint/go.mod tools/lint/go.sum
	@mkdir -p $(BIN)
	cd tools/lint && GOWORK=off go build -o $(BIN)/ github.com/errata-ai/vale/v3/cmd/vale
	@touch $@

$(BIN)/link $(BIN)/arrows $(BIN)/report $(BIN)/release $(BIN)/mutants $(BIN)/size: $(BIN)/%: tools/go.mod \
		$(wildcard tools/link/*.go tools/arrows/*.go tools/report/*.go tools/release/*.go tools/size/*.go \
		tools/mutants/*.go tools/mutants/guards/*.txt)
	@mkdir -p $(BIN)
	cd tools && GOWORK=off go build -o $(BIN)/ ./$*
	@touch $@

# Changes no file of the working tree. Takes about five minutes on an idle machine.
.PHONY: mutants
mutants: $(BIN)/mutants ## remove one guard at a time and check that a test fails: make mutants [ONLY=core/csrf]
	$(BIN)/mutants -only '$(ONLY)' -p $(P)

# --- comparison with Auth.js

.PHONY: replay
replay: ## compare with recorded exchanges of Auth.js: make replay DIR=folder [ADAPTER=core|stdlib|gin|echo|echov5|fiber|fiberv3|all] [PARTS=1]
	go run ./conformance/proof/replay -dir '$(DIR)' -adapter $(or $(ADAPTER),core) $(if $(PARTS),-parts)

.PHONY: attacks
attacks: ## send hostile payloads over real connections: make attacks DIR=folder [ADAPTER=stdlib|gin|echo|echov5|fiber|fiberv3|all]
	go run ./conformance/proof/attacks -dir '$(DIR)' -adapter $(or $(ADAPTER),all)

# The number of requests for each adapter. On two idle cores all six adapters take 90 minutes, and 15 minutes with
# N=200000.
N ?= 1000000

.PHONY: soak
soak: ## send many requests next to slow and endless ones; memory and goroutines must return to normal: make soak [N=50000] [ADAPTER=stdlib]
	@mkdir -p $(BIN)
	go build -o $(BIN)/soak ./conformance/proof/attacks/soak
	$(BIN)/soak -n $(N) -adapter $(or $(ADAPTER),all) -within 12h

.PHONY: goldens
goldens: ## map recorded profiles to users and compare them: make goldens FILE=file
	go run ./conformance/proof/goldens -file '$(FILE)'

.PHONY: interop
interop: ## run Auth.js next to Latchkey and exchange tokens, cookies, flows and sessions
	LATCHKEY_TEST_REQUIRE=all go test -count 1 -v -run . ./conformance/proof/interop/...
