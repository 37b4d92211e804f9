# Start here: `make run` on a fresh Debian or Ubuntu machine installs what is missing, builds and
# surveys. Pass arguments in ARGS: make run ARGS="--budget 30s tmpfs ext4"

CARGO = scripts/cargo
TARGET_DIR = $(or $(CARGO_TARGET_DIR),target)
ARGS =

PREFIX = /usr/local

.PHONY: help run build install deb dist test lint bench loads coverage densefs densefs-install \
	densefs-long fuzz setup
# The steps of a target run one after another, even with -j.
.NOTPARALLEL:

help:
	@echo "make run [ARGS=...]    set up, build and run fsprism survey ARGS"
	@echo "make build             build target/release/fsprism"
	@echo "make install           build, then install below PREFIX ($(PREFIX)) with manual and completions"
	@echo "make deb               build target/deb/fsprism_VERSION_amd64.deb, a Debian package"
	@echo "make dist              build target/dist/fsprism-VERSION.tar.xz and one of the program"
	@echo "make test              set up, then run every check and test"
	@echo "make lint              check formatting, clippy, documentation, licences, shell scripts"
	@echo "make bench [ARGS=...]  set up, build and measure fsprism against fio and a bare loop"
	@echo "make loads [ARGS=...]  set up, build and hold the estimates for loads to real programs"
	@echo "make coverage          recompute the tables in docs/coverage.md, fail if any changed"
	@echo "make densefs           build target/densefs/lib/libdensefs.so and its header"
	@echo "make densefs-install   build, then install DenseFS' libraries and manual below PREFIX"
	@echo "make densefs-long      try DenseFS for long: its tests with large numbers, some 20 minutes"
	@echo "make fuzz              have a fuzzer spoil DenseFS arenas for ten minutes"
	@echo "make setup             install what 'make run' needs, and nothing more"

run: setup build
	@$(TARGET_DIR)/release/fsprism survey $(ARGS)

build:
	@$(CARGO) build --release --locked -p fsprism

install: build
	@scripts/install $(TARGET_DIR)/release/fsprism "$(DESTDIR)" $(PREFIX)

deb dist:
	@scripts/setup package
	@program=$$(packaging/build) && packaging/package $@ "$$program" $(TARGET_DIR)/$@

setup:
	@scripts/setup run

test:
	@scripts/setup test
	@scripts/check test

lint:
	@scripts/check lint

coverage:
	@$(CARGO) test --release --locked -p fsprism-stats --test coverage_samples -- --ignored
	@$(CARGO) test --release --locked -p fsprism-report --lib -- --ignored coverage
	@$(CARGO) test --release --locked -p fsprism-reproduce --lib -- --ignored coverage

densefs:
	@scripts/setup densefs
	@$(MAKE) --no-print-directory densefs-install PREFIX=$(abspath $(TARGET_DIR))/densefs DESTDIR=

densefs-install: VERSION = $(shell sed -n 's/^version = "\(.*\)"$$/\1/p' Cargo.toml | head -n 1)
densefs-install: SONAME = libdensefs.so.$(firstword $(subst ., ,$(VERSION)))
densefs-install: INTO = $(DESTDIR)$(PREFIX)
densefs-install:
	@library=$$(scripts/densefs-library) && \
		install -D "$$library/libdensefs.so.$(VERSION)" $(INTO)/lib/libdensefs.so.$(VERSION) && \
		install -D -m 644 "$$library/libdensefs.so.$(VERSION).debug" \
			$(INTO)/lib/.debug/libdensefs.so.$(VERSION).debug && \
		install -D "$$library/libdensefs_preload.so" $(INTO)/lib/libdensefs_preload.so && \
		install -D -m 644 "$$library/libdensefs_preload.so.debug" \
			$(INTO)/lib/.debug/libdensefs_preload.so.debug && \
		install -D -m 644 "$$library/libdensefs.a" $(INTO)/lib/libdensefs.a
	@ln -sf libdensefs.so.$(VERSION) $(INTO)/lib/$(SONAME)
	@ln -sf $(SONAME) $(INTO)/lib/libdensefs.so
	@install -D -m 644 crates/densefs-c/include/densefs.h $(INTO)/include/densefs.h
	@sed -e 's,@PREFIX@,$(PREFIX),' -e 's,@VERSION@,$(VERSION),' crates/densefs-c/densefs.pc.in | \
		install -D -m 644 /dev/stdin $(INTO)/lib/pkgconfig/densefs.pc
	@install -D -m 644 crates/densefs-c/man/densefs.3 $(INTO)/share/man/man3/densefs.3
	@install -D -m 644 crates/densefs-c/man/densefs.7 $(INTO)/share/man/man7/densefs.7
	@echo "$(INTO)/lib/libdensefs.so"

# What its tests take from the environment.
densefs-long: export FSPRISM_CHURN_STEPS = 1000000
densefs-long: export FSPRISM_DIFFERENTIAL_CALLS = 10000000
densefs-long: export FSPRISM_HOSTILE_ROUNDS = 300000
densefs-long: export FSPRISM_INTERLEAVINGS = 20000
densefs-long: export FSPRISM_KILLS = 1000
densefs-long: export FSPRISM_LINEAR_ROUNDS = 100000
densefs-long: export FSPRISM_MODEL_CALLS = 1000000
densefs-long: export FSPRISM_PRELOADED_CALLS = 1000000
densefs-long: export FSPRISM_PROGRAMS = all
densefs-long: export FSPRISM_SPOILT_ROUNDS = 50000
densefs-long: export FSPRISM_STORM_SECONDS = 60
densefs-long:
	@$(CARGO) test --release --locked --no-fail-fast -p fsprism-densefs \
		-p fsprism-densefs-process -p fsprism-densefs-c --tests -- --nocapture --test-threads 1
	@$(CARGO) test --release --locked -p fsprism --test integration -- exec:: --nocapture \
		--test-threads 1

fuzz:
	@scripts/fuzz

# bonnie++ is in a directory that is not on every user's PATH.
bench: densefs
	@scripts/setup bench
	@$(CARGO) build --release --locked -p fsprism -p fsprism-bench
	@PATH=$$PATH:/usr/sbin:/sbin $(TARGET_DIR)/release/fsprism-bench $(ARGS)

loads: setup build
	@python3 crates/bench/loads/check.py --fsprism $(TARGET_DIR)/release/fsprism $(ARGS)
