# Targets for contributors. They build the programs that they need; nothing else has to be installed.

GO ?= go
BIN := bin/operon
RUNTIME := bin/operon-runtime

# Builds with the same flags share the build cache. Tests that build programs use the same flags.
export CGO_ENABLED := 0
export GOFLAGS := -trimpath $(GOFLAGS)

# The target vet vets tests, with all analyzers. Tests are linked without symbols and debug information, which takes less than
# half the time.
TEST := $(GO) test -vet=off -ldflags='-s -w'

# $(call timed,NAME,COMMAND) runs a command and prints how long it took, also when it fails.
timed = @start=$$(date +%s); $(2); code=$$?; echo "==> $(1): $$(($$(date +%s) - start)) s"; exit $$code

# ./... does not include packages in testdata.
ALL := ./... ./testdata/ansible/... ./testdata/apiserver ./testdata/bench ./testdata/cases ./testdata/console ./testdata/e2e/... ./testdata/fresh ./testdata/fuzz ./testdata/release/... ./testdata/snapshot ./testdata/soak/... ./testdata/stamp ./testdata/tutorial ./testdata/typecheck

# What has tests.
TESTED := ./... ./testdata/console ./testdata/release ./testdata/snapshot ./testdata/soak/... ./testdata/stamp

# The commit that "operon version" prints, with "-dirty" if files differ from it, and its date. Both are empty outside a
# clone, as in an unpacked archive. The same commit gives the same binary, with or without tags.
COMMIT = $(if $(wildcard .git),$(shell git describe --always --abbrev=40 --exclude='*' --dirty))
COMMIT_DATE = $(if $(COMMIT),$(shell TZ=UTC0 git log -1 --date=format-local:%Y-%m-%dT%H:%M:%SZ --format=%cd))
LDFLAGS = -s -w$(if $(COMMIT), -X $(MODULE)/pkg/buildinfo.commit=$(COMMIT) -X $(MODULE)/pkg/buildinfo.commitDate=$(COMMIT_DATE))
MODULE := github.com/operon-sdk/operon

# The other supported systems.
SYSTEMS := darwin,windows

.DEFAULT_GOAL := build
.PHONY: build
build: ## Build bin/operon and bin/operon-runtime
	@mkdir -p bin
	@$(if $(COMMIT),,echo "==> no git commit found here; 'operon version' prints \"unknown\"")
	CGO_ENABLED=0 $(GO) build -trimpath -buildvcs=false -ldflags '$(LDFLAGS)' -o $(BIN) .
	CGO_ENABLED=0 $(GO) build -trimpath -buildvcs=false -ldflags '$(LDFLAGS)' -o $(RUNTIME) ./cmd/operon-runtime

# PLATFORMS limits the platforms, such as PLATFORMS='linux/amd64 darwin/arm64'. SIGNING_KEY is a file with a minisign key. RELEASE_FLAGS are
# more flags of testdata/release, such as RELEASE_FLAGS='-base-url https://example.com/v1.2.3'.
PLATFORMS ?=
SIGNING_KEY ?=
RELEASE_FLAGS ?=
# IMAGES are the base images in a release. The one for Ansible operators is built from Debian's packages.
IMAGES ?= helm-operator ansible-operator

# What is published has its version.
release helm-operator-image ansible-operator-image: LDFLAGS += $(if $(VERSION),-X $(MODULE)/pkg/buildinfo.release=$(VERSION))

.PHONY: release
release: $(IMAGES:%=%-image) ## Write archives, packages, SBOMs and checksums of release VERSION to bin/release
	@$(if $(filter %-dirty,$(COMMIT)),echo "==> files differ from the commit: 'operon version' prints it with -dirty")
	@$(GO) run ./testdata/release -version '$(VERSION)' -date '$(COMMIT_DATE)' -ldflags '$(LDFLAGS)' \
		-platforms '$(PLATFORMS)' -key '$(SIGNING_KEY)' -images '$(IMAGES)' $(RELEASE_FLAGS)

IMAGE_ARCHITECTURES := amd64 arm64

.PHONY: runtimes
runtimes: build
	@for arch in $(IMAGE_ARCHITECTURES); do \
		echo "==> operon-runtime for linux/$$arch (with cold caches a few minutes)"; \
		GOOS=linux GOARCH=$$arch CGO_ENABLED=0 $(GO) build -trimpath -buildvcs=false -ldflags '$(LDFLAGS)' -o $(RUNTIME)-linux-$$arch ./cmd/operon-runtime || exit 1; \
	done

# $(call operator-image,LAYOUT,FLAGS) writes the image of a new project of a layout, which has no roles or charts.
define operator-image
@rm -rf bin/$(1)-operator bin/$(1)-operator-image
@mkdir -p bin/$(1)-operator
$(BIN) -q -C bin/$(1)-operator init --plugins $(1) --domain example.com
$(BIN) -C bin/$(1)-operator image build --image $(IMAGE) --oci-layout $(CURDIR)/bin/$(1)-operator-image $(2) \
	$(foreach arch,$(IMAGE_ARCHITECTURES),--platform linux/$(arch) --runtime $(CURDIR)/$(RUNTIME)-linux-$(arch))
endef

helm-operator-image: IMAGE ?= helm-operator:$(or $(VERSION),dev)
.PHONY: helm-operator-image
helm-operator-image: runtimes ## Write IMAGE, the base image of Helm operators, to an OCI layout in bin
	$(call operator-image,helm)

# The Python, the Ansible and the collection kubernetes.core are those of Debian 13.
ansible-operator-image: IMAGE ?= ansible-operator:$(or $(VERSION),dev)
.PHONY: ansible-operator-image
ansible-operator-image: runtimes ## Write IMAGE, the base image of Ansible operators, to an OCI layout in bin (Debian)
	@echo "==> Python and Ansible from Debian's packages"
	@$(GO) run ./testdata/e2e ansible-base $(IMAGE_ARCHITECTURES) > bin/ansible-base
	$(call operator-image,ansible,--base "$$(cat bin/ansible-base)" --collections base)

.PHONY: control-plane
control-plane: build ## Find or build the etcd and kube-apiserver that tests run against
	@echo "==> the test control plane (found, or built once from source: 5 to 15 minutes on 2 cores)"
	$(call timed,control plane,$(BIN) tool setup-envtest use 1.36 -p path && echo)

.PHONY: ansible
ansible: ## Find or install the Ansible that tests run (Linux with apt-get and root)
	$(call timed,Ansible,$(GO) run ./testdata/ansible/install)

.PHONY: test
test: control-plane ansible vet ## Run all tests, including those on a real API server
	$(call timed,tests,$(TEST) -timeout 60m $(TESTED))

.PHONY: test-short
test-short: ## Run the tests that need neither a control plane nor a compiler
	$(call timed,short tests,$(TEST) -short $(TESTED))

.PHONY: test-thorough
test-thorough: control-plane ansible ## Run the tests of commands without cached results, and check more often
	$(call timed,thorough tests,$(TEST) -timeout 5h ./cmd/internal/test/... -thorough)

.PHONY: e2e
e2e: build ansible ## Run the end-to-end tests on a new node (Linux, root), or on the cluster of KUBECONFIG
	@echo "==> end-to-end tests (warm 6 to 12 minutes on 2 cores; with cold caches first builds for about 10)"
	$(TEST) -v -count=1 -parallel 12 -timeout 60m ./testdata/e2e/suite

.PHONY: vet
vet: ## Vet for this system and type-check for the other supported ones
	$(call timed,vet,$(GO) vet $(ALL))
	$(call timed,type checks for other systems,$(GO) run ./testdata/typecheck -systems $(SYSTEMS) $(ALL))

# Linters are built from their modules, once per user and version of Go, whose code they read. golangci-lint has the version that scaffolded
# operators use.
TOOLS := $(or $(XDG_CACHE_HOME),$(HOME)/.cache)/operon/tools/$(shell $(GO) env GOVERSION)
GOLANGCI_LINT_VERSION := $(shell sed -n 's/^GOLANGCI_LINT_VERSION ?= //p' testdata/memcached-operator/Makefile)
GOLANGCI_LINT := $(TOOLS)/golangci-lint-$(GOLANGCI_LINT_VERSION)
ACTIONLINT_VERSION := v1.7.12
ACTIONLINT := $(TOOLS)/actionlint-$(ACTIONLINT_VERSION)
STATICCHECK_VERSION := v0.8.2
STATICCHECK := $(TOOLS)/staticcheck-$(STATICCHECK_VERSION)

# $(call install,FILE,PACKAGE) builds a program from its module.
install = mkdir -p $(TOOLS) && dir=$$(mktemp -d $(TOOLS)/build-XXXXXX) && \
	if GOBIN=$$dir $(GO) install $(2); then mv $$dir/* $(1) && rmdir $$dir; else rmdir $$dir; false; fi

# Without caches, building and running golangci-lint takes more than 5 minutes of CPU time and 3 GB of memory, staticcheck 3 minutes.
.PHONY: lint
lint: staticcheck actionlint ## Run staticcheck on Operon, and actionlint on its workflows
	$(call timed,lint,$(ACTIONLINT) -shellcheck= -pyflakes= .github/workflows/*.yml && $(STATICCHECK) $(ALL))

.PHONY: staticcheck
staticcheck: $(STATICCHECK)

.PHONY: actionlint
actionlint: $(ACTIONLINT)

$(ACTIONLINT):
	@echo "==> actionlint $(ACTIONLINT_VERSION) (built once from its module: half a minute)"
	@$(call install,$@,github.com/rhysd/actionlint/cmd/actionlint@$(ACTIONLINT_VERSION))

$(STATICCHECK):
	@echo "==> staticcheck $(STATICCHECK_VERSION) (built once from its module: half a minute)"
	@$(call install,$@,honnef.co/go/tools/cmd/staticcheck@$(STATICCHECK_VERSION))

.PHONY: golangci-lint
golangci-lint: $(GOLANGCI_LINT) ## Build golangci-lint, once per user

$(GOLANGCI_LINT):
	@echo "==> golangci-lint $(GOLANGCI_LINT_VERSION) (built once from its module: 2 to 5 minutes on 2 cores)"
	@$(call install,$@,github.com/golangci/golangci-lint/v2/cmd/golangci-lint@$(GOLANGCI_LINT_VERSION))

.PHONY: lint-thorough
lint-thorough: golangci-lint ## Run golangci-lint on Operon and on the golden projects
	@code=0; echo "==> golangci-lint: Operon"; $(GOLANGCI_LINT) run --allow-serial-runners $(ALL) || code=1; \
	for dir in $(dir $(wildcard testdata/*-operator/.golangci.yml)); do \
		echo "==> golangci-lint: $$dir"; (cd $$dir && $(GOLANGCI_LINT) run --allow-serial-runners) || code=1; \
	done; exit $$code

FUZZTIME ?= 5s

.PHONY: fuzz
fuzz: ## Run all fuzz targets for FUZZTIME each, and commands on hostile inputs
	@echo "==> fuzz targets, $(FUZZTIME) each (about 5 minutes, with cold caches 10)"
	$(GO) run ./testdata/fuzz -time $(FUZZTIME) ./pkg/...
	@echo "==> commands on hostile inputs (about a minute)"
	$(TEST) -count=1 -v ./cmd/internal/test/hostile -thorough

.PHONY: nightly
nightly: FUZZTIME = 30s
nightly: lint-thorough test-thorough fuzz ## Run the checks that take too long for each commit

FRESH ?= .ci/run

.PHONY: fresh
fresh: ## Run FRESH (default: all of CI) in a clone of HEAD on an empty copy of this machine (Linux, root)
	@mkdir -p bin
	$(GO) build -o bin/fresh ./testdata/fresh
	bin/fresh '$(FRESH)'

.PHONY: fresh-release
fresh-release: ## Follow the tutorial with a release on an empty copy of this machine, where nothing of Operon is built (Linux, root)
	@mkdir -p bin
	$(GO) build -o bin/fresh ./testdata/fresh
	$(GO) build -o bin/tutorial ./testdata/tutorial
	$(MAKE) release VERSION=v0.0.0-fresh IMAGES= PLATFORMS=$$($(GO) env GOOS)/$$($(GO) env GOARCH)
	bin/fresh 'mkdir ~/release && tar -xzf $(CURDIR)/bin/release/operon_*.tar.gz -C ~/release --strip-components=1 && \
		OPERON_MIRROR=$(CURDIR)/bin/release $(CURDIR)/bin/tutorial -operon ~/release/operon docs/tutorial.md'

.PHONY: modules
modules: ## Download the modules that a scaffolded operator requires
	@echo "==> the modules of a scaffolded operator (downloaded once: about a minute)"
	cd testdata/memcached-operator && $(GO) mod download

.PHONY: quickstart
quickstart: control-plane modules ## Create a memcached operator and run it against a local API server
	$(GO) run ./testdata/tutorial -operon $(BIN) docs/tutorial.md

.PHONY: bench
bench: build ansible ## Compare the speed of Operon and its peers; measure Helm and Ansible operators
	$(GO) run ./testdata/bench -operon $(BIN)
	@echo "==> Helm operators: a pass of an unchanged release, and the memory of 50 releases"
	$(TEST) -count=1 -v ./cmd/operon-runtime -run 'TestMemory$$' -bench '^BenchmarkPass$$' -args -memory
	@echo "==> Ansible operators: a pass that changes nothing, and ansible-runner as called by hand, alternately"
	$(TEST) -count=1 -v ./cmd/operon-runtime -run XXX -bench AnsiblePass -benchtime 7x
	@echo "==> the gateway before the API server of 'test behavior'"
	$(TEST) -count=1 ./pkg/gateway -run XXX -bench .

# Flags of testdata/soak, such as SOAK='-resources 50 -scenario kills -v'.
SOAK ?=

.PHONY: soak
soak: build control-plane ansible ## Run Helm and Ansible operators under load and faults (Linux; SOAK has more flags)
	@echo "==> soak: load, faults, kills (20 to 40 minutes on 2 cores)"
	$(GO) run ./testdata/soak -runtime $(RUNTIME) $(SOAK)

.PHONY: golden
golden: ## Rewrite the golden projects with the current output of commands
	$(GO) test ./cmd/internal/test/golden -run 'TestGolden$$' -update

.PHONY: docs
docs: ## Rewrite the command reference in docs/reference
	$(GO) test ./cmd -run 'TestReference$$' -update

.PHONY: recording
recording: build ## Record the quick start of README.md as docs/images/quick-start.svg
	$(GO) run ./testdata/tutorial -operon $(BIN) -section 'Quick start' -record docs/images/quick-start.svg README.md

.PHONY: site
site: build ## Write the documentation as a web site to bin/site
	$(BIN) -q docs site bin/site
	@echo "==> open bin/site/index.html in a browser"

.PHONY: help
help: ## List the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## /{printf "  %-14s %s\n", $$1, $$2}' $(MAKEFILE_LIST)
