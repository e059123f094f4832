# Proofreel. "make help" lists the targets.
SHELL := bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help

GO ?= go
VERSION ?= $(shell git describe --tags --always --dirty 2>/dev/null || echo dev)
export PATH := $(CURDIR)/bin:$(CURDIR)/.tools/bin:$(PATH)

.PHONY: help
help: ## Show this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  %-20s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

.PHONY: install-deps
install-deps: ## Install what is missing: ffmpeg, Xvfb, openbox, Chromium, fonts, agent-browser
	@scripts/install-deps.sh

.PHONY: install-test-deps
install-test-deps: ## Install that and what only the tests film: xterm, xdotool, l3afpad, xsetroot, Xvnc, Xephyr
	@scripts/install-deps.sh test

.PHONY: install-box
install-box: ## Install what boxes need: bubblewrap, and gVisor's runsc, whose first build takes minutes
	@scripts/install-box.sh

.PHONY: build
build: ## Build bin/proofreel
	CGO_ENABLED=0 $(GO) build -trimpath -ldflags '-X main.version=$(VERSION)' -o bin/proofreel ./cmd/proofreel

.PHONY: demo
demo: install-deps build ## Film the test rig from start to verified MP4; the film is in demo/
	@scripts/demo.sh

.PHONY: test
test: install-test-deps install-box build ## Install, build, vet and run all tests
	@scripts/test.sh

.PHONY: test-race
test-race: install-test-deps install-box build ## The same with the race detector (needs a C compiler)
	@CGO_ENABLED=1 scripts/test.sh -race

.PHONY: lint
lint: ## Check style and layers with golangci-lint
	$(GO) tool -modfile=tools/go.mod golangci-lint run

.PHONY: bench
bench: install-deps bench-quality bench-capture ## Measure: encode profiles, capture, then the Go benchmarks
	$(GO) test -run '^$$' -bench . -benchmem -p 1 ./internal/...

.PHONY: bench-quality
bench-quality: install-deps ## Compare encode profiles on small text and coloured edges
	$(GO) run ./bench/quality

.PHONY: bench-renderquality
bench-renderquality: install-deps ## Compare encoder settings on what scenes draw: bytes, CPU, distance to the pixels
	$(GO) run ./bench/renderquality $(BENCH)

.PHONY: bench-capture
bench-capture: install-deps build ## Compare our recorder with ffmpeg's x11grab: CPU, frames, memory
	$(GO) run ./bench/capture

.PHONY: bench-clip
bench-clip: install-deps ## Compare a clip with the naive way to make one: CPU, memory
	$(GO) run ./bench/clip

.PHONY: bench-render
bench-render: install-deps build ## Compare our renderer with Remotion and HyperFrames on the same scenes; installs them, takes an hour
	mkdir -p bench/out && $(GO) build -o bench/out/bench-render ./bench/render
	bench/out/bench-render $(BENCH)

.PHONY: demo-scene
demo-scene: install-deps build ## Render the example scenes, each with its contact sheet; they are in demo/scenes/
	@scripts/demo-scene.sh

.PHONY: demo-generate
demo-generate: install-deps install-box build ## Make a film of a prompt in a locked box, without a model's key; it is in demo/generate/
	@scripts/demo-generate.sh

.PHONY: shots-styles
shots-styles: install-deps build ## Stills of every style, for docs/scene.md; they are in docs/styles/
	@scripts/shots-styles.sh

.PHONY: test-scene
test-scene: install-test-deps build ## Draw 100 frames of each example twice, with one worker and two, in two processes
	$(GO) test -count 1 -timeout 60m -run TestExamplesAreDeterministic -v ./internal/studio/renderer -scene-frames 100

.PHONY: test-claude-code
test-claude-code: install-deps install-box ## Have Claude Code make a film in a real box behind the gateway, with a scripted model; installs it (400 MB)
	PROOFREEL_CLAUDE_CODE="$$(scripts/install-claude-code.sh)" $(GO) test -tags claudecode -count 1 -run TestClaudeCode -v ./internal/studio/agent/runner

.PHONY: test-attacks
test-attacks: install-deps install-box ## Attack real jobs from inside of their boxes: bubblewrap, gVisor, as root and as an ordinary user; prints every attack
	PROOFREEL_ATTACKS=all $(GO) test -count 1 -timeout 20m -v ./e2e/attacks

.PHONY: bench-box
bench-box: install-deps install-box build ## Measure boxes: start against the bare tools, a browser's frame rate inside against outside
	mkdir -p bench/out && $(GO) build -o bench/out/bench-box ./bench/box
	bench/out/bench-box

.PHONY: bench-gateway
bench-gateway: ## Measure the model gateway against Go's own reverse proxy: latency, throughput, memory
	mkdir -p bench/out && $(GO) build -o bench/out/bench-gateway ./bench/gateway
	bench/out/bench-gateway

.PHONY: shots
shots: build ## Pictures of a clip's pills and of its page, from the demo's recording; they are in demo/shots/
	@scripts/shots.sh

.PHONY: fuzz
fuzz: ## Run every fuzz test for FUZZTIME (10s) each
	@scripts/fuzz.sh

.PHONY: clean
clean: ## Remove what was built, and the demo's films
	rm -rf bin demo bench/out
