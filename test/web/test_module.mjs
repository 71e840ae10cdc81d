// The module gives what the program gives: traces, verdicts, and the lines that ran.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { copyFileSync, existsSync, mkdirSync, readFileSync, rmSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { folder, instance, native, packages, root, runTests, scenarios, test, web } from "./lib.mjs";

const algorithms = JSON.parse(native("algorithms", "--json").stdout).algorithms;
const trace = join(folder, "trace");

function whole(stage) {
	let lines = stage.text();
	while (stage.exports.step(5000) !== 0) lines += stage.text();
	stage.exports.finish();
	return lines + stage.text();
}

test("every algorithm gives the same trace as baton sim under three loads", () => {
	const loads = [["--load", "light"], ["--load", "heavy"], ["--load", "poisson:0.1", "--delay", "exp:1", "--seed", "5"]];
	const orders = [[], ["--delay", "exp:1", "--seed", "3"], ["--arrangement", "random", "--seed", "4"]];
	for (const { name, kind } of algorithms)
		for (const words of kind === "mutex" ? loads.map((load) => [...load, "--entries", "60"]) : orders) {
			native("sim", name, ...words, "--trace", trace);
			const stage = instance();
			stage.put([`algorithm=${name}`, ...words.join(" ").slice(2).split(" --").map((w) => w.replace(" ", "="))].join("\n"));
			assert.equal(stage.exports.open(1), 0, stage.text());
			assert.ok(whole(stage) === readFileSync(trace, "utf8"), `${name} ${words.join(" ")}: the traces differ`);
		}
});

test("wrong words are wrong in the same sentence", () => {
	for (const [words, line] of [[["neilsen", "--nodes", "x"], "algorithm=neilsen\nnodes=x"], [["nielsen"], "algorithm=nielsen"], [["raymond", "--topology", "ring"], "algorithm=raymond\ntopology=ring"], [["neilsen", "--load", "heavi"], "algorithm=neilsen\nload=heavi"], [["neilsen", "--sead", "1"], "algorithm=neilsen\nsead=1"]]) {
		const stage = instance();
		stage.put(line);
		assert.equal(stage.exports.open(1), -1);
		assert.equal(`baton sim: ${stage.text()}\n`, native("sim", ...words).stderr);
	}
});

test("every scenario gives the same trace and verdict as baton replay", () => {
	for (const path of scenarios()) {
		rmSync(trace, { force: true });
		const done = native("replay", path, "--trace", trace, "--json");
		const bytes = readFileSync(path);
		const stage = instance();
		stage.put(bytes);
		if (stage.exports.scenario(1, bytes.length) !== 0) {
			assert.equal(done.status, 2, path);
			// The page draws fewer nodes than a laboratory may have.
			if (/the page shows at most 60 nodes, not \d{3,}$/.test(stage.text())) continue;
			assert.ok(done.stderr.includes(stage.text()), `${path}: ${stage.text()}`);
			continue;
		}
		let lines = stage.text();
		while (stage.exports.step(5000) !== 0) lines += stage.text();
		stage.exports.status();
		const status = JSON.parse(stage.text());
		assert.equal({ passed: 0, failed: 1, bad: 2 }[status.verdict], done.status, path);
		stage.exports.finish();
		lines += stage.text();
		// A step that cannot happen cuts a trace short, and the program says so in its last line.
		const cut = (text) => text.slice(0, text.trimEnd().lastIndexOf("\n"));
		if (existsSync(trace)) assert.ok(cut(lines) === cut(readFileSync(trace, "utf8")), `${path}: the traces differ`);
		if (done.status === 1) assert.equal(status.found, JSON.parse(done.stdout).found, path);
	}
});

test("both branches of a condition are seen, for every algorithm", () => {
	const map = JSON.parse(readFileSync(join(web, "lines.json"), "utf8"));
	const evaluate = (text, counters) => Function("c", `return ${text.replace(/#(\d+)/g, "(c[$1]??0)")}`)(counters);
	for (const { name, kind } of algorithms) {
		const stage = instance();
		stage.put(`algorithm=${name}\nnodes=5\n${kind === "mutex" ? "load=poisson:0.1\nentries=60\nseed=2" : "arrangement=3,1,4,2,5"}`);
		assert.equal(stage.exports.open(0), 0, stage.text());
		const seen = new Map(); // maps a region to whether it ran, and whether it was passed by
		while (stage.exports.step(1) !== 0) {
			stage.exports.lines();
			for (const [hash, counters] of JSON.parse(stage.text()))
				map[hash]?.regions.forEach((region, i) => {
					const key = `${map[hash].file}:${region[0]} ${hash} ${i}`;
					const ran = evaluate(region[4], counters) > 0;
					seen.set(key, (seen.get(key) ?? 0) | (ran ? 1 : 2));
				});
		}
		const file = name.replaceAll("-", "_") + ".c";
		const both = [...seen].filter(([key, value]) => value === 3 && key.startsWith(file));
		// A token that only goes round has few branches, but it has one.
		assert.ok(both.length > 0, `${name}: no condition was seen both ways`);
	}
});

test("the page, the diagram and the comparison have the same colours", () => {
	const colours = (text) => [...text.matchAll(/--([a-z0-9-]+):\s*(#[0-9a-f]{3,6})/g)].map(([, name, value]) => [name, value]);
	const page = colours(readFileSync(join(root, "web/src/style.css"), "utf8"));
	const known = new Set(page.map(([, value]) => value));
	// The colours of a diagram are written out, for programs that do not know variables of CSS.
	native("sim", "maekawa", "--nodes", "4", "--entries", "4", "--load", "heavy", "--diagram", join(folder, "x.svg"));
	const drawn = new Set(readFileSync(join(folder, "x.svg"), "utf8").match(/#[0-9a-f]{6}\b/g));
	assert.deepEqual([...drawn].filter((value) => !known.has(value)), []);
	for (const name of ["paper", "ink", "right", "ask", "against"]) for (const [, value] of page.filter(([n]) => n === name)) assert.ok(drawn.has(value), `${name} ${value}`);
	const compared = colours(readFileSync(join(root, "src/lab/page/style.css"), "utf8"));
	const own = compared.filter(([name, value]) => name !== "rule" && !known.has(value));
	assert.deepEqual(own, []);
});

test("the script's types agree", () => {
	// The packages are in the build's folder. So make a folder that has links to the packages
	// and to the sources, for the type checker to find both.
	const checked = join(folder, "types");
	mkdirSync(checked);
	symlinkSync(join(root, "web/src"), join(checked, "src"));
	symlinkSync(join(web, "npm/node_modules"), join(checked, "node_modules"));
	copyFileSync(join(root, "web/tsconfig.json"), join(checked, "tsconfig.json"));
	const done = spawnSync(process.execPath, [packages.resolve("typescript/bin/tsc"), "--preserveSymlinks", "-p", checked], { encoding: "utf8" });
	assert.equal(done.stdout + done.stderr, "");
	assert.equal(done.status, 0);
});

await runTests();
