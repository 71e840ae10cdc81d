# The targets that a person types; `make help` lists them. Meson and Ninja do the work.

PREFIX ?= /usr/local
# PAGE=no leaves the page out: no WebAssembly, no npm.
PAGE ?= yes
export PAGE
PAGE_OPTION = -Dpage=$(if $(filter no,$(PAGE)),false,true)

.PHONY: all help run site tour quick test bench mutants checked coverage errata figures results faults failover install clean format lint setup

all: setup ## make build/baton; PAGE=no leaves out the page, which needs npm
	@tools/build build $(PAGE_OPTION)

help: ## print this list
	@sed -n 's/^\([a-z]*\):[^#]*## \(.*\)/\1\t\2/p' Makefile | while IFS="$$(printf '\t')" read -r name text; do \
		printf '  make %-9s %s\n' "$$name" "$$text"; done

# Installs the Debian packages that are missing; quick when none is.
setup: ## install the Debian packages that the build needs
	@tools/setup

run: all ## run a cluster of three on this machine, and kill a node of it; Ctrl-C ends it
	@build/baton dev --failover

# The files that a web server needs.
site: all ## make the laboratory as static files, in build/site
	@tools/site build build/site
	@echo "build/site: any web server serves it, below any path; index.html opens from disk too; build/web/page.html is all of it in one file"

tour: all ## show a short guided tour of the laboratory
	@tools/tour

quick: setup ## test after one changed file: build, unit tests, scenarios, some random clusters, style; half a minute
	@tools/test quick

test: ## test everything (10 minutes; 14 the first time); AREA=node tests one part: algorithms, lab, node, member, engine, consensus, daemon, client, cli, web, doc, or a test's name
	@tools/setup test
	@tools/test $(if $(AREA),'$(AREA)')

bench: all ## measure baton and compare it with other programs
	@tools/setup bench
	@tools/bench

mutants: all ## check that every seeded bug is caught
	@test/mutants/run build

checked: all ## make doc/checked.md, what was checked; about 25 minutes
	@tools/checked

errata: all ## make doc/errata.md, what was found in the papers
	@tools/errata

coverage: all ## make doc/coverage.md, what the documents say, and what shows it
	@tools/coverage

figures: all ## draw doc/figures, moments of scenarios as Neilsen's thesis draws them
	@tools/figures

results: all ## make doc/results.md, what the papers claim and what is measured; about a minute
	@tools/results

faults: all ## make doc/faults.md, what each algorithm survives
	@tools/faults

failover: all ## make doc/failover.md, how long a lock waits after a failure; 40 minutes, as root; goes on if interrupted
	@tools/setup bench
	@tools/failover

install: setup ## install to PREFIX, /usr/local unless given
	@tools/build build $(PAGE_OPTION) "--prefix=$$(realpath -m "$(PREFIX)")"
	@meson install -C build --quiet
	@echo "installed: $(DESTDIR)$$(realpath -m "$(PREFIX)")/bin/baton"

clean: ## remove what was built
	rm -rf build build-sanitize build-clang

format: setup ## run clang-format and tools/wrap, in place
	@git ls-files -co --exclude-standard '*.c' '*.h' | xargs clang-format -i
	@tools/wrap

lint: all ## run clang-format, clang-tidy over all files not known to be clean, purity
	@tools/lint
