# The tasks of this repository. `make help` lists those with ##, `make help ALL=1` all of them. Occasional checks and
# measurements are in conformance/proof/Makefile, which this file includes.

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
# The number of packages that are built and tested in parallel. Some wait for a database or a browser, so that four keep
# two cores busy.
P ?= 4
# The timeout for the tests of a package. It is long, so that tests do not fail on a slow machine.
TIMEOUT ?= 40m
# The flag of the race detector. `make check` and CI set it. With it, the tests take almost twice as long.
RACE ?=
# Additional flags for go test.
ARGS ?=
# The time for each fuzz target: make fuzz T=60s.
FUZZTIME ?= $(or $(T),10s)
# The benchmarks to run, and the number of runs. benchstat needs several.
BENCH ?= .
COUNT ?= 6
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
help: # list the targets that contributors need; make help ALL=1 lists all
	@awk -F ':.*## ' '/^[a-z0-9-]+:.*## / { printf "  %-14s %s\n", $$1, $$2 }' <(sed '$(if $(ALL),s/: *[^#]*# /: ## /)' \
		Makefile $(if $(ALL),conformance/proof/Makefile))

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
check: RACE = -race
# With the race detector, four packages at once exceed deadlines of databases.
check: P = 3
check: vet generate-check size alone test-tools test-work ## all checks that must pass before a commit

# Without -o, go build writes the program of a module with a single program into its folder.
.PHONY: vet
vet: $(BIN)/staticcheck # compile every package of the workspace; gofmt, go vet, staticcheck
	go build -o /dev/null -p $(P) work
	@list=$$(find . $(PRUNE) -name '*.go' -print0 | xargs -0 -r gofmt -l); \
	if [ -n "$$list" ]; then echo "not formatted, run gofmt -w:"; echo "$$list"; exit 1; fi
	go vet -p $(P) work
	$(BIN)/staticcheck work

.PHONY: arrows
arrows: # packages import only what tools/checks/arrows allows; test-tools checks it too
	cd tools && GOWORK=off go test -count 1 ./checks/arrows

.PHONY: size
size: $(BIN)/size $(BIN)/vale # names, lines and unclear sentences stay below their limits (tools/size/limits.txt)
	$(BIN)/size -vale $(BIN)/vale

.PHONY: test-work
test-work: $(BIN)/gotestsum # go test over the workspace, without installing programs
	P='$(P)' TIMEOUT='$(TIMEOUT)' RACE='$(RACE)' ARGS='$(ARGS)' .ci/test

.PHONY: test-tools
test-tools: # test the programs in tools/, and check documents and comments (tools/checks)
	cd tools && GOWORK=off go vet ./... && GOWORK=off go test -count 1 ./... # the test cache ignores files of other modules

# Every module must also build without the workspace, as it does for its users.
# The tests ran in the workspace; here vet type-checks every module again.
.PHONY: alone
alone: # vet each module without the workspace
	@for m in $(MODULES); do \
		packages=$$(cd $$m && GOWORK=off go list ./...); \
		if [ -z "$$packages" ]; then continue; fi; \
		echo "alone: $$m"; \
		(cd $$m && GOWORK=off go vet -p $(P) ./...); \
	done

.PHONY: lint
lint: $(BIN)/golangci-lint ## run golangci-lint with .golangci.yml
	$(BIN)/golangci-lint run $(PATTERNS)

# --- generated files

# Each folder separately, because a module may be in the folder of another module.
TEMPLS = $(sort $(dir $(shell find . $(PRUNE) \( -name '*.templ' -o -name '*_templ.go' \) -print)))

.PHONY: generate
generate: $(BIN)/templ link ## generate Go from templ files, docs/providers.md, and the go.mod lines between our modules
	@for d in $(TEMPLS); do (cd $$d && $(BIN)/templ generate -include-version=false); done
	table=$$(go run ./conformance/proof/goldens/table); echo "$$table" >docs/providers.md

# Runs in a copy, so that a check changes no files.
.PHONY: generate-check
generate-check: $(BIN)/templ $(BIN)/link # generated files, go.mod and go.sum are up to date
	@tmp=$$(mktemp -d); trap 'rm -rf "$$tmp"' EXIT; \
	for d in $(TEMPLS); do \
		mkdir -p $$tmp/old $$tmp/new; \
		for c in old new; do find $$d -maxdepth 1 \( -name '*.templ' -o -name '*_templ.go' \) -exec cp {} $$tmp/$$c \; ; done; \
		(cd $$tmp/new && $(BIN)/templ generate -include-version=false >$$tmp/log 2>&1 || { cat $$tmp/log; exit 1; }); \
		if ! diff -ru $$tmp/old $$tmp/new; then echo "$$d: generated code is out of date: run make generate"; exit 1; fi; \
		rm -rf $$tmp/old $$tmp/new; \
	done
	@go run ./conformance/proof/goldens/table | diff -u docs/providers.md - || { echo "run make generate"; exit 1; }
	$(BIN)/link -version $(SIBLINGS) -check
	@for m in $(MODULES) tools tools/pinned/lint tools/pinned/ferretdb; do \
		(cd $$m && GOWORK=off go mod tidy -diff) || { echo "$$m: go.mod or go.sum is not tidy: run make tidy"; exit 1; }; \
	done

.PHONY: link
link: $(BIN)/link # write the requirements between our modules into go.mod (tools/link)
	$(BIN)/link -version $(SIBLINGS)

# Starts with the modules that require no other of our modules, because the requirements of a module depend on those of
# the modules it requires.
.PHONY: tidy
tidy: link # go mod tidy in each module, and go.work.sum
	@for m in $$($(BIN)/link -list) tools tools/pinned/lint tools/pinned/ferretdb; do echo "tidy: $$m"; (cd $$m && GOWORK=off go mod tidy); done
	$(BIN)/link -version $(SIBLINGS) -check
	go list -deps -test work >/dev/null
	go list -m all >/dev/null
	go mod download

.PHONY: docs
docs: ## build the documentation site in .site; npm --prefix docs run preview serves it
	cd docs && npm ci --ignore-scripts --no-audit --no-fund && npm run build

# --- releases

.PHONY: release
release: $(BIN)/link # create the commit and the tags of a version, and push nothing: make release VERSION=v0.1.0
	LINK=$(BIN)/link .ci/release '$(VERSION)'

# Takes minutes, most of them to compile. It checks the files in the working tree, committed or not.
.PHONY: release-check
release-check: # publish into a local folder, download every module from it, and run an example
	cd tools && GOWORK=off go test -count 1 -timeout 1h -v -run '^TestRelease$$' ./checks/release -args -check

# --- fuzzing and benchmarks

.PHONY: fuzz
fuzz: # run every fuzz target of all modules: make fuzz [T=60s]
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
bench: $(BIN)/benchstat # run benchmarks, and compare them with .bench/old.txt if it exists
	@mkdir -p .bench
	go test -p 1 -run '^$$' -bench '$(BENCH)' -benchmem -count $(COUNT) $(ARGS) work | tee .bench/new.txt
	$(BIN)/benchstat $$(ls .bench/old.txt 2>/dev/null) .bench/new.txt

# --- programs

# Other projects' programs, with the versions of the go.mod next to them; their dependencies are not in our modules.
# golangci-lint takes a minute and a half the first time.
TOOLS := $(addprefix $(BIN)/,templ staticcheck govulncheck benchstat gotestsum)
LINT  := $(addprefix $(BIN)/,golangci-lint vale cyclonedx-gomod)
$(TOOLS): tools/go.mod tools/go.sum
$(LINT): tools/pinned/lint/go.mod tools/pinned/lint/go.sum
$(TOOLS) $(LINT):
	@mkdir -p $(BIN)
	cd $(<D) && GOWORK=off go build -o $(BIN)/ $$(GOWORK=off go list tool | grep '/$(@F)$$')
	@touch $@

# Our own programs. go build is quick if nothing has changed.
$(BIN)/link $(BIN)/mutants $(BIN)/size: $(BIN)/%: always
	@mkdir -p $(BIN)
	@cd tools && GOWORK=off go build -o $(BIN)/ ./$*

.PHONY: always
always:

include conformance/proof/Makefile
