# What a person types. Meson and Ninja do the work.

PREFIX ?= /usr/local

.PHONY: all run tour test bench mutants checked errata results install clean format lint setup

all: setup
	@tools/build build

# Installs the Debian packages that are missing; quick when none is.
setup:
	@tools/setup

# A cluster of three on this machine; Ctrl-C ends it.
run: all
	@build/baton dev

# The laboratory, a short guided tour.
tour: all
	@tools/tour

test:
	@tools/setup test
	@tools/test

bench: all
	@tools/setup bench
	@tools/bench

mutants: all
	@test/mutants/run build

# The documents that are made: what was checked (about 25 minutes), what was found in the papers, and what they claim beside what is
# measured (about a minute).
checked: all
	@tools/checked

errata: all
	@tools/errata

results: all
	@tools/results

install: setup
	@tools/build build "--prefix=$$(realpath -m "$(PREFIX)")"
	@meson install -C build --quiet
	@echo "installed: $(DESTDIR)$$(realpath -m "$(PREFIX)")/bin/baton"

clean:
	rm -rf build build-sanitize build-clang

format: setup
	@git ls-files -co --exclude-standard '*.c' '*.h' | xargs clang-format -i

lint: all
	@tools/lint
