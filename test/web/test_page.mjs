// The page in Chromium, served by `baton web` and opened from disk.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { chmodSync, copyFileSync, readFileSync, writeFileSync } from "node:fs";
import http from "node:http";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { baton, build, folder, native, packages, root, runTests, serve, test } from "./lib.mjs";

const { chromium } = packages("playwright-core");
const axe = readFileSync(packages.resolve("axe-core/axe.min.js"), "utf8");
const server = await serve();
const browser = await chromium.launch({ executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium", args: ["--no-sandbox"] });

/** A page whose console must stay empty, and which must ask nobody else. */
async function open(hash = "", options = {}) {
	const context = await browser.newContext({ viewport: { width: 1280, height: 900 }, acceptDownloads: true, ...options });
	context.setDefaultTimeout(60000);
	const page = await context.newPage();
	page.wrongs = [];
	page.on("console", (message) => message.type() !== "info" && page.wrongs.push(message.text()));
	page.on("pageerror", (error) => page.wrongs.push(error.message));
	page.on("request", (request) => /^(data|blob|file):/.test(request.url()) || request.url().startsWith(options.base ?? server.address) || page.wrongs.push("asks " + request.url()));
	await page.goto((options.base ?? server.address) + hash);
	await page.waitForFunction(() => document.body.dataset.ready === "yes" && baton.state.map.value !== null);
	return page;
}

async function close(page) {
	assert.deepEqual(page.wrongs, []);
	await page.context().close();
}

const pause = (page) => page.evaluate(() => (baton.state.playing.value = false));
const at = (page) => page.evaluate(() => baton.state.step.value);

test("something moves by itself, and every control does what it says", async () => {
	const page = await open();
	await page.waitForFunction(() => baton.state.step.value > 1);
	await page.click("#play");
	assert.equal(await page.evaluate(() => baton.state.playing.value), false);
	await page.click("#first");
	assert.equal(await at(page), 0);
	await page.click("#forward");
	await page.click("#forward");
	assert.equal(await at(page), 2);
	await page.click("#back");
	assert.equal(await at(page), 1);
	await page.click("#entry");
	assert.ok(await page.evaluate(() => baton.state.run.value.entries.some((e) => e.step === baton.state.step.value)));
	await page.locator(".time").focus();
	await page.keyboard.press("End");
	assert.equal(await at(page), await page.evaluate(() => baton.state.run.value.steps.length));
	await page.keyboard.press("Home");
	await page.keyboard.press("Shift+ArrowRight");
	assert.ok((await at(page)) > 1);
	await page.keyboard.press("ArrowLeft");
	const box = await page.locator(".time").boundingBox();
	await page.mouse.click(box.x + box.width * 0.6, box.y + box.height / 2);
	assert.ok(await page.evaluate(() => Math.abs(baton.state.time.value / baton.state.run.value.end - 0.58) < 0.06));
	for (const [label, value] of [["Topology", "line"], ["Load", "heavy"], ["Stay", "constant:1"], ["Delay", "exp:1"], ["Order", "fifo"]]) await page.getByLabel(label, { exact: true }).selectOption(value);
	for (const [label, value] of [["Nodes", "9"], ["Seed", "5"], ["Entries", "20"]]) {
		await page.getByLabel(label, { exact: true }).fill(value);
		await page.getByLabel(label, { exact: true }).press("Enter");
	}
	const start = await page.evaluate(() => baton.state.run.value.start);
	assert.deepEqual([start.topology, start.nodes, start.seed, start.fifo], ["line", 9, 5, true]);
	await page.getByLabel("Algorithm").selectOption("suzuki-kasami-b");
	await page.getByLabel("L", { exact: true }).fill("3");
	await page.getByLabel("L", { exact: true }).press("Enter");
	assert.equal(await page.evaluate(() => baton.state.run.value.start.params.L), 3);
	await page.keyboard.press("?");
	await close(page);
});

test("an address restores a run with its acts, and copying gives it with its command", async () => {
	const page = await open("#lab/neilsen?topology=tree:2&nodes=7&load=poisson:0.09&entries=8&seed=76&do=3:ask:5");
	await page.evaluate(() => {
		const { state } = baton;
		state.go(4);
		state.act("lose", state.run.value.flights.find((f) => f.sentStep === 4).msg);
	});
	const acts = await page.evaluate(() => baton.state.run.value.acts.map((a) => `${a.at}:${a.name}`));
	assert.deepEqual(acts, ["3:ask", "4:lose"]);
	await page.evaluate(() => baton.state.go(9));
	await page.click("#copy");
	await page.waitForFunction(() => document.body.dataset.copied !== undefined);
	const [link, command] = (await page.evaluate(() => document.body.dataset.copied)).split("\n");
	assert.equal(command, "baton sim neilsen --topology tree:2 --nodes 7 --load poisson:0.09 --entries 8 --seed 76");
	const other = await open(link.slice(link.indexOf("#")));
	const trace = (p) => p.evaluate(() => baton.state.run.value.trace);
	assert.equal(await trace(other), await trace(page));
	assert.equal(await at(other), 9);
	await close(other);
	await close(page);
	const wrong = await open("#lab/nielsen?nodes=7");
	assert.equal(await wrong.textContent("#wrong"), "unknown algorithm 'nielsen': did you mean 'neilsen'?");
	await close(wrong);
});

test("200 random steps, acts and returns: going back gives the very states before", async () => {
	const page = await open("#lab/neilsen?nodes=3");
	const walks = await page.evaluate(() => baton.state.algorithms.value.map((a) => [a.name, a.kind === "election" ? "nodes=5" : "nodes=5&load=poisson:0.1&entries=12"]));
	for (const [name, words] of [...walks, ["neilsen", "topology=tree:2&nodes=7&load=poisson:0.1&entries=12"], ["raymond", "nodes=6&lose=0.02&load=poisson:0.1&entries=12"]]) {
		await page.evaluate((hash) => baton.state.showAddress(hash), `#lab/${name}?${words}&seed=7`);
		const result = await page.evaluate(() => {
			const { state } = baton;
			let seed = 12345;
			const draw = (below) => ((seed = (Math.imul(seed, 1103515245) + 12345) >>> 0) >>> 8) % below;
			let known = new Map();
			let lines = null; // of the trace
			let first = null; // variables at the beginning
			let acts = 0;
			let returns = 0;
			let back = 0;
			for (let i = 0; i < 200; i++) {
				const run = state.run.value;
				const what = draw(10);
				if (what < 4) state.go(state.step.value + 1);
				else if (what < 7) state.go(draw(run.steps.length + 1));
				else if (what === 9 && run.acts.length > 0) {
					state.returnToRun();
					returns++;
				} else {
					const flying = run.flights.filter((f) => f.sentStep <= state.step.value && f.goneStep > state.step.value);
					const node = 1 + draw(run.start.nodes);
					const names = ["ask", "leave", "deliver", "lose", "delay", "crash", "expire"];
					const act = names[draw(names.length)];
					const target = ["deliver", "lose", "delay"].includes(act) ? (flying[draw(flying.length || 1)]?.msg ?? 0) : node;
					acts += state.act(act, target, act === "delay" ? 1.5 : 0);
				}
				if (state.run.value !== run || lines === null) {
					known = new Map();
					lines = state.run.value.trace.trimEnd().split("\n").slice(1).map((l) => JSON.parse(l));
					first = new baton.Walker(state.run.value.source, []).instance.states().map((n) => n.vars);
				}
				const text = state.run.value.statesText(state.step.value);
				if (known.has(state.step.value)) {
					back++;
					if (known.get(state.step.value) !== text) return `step ${state.step.value} differs`;
				}
				known.set(state.step.value, text);
				// And the trace, folded, says the same of the variables.
				const vars = [...first];
				let steps = 0;
				for (const line of lines) {
					if (["request", "initiate", "deliver", "exit", "lose", "expire", "crash"].includes(line.ev)) steps++;
					if (steps > state.step.value) break;
					if (line.ev === "state") vars[line.node - 1] = line.vars;
				}
				if (JSON.stringify(vars) !== JSON.stringify(JSON.parse(text).map((n) => n.vars))) return `step ${state.step.value}: the trace has other variables`;
			}
			return { acts, returns, back };
		});
		assert.ok(result.acts > 5 && result.returns > 0 && result.back > 0, `${name}: ${JSON.stringify(result)}`);
	}
	await close(page);
});

test("nodes and messages can be touched, and the run told to come back", async () => {
	const page = await open("#lab/neilsen?topology=line&nodes=4&load=light&entries=4&seed=2&t=0");
	await pause(page);
	await page.locator("[data-node='3']").click();
	assert.match(await page.textContent("#told"), /3 asks to enter/);
	await page.locator("[data-msg]").first().click({ force: true });
	await page.getByRole("button", { name: "Lose it" }).click();
	assert.match(await page.textContent("#told"), /is lost/);
	await page.keyboard.press("End");
	await page.waitForSelector("#return");
	await page.click("#return");
	assert.equal(await page.evaluate(() => baton.state.run.value.acts.length), 0);
	await close(page);
});

test("an election calls a node by its identifier, everywhere", async () => {
	const page = await open("#lab/chang-roberts?nodes=5&arrangement=30,10,50,20,40&t=1");
	const flying = page.locator("[data-msg]").first();
	assert.match(await flying.getAttribute("aria-label"), /^ELECTION\((\d+)\) from (30|10|50|20|40) to (30|10|50|20|40)$/);
	for (let i = 0; i < 3; i++) {
		await page.click("#forward");
		const { head } = await page.evaluate(() => baton.state.run.value.steps[baton.state.step.value - 1]);
		const names = [30, 10, 50, 20, 40];
		assert.equal(await page.textContent("#told .what b"), String(names[(head.node ?? head.to) - 1]));
	}
	assert.deepEqual(await page.locator("#vars tbody .chip").allTextContents(), ["30", "10", "50", "20", "40"]);
	assert.deepEqual(await page.locator("#diagram .rowno").allTextContents(), ["30", "10", "50", "20", "40"]);
	assert.deepEqual(await page.locator("#stage .no").allTextContents(), ["30", "10", "50", "20", "40"]);
	// The way of the greatest goes all round; the others' end where they were stopped.
	await page.keyboard.press("End");
	assert.equal(await page.locator(".way.home").count(), 1);
	assert.equal(await page.locator(".extinguished:not([d=''])").count(), 4);
	assert.match(await page.locator("[data-node='3']").getAttribute("aria-label"), /node 50, leads/);
	await close(page);
});

test("a place crashes only when asked to, and only where that is known", async () => {
	const page = await open("#lab/bully?nodes=4&t=0.5");
	await page.locator("[data-node='4']").click();
	await page.getByRole("button", { name: "It crashes" }).click();
	assert.match(await page.textContent("#told"), /4 crashes/);
	await page.keyboard.press("End");
	assert.match(await page.textContent("#vars"), /dead/);
	await close(page);
	const ring = await open("#lab/chang-roberts?nodes=4&t=0.5");
	await ring.locator("[data-node='4']").click();
	assert.equal(await ring.locator("#menu").count(), 0);
	await close(ring);
});

test("what breaks is marked at its step, and play stops there", async () => {
	// Chang and Roberts as printed, on channels that reorder.
	const page = await open("#lab/chang-roberts?nodes=2&reorder&param=text=printed&delay=exp:1&seed=1");
	await page.waitForFunction(() => baton.state.broken.value !== null);
	await page.evaluate(() => (baton.state.speed.value = 8));
	await page.click("#play");
	await page.waitForFunction(() => !baton.state.playing.value);
	const [step, broken, length] = await page.evaluate(() => [baton.state.step.value, baton.state.broken.value, baton.state.run.value.steps.length]);
	assert.equal(step, broken);
	assert.ok(broken < length);
	assert.match(await page.textContent("#properties .alarm"), /leader twice/);
	assert.equal(await page.locator(".handle.bad").count(), 1);
	await page.click("#back");
	assert.equal(await page.locator(".handle.bad").count(), 0);
	await close(page);
	const lost = await open("#lab/neilsen?topology=star&nodes=5&load=poisson:0.3&entries=8&seed=3");
	await lost.evaluate(() => {
		const { state } = baton;
		const token = state.run.value.flights.find((f) => f.token);
		state.go(token.sentStep);
		state.act("lose", token.msg);
	});
	assert.match(await lost.textContent("#properties"), /✗ one token/);
	await lost.keyboard.press("End");
	assert.match(await lost.textContent("#properties"), /Nothing can move any more.*waits for the token, and asked/);
	assert.ok((await lost.locator(".waits").count()) > 0);
	await close(lost);
});

test("a long run grows as one comes near its end, and going back gives the very states before", async () => {
	const page = await open("#lab/ricart-agrawala?nodes=8&load=heavy&entries=1500");
	const result = await page.evaluate(() => {
		const { state } = baton;
		const first = state.run.value.steps.length;
		for (let i = 0; i < 4; i++) state.go(state.run.value.steps.length);
		const run = state.run.value;
		const known = new Map();
		for (let step = 7; step <= run.steps.length; step += 911) known.set(step, run.statesText(step));
		// Backwards, by snapshots, and by a walk from the beginning.
		for (const step of [...known.keys()].reverse()) if (run.statesText(step) !== known.get(step)) return `step ${step} differs`;
		const walker = new baton.Walker(run.source, run.acts);
		for (const [step, text] of known) {
			while (walker.at < step) walker.advance(step);
			if (walker.instance.statesText() !== text) return `step ${step} differs from a walk`;
		}
		return { first, then: run.steps.length };
	});
	assert.ok(result.then > result.first, JSON.stringify(result));
	await close(page);
});

test("a saved run replays natively to the same states", async () => {
	for (const name of ["neilsen", "ricart-agrawala", "bully"]) {
		const page = await open(`#lab/${name}?nodes=4&seed=3${name === "bully" ? "" : "&load=heavy&entries=6"}&do=2:${name === "bully" ? "crash:4" : "ask:2"}`);
		const [download] = await Promise.all([page.waitForEvent("download"), page.evaluate(() => document.querySelector("#save-scn").click())]);
		const path = join(folder, "saved.scn");
		await download.saveAs(path);
		const states = await page.evaluate(() => {
			const run = baton.state.run.value;
			return run.at(run.steps.length).states().map((s) => s.vars);
		});
		const expected = states.map((vars, i) => `expect ${i + 1} ${Object.entries(vars).map(([k, v]) => `${k}=${JSON.stringify(v)}`).join(" ")}`);
		writeFileSync(path, readFileSync(path, "utf8") + expected.join("\n") + "\n");
		const done = native("replay", path);
		assert.equal(done.status, 0, `${name}: ${done.stderr}`);
		await close(page);
	}
});

test("a dropped counterexample is shown with what it breaks, and stays in the address", async () => {
	const text = readFileSync(join(root, "test/scenarios/violated/maekawa-neilsen.scn"), "utf8");
	const page = await open("");
	await pause(page);
	await page.evaluate((content) => {
		const data = new DataTransfer();
		data.items.add(new File([content], "x.scn"));
		dispatchEvent(new DragEvent("drop", { dataTransfer: data }));
	}, text);
	await page.waitForFunction(() => "scenario" in baton.state.run.value.source);
	await page.keyboard.press("End");
	await page.waitForSelector("#verdict, .alarm");
	assert.match(await page.textContent("#properties"), /Nothing can move any more|expected/);
	assert.ok((await page.locator(".waits").count()) >= 2);
	await page.waitForFunction(() => location.hash.includes("scn="));
	const hash = await page.evaluate(() => location.hash);
	const other = await open(hash);
	assert.equal(await other.evaluate(() => baton.state.run.value.source.scenario), text);
	await close(other);
	await close(page);
});

test("the lines that ran are marked, and the branch not taken is pale", async () => {
	const page = await open("#lab/neilsen?topology=tree:2&nodes=7&load=poisson:0.09&delay=uniform:0.7,1.5&cs=uniform:1.4,2.6&entries=8&seed=76&t=6.2");
	assert.match(await page.textContent("#told"), /leaves its critical section/);
	await page.waitForSelector(".codebox .ran");
	const ran = await page.locator(".codebox .ran").allTextContents();
	const pale = await page.locator(".codebox .not").allTextContents();
	assert.ok(ran.some((l) => l.includes("send_privilege(node->FOLLOW")), ran.join("\n"));
	assert.ok(pale.some((l) => l.includes("node->HOLDING = true")), pale.join("\n"));
	await close(page);
});

test("a file from --html opens from disk with its run", async () => {
	const path = join(folder, "run.html");
	assert.equal(native("sim", "raymond", "--nodes", "6", "--entries", "9", "--html", path).status, 0);
	const page = await open("", { base: pathToFileURL(path).href });
	assert.deepEqual(await page.evaluate(() => [baton.state.run.value.start.algorithm, baton.state.run.value.start.nodes]), ["raymond", 6]);
	await close(page);
	const scenario = join(root, "test/scenarios/violated/maekawa-neilsen.scn");
	assert.equal(native("replay", scenario, "--html", path).status, 1);
	const other = await open("", { base: pathToFileURL(path).href });
	assert.equal(await other.evaluate(() => baton.state.run.value.source.scenario), readFileSync(scenario, "utf8"));
	await close(other);
});

test("axe finds nothing, in both themes and at three widths, and nothing is wider than the window", async () => {
	for (const colorScheme of ["light", "dark"])
		for (const width of [400, 1280, 2560]) {
			const page = await open("#lab/maekawa?nodes=7&load=heavy&entries=8&t=5.5", { viewport: { width, height: 900 }, colorScheme, reducedMotion: "reduce", bypassCSP: true });
			await page.evaluate(axe);
			const found = await page.evaluate(async () => (await globalThis.axe.run()).violations.map((v) => `${v.id}: ${v.nodes.map((n) => n.html.slice(0, 120)).slice(0, 3).join(" | ")}`));
			assert.deepEqual(found, [], `${colorScheme} ${width}`);
			assert.ok(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth), `wider than ${width}`);
			await page.context().close();
		}
});

test("the site is the same from any web server, below any path", async () => {
	const site = join(folder, "site");
	assert.equal(spawnSync(join(root, "tools/site"), [build, site]).status, 0);
	const types = { html: "text/html", js: "text/javascript", css: "text/css", wasm: "application/wasm", json: "application/json" };
	const plain = http.createServer((request, response) => {
		const name = request.url.replace("/deep/down/", "").split("?")[0] || "index.html";
		response.setHeader("content-type", types[name.split(".").pop()] ?? "text/plain");
		try {
			response.end(readFileSync(join(site, name)));
		} catch {
			response.writeHead(404).end();
		}
	});
	await new Promise((done) => plain.listen(0, "127.0.0.1", done));
	const base = `http://127.0.0.1:${plain.address().port}/deep/down/`;
	const page = await open("#lab/raymond?nodes=5&load=heavy&entries=5", { base });
	native("sim", "raymond", "--nodes", "5", "--load", "heavy", "--entries", "5", "--trace", join(folder, "site.trace"));
	assert.equal(await page.evaluate(() => baton.state.run.value.trace), readFileSync(join(folder, "site.trace"), "utf8"));
	await close(page);
	await new Promise((done) => plain.close(done));
	assert.equal(spawnSync(join(root, "tools/site"), [folder, site]).status, 2);
});

test("a baton without its page says so", () => {
	// What PAGE=no builds has no baton-web beside it.
	const alone = join(folder, "baton");
	copyFileSync(baton, alone);
	chmodSync(alone, 0o755);
	const done = spawnSync(alone, ["web"], { encoding: "utf8" });
	assert.deepEqual([done.status, done.stderr], [2, "baton web: this baton was built without the page (make PAGE=no)\n"]);
});

/** A raw request, whose Host header is ours to choose. */
function ask(path, options = {}) {
	const { hostname, port } = new URL(server.address);
	return new Promise((done, failed) => {
		http.request({ hostname, port, path, ...options }, (response) => {
			let size = 0;
			response.on("data", (d) => (size += d.length));
			response.on("end", () => done({ status: response.statusCode, headers: response.headers, size }));
		}).on("error", failed).end();
	});
}

test("the server serves its table to its own name only, compressed, and small", async () => {
	const accept = { headers: { "accept-encoding": "br" } };
	let first = 0;
	for (const path of ["/", "/app.js", "/style.css", "/baton.wasm"]) {
		const answer = await ask(path, accept);
		assert.equal(answer.status, 200);
		assert.equal(answer.headers["content-encoding"], "br");
		assert.match(answer.headers["content-security-policy"], /default-src 'none'/);
		assert.doesNotMatch(answer.headers["content-security-policy"], /unsafe-inline|unsafe-eval'(?<!wasm-unsafe-eval')/);
		assert.equal(answer.headers["x-content-type-options"], "nosniff");
		first += answer.size;
		const again = await ask(path, { headers: { ...accept.headers, "if-none-match": answer.headers.etag } });
		assert.deepEqual([again.status, again.size], [304, 0]);
	}
	assert.ok(first < 200000, `${first} bytes at first`);
	assert.equal((await ask("/", { headers: { host: "evil.example:80" } })).status, 421);
	assert.equal((await ask("/../etc/passwd")).status, 404);
	assert.equal((await ask("/", { method: "POST" })).status, 405);
	assert.equal((await ask("/", { method: "HEAD" })).size, 0);
	assert.ok((await ask("/app.js")).headers["content-encoding"] === undefined);
});

await runTests(async () => {
	await browser.close();
	await server.end();
});
