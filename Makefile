# The entry to everything that is done to this repository. `make` lists it.

SHELL       := /bin/bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help
.NOTPARALLEL:
.DELETE_ON_ERROR:

# The workspace in go.work holds all modules but those under tools/. From this
# folder, which is no module, the package pattern is `work`. Never
# `go work sync`: it would raise the requirements of every module to those of
# the greediest.
export GOWORK := $(CURDIR)/go.work

# Without MessagePack in gin: its coder takes more time to compile than all that is ours, twice when the race detector comes with
# it. Tests that build programs find it in the environment.
export GOFLAGS := $(strip $(shell go env GOFLAGS) -tags=nomsgpack)

# What a caller may set.
# Packages built and tested at a time: of three one usually waits for an engine or a browser. Four took a minute more on
# two cores.
P ?= 3
# How long a package may take: a slow machine is slow, and not red.
TIMEOUT ?= 40m
# `make test RACE=` is faster and finds less.
RACE ?= -race
# More flags for go test.
ARGS ?=
# Time for each fuzz target: make fuzz T=60s.
FUZZTIME ?= $(or $(T),10s)
# Benchmarks to run, and how often: benchstat wants several.
BENCH ?= .
COUNT ?= 6
# Where the database of holes cannot be reached: -db file://DIR
VULNFLAGS ?=
# Version at which modules require each other. A release sets it.
SIBLINGS ?= v0.0.0

BIN := $(CURDIR)/.bin
# Folders of all modules, as go.work lists them.
MODULES = $(shell sed -n 's|^[[:space:]]*\(use \)\{0,1\}\./||p' go.work)
# The same as package patterns, for tools that do not know `work`.
PATTERNS = $(MODULES:%=./%/...)
# What find must not enter, and generated code must not come from.
PRUNE := \( -name '.?*' -o -name node_modules -o -name testdata \) -prune -o

.PHONY: help
help: ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  %-14s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

# --- the two commands of the README

.PHONY: run
run: ## start the example application
	go run ./examples/stdlib

.PHONY: test
test: ## install what is missing and run all tests against the real things
	.ci/install
	LATCHKEY_TEST_REQUIRE=all $(MAKE) --no-print-directory test-work

# --- before a commit

.PHONY: check
check: build vet fmt-check link-check generate-check providers-check tidy-check arrows size staticcheck alone test-tools test-work ## all that must pass before a commit

# Without -o a module with a single program would leave it in its folder.
.PHONY: build
build: ## compile every package of the workspace
	go build -o /dev/null -p $(P) work

.PHONY: test-32
test-32: ## everything compiled for a processor of 32 bits, and the tests of core on one, which amd64 is too
	GOARCH=386 CGO_ENABLED=0 go build -o /dev/null -p $(P) work
	GOARCH=386 CGO_ENABLED=0 go test ./core/...

.PHONY: vet
vet: ## go vet over the workspace
	go vet -p $(P) work

.PHONY: fmt-check
fmt-check: ## gofmt wants no difference
	@list=$$(find . $(PRUNE) -name '*.go' -print0 | xargs -0 -r gofmt -l); \
	if [ -n "$$list" ]; then echo "gofmt -w wants to change:"; echo "$$list"; exit 1; fi

.PHONY: staticcheck
staticcheck: $(BIN)/staticcheck ## staticcheck over the workspace
	$(BIN)/staticcheck work

.PHONY: arrows
arrows: $(BIN)/arrows ## imports point in one direction only (tools/arrows)
	$(BIN)/arrows

.PHONY: size
size: $(BIN)/size $(BIN)/vale ## names, lines and unclear sentences stay below their limits (tools/size/limits.txt)
	$(BIN)/size -vale $(BIN)/vale

# How the programs of tests are compiled: without what a debugger wants, and what others wrote without inlining, which
# together take a third less of the processors. The race detector watches everything but what reckons on memory that it
# shares with nobody, which takes four to seven times as long under it: cryptography, big numbers, regular expressions,
# compression, and SQLite's code, translated from C, whose driver copies what it hands out. Nor does it look into the
# client of DynamoDB, which holds no code of ours and passes each request through thirty functions: without inlining, so
# that it still sees the locks by which that client's goroutines wait for each other. The flags stand in the environment
# for the tests that build programs.
UNWATCHED := $(foreach p,bigmod nistec nistec/fiat edwards25519 edwards25519/field sha256 sha512 sha3 mlkem rsa,crypto/internal/fips140/$p) \
	regexp regexp/syntax compress/flate golang.org/x/crypto/... modernc.org/sqlite/lib modernc.org/libc
test-work: private export GOFLAGS := $(GOFLAGS) $(RACE) -ldflags=-s '-gcflags=all=-dwarf=false -l' \
	-gcflags=std=-dwarf=false -gcflags=github.com/latchkey-go/...=-dwarf=false \
	$(foreach p,$(UNWATCHED),'-gcflags=$p=-dwarf=false -race=false') \
	'-gcflags=github.com/aws/...=-dwarf=false -l -race=false'
# The collector runs when the heap is four times what was in use, and from a GiB on more often, in compilers as well as
# in test programs. A test program waits 0.1 s, not 1 s, for a race that shows as it ends: there are 80. What
# the detector knows of a piece of memory of up to 256 KiB it clears, as to have the system map new pages takes longer.
test-work: private export GOGC := 300
test-work: private export GOMEMLIMIT := 1GiB
test-work: private export GORACE := atexit_sleep_ms=100 clear_shadow_mmap_threshold=1048576

# What takes longest begins first: begun last, it would run alone in the end. Beside what computes begins what waits for
# an engine, and the many packages that take a second each are left to fill the end.
LONG := ./conformance/proof/browser ./storage/dynamodb ./conformance/proof/attacks ./storage/mongodb \
	./conformance/proof/people ./storage/postgres ./conformance/proof/replay ./storage/mysql ./storage/sqlite \
	./storage/etcd ./storage/redis

# vet is a check of its own, and would read everything that we import here.
.PHONY: test-work
test-work: $(BIN)/report ## go test over the workspace, without installing anything
	go test -json -vet=off -p $(P) -timeout $(TIMEOUT) $(ARGS) $(LONG) work | $(BIN)/report

.PHONY: test-tools
test-tools: ## tests of the programs under tools/, and of what pages and comments cite
	cd tools && GOWORK=off go vet ./... && GOWORK=off go test -count 1 ./... # the cache does not see files of other modules

# Every module must also stand alone, as it does for its users. Its tests ran
# in the workspace; vet checks the types of all here once more.
.PHONY: alone
alone: ## vet each module without the workspace
	@for m in $(MODULES); do \
		packages=$$(cd $$m && GOWORK=off go list ./...); \
		if [ -z "$$packages" ]; then continue; fi; \
		echo "alone: $$m"; \
		(cd $$m && GOWORK=off go vet -p $(P) ./...); \
	done

# --- files that are written by programs

# Folder by folder, as a module may stand in the folder of another.
TEMPLS = $(sort $(dir $(shell find . $(PRUNE) \( -name '*.templ' -o -name '*_templ.go' \) -print)))

.PHONY: screenshots
screenshots: ## pictures of every page, light, dark, 320 px, right to left and at 200 %: docs/screenshots
	LATCHKEY_SCREENSHOTS=$(CURDIR)/docs/screenshots go test -count 1 -run '^TestLooks$$' ./conformance/proof/browser

.PHONY: demo-pictures
demo-pictures: ## pictures and an animation of examples/board: docs/pictures
	@tmp=$$(mktemp -d); trap 'rm -rf "$$tmp"' EXIT; \
	LATCHKEY_SCREENSHOTS=$$tmp go test -count 1 -run '^TestBoard' ./conformance/proof/browser; \
	cp $$tmp/board.png $$tmp/board-dark.png $$tmp/board-team.png $$tmp/board-phone.png $$tmp/board-arabic.png docs/pictures/; \
	cd tools && GOWORK=off go run ./film -out ../docs/pictures $$tmp

.PHONY: docs
docs: ## a site of the documents in .site, with a search, to be read without a network
	cd tools && GOWORK=off go run ./site -top .. -out ../.site

.PHONY: pictures
pictures: ## draw the pictures of docs/how and docs/performance
	cd tools && GOWORK=off go run ./draw ../docs/how/*.seq ../docs/performance/*.curve

.PHONY: generate
generate: $(BIN)/templ ## generate Go from the templ files
	@for d in $(TEMPLS); do (cd $$d && $(BIN)/templ generate -include-version=false); done

# In a copy, so that a check changes nothing.
.PHONY: generate-check
generate-check: $(BIN)/templ ## generated code is current
	@tmp=$$(mktemp -d); trap 'rm -rf "$$tmp"' EXIT; \
	for d in $(TEMPLS); do \
		mkdir -p $$tmp/old $$tmp/new; \
		for c in old new; do find $$d -maxdepth 1 \( -name '*.templ' -o -name '*_templ.go' \) -exec cp {} $$tmp/$$c \; ; done; \
		(cd $$tmp/new && $(BIN)/templ generate -include-version=false >$$tmp/log 2>&1 || { cat $$tmp/log; exit 1; }); \
		if ! diff -ru $$tmp/old $$tmp/new; then echo "$$d: generated code is not current: run make generate"; exit 1; fi; \
		rm -rf $$tmp/old $$tmp/new; \
	done

.PHONY: providers
providers: ## print the table of providers for docs/providers.md
	@go run ./conformance/proof/goldens/table

.PHONY: providers-check
providers-check: ## docs/providers.md is current
	@go run ./conformance/proof/goldens/table | diff -u docs/providers.md - || { echo "run: make providers >docs/providers.md"; exit 1; }

.PHONY: link
link: $(BIN)/link ## write the lines by which the modules find each other (tools/link)
	$(BIN)/link -version $(SIBLINGS)

.PHONY: link-check
link-check: $(BIN)/link ## those lines are current
	$(BIN)/link -version $(SIBLINGS) -check

# Leaves first: what a module requires follows from its siblings.
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
release: $(BIN)/link $(BIN)/release ## a commit and the tags of a version, pushed nowhere: make release VERSION=v0.1.0
	$(BIN)/release -link $(BIN)/link -version '$(VERSION)'

# Minutes, most of them the compiler's: whatever the check finds, it finds in the files as they are, committed or not.
.PHONY: release-check
release-check: $(BIN)/link $(BIN)/release ## publish into a folder, get every module from there, and run an example by version
	$(BIN)/release -link $(BIN)/link -check

# --- now and then

.PHONY: lint
lint: $(BIN)/golangci-lint ## golangci-lint with the list in .golangci.yml
	$(BIN)/golangci-lint run $(PATTERNS)

.PHONY: vuln
vuln: $(BIN)/govulncheck ## known holes in what we import and call
	@for m in $(MODULES); do \
		packages=$$(cd $$m && GOWORK=off go list ./...); \
		if [ -z "$$packages" ]; then continue; fi; \
		echo "vuln: $$m"; (cd $$m && GOWORK=off $(BIN)/govulncheck $(VULNFLAGS) -test ./...); \
	done

SBOM ?= sbom
.PHONY: sbom
sbom: ## what each module is made of, as CycloneDX: make sbom [SBOM=folder] [VERSION=v0.1.0]
	cd tools && GOWORK=off go run ./sbom -root .. -out '$(abspath $(SBOM))' $(if $(VERSION),-version '$(VERSION)')

.PHONY: fuzz
fuzz: ## every fuzz target of all modules, for a while: make fuzz [T=60s]
	@found=; failed=; \
	while IFS=: read -r file name; do \
		found=1; dir=$$(dirname $$file); echo "fuzz: $$dir $$name"; \
		go test -run '^$$' -fuzz "^$$name\$$" -fuzztime $(FUZZTIME) -fuzzminimizetime 100x ./$$dir </dev/null || failed="$$failed $$dir:$$name"; \
	done < <(find $(MODULES) $(PRUNE) -name '*_test.go' -print0 | xargs -0 -r grep -HoE '^func Fuzz[A-Za-z0-9_]*' | sed 's/:func /:/' | sort -u); \
	if [ -z "$$found" ]; then echo "fuzz: no targets found"; exit 1; fi; \
	if [ -n "$$failed" ]; then echo "fuzz: failed:$$failed"; exit 1; fi

# Keep the numbers of before as .bench/old.txt to see what a change did:
#   make bench && mv .bench/new.txt .bench/old.txt; (change something); make bench
.PHONY: bench
bench: $(BIN)/benchstat ## benchmarks, compared with .bench/old.txt when it is there
	@mkdir -p .bench
	go test -p 1 -run '^$$' -bench '$(BENCH)' -benchmem -count $(COUNT) $(ARGS) work | tee .bench/new.txt
	$(BIN)/benchstat $$(ls .bench/old.txt 2>/dev/null) .bench/new.txt

.PHONY: bench-http
bench-http: ## what the auth routes cost beside a floor and bare handlers, on all routers; needs wrk: STRICT=1 to fail
	@mkdir -p $(BIN)
	go build -o $(BIN)/load ./conformance/proof/load
	$(BIN)/load

.PHONY: start-up
start-up: ## how long a program with ten providers takes to its first answer, and its memory: in a process and with 100 tenants
	@mkdir -p $(BIN)
	go build -o $(BIN)/startup ./conformance/proof/load/startup
	$(BIN)/startup

# Sessions that a store holds at most, and how long DeleteExpired may take for half of them.
SESSIONS ?= 1000000
CLEANING ?= 5m

# With ten million sessions Redis takes 12 GB of memory, and each of the others as much room on its disk.
.PHONY: curves
curves: ## measure how cost grows and draw it into docs/performance; needs wrk: make curves [SESSIONS=100000] [CLEANING=0s]
	@mkdir -p .bench $(BIN)
	go build -o $(BIN)/load ./conformance/proof/load
	$(BIN)/load -growth | tee .bench/growth.txt
	go test -run '^$$' -bench '^BenchmarkGrowth$$/^(claims|providers|tenants)$$' -benchtime 0.3s -count 3 ./conformance/proof/load | tee -a .bench/growth.txt
	go test -run '^$$' -bench '^BenchmarkGrowth$$/^sessions$$' -benchtime 1x -timeout 6h ./conformance/proof/load -args -sessions $(SESSIONS) -cleaning $(CLEANING) | tee -a .bench/growth.txt
	cd tools && GOWORK=off go run ./draw -bench ../.bench/growth.txt ../docs/performance/*.curve

# People for each engine, half of them with a session that has expired.
ROWS ?= 1000000

.PHONY: bench-stores
bench-stores: ## what stores do with many rows, and visitors while expired ones are deleted: make bench-stores [ROWS=100000]
	for d in sqlite postgres mysql redis; do \
	  (cd storage/$$d && LATCHKEY_ROWS=$(ROWS) go test -run '^$$' -bench '^BenchmarkScale$$' -benchtime 1x -timeout 2h .) || exit 1; \
	done

# Kills for each engine, every tenth one of the engine itself, and the engines.
KILLS   ?= 100
ENGINES ?= sqlite,postgres,redis,mariadb,etcd

.PHONY: storm
storm: ## kill servers and engines while people sign in: make storm [KILLS=100] [ENGINES=sqlite,redis]
	LATCHKEY_TEST_REQUIRE=all go test -count 1 -v -timeout 2h -run '^TestStorm$$' ./conformance/proof/storm -args -kills $(KILLS) -engines $(ENGINES)

.PHONY: faults
faults: ## fail each call of the store in each flow in each way, on all engines: make faults [ENGINES=sqlite,redis]
	LATCHKEY_TEST_REQUIRE=all go test -count 1 -v -timeout 2h -parallel 12 -run '^TestFaults$$' ./conformance/proof/faults \
	  -args -long -engines $(if $(filter command environment,$(firstword $(origin ENGINES))),$(ENGINES),all)

# --- the pinned tools; what they need stays out of our modules

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

# Nothing is written into the working tree. Some five minutes on an idle machine.
.PHONY: mutants
mutants: $(BIN)/mutants ## take guards out one at a time; the nearest tests have to fail: make mutants [ONLY=core/csrf]
	$(BIN)/mutants -only '$(ONLY)' -p $(P)

# --- against the reference

.PHONY: replay
replay: ## compare with recorded exchanges of the reference: make replay DIR=folder [ADAPTER=core|stdlib|gin|echo|echov5|fiber|fiberv3|all] [PARTS=1]
	go run ./conformance/proof/replay -dir '$(DIR)' -adapter $(or $(ADAPTER),core) $(if $(PARTS),-parts)

.PHONY: attacks
attacks: ## send hostile payloads over real connections: make attacks DIR=folder [ADAPTER=stdlib|gin|echo|echov5|fiber|fiberv3|all]
	go run ./conformance/proof/attacks -dir '$(DIR)' -adapter $(or $(ADAPTER),all)

# Requests for each adapter. On two idle cores all six take some hour and a half with a million, N=200000 a good quarter of an hour.
N ?= 1000000

.PHONY: soak
soak: ## a mix of many requests beside slow and endless ones; the process has to be as before: make soak [N=50000] [ADAPTER=stdlib]
	@mkdir -p $(BIN)
	go build -o $(BIN)/soak ./conformance/proof/attacks/soak
	$(BIN)/soak -n $(N) -adapter $(or $(ADAPTER),all) -within 12h

.PHONY: goldens
goldens: ## map recorded profiles and compare the users: make goldens FILE=file
	go run ./conformance/proof/goldens -file '$(FILE)'

.PHONY: interop
interop: ## Auth.js itself beside Latchkey: tokens, cookies, flows and sessions go from one to the other
	LATCHKEY_TEST_REQUIRE=all go test -count 1 -v -run . ./conformance/proof/interop/...
