// The rest of the page in Chromium: front, tours, two runs side by side; what all views have in common; and the server.
import assert from "node:assert/strict";
import { spawn, spawnSync } from "node:child_process";
import { chmodSync, copyFileSync, existsSync, readFileSync, writeFileSync } from "node:fs";
import http from "node:http";
import { join } from "node:path";
import { at, axe, close, open, runBrowserTests, server } from "./browser.mjs";
import { baton, build, folder, native, root, test } from "./lib.mjs";

test("the front: a stage that runs, all algorithms in families, and the way to each", async () => {
	const page = await open("");
	await page.waitForFunction(() => baton.state.step.value > 1);
	const names = await page.evaluate(() => baton.state.algorithms.value.map((a) => a.name));
	assert.equal(await page.locator(".one").count(), names.length);
	assert.equal(await page.locator(".families section").count(), 5);
	assert.ok((await page.locator("[data-node]").count()) === 7);
	for (const name of names) assert.equal(await page.locator(`.one a[href^="#lab/${name}?"], .one a[href="#tour/${name}"]`).count(), 2, name);
	// Each of these runs begins, and the address of the front stays as it is.
	assert.equal(await page.evaluate(() => location.hash), "");
	for (const hash of await page.locator(".one h3 a").evaluateAll((all) => all.map((a) => a.getAttribute("href")))) {
		await page.evaluate((text) => baton.state.showAddress(text), hash);
		assert.equal(await page.evaluate(() => baton.state.wrong.value), null, hash);
	}
	await page.goto(page.url().split("#")[0] + "#all");
	await page.getByRole("link", { name: "Laboratory", exact: true }).click();
	await page.waitForSelector("#play");
	await page.getByRole("link", { name: "Tour", exact: true }).click();
	await page.waitForSelector("#tour");
	await page.getByRole("link", { name: "All 22" }).click();
	await page.waitForSelector(".families");
	await close(page);
});

test("every tour is told to its end, and its questions take the right answer only", async () => {
	const page = await open("#all", { reducedMotion: "reduce" });
	const names = await page.evaluate(async () => Object.keys(await (await fetch("tours.json")).json()));
	let questions = 0;
	for (const name of names) {
		await page.goto(page.url().split("#")[0] + "#tour/" + name);
		await page.waitForFunction((wanted) => baton.state.tour.value?.name === wanted, name);
		const frames = await page.evaluate(() => baton.state.tour.value.frames.map((f) => [f.title, f.from, f.to]));
		for (const [i, [title, from, to]] of frames.entries()) {
			assert.equal(await page.textContent("#tour-title"), title);
			if ((await page.locator(".ask").count()) > 0) {
				questions++;
				assert.equal(await at(page), from);
				assert.ok(await page.locator("#tour-next").isDisabled());
				const answers = await page.evaluate(() => baton.state.question().answers.map((a) => a.right));
				await page.locator(".ask button").nth(answers.indexOf(false)).click();
				assert.equal(await at(page), from);
				await page.locator(".ask button").nth(answers.indexOf(true)).click();
			}
			assert.equal(await at(page), to, `${name}, ${title}`);
			assert.ok((await page.textContent("#tour")).length > 60);
			if (i < frames.length - 1) await page.click("#tour-next");
		}
		assert.ok(await page.locator("#tour-next").isDisabled());
		const status = await page.evaluate(() => [baton.state.step.value === baton.state.run.value.steps.length, baton.state.run.value.status.verdict]);
		assert.deepEqual(status, [true, "passed"], name);
	}
	assert.ok(questions > 15, `${questions} questions`);
	await close(page);
});

test("a frame is played, an address restores it, and an act goes its own way", async () => {
	const page = await open("#tour/neilsen?frame=2");
	assert.deepEqual(await page.evaluate(() => [baton.state.frame.value, baton.state.step.value]), [1, 4]);
	await page.evaluate(() => (baton.state.speed.value = 8));
	await page.click("#tour-next");
	assert.equal(await page.evaluate(() => baton.state.playing.value), true);
	await page.waitForFunction(() => !baton.state.playing.value);
	assert.deepEqual(await page.evaluate(() => [baton.state.frame.value, baton.state.step.value]), [2, 7]);
	await page.waitForFunction(() => location.hash === "#tour/neilsen?frame=3");
	await page.keyboard.press("p");
	assert.deepEqual(await page.evaluate(() => [baton.state.frame.value, baton.state.step.value]), [1, 4]);
	await page.keyboard.press("ArrowRight");
	assert.equal(await page.evaluate(() => baton.state.frame.value), 2);
	await page.waitForFunction(() => location.hash === "#tour/neilsen?frame=3&step=5");
	const states = await page.evaluate(() => baton.state.run.value.statesText(5));
	const other = await open("#tour/neilsen?frame=3&step=5");
	assert.equal(await other.evaluate(() => baton.state.run.value.statesText(baton.state.step.value)), states);
	await close(other);
	await page.evaluate(() => baton.state.act("lose", baton.state.run.value.flights.find((f) => f.sentStep === 4).msg));
	assert.match(await page.textContent("#tour"), /its own way/);
	await page.click("#tour-back");
	assert.equal(await page.evaluate(() => baton.state.run.value.acts.length), 0);
	await close(page);
	const none = await open("#tour/nobody");
	assert.match(await none.textContent("#wrong span"), /^there is no tour 'nobody'$/);
	await close(none);
});

/** For each node, when it asked, and when it had left before that. */
function wishesOf(trace) {
	const wishes = new Map();
	const left = new Map();
	for (const line of trace.trimEnd().split("\n").slice(1).map((l) => JSON.parse(l))) {
		if (line.ev === "exit") left.set(line.node, line.t);
		if (line.ev === "request") wishes.set(line.node, [...(wishes.get(line.node) ?? []), { t: line.t, free: line.t > (left.get(line.node) ?? -1) }]);
	}
	return wishes;
}

test("two runs side by side meet the same requests, and have one time", async () => {
	const page = await open("#compare?nodes=7&load=wishes:0.09&cs=constant:1&entries=30&seed=4&left=neilsen&left.topology=tree:2&right=suzuki-kasami");
	const pair = (what) => page.evaluate(`baton.pair.pair.value.${what}`);
	assert.deepEqual(await pair("runs.map((r) => r.start.algorithm)"), ["neilsen", "suzuki-kasami"]);
	const [left, right] = (await pair("runs.map((r) => r.trace)")).map(wishesOf);
	let same = 0;
	for (const [node, list] of left)
		list.forEach((wish, i) => {
			const other = right.get(node)?.[i];
			// A wish that comes while the node waits or is inside is granted later, which differs.
			if (other === undefined || !wish.free || !other.free) return;
			assert.equal(other.t, wish.t, `request ${i + 1} of node ${node}`);
			same++;
		});
	assert.ok(same > 15, `${same} requests to compare`);
	assert.equal(await page.locator(".half").count(), 2);
	await page.keyboard.press("End");
	const whole = await page.locator(".counts b").allTextContents();
	assert.deepEqual(whole.map(Number), await pair("runs.map((r) => r.flights.filter((f) => f.sentStep > 0).length)"));
	assert.match(await page.textContent("#difference"), new RegExp(`Neilsen, ${whole[0]} messages for \\d+ entries; Suzuki and Kasami, A, ${whole[1]} messages`));
	await page.keyboard.press("Home");
	await page.click("#forward");
	assert.ok((await page.evaluate(() => baton.pair.time.value)) > 0);
	await page.click("#back");
	assert.equal(await page.evaluate(() => baton.pair.time.value), 0);
	await page.click("#play");
	await page.waitForFunction(() => baton.pair.time.value > 0.5);
	await page.click("#play");
	// The address has it all.
	await page.waitForFunction(() => /&t=/.test(location.hash));
	const [hash, time] = await page.evaluate(() => [location.hash, baton.pair.time.value]);
	const other = await open(hash);
	assert.ok(Math.abs((await other.evaluate(() => baton.pair.time.value)) - time) < 0.001);
	await close(other);
	// Words of both and of one side; what cannot be is said, and nothing changes.
	await page.getByLabel("Nodes", { exact: true }).fill("9");
	await page.getByLabel("Nodes", { exact: true }).press("Enter");
	assert.deepEqual(await pair("runs.map((r) => r.start.nodes)"), [9, 9]);
	await page.getByLabel("Algorithm on the right").selectOption("raymond");
	await page.getByLabel("Topology").nth(1).selectOption("line");
	assert.equal(await pair("runs[1].start.topology"), "line");
	await page.getByLabel("Nodes", { exact: true }).fill("77");
	await page.getByLabel("Nodes", { exact: true }).press("Enter");
	assert.match(await page.textContent("#wrong span"), /at most 60 nodes/);
	assert.deepEqual(await pair("runs.map((r) => r.start.nodes)"), [9, 9]);
	await page.click("#copy");
	await page.waitForFunction(() => document.body.dataset.copied !== undefined);
	assert.match(await page.evaluate(() => document.body.dataset.copied), /#compare\?.*\nbaton sim neilsen --topology tree:2 .*\nbaton sim raymond --topology line /);
	await close(page);
});

test("printed and mended part where the erratum says, and only the printed one breaks", async () => {
	const page = await open("#all");
	const tours = await page.evaluate(async () => Object.entries(await (await fetch("tours.json")).json()));
	const printed = tours.map(([name, text]) => [name, /^param text=(printed.*)$/m.exec(text)?.[1]]).filter(([, text]) => text !== undefined);
	// One for each error of a paper, of a book, of a summary and of our copy.
	const errata = readFileSync(join(root, "doc/errata/errata.toml"), "utf8").split("[[erratum]]").slice(1);
	const errors = errata.filter((e) => /^section = "(paper|book|summary|copy)"/m.test(e)).map((e) => /^name = "(.*)"/m.exec(e)[1]);
	assert.deepEqual(printed.map(([name]) => name).sort(), errors.sort());
	for (const [name, text] of printed) {
		await page.goto(`${page.url().split("#")[0]}#compare?tour=${name}&left.param=text=${text}&right.param=text=mended`);
		await page.waitForFunction((wanted) => baton.pair.pair.value?.tour === wanted, name);
		const found = await page.evaluate(() => {
			const { runs } = baton.pair.pair.value;
			const bad = (run) => {
				// The lemmas of a paper are about a network that stays as it is.
				const fixed = !run.steps.some((s) => /link/.test(s.head.ev));
				const judged = (p) => fixed || p.name === "mutual_exclusion" || p.name === "one_token";
				for (let i = 1; i <= run.steps.length; i++) if (run.moment(i).properties.some((p) => judged(p) && !p.holds)) return i;
				return null;
			};
			const same = runs.map((run) => JSON.stringify(run.steps.slice(0, baton.pair.parting.value - 1).map((s) => [s.head, s.rest])));
			return { parting: baton.pair.parting.value, steps: runs[0].steps.length, same: same[0] === same[1], bad: runs.map(bad) };
		});
		assert.ok(found.parting !== null && found.parting <= found.steps, `${name}: ${JSON.stringify(found)}`);
		assert.ok(found.same && found.bad[1] === null, `${name}: ${JSON.stringify(found)}`);
		assert.match(await page.textContent("#difference"), new RegExp(`They part at step ${found.parting}\\.`));
		await page.keyboard.press("End");
	}
	// The words at that step: in Maekawa's algorithm the FAIL that nobody sends.
	await page.goto(page.url().split("#")[0] + "#compare?tour=maekawa-neilsen&left.param=text=printed:neilsen&right.param=text=mended");
	await page.waitForFunction(() => baton.pair.parting.value === 9);
	const [left, right] = (await page.textContent("#difference")).split("on the right");
	assert.match(left, /4 gets REQUEST\(3,1\) from 3: queue /);
	assert.match(right, /4 gets REQUEST\(3,1\) from 3: sends FAIL\(4\) to 3, queue /);
	await close(page);
});

test("replay --open and check --open print an address that shows the scenario, and end when told to", async () => {
	const scenario = join(root, "test/scenarios/violated/raymond-reask.scn");
	const environment = { ...process.env, DISPLAY: "", WAYLAND_DISPLAY: "", BROWSER: "" };
	for (const name of ["DISPLAY", "WAYLAND_DISPLAY", "BROWSER"]) delete environment[name];
	for (const words of [["replay", scenario, "--open"], ["check", "raymond", "--topology", "line", "--nodes", "3", "--param", "text=printed:reask", "--open"]]) {
		const child = spawn(baton, words, { env: environment });
		let out = "";
		const address = await new Promise((done) => child.stdout.on("data", (data) => ((out += data), /http:\S+\n/.test(out) && done(/http:\S+/.exec(out)[0]))));
		const [base, hash] = address.split(/(?=#)/);
		const page = await open(hash, { base });
		assert.match(await page.evaluate(() => baton.state.run.value.source.scenario), /^param text=printed:reask$/m);
		await page.keyboard.press("End");
		assert.match(await page.textContent("#properties"), /Nothing can move any more|expected/);
		await close(page);
		const code = new Promise((done) => child.on("exit", done));
		// What Ctrl-C sends goes to both; the command then ends with its own verdict.
		const server = Number(spawnSync("pgrep", ["-P", String(child.pid)], { encoding: "utf8" }).stdout);
		process.kill(child.pid, "SIGINT");
		process.kill(server, "SIGINT");
		assert.equal(await code, 1, words.join(" "));
	}
	// With a browser: it is started on that address.
	const seen = join(folder, "seen");
	const browser = join(folder, "browser");
	writeFileSync(browser, `#!/bin/sh\nprintf %s "$1" > ${seen}.new && mv ${seen}.new ${seen}\n`);
	chmodSync(browser, 0o755);
	const child = spawn(baton, ["web", "--listen", "127.0.0.1:0", "--open", "#tour/neilsen"], { env: { ...environment, BROWSER: browser } });
	const address = await new Promise((done) => child.stdout.once("data", (data) => done(String(data).trim())));
	while (!existsSync(seen)) await new Promise((done) => setTimeout(done, 20));
	assert.match(address, /#tour\/neilsen$/);
	assert.equal(readFileSync(seen, "utf8"), address);
	const over = new Promise((done) => child.on("exit", done));
	child.kill("SIGTERM");
	assert.equal(await over, 0);
});

test("axe finds nothing, in both themes and at three widths, and nothing is wider than the window", async () => {
	for (const colorScheme of ["light", "dark"])
		for (const width of [400, 1280, 2560]) {
			const page = await open("#lab/maekawa?nodes=7&load=heavy&entries=8&t=5.5", { viewport: { width, height: 900 }, colorScheme, reducedMotion: "reduce", bypassCSP: true });
			await page.evaluate(axe);
			const found = await page.evaluate(async () => (await globalThis.axe.run()).violations.map((v) => `${v.id}: ${v.nodes.map((n) => n.html.slice(0, 120)).slice(0, 3).join(" | ")}`));
			assert.deepEqual(found, [], `${colorScheme} ${width}`);
			assert.ok(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth), `wider than ${width}`);
			await page.locator("[data-msg]").first().focus();
			await page.keyboard.press("Enter");
			const menu = await page.evaluate(async () => (await globalThis.axe.run("#menu")).violations.map((v) => `${v.id}: ${v.nodes[0].html}`));
			assert.deepEqual(menu, [], `the menu, ${colorScheme} ${width}`);
			await page.context().close();
		}
	for (const colorScheme of ["light", "dark"])
		for (const [hash, width] of [["#all", 400], ["#all", 1280], ["#tour/raymond?frame=3", 400], ["#tour/raymond?frame=3", 1280], ["#compare", 400], ["#compare", 1280]]) {
			const page = await open(hash, { viewport: { width, height: 900 }, colorScheme, reducedMotion: "reduce", bypassCSP: true });
			await page.evaluate(axe);
			const found = await page.evaluate(async () => (await globalThis.axe.run()).violations.map((v) => `${v.id}: ${v.nodes.map((n) => n.html.slice(0, 120)).slice(0, 3).join(" | ")}`));
			assert.deepEqual(found, [], `${hash} ${colorScheme} ${width}`);
			assert.ok(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth), `${hash} is wider than ${width}`);
			await page.context().close();
		}
	const phone = await open("#lab", { viewport: { width: 400, height: 800 } });
	for (const name of await phone.evaluate(() => baton.state.algorithms.value.map((a) => a.name))) {
		await phone.evaluate((hash) => baton.state.showAddress(hash), `#lab/${name}?nodes=6`);
		await phone.evaluate(() => new Promise(requestAnimationFrame));
		assert.ok(await phone.evaluate(() => document.documentElement.scrollWidth <= innerWidth), `${name} is wider than a phone`);
	}
	await close(phone);
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

await runBrowserTests();
