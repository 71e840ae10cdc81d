# What a person types; `make help` lists it. Meson and Ninja do the work.

PREFIX ?= /usr/local
# PAGE=no leaves the page out: no WebAssembly, no npm.
PAGE ?= yes
export PAGE
PAGE_OPTION = -Dpage=$(if $(filter no,$(PAGE)),false,true)

.PHONY: all help run site tour quick test bench mutants checked coverage errata figures results faults install clean format lint setup

all: setup ## build/baton; PAGE=no leaves out the page, which needs npm
	@tools/build build $(PAGE_OPTION)

help: ## this list
	@sed -n 's/^\([a-z]*\):[^#]*## \(.*\)/\1\t\2/p' Makefile | while IFS="$$(printf '\t')" read -r name text; do \
		printf '  make %-9s %s\n' "$$name" "$$text"; done

# Installs the Debian packages that are missing; quick when none is.
setup: ## what is needed to build: Debian packages
	@tools/setup

run: all ## a cluster of three on this machine; Ctrl-C ends it
	@build/baton dev

# What a web server needs: everything is fetched from beside index.html.
site: all ## the laboratory as static files, in build/site
	@rm -rf build/site && mkdir build/site && cd build/web && cp index.html app.js style.css baton.wasm lines.json sources.json ../site
	@echo "build/site: any web server serves it, below any path; build/web/page.html is all of it in one file"

tour: all ## the laboratory, a short guided tour
	@tools/tour

quick: setup ## after one changed file: build, unit tests, scenarios, some random clusters, style; half a minute
	@tools/test quick

test: ## everything (8 minutes); AREA=node tests one part: lab, node, member, daemon, client, cli, doc, or a test's name
	@tools/setup test
	@tools/test $(AREA)

bench: all ## measures, side by side with others
	@tools/setup bench
	@tools/bench

mutants: all ## every seeded bug must be caught
	@test/mutants/run build

checked: all ## makes doc/checked.md: what was checked; about 25 minutes
	@tools/checked

errata: all ## makes doc/errata.md: what was found in the papers
	@tools/errata

coverage: all ## makes doc/coverage.md: what the documents say, and what shows it
	@tools/coverage

figures: all ## draws doc/figures: moments of scenarios, as Neilsen's thesis draws them
	@tools/figures

results: all ## makes doc/results.md: what the papers claim beside what is measured; about a minute
	@tools/results

faults: all ## makes doc/faults.md: what each algorithm survives
	@tools/faults

install: setup ## to PREFIX, /usr/local unless given
	@tools/build build $(PAGE_OPTION) "--prefix=$$(realpath -m "$(PREFIX)")"
	@meson install -C build --quiet
	@echo "installed: $(DESTDIR)$$(realpath -m "$(PREFIX)")/bin/baton"

clean: ## removes what was built
	rm -rf build build-sanitize build-clang

format: setup ## clang-format and tools/wrap, in place
	@git ls-files -co --exclude-standard '*.c' '*.h' | xargs clang-format -i
	@tools/wrap

lint: all ## clang-format, clang-tidy over everything that changed since it was clean, purity
	@tools/lint
