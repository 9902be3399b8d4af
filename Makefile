# pgrlab needs Go and npm: Go builds it, npm fetches the physics (MuJoCo's
# WebAssembly build, pinned in package-lock.json), which becomes part of the
# binary.
#
#   make build   bin/pgrlab, one self-contained file
#   make run     build it and open the lab, with flags as in ARGS="--preset demo"
#   make test    vet and all tests, without cgo
#   make install build it and copy it into PREFIX/bin, by default ~/.local/bin
#   make race    the concurrent parts under the race detector (needs gcc)
#   make soak    the long forms of the tests, and fuzzing, for FUZZTIME=5m a target
#   make hostile the tests under conditions that expose errors of timing (Linux); it has
#                two parts, which also run alone, and on some PACKAGES="./tui ./core/run":
#   make hostile-once   all tests, shuffled, on one core shared with four busy loops
#   make hostile-count  the tests of runs and screens, with slow work, then with quick work
#   make slurm   the sweeps against Slurm's own daemons (root, slurm-wlm, munge)
#   make scaling training steps with 1, 2, 4, … threads
#   make arm64   build and vet for 64-bit ARM; its kernels' tests under qemu-user
#   make lint    gofmt, vet and staticcheck
#   make physics fetch MuJoCo's WebAssembly build, which the other targets do themselves
#   make docs    the documents made from the code: the picture of the screen, docs/journal.md, the list of operations
#   make picture docs/screen.svg alone
#   make release VERSION=v0.1.0  what is published of a tag, in dist/ (RELEASE=snapshot: of any commit)
#   make release-check   the short form of a release and its test
#   make release-test   unpack, install and run what is in dist/
#   make gpu-bundle  bin/gpu-check, a folder to copy to a machine with a GPU
#   make gpu-check   there, without Go or network: check and time everything, in 9 minutes
#   make clean   remove everything that was built or fetched

export CGO_ENABLED := 0

GO        ?= go
NPM       ?= npm
ARGS      ?=
TESTFLAGS ?=
FUZZTIME  ?= 1m
PREFIX    ?= $(HOME)/.local
# What pgrlab version prints: what git archive wrote into .ci/version, or what git says; without both
# it prints what the Go tool recorded.
ARCHIVED  := $(shell sed -n '/Format/d; /./{p; q;}' .ci/version)
VERSION   ?= $(or $(ARCHIVED),$(shell git describe --tags --always --dirty 2>/dev/null))
STAMP     := -X pgrlab/tui/program.stamped=$(VERSION)

WASM     := envs/mujoco/wasm/mujoco.wasm
PACKAGE  := node_modules/@mujoco/mujoco/mujoco.wasm
CHECKSUM := $(shell sed -n 's/^const Checksum = "\(.*\)"/\1/p' envs/mujoco/binary.go)
# make race tests the packages that start goroutines; all others have one, and take minutes under
# the detector. Left out are the binary's tests, which take eight minutes with the detector and wait
# for processes, most of which run without it; the emulated GPU, whose driver and interpreter have
# tests of their own; the physics, which is one goroutine for each environment; the seeds of fuzz
# tests, which read files on one goroutine; and tests that begin, cut or resume a run many times: they
# compute the same parts again and again, of which other tests have each once. A process with the
# detector would sleep for a second at its end (atexit_sleep_ms).
STARTS   := ^[[:space:]]*go (func|[a-zA-Z.]+[(])|[.]Go[(]|AfterFunc[(]
RACE     = $(filter-out ./tui/program ./core/device/cuda ./core/device/cuda/kernel/gen ./envs,$(patsubst %/,./%,$(sort $(dir $(shell grep -rlE --include='*.go' --exclude='*_test.go' '$(STARTS)' core envs tui)))))
UNRACED  := ^Fuzz|From(Every)?Borders?$$|ManyRowsGoOn$$|OfFramesGoesOn$$|EveryLearnerGoesOn$$|OutlivesItsPower$$|MembersAreRunsOfTheirSeeds$$|RepeatedFromItsJournal$$|MemoryForecast$$|SizeOfACheckpointIsKnownBefore$$|ChangeIsNotMade$$|ChangeIsThePersons$$|GenerationIs$$|PackedRunGoesOn$$|LeanRunGoesOn$$|FramesIsPacked$$

# make test and make lint run go vet themselves, without VET=true, so go test need not run it too: it
# would gather other facts about each package. A busy machine may take longer than the ten minutes that
# go test allows a package by default.
VET      ?= $(GO) vet ./...
ONCE     := -vet=off -timeout 30m

# The packages whose tests take longest. They start first, so that none of them runs alone
# on one core at the end.
LONGEST  := ./tui/program ./core/lab ./tui

# Where the files of tests are: in memory, where there is room and programs may be started, because
# tests that save runs else wait for the disk most of the time. Sockets need a short name. The Go tool
# keeps what it links on the disk.
MEMORY   := /dev/shm/pg
INMEMORY  = $(shell mkdir -p $(MEMORY) 2>/dev/null && test "$$(df -Pk $(MEMORY) | awk 'NR == 2 {print $$4}')" -ge 4000000 && \
  printf '\043!/bin/sh\n' 2>/dev/null >$(MEMORY)/can && chmod +x $(MEMORY)/can && $(MEMORY)/can && echo GOTMPDIR=$${TMPDIR:-/tmp} TMPDIR=$(MEMORY))

# fail MESSAGE: one line on stderr, then stop.
fail = { echo "$(1)" >&2; exit 1; }

# PREFIX as the person meant it: a shell other than bash passes ~ on.
HERE      := $(patsubst ~/%,$(HOME)/%,$(PREFIX))/bin

.PHONY: build install run test race slurm scaling soak hostile hostile-once hostile-count arm64 lint docs picture release release-test release-check gpu-bundle gpu-check clean physics

build: physics
	@command -v $(GO) >/dev/null || $(call fail,build: go not found: install Go 1.26 or newer)
	$(GO) build -trimpath -ldflags "$(STAMP)" -o bin/pgrlab .

run: build
	@bin/pgrlab $(ARGS)

install: build
	@install -d "$(DESTDIR)$(HERE)" && install bin/pgrlab "$(DESTDIR)$(HERE)/pgrlab" || $(call fail,install: cannot write $(DESTDIR)$(HERE): choose another folder with PREFIX=FOLDER)
	@echo "installed $(DESTDIR)$(HERE)/pgrlab" >&2
	@case ":$$PATH:" in *":$(HERE):"*) ;; *) echo "$(HERE) is not on the PATH: export PATH=\"$(HERE):\$$PATH\"" >&2;; esac

# Collecting garbage half as often takes a tenth off the processor time of the tests, for half as much
# memory again; a quarter as often takes a fifth off vet and staticcheck, which then need 1.2 GB.
test race: export GOGC ?= 200
lint: export GOGC ?= 400

# The tests of the binary, most of which wait, are done by two processes (tui/program/halves_test.go).
test: physics
	$(VET)
	$(INMEMORY) PGRLAB_TEST_HALVES=$$$$ $(GO) test $(ONCE) $(TESTFLAGS) $(LONGEST) ./...

race: physics
	@command -v gcc >/dev/null || $(call fail,race: gcc not found: the race detector needs a C compiler)
	$(INMEMORY) CGO_ENABLED=1 GORACE=atexit_sleep_ms=10 $(GO) test -race -skip '$(UNRACED)' $(ONCE) $(TESTFLAGS) $(RACE)

# Runs the tests against Slurm's own daemons, with two nodes on this machine; needs root,
# slurm-wlm and munge. With PGRLAB_SLURM=slow the tests also let time limits pass, take nodes
# away, and let workers, nodes and controllers die.
slurm: physics
	PGRLAB_SLURM=$(or $(PGRLAB_SLURM),1) $(GO) test $(ONCE) -count 1 $(TESTFLAGS) -run OnSlurm ./tui/program

# Times training steps with 1, 2, 4, … threads, up to the number of cores (at most 64); takes
# some 5 minutes.
scaling: build
	@n=1; while [ $$n -le $$(nproc) ] && [ $$n -le 64 ]; do echo; bin/pgrlab bench --threads $$n --round 0.5s --rounds 5 critic redq10 sac denoiser-1024 denoiser-2048 sample-1024x4096 encoder-demo drqv2-demo; n=$$((2*n)); done

# PGRLAB_SOAK selects the long form of tests that have one.
soak: physics
	PGRLAB_SOAK=1 $(GO) test -timeout 0 -count 1 $(TESTFLAGS) ./...
	@for package in $$($(GO) list ./...); do \
	  for target in $$($(GO) test -list '^Fuzz' $$package | grep '^Fuzz'); do \
	    echo "fuzz $$package $$target"; \
	    $(GO) test -run '^$$' -fuzz "^$$target\$$" -fuzztime $(FUZZTIME) $$package || exit 1; \
	  done; \
	done

hostile: hostile-once hostile-count

# Only the tests run on the busy core, not the compiler. The busy loops end with the shell
# that started them, however it ends.
hostile-once: PACKAGES ?= ./...
hostile-once: physics
	@command -v taskset >/dev/null || $(call fail,hostile: taskset not found: it is a part of util-linux)
	@core=$$(taskset -cp $$$$ | sed 's/.*: *\([0-9]*\).*/\1/'); me=$$$$; \
	trap 'kill $$loops 2>/dev/null' EXIT; trap 'exit 130' INT; trap 'exit 143' TERM HUP; \
	for loop in 1 2 3 4; do \
	  taskset -c $$core sh -c 'while kill -0 '$$me' 2>/dev/null; do i=0; while [ $$i -lt 100000 ]; do i=$$((i+1)); done; done' & \
	  loops="$$loops $$!"; \
	done; \
	$(GO) test -exec "env GOMAXPROCS=1 taskset -c $$core" -shuffle on -count 1 -p 1 -timeout 40m $(TESTFLAGS) $(PACKAGES)

# Package core/testing/pace says what slow and quick mean.
hostile-count: PACKAGES ?= ./core/lab ./core/run ./core/sweep ./tui/...
hostile-count: physics
	@for pace in slow quick; do \
	  echo "pace: $$pace"; \
	  PGRLAB_TEST_PACE=$$pace $(GO) test -shuffle on -count 3 -timeout 40m $(TESTFLAGS) $(PACKAGES) || exit 1; \
	done

arm64: export GOARCH := arm64
arm64:
	$(GO) build ./core/... ./tui/...
	$(GO) vet ./core/...
	@if command -v qemu-aarch64 >/dev/null; then \
	  $(GO) test -exec qemu-aarch64 -short ./core/device/cpu/kernel ./core/op ./core/nn; \
	  $(GO) test -exec qemu-aarch64 -run Operations ./core/plan; \
	else echo "qemu-aarch64 not found (apt install qemu-user): built, not tested"; fi

lint:
	@unformatted=$$(gofmt -l $$(git ls-files '*.go')); \
	test -z "$$unformatted" || $(call fail,lint: not formatted by gofmt: $$unformatted)
	$(VET)
	$(GO) run honnef.co/go/tools/cmd/staticcheck ./...

docs: picture
	$(GO) test ./core/event ./core/op -run TheReference -update

# Draws the screen of the recorded run in docs/demo.
picture: physics
	$(GO) run . replay docs/demo --picture docs/screen.svg --step 21000

# Five platforms are built twice, the second time from nothing, and packed: this takes a while.
release:
	@.ci/release $(or $(RELEASE),$(VERSION))

release-test:
	@.ci/release-test

# The short form of both: it packs and tests a binary of this working tree.
release-check: physics
	$(GO) build -ldflags "-s -w -X pgrlab/tui/program.stamped=v0.0.0-check" -o bin/release-check .
	@.ci/release-check bin/release-check v0.0.0-check

# The bundle checks the CUDA backend on a machine with a GPU and NVIDIA's driver, and times
# it beside PyTorch if that is installed. make gpu-check builds nothing, so it needs only
# bin/gpu-check.tar.gz and this file; with ARGS=--rehearse it needs no GPU.
BUNDLE := bin/gpu-check

gpu-bundle: physics
	@mkdir -p $(BUNDLE)
	$(GO) build -trimpath -ldflags "-s -w $(STAMP)" -o $(BUNDLE)/pgrlab .
	$(GO) test -c -trimpath -ldflags '-s -w' -o $(BUNDLE)/cuda.test ./core/device/cuda
	@cp core/device/cuda/check/*.py $(BUNDLE)/
	@tar -C $(dir $(BUNDLE)) -czf $(BUNDLE).tar.gz --exclude=kernels --exclude='gpu-check.*' $(notdir $(BUNDLE))
	@echo "copy $(BUNDLE).tar.gz to a machine with a GPU; there: tar -xzf gpu-check.tar.gz && cd gpu-check && python3 check.py" >&2

gpu-check:
	@test -x $(BUNDLE)/cuda.test || $(call fail,gpu-check: there is no $(BUNDLE): run make gpu-bundle where Go is)
	@command -v python3 >/dev/null || $(call fail,gpu-check: python3 not found: install Python 3.8 or newer)
	cd $(BUNDLE) && python3 check.py $(ARGS)

clean:
	rm -rf bin dist node_modules $(WASM) $(MEMORY)

# The physics: the file that is already there if its checksum is right, else the one that
# $PGRLAB_MUJOCO_WASM names, else npm's.
physics:
	@right() { sum=$$(sha256sum "$$1" 2>/dev/null || shasum -a 256 "$$1"); test "$${sum%% *}" = "$(CHECKSUM)"; }; \
	if test -r $(WASM) && right $(WASM); then exit 0; fi; \
	file="$$PGRLAB_MUJOCO_WASM"; \
	if [ -z "$$file" ]; then \
	  command -v $(NPM) >/dev/null || $(call fail,fetch physics: npm not found: install Node.js or set PGRLAB_MUJOCO_WASM to mujoco.wasm of @mujoco/mujoco 3.14.0); \
	  $(NPM) ci --silent >&2 || $(call fail,fetch physics: npm could not install @mujoco/mujoco 3.14.0: check network and registry settings (npm ci says more) or set PGRLAB_MUJOCO_WASM); \
	  file=$(PACKAGE); \
	fi; \
	test -r "$$file" || $(call fail,fetch physics: cannot read $$file: set PGRLAB_MUJOCO_WASM to mujoco.wasm of @mujoco/mujoco 3.14.0 or unset it); \
	right "$$file" || $(call fail,fetch physics: $$file has the wrong SHA-256: run make clean and try again); \
	cp "$$file" $(WASM) && chmod 644 $(WASM)
