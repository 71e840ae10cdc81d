// The rest of the page in Chromium: front, tours, two runs side by side; what all views have in common; and the server.
import assert from "node:assert/strict";
import { spawn, spawnSync } from "node:child_process";
import { chmodSync, copyFileSync, cpSync, existsSync, readFileSync, readdirSync, writeFileSync } from "node:fs";
import http from "node:http";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
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

/** Reads a tour as a user does, and answers wrongly first. Returns how many questions it asked; throws if something is not as it should
 * be. */
const readTour = async (name) => {
	const must = (condition, what) => {
		if (!condition) throw new Error(`${name}: ${what}`);
	};
	const { state } = baton;
	const shown = (selector) => document.querySelector(selector)?.textContent ?? "";
	const rendered = () => new Promise((done) => setTimeout(done));
	location.hash = "#tour/" + name;
	while (state.tour.value?.name !== name) await rendered();
	await rendered();
	let questions = 0;
	for (const { title, from, to } of state.tour.value.frames) {
		must(shown("#tour-title") === title, `'${shown("#tour-title")}', not '${title}'`);
		if (document.querySelector(".ask") !== null) {
			questions++;
			must(state.step.value === from && document.getElementById("tour-next").disabled, `${title} goes on before the answer`);
			const answers = state.question().answers.map((a) => a.right);
			document.querySelectorAll(".ask button")[answers.indexOf(false)].click();
			await rendered();
			must(state.step.value === from && document.querySelector(".ask button.no") !== null, `${title} takes a wrong answer`);
			document.querySelectorAll(".ask button")[answers.indexOf(true)].click();
			await rendered();
		}
		must(state.step.value === to && shown("#tour").length > 60, `${title} ends at step ${state.step.value}, not ${to}`);
		document.getElementById("tour-next").click();
		await rendered();
	}
	must(document.getElementById("tour-next").disabled, "it does not end");
	const { steps, status } = state.run.value;
	must(state.step.value === steps.length && status.verdict === "passed", `step ${state.step.value} of ${steps.length}, ${status.verdict}`);
	return questions;
};

test("every tour is told to its end, and its questions take the right answer only", async () => {
	const page = await open("#all", { reducedMotion: "reduce" });
	const names = await page.evaluate(async () => Object.keys(await (await fetch("tours.json")).json()));
	assert.deepEqual([...names].sort(), readdirSync(join(root, "web/tours")).map((file) => file.slice(0, -4)).sort());
	let questions = 0;
	for (const name of names) questions += await page.evaluate(readTour, name);
	assert.ok(questions > 15, `${questions} questions`);
	// The pointer works too.
	await page.evaluate(() => (location.hash = "#tour/neilsen?frame=4"));
	await page.waitForFunction(() => baton.state.tour.value.name === "neilsen" && baton.state.frame.value === 3);
	await page.click("#tour-next");
	await page.waitForFunction(() => baton.state.frame.value === 4);
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
	await page.evaluate(() => baton.state.act("ask", 7));
	assert.match(await page.textContent("#tour"), /do not describe the run/);
	// The run now differs from the tour, so no other frame may be shown for it.
	await page.keyboard.press("End");
	assert.ok((await at(page)) > 9);
	assert.equal(await page.evaluate(() => baton.state.frame.value), 2);
	await page.click("#tour-return");
	assert.deepEqual(await page.evaluate(() => [baton.state.run.value.acts.length, baton.state.frame.value, baton.state.step.value]), [0, 2, 5]);
	assert.doesNotMatch(await page.textContent("#tour"), /its own way/);
	await close(page);
	const none = await open("#tour/nobody");
	assert.match(await none.textContent("#wrong span"), /^there is no tour 'nobody'$/);
	await close(none);
});

/** Returns for each node when it asked, and when it had left before that. */
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
			// A wish that comes while the node waits or is inside becomes a request
			// later, at different times on the two sides.
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
	// The address has the whole pair and its time.
	await page.waitForFunction(() => /&t=/.test(location.hash));
	const [hash, time] = await page.evaluate(() => [location.hash, baton.pair.time.value]);
	const other = await open(hash);
	assert.ok(Math.abs((await other.evaluate(() => baton.pair.time.value)) - time) < 0.001);
	await close(other);
	// Words are changed for both sides and for one. If a change is not possible, the page says
	// so and changes nothing.
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
	assert.match(await page.evaluate(() => document.body.dataset.copied), /^http:\S+#compare\?\S+$/);
	await page.getByText("Command…").click();
	await page.click("#copy-command");
	assert.match(await page.evaluate(() => document.body.dataset.copied), /^baton sim neilsen --topology tree:2 .*\nbaton sim raymond --topology line /);
	// Back undoes the last change.
	await page.goBack();
	await page.waitForFunction(() => baton.pair.pair.value.runs[1].start.topology !== "line");
	await close(page);
});

test("printed and mended part where the erratum says, and only the printed one breaks", async () => {
	const page = await open("#all");
	const tours = await page.evaluate(async () => Object.entries(await (await fetch("tours.json")).json()));
	const printed = tours.map(([name, text]) => [name, /^param text=(printed.*)$/m.exec(text)?.[1]]).filter(([, text]) => text !== undefined);
	// There is one tour for each error of a paper, of a book, of a summary and of our copy.
	const errata = readFileSync(join(root, "doc/errata/errata.toml"), "utf8").split("[[erratum]]").slice(1);
	const errors = errata.filter((e) => /^section = "(paper|book|summary|copy)"/m.test(e)).map((e) => /^name = "(.*)"/m.exec(e)[1]);
	assert.deepEqual(printed.map(([name]) => name).sort(), errors.sort());
	const sections = new Map(readFileSync(join(root, "doc/errata.md"), "utf8").split('<a id="').slice(1).map((part) => [part.slice(0, part.indexOf('"')), part]));
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
			return { parting: baton.pair.parting.value, same: same[0] === same[1], bad: runs.map(bad) };
		});
		assert.equal(found.parting, Number(/first\s+differ\s+at\s+step\s+(\d+)/.exec(sections.get(name))[1]), `${name}: ${JSON.stringify(found)}`);
		assert.ok(found.same && found.bad[1] === null, `${name}: ${JSON.stringify(found)}`);
		assert.match(await page.textContent("#difference"), new RegExp(`They first differ at step ${found.parting}\\.`));
		await page.keyboard.press("End");
		// The mended text goes on to a good end.
		const ended = await page.evaluate(() => {
			const { runs } = baton.pair.pair.value;
			const run = runs[1];
			const states = run.states(run.steps.length);
			const flying = run.flights.some((f) => f.goneStep === Infinity);
			const [waits, inside] = ["waiting", "in"].map((phase) => states.filter((s) => s.phase === phase).length);
			const mutex = run.algorithm.kind === "mutex";
			return { flying, waits, inside, mutex, verdict: run.status.verdict, elected: run.elected.length };
		});
		// A token that circulates is always under way.
		const good = ended.mutex ? (ended.waits === 0 || ended.inside === 1) && (!ended.flying || ended.waits === 0) : ended.elected > 0 && !ended.flying;
		assert.ok(good && ended.verdict === "passed", `${name}: ${JSON.stringify(ended)}`);
	}
	// The page describes the step at which the two differ: in Maekawa's algorithm, the FAIL
	// that nobody sends.
	await page.goto(page.url().split("#")[0] + "#compare?tour=maekawa-neilsen&left.param=text=printed:neilsen&right.param=text=mended");
	await page.waitForFunction(() => baton.pair.parting.value === 9);
	const [left, right] = (await page.textContent("#difference")).split("on the right");
	assert.match(left, /4 gets REQUEST\(3,1\) from 3: queue /);
	assert.match(right, /4 gets REQUEST\(3,1\) from 3: sends FAIL\(4\) to 3, queue /);
	await page.click("#difference button");
	assert.deepEqual(await page.evaluate(() => baton.pair.pair.value.runs.map((run) => run.stepAt(baton.pair.time.value))), [9, 9]);
	assert.equal(await page.locator(".half .alarm").count(), 0);
	await page.keyboard.press("End");
	assert.match(await page.textContent(".half:first-child .alarm"), /Nothing can move any more.*2 needs the permission of 1, which 3 has/);
	assert.equal(await page.locator(".half:last-child .alarm").count(), 0);
	await close(page);
});

test("two elections side by side count nodes, and say what is wrong; what makes no sense is said", async () => {
	const page = await open("#compare?nodes=2&delay=exp:1&seed=1&left=chang-roberts&left.fifo&left.param=text=printed&right=chang-roberts&right.reorder&right.param=text=printed");
	await page.keyboard.press("End");
	for (const words of await page.locator(".counts .note").allTextContents()) assert.match(words, /and all know who leads/);
	assert.match(await page.textContent(".half:last-child .alarm"), /leader twice/);
	// If only the order of messages differs, the page must still describe the two sides
	// differently.
	await page.getByText("in order and not in order").click();
	await page.waitForFunction(() => baton.pair.pair.value.runs[1].start.algorithm === "lamport");
	await page.keyboard.press("End");
	const [left, right] = (await page.textContent("#difference")).split("; on the right ");
	assert.notEqual(left.split("On the left ")[1], right.slice(0, -1));
	assert.equal(await page.locator(".half:first-child .alarm").count(), 0);
	assert.match(await page.textContent(".half:last-child .alarm"), /Nothing can move any more/);
	await close(page);
	const fresh = await open("#compare?left=zzz&right=neilsen");
	assert.match(await fresh.textContent("#wrong span"), /^unknown algorithm 'zzz'/);
	for (const [query, sentence] of [
		["nodes=abc&left=neilsen&right=raymond", /^nodes 'abc': a whole number from 1 to 60 is needed$/],
		["nodes=500&left=neilsen&right=raymond", /at most 60 nodes, not 500/],
		["tour=zork", /^there is no tour 'zork'$/],
		["left=neilsen&right=raymond&t=-4", /^t=-4: a number is expected/],
		["scn=AAAA", /^scn=…: the scenario in this address is not whole$/],
		["left=neilsen&right=chang-roberts", /^neilsen is for mutual exclusion and chang-roberts elects a leader: only two of one kind/],
	]) {
		await fresh.evaluate((hash) => (location.hash = hash), "#compare?" + query);
		await fresh.waitForFunction((text) => new RegExp(text).test(baton.state.wrong.value), sentence.source);
		assert.match(await fresh.textContent("#wrong span"), sentence, query);
		assert.equal(await fresh.locator(".half").count(), 2);
	}
	await close(fresh);
});

test("on a phone the way through a tour lies above the player, and who touches is told what can be touched", async () => {
	const page = await open("#tour/neilsen?frame=2", { viewport: { width: 400, height: 800 }, hasTouch: true, isMobile: true });
	assert.match(await page.locator(".hint").innerText(), /^Tap a node to ask or leave/);
	for (const name of ["neilsen", "maekawa-maekawa", "raymond"]) {
		await page.evaluate((hash) => (location.hash = hash), `#tour/${name}?frame=2`);
		await page.waitForFunction((wanted) => baton.state.tour.value?.name === wanted, name);
		for (const y of [0, 120, 260]) {
			await page.evaluate((top) => scrollTo(0, top), y);
			const [next, player] = await Promise.all(["#tour-next", ".transport"].map((one) => page.locator(one).boundingBox()));
			assert.ok(next.y + next.height <= player.y + 1 || next.y >= player.y + player.height, `${name} at ${y}: ${JSON.stringify([next, player])}`);
		}
	}
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
		// Ctrl-C sends a signal to both processes; the command then ends with its own
		// verdict.
		const server = Number(spawnSync("pgrep", ["-P", String(child.pid)], { encoding: "utf8" }).stdout);
		process.kill(child.pid, "SIGINT");
		process.kill(server, "SIGINT");
		assert.equal(await code, 1, words.join(" "));
	}
	// If there is a browser, it is started with that address.
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

const VIEWS = ["#lab/maekawa?nodes=7&load=heavy&entries=8&t=5.5", "#all", "#tour/maekawa-neilsen?frame=5", "#tour/neilsen?frame=5", "#compare", "#compare?tour=carvalho-roucairol-keep&left.param=text=printed:keep&right.param=text=mended&t=99"];

/** Returns what axe finds, one finding in each line. Colours are checked only where asked for, because that takes most of its time. */
const violations = ([where, colours]) =>
	globalThis.axe
		.run(where ?? document, { resultTypes: ["violations"], rules: { "color-contrast": { enabled: colours } } })
		.then(({ violations }) => violations.map((v) => `${v.id}: ${v.nodes.map((n) => n.html.slice(0, 120)).slice(0, 3).join(" | ")}`));

test("axe finds nothing, in both themes and at three widths, and nothing is wider than the window", async () => {
	const page = await open("#lab", { reducedMotion: "reduce", bypassCSP: true });
	await page.evaluate(axe);
	for (const hash of VIEWS) {
		await page.evaluate((text) => (location.hash = text), hash);
		await page.waitForFunction((view) => baton.state.view.value === view, /^#(tour|lab)/.test(hash) ? "lab" : hash.startsWith("#all") ? "all" : "compare");
		for (const width of [400, 2560, 1280]) {
			await page.setViewportSize({ width, height: 900 });
			await page.evaluate(() => new Promise((done) => requestAnimationFrame(() => setTimeout(done))));
			assert.ok(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth), `${hash} is wider than ${width}`);
			// Not all combinations are needed: colours are the same at every width,
			// sizes are the same in both themes, and only a phone shows other elements.
			for (const colorScheme of { 400: ["light"], 1280: ["light", "dark"], 2560: [] }[width]) {
				await page.emulateMedia({ colorScheme });
				assert.deepEqual(await page.evaluate(violations, [null, width === 1280]), [], `${hash} ${colorScheme} ${width}`);
			}
		}
	}
	await page.evaluate((hash) => (location.hash = hash), VIEWS[0]);
	await page.waitForFunction(() => baton.state.view.value === "lab" && baton.state.run.value.start.algorithm === "maekawa");
	for (const [width, colorScheme] of [[400, "light"], [1280, "dark"]]) {
		await page.setViewportSize({ width, height: 900 });
		await page.emulateMedia({ colorScheme });
		await page.locator("[data-msg]").first().focus();
		await page.keyboard.press("Enter");
		assert.deepEqual(await page.evaluate(violations, ["#menu", true]), [], `the menu, ${colorScheme} ${width}`);
		const box = await page.locator("#menu").boundingBox();
		assert.ok(box.x >= 0 && box.x + box.width <= width, `the menu leaves a window of ${width}`);
		await page.keyboard.press("Escape");
	}
	await page.context().close();
	const phone = await open("#lab", { viewport: { width: 400, height: 800 } });
	for (const name of await phone.evaluate(() => baton.state.algorithms.value.map((a) => a.name))) {
		await phone.evaluate((hash) => baton.state.showAddress(hash), `#lab/${name}?nodes=6`);
		await phone.evaluate(() => new Promise(requestAnimationFrame));
		assert.ok(await phone.evaluate(() => document.documentElement.scrollWidth <= innerWidth), `${name} is wider than a phone`);
	}
	await close(phone);
});

test("the site is the same from any web server, below any path, and from disk without a network", async () => {
	const site = join(folder, "site");
	assert.equal(spawnSync(join(root, "tools/site"), [build, site]).status, 0);
	cpSync(site, join(folder, "kept"), { recursive: true });
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
	// Open the page from disk, without any network.
	const disk = await open("#tour/raymond?frame=2", { base: pathToFileURL(join(folder, "kept/index.html")).href, offline: true });
	assert.equal(await disk.textContent("#tour-title"), "Asking a neighbour");
	await disk.waitForSelector(".codebox .ran");
	await close(disk);
});

test("a baton without its page says so", () => {
	// A baton that was built with PAGE=no has no baton-web beside it.
	const alone = join(folder, "baton");
	copyFileSync(baton, alone);
	chmodSync(alone, 0o755);
	const done = spawnSync(alone, ["web"], { encoding: "utf8" });
	assert.deepEqual([done.status, done.stderr], [2, "baton web: this baton was built without the page (make PAGE=no)\n"]);
});

/** Sends a raw request with a Host header of our choice. */
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
