# What a person does with this repository. `make help` lists it.

SHELL := /bin/bash
.SHELLFLAGS := -o pipefail -c
.DEFAULT_GOAL := help
# The page comes before the program that embeds it.
.NOTPARALLEL:
.PHONY: help demo gallery build ui ui-if-it-can test test-guest mutants miri fuzz lint docs bench cargo test-tools packages mpi ublk

# rustup puts cargo here, and not every shell has been told.
export PATH := $(PATH):$(HOME)/.cargo/bin

TARGET_DIR := $(or $(CARGO_TARGET_DIR),target)
FATHOM     := $(TARGET_DIR)/release/fathom
# The directory that is measured. It must lie on the disk in question, not in memory.
DEMO_DIR   ?= $(TARGET_DIR)/demo
# More arguments of the demo's `fathom run`, for example: --scratch 2GiB
DEMO_ARGS  ?=

help:
	@echo 'make demo    build, measure five figures of this disk, and keep the result'
	@echo '             another disk: make demo DEMO_DIR=/mnt/array'
	@echo 'make ui      the page of `fathom ui`, into ui/dist; the next build embeds it (needs Node 20 and npm)'
	@echo 'make gallery  the ready campaigns on the virtual arrays, as reports: published beside modelled (minutes)'
	@echo 'make mpi     the program for many hosts, started by mpirun (needs Open MPI and libclang)'
	@echo 'make test    every test, the page in a browser too; those that need root or a missing tool say so and are skipped'
	@echo '             (FATHOM_TESTS=strict: a missing tool fails them)'
	@echo 'make test-tools  install the tools that tests need (root, Debian); make test installs nothing'
	@echo 'make ublk    the program with `fathom serve --ublk`, block devices of the kernel (needs libclang)'
	@echo 'make test-guest  rebuilds of real md sets, arrays served by ublk, commands to drives and zoned drives, in a virtual machine (needs qemu and libclang)'
	@echo 'make mutants  faults put into the sources, and how many of them the tests find (needs cargo-mutants; hours)'
	@echo 'make miri    what is unsafe and can run there, under Miri (needs a nightly compiler with miri)'
	@echo 'make fuzz    every parser with bytes nobody would write, FUZZ_SECONDS (600) each'
	@echo 'make lint    words of the field, formatting, clippy and the API documentation, warnings as errors'
	@echo 'make packages  a release: static binary, .deb, .rpm, OCI image, SBOM, checksums, into target/packages'
	@echo 'make docs    the guide, into docs/book'
	@echo 'make bench   benchmarks of the tool itself, and beside fio where that is installed'

demo: ui-if-it-can build
	@mkdir -p '$(DEMO_DIR)'
	@case "$$(stat -f -c %T '$(DEMO_DIR)')" in tmpfs|ramfs) \
	  echo 'demo: $(DEMO_DIR) lies in memory, not on a disk; name a directory on one:' >&2; \
	  echo '      make demo DEMO_DIR=/var/tmp/fathom' >&2; exit 2;; esac
	$(FATHOM) run corners --on '$(DEMO_DIR)' $(DEMO_ARGS)
	@echo
	@echo 'The run is kept. Show it again with:  $(FATHOM) show last'

# Whether Node is new enough for the page, and npm is there.
NODE_20 := command -v npm >/dev/null && command -v node >/dev/null && [ "$$(node -p 'parseInt(process.versions.node)')" -ge 20 ]

ui:
	@[ -f ui/package.json ] || { echo 'ui: there is no ui/package.json, so there is nothing to build' >&2; exit 2; }
	@$(NODE_20) || { echo 'ui: Node 20 or later, or npm, is missing; install both: https://nodejs.org' >&2; exit 2; }
	cd ui && npm ci && npm run build

ui-if-it-can:
	@if [ ! -f ui/package.json ]; then echo 'demo: there is no ui/package.json; the page of `fathom ui` is left out'; \
	elif $(NODE_20); then $(MAKE) ui || echo 'demo: the page of `fathom ui` could not be built and is left out'; \
	else echo 'demo: Node 20 or npm is missing; the page of `fathom ui` is left out'; fi

# Continues where it ended: what was measured stays in target/gallery.
gallery: build
	GALLERY='$(TARGET_DIR)/gallery' tests/gallery '$(FATHOM)'

build: cargo
	cargo build --release --locked -p fathom-io

# Bindings to C headers are made by it as the program is built.
HAS_LIBCLANG := ldconfig -p 2>/dev/null | grep -q 'libclang[-.0-9]*\.so' || ls /usr/lib/llvm-*/lib/libclang*.so* >/dev/null 2>&1

mpi: cargo
	@missing=''; command -v mpirun >/dev/null || missing+=' openmpi-bin'; command -v mpicc >/dev/null || missing+=' libopenmpi-dev'; \
	  { $(HAS_LIBCLANG); } || missing+=' libclang-dev'; \
	  [ -z "$$missing" ] || { echo "mpi: missing; install it: apt-get install$$missing" >&2; exit 2; }
	cargo build --release --locked -p fathom-io --features mpi

ublk: cargo
	@{ $(HAS_LIBCLANG); } || { echo 'ublk: libclang is missing; install it: apt-get install libclang-dev' >&2; exit 2; }
	cargo build --release --locked -p fathom-io --features ublk

# The page is tested against the program that `cargo test` has built. Two tests more run at a time than there are
# processors: many wait, for a tool's fixed seconds or for a rate, and those that compute go on meanwhile.
test: cargo
	@code=0; RUST_TEST_THREADS="$${RUST_TEST_THREADS:-$$(( $$(nproc) + 2 ))}" cargo test --locked --workspace --no-fail-fast || code=$$?; \
	  tests/page '$(TARGET_DIR)/debug/fathom' || code=$$?; exit $$code

# The program with ublk is the plain one and more.
test-guest: ublk
	tests/guest/rebuild-on-md '$(FATHOM)'; code=$$?; [ $$code -eq 77 ] || exit $$code
	tests/guest/rebuild-time '$(FATHOM)'; code=$$?; [ $$code -eq 77 ] || exit $$code
	tests/guest/serve-by-ublk '$(FATHOM)'; code=$$?; [ $$code -eq 77 ] || exit $$code
	tests/guest/ask-a-drive '$(FATHOM)'; code=$$?; [ $$code -eq 77 ] || exit $$code
	tests/guest/pass-through '$(FATHOM)'; code=$$?; [ $$code -eq 77 ] || exit $$code
	tests/guest/zoned-drive '$(FATHOM)'; code=$$?; [ $$code -eq 77 ] || exit $$code

# MUTANTS='--count 5 library' tries five in one area.
mutants: cargo
	tests/mutants $(MUTANTS)

miri: cargo
	tests/miri

fuzz: cargo
	fuzz/run

lint: cargo
	@cargo fmt --version >/dev/null 2>&1 || { echo 'lint: rustfmt is missing; install it: rustup component add rustfmt' >&2; exit 2; }
	@cargo clippy --version >/dev/null 2>&1 || { echo 'lint: clippy is missing; install it: rustup component add clippy' >&2; exit 2; }
	@if command -v python3 >/dev/null; then tests/words; else echo 'lint: python3 is missing; words are not checked'; fi
	cargo fmt --all --check
	tests/dependencies
	cargo clippy --locked --workspace --all-targets -- -D warnings
	RUSTDOCFLAGS='-D warnings' cargo doc --locked --workspace --no-deps

packages: cargo ui-if-it-can
	packages/build

docs:
	@command -v mdbook >/dev/null || { echo 'docs: mdbook is missing; install it: cargo install mdbook' >&2; exit 2; }
	mdbook build docs
	@echo 'Open docs/book/index.html'

bench: build
	cargo bench --locked --workspace --benches
	@if command -v fio >/dev/null && command -v python3 >/dev/null; then FATHOM='$(FATHOM)' benches/against-fio; \
	else echo 'bench: fio or python3 is missing, the comparison is left out; install them: apt-get install fio python3'; fi

cargo:
	@command -v cargo >/dev/null || { echo 'cargo is missing; install Rust from https://rustup.rs:' >&2; \
	  echo "  curl --proto '=https' --tlsv1.2 -sSf https://sh.rustup.rs | sh" >&2; exit 2; }
	@command -v cc >/dev/null || { echo 'a C compiler is missing (SQLite is built from source); install it:' >&2; \
	  echo '  apt-get install build-essential' >&2; exit 2; }

test-tools:
	@tests/install-tools
