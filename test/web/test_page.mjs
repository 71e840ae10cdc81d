// The laboratory in Chromium, served by `baton web` and opened from disk.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { at, close, open, pause, runBrowserTests } from "./browser.mjs";
import { baton, folder, native, root, test } from "./lib.mjs";

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

test("an address restores a run with its acts; the link and the command are copied apart", async () => {
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
	const link = await page.evaluate(() => document.body.dataset.copied);
	assert.match(link, /^http:\S+&do=\S+$/);
	await page.getByText("Command…").click();
	assert.match(await page.textContent("#by-hand"), /without what you did by hand/);
	await page.click("#copy-command");
	assert.equal(await page.evaluate(() => document.body.dataset.copied), "baton sim neilsen --topology tree:2 --nodes 7 --load poisson:0.09 --entries 8 --seed 76");
	const other = await open(link.slice(link.indexOf("#")));
	const trace = (p) => p.evaluate(() => baton.state.run.value.trace);
	assert.equal(await trace(other), await trace(page));
	assert.equal(await at(other), 9);
	await close(other);
	await close(page);
});

test("an address restores the very step, also where many have one time", async () => {
	const page = await open("#lab/lamport?nodes=6&load=heavy&entries=20");
	for (const words of ["lamport?nodes=6&load=heavy&entries=20", "ricart-agrawala?nodes=5&delay=exp:1&load=heavy&entries=20", "chang-roberts?nodes=9"]) {
		await page.evaluate((hash) => baton.state.showAddress(hash), "#lab/" + words);
		const wrong = await page.evaluate(async () => {
			const { state } = baton;
			const { length } = state.run.value.steps;
			const shared = state.run.value.steps.filter((s, i, all) => i > 0 && all[i - 1].t === s.t).length;
			for (let i = 0; i <= 20; i++) {
				const step = Math.round((i / 20) * length);
				state.go(step);
				const [hash, states] = [await state.address(), state.run.value.statesText(step)];
				state.go(0);
				await state.showAddress(hash);
				if (state.step.value !== step || state.run.value.statesText(step) !== states) return `${hash} leads to step ${state.step.value}`;
			}
			// The same must hold between two steps.
			state.goTime(state.run.value.end * 0.37);
			const [time, step, hash] = [state.time.value, state.step.value, await state.address()];
			await state.showAddress(hash);
			if (Math.abs(state.time.value - time) > 1e-5 || state.step.value !== step) return `${hash} leads to ${state.time.value}, not ${time}`;
			return shared;
		});
		assert.ok(typeof wrong === "number", wrong);
		if (words.startsWith("lamport")) assert.ok(wrong > 20, `only ${wrong} steps share a time`);
	}
	await close(page);
});

test("an address that makes no sense is answered with a sentence, and the first run", async () => {
	const page = await open();
	await pause(page);
	for (const [hash, sentence] of [
		["#lab/nielsen?nodes=7", /^unknown algorithm 'nielsen': did you mean 'neilsen'\?$/],
		["#lab/neilsen?nodes=61", /^the page shows at most 60 nodes, not 61$/],
		["#lab/neilsen?nodes=1000000", /^the page shows at most 60 nodes, not 1000000$/],
		["#lab/neilsen?topology=grid:9x9", /at most 60 nodes, not 81|does not suit/],
		["#lab/neilsen?t=NaN", /^t=NaN: a number is expected, such as 6.41$/],
		["#lab/neilsen?t=-3", /^t=-3: a number is expected/],
		["#lab/neilsen?step=1.5", /^step=1.5: a number is expected, such as 14$/],
		["#lab/neilsen?do=nonsense", /^do=…: 'nonsense' is not an act, such as 12:lose:7$/],
		["#lab/scenario?scn=AAAA", /^scn=…: the scenario in this address is not whole$/],
		["#lab/neilsen?nodes=%zz", /^'%zz' is not the text of an address$/],
		["#elsewhere", /^'#elsewhere' is not the address of a run, such as #lab\/neilsen\?nodes=7$/],
		["#lab/neilsen?nodes=4&do=2:lose:99", /^1 of the 1 acts in this address cannot happen: they are left out$/],
	]) {
		await page.evaluate((text) => baton.state.showAddress(text), hash);
		assert.match(await page.textContent("#wrong span"), sentence, hash);
		assert.ok(await page.evaluate(() => baton.state.run.value.start.nodes <= 60 && Number.isFinite(baton.state.time.value)));
	}
	// A user who types a wrong value sees the same sentence, and the value does not stay.
	await page.evaluate(() => baton.state.showAddress("#lab/neilsen?nodes=7&load=light&entries=3"));
	await page.getByLabel("Nodes", { exact: true }).fill("99999");
	await page.getByLabel("Nodes", { exact: true }).press("Enter");
	assert.match(await page.textContent("#wrong span"), /at most 60 nodes, not 99999/);
	assert.equal(await page.getByLabel("Nodes", { exact: true }).inputValue(), "7");
	await page.getByRole("button", { name: "Close this message" }).click();
	assert.equal(await page.locator("#wrong").count(), 0);
	await close(page);
	// A visitor who comes by such an address sees the sentence too.
	const first = await open("#lab/neilsen?nodes=61");
	assert.match(await first.textContent("#wrong span"), /at most 60 nodes/);
	await close(first);
	for (const words of [["sim", "neilsen", "--nodes", "61", "--entries", "3"], ["replay", "-"]]) {
		const done = spawnSync(baton, [...words, "--html", join(folder, "x.html")], { input: "algorithm neilsen\nnodes 61\nrequest 2\n", encoding: "utf8" });
		assert.deepEqual([done.status, done.stderr], [2, `baton ${words[0]}: --html: the page shows at most 60 nodes, not 61\n`]);
	}
});

test("the focus stays with what was acted upon, and menus obey the keyboard", async () => {
	const page = await open("#lab/neilsen?topology=line&nodes=4&load=light&entries=4&seed=2");
	await page.keyboard.press("3");
	await page.keyboard.press("Enter");
	await page.waitForFunction(() => baton.state.step.value === 1);
	await page.waitForFunction(() => document.activeElement.dataset.node === "3");
	await page.locator("[data-msg]").first().focus();
	await page.keyboard.press("Enter");
	await page.waitForFunction(() => document.activeElement.textContent === "Deliver it now");
	await page.keyboard.press("ArrowDown");
	await page.waitForFunction(() => /^Delay it/.test(document.activeElement.textContent));
	await page.keyboard.press("Escape");
	assert.equal(await page.locator("#menu").count(), 0);
	await page.waitForFunction(() => document.activeElement.dataset.msg !== undefined);
	await page.keyboard.press("w");
	await page.waitForFunction(() => baton.state.run.value.acts.length === 2);
	await page.waitForFunction(() => document.activeElement.dataset.msg !== undefined);
	// The message arrives: the focus goes to the node that has it.
	await page.keyboard.press("d");
	await page.waitForFunction(() => baton.state.run.value.acts.length === 3);
	await page.waitForFunction(() => document.activeElement.dataset.node === "2");
	await page.locator("[data-msg]").first().focus();
	await page.keyboard.press("ArrowRight");
	await page.waitForFunction(() => document.activeElement.dataset.node !== undefined);
	await page.locator("#return").focus();
	await page.keyboard.press("Enter");
	await page.waitForFunction(() => document.activeElement.id === "play");
	await page.locator(".time").focus();
	await page.keyboard.press("Home");
	for (const [key, step] of [["ArrowUp", 1], ["ArrowUp", 2], ["ArrowDown", 1]]) {
		await page.keyboard.press(key);
		assert.equal(await at(page), step);
	}
	await page.keyboard.press("PageUp");
	assert.ok(await page.evaluate(() => baton.state.run.value.entries.some((e) => e.step === baton.state.step.value)));
	await close(page);
});

test("labels cover neither a node nor one another where there is room", async () => {
	const page = await open();
	let labels = 0;
	let covered = 0;
	for (const hash of ["#lab/neilsen?topology=tree:2&nodes=7&load=poisson:0.09&delay=uniform:0.7,1.5&entries=8&seed=76", "#lab/maekawa?nodes=7&load=poisson:0.05&entries=8", "#lab/ricart-agrawala?nodes=5&load=light&entries=6", "#lab/chang-roberts?nodes=8", "#lab/raymond?topology=line&nodes=8&load=poisson:0.1&entries=8"]) {
		await page.evaluate((text) => baton.state.showAddress(text), hash);
		const found = await page.evaluate(async () => {
			const { state } = baton;
			let [labels, covered] = [0, 0];
			for (let i = 1; i < 30; i++) {
				state.goTime((state.run.value.end * i) / 30);
				await new Promise(requestAnimationFrame);
				const shown = [...document.querySelectorAll(".msg:not(.bare) .pill")].map((e) => e.getBoundingClientRect());
				const nodes = [...document.querySelectorAll(".node .body")].map((e) => e.getBoundingClientRect());
				const cross = (a, b) => Math.min(a.right, b.right) - Math.max(a.left, b.left) > 3 && Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top) > 3;
				labels += shown.length;
				covered += shown.filter((a, k) => nodes.some((n) => cross(a, n)) || shown.some((b, m) => m < k && cross(a, b))).length;
			}
			return [labels, covered];
		});
		labels += found[0];
		covered += found[1];
	}
	assert.ok(labels > 200, `${labels} labels`);
	// In a crowd of twelve there is not always room.
	assert.ok(covered <= labels * 0.05, `${covered} of ${labels} labels cover something`);
	await close(page);
});

test("200 random steps, acts and returns: going back gives the very states before", async () => {
	const page = await open("#lab/neilsen?nodes=3");
	const walks = await page.evaluate(() => baton.state.algorithms.value.map((a) => [a.name, a.kind === "election" ? "nodes=4" : "nodes=4&load=poisson:0.1&entries=8"]));
	for (const [name, words] of [...walks, ["neilsen", "topology=tree:2&nodes=7&load=poisson:0.1&entries=12"], ["raymond", "nodes=6&lose=0.02&load=poisson:0.1&entries=12"]]) {
		await page.evaluate((hash) => baton.state.showAddress(hash), `#lab/${name}?${words}&seed=7`);
		const result = await page.evaluate(() => {
			const { state } = baton;
			let seed = 12345;
			const draw = (below) => ((seed = (Math.imul(seed, 1103515245) + 12345) >>> 0) >>> 8) % below;
			let known = new Map();
			let lines = null; // the lines of the trace
			let first = null; // the variables at the beginning
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
				// Adding up the trace must give the same variables.
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
	await page.locator("[data-msg] .touch").first().click({ force: true });
	await page.getByRole("menuitem", { name: "Lose it" }).click();
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
	await page.getByRole("menuitem", { name: "It crashes" }).click();
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
	assert.match(await lost.textContent("#properties"), /Nothing can move any more.*The token is gone: PRIVILEGE from \d to \d was lost at step \d+\. (\d, )*\d( and \d)? waits? for it/);
	assert.ok((await lost.locator(".waits").count()) > 0);
	assert.equal(await lost.locator(".waits.cycle").count(), 0);
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
		// The states must be the same going backwards, by snapshots, and on a walk from the
		// beginning.
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

test("the view and the diagram are saved as SVG: the diagram is the one of the command line", async () => {
	const words = ["neilsen", "--topology", "tree:2", "--nodes", "5", "--load", "poisson:0.1", "--entries", "6", "--seed", "3"];
	const page = await open("#lab/neilsen?topology=tree:2&nodes=5&load=poisson:0.1&entries=6&seed=3&t=4");
	const saved = async (id) => {
		const [download] = await Promise.all([page.waitForEvent("download"), page.evaluate((name) => document.getElementById(name).click(), id)]);
		const path = join(folder, id + ".svg");
		await download.saveAs(path);
		return readFileSync(path, "utf8");
	};
	const diagram = join(folder, "native.svg");
	assert.equal(native("sim", ...words, "--diagram", diagram).status, 0);
	assert.equal(await saved("save-diagram"), readFileSync(diagram, "utf8"));
	// The saved picture, without the page's style, has the same nodes in the same colours.
	const view = await saved("save-svg");
	const fills = await page.evaluate((text) => {
		const made = new DOMParser().parseFromString(text, "image/svg+xml");
		if (made.querySelector("parsererror") !== null) return "not well-formed";
		return [...made.querySelectorAll(".body")].map((body) => body.getAttribute("fill"));
	}, view);
	assert.deepEqual(fills, await page.evaluate(() => [...document.querySelectorAll("#stage .body")].map((body) => getComputedStyle(body).fill)));
	assert.equal(fills.length, 5);
	await close(page);
});

test("a dropped counterexample is shown with what it breaks, and stays in the address", async () => {
	const text = readFileSync(join(root, "test/scenarios/violated/maekawa-neilsen.scn"), "utf8");
	const page = await open();
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

test("Back undoes another word and another file, and acts do not go without a word", async () => {
	const page = await open("#lab/neilsen?topology=line&nodes=4&load=light&entries=4&seed=2&step=3");
	await page.getByLabel("Nodes", { exact: true }).fill("6");
	await page.getByLabel("Nodes", { exact: true }).press("Enter");
	await page.waitForFunction(() => location.hash.includes("nodes=6"));
	await page.goBack();
	await page.waitForFunction(() => baton.state.run.value.start.nodes === 4 && baton.state.step.value === 3);
	await page.evaluate(() => baton.state.act("ask", baton.state.states.value.findIndex((s) => s.phase === "idle") + 1));
	const acted = await page.evaluate(() => baton.state.run.value.trace);
	await page.getByLabel("Seed", { exact: true }).fill("9");
	await page.getByLabel("Seed", { exact: true }).press("Enter");
	assert.match(await page.textContent("#wrong span"), /^This is another run, without what you did by hand \(one act\)\./);
	await page.waitForFunction(() => location.hash.includes("seed=9"));
	await page.goBack();
	await page.waitForFunction(() => baton.state.run.value.acts.length === 1);
	assert.equal(await page.evaluate(() => baton.state.run.value.trace), acted);
	await page.evaluate(() => {
		const data = new DataTransfer();
		data.items.add(new File(["algorithm raymond\ntopology star\nnodes 3\nrequest 2\n"], "x.scn"));
		dispatchEvent(new DragEvent("drop", { dataTransfer: data }));
	});
	await page.waitForFunction(() => location.hash.includes("scn="));
	await page.goBack();
	await page.waitForFunction(() => baton.state.run.value.start.algorithm === "neilsen" && baton.state.run.value.acts.length === 1);
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

test("what an expectation runs is no part of a step", async () => {
	// These invariants run code of the algorithm itself.
	const steps = ["request 2", "deliver 2 1", "deliver 1 2", "release 2", "request 3", "request 1"];
	const head = "algorithm neilsen\ntopology star\nnodes 3\n";
	const expectations = "\nexpect invariant every_path_ends_at_a_sink\nexpect invariant sinks_are_one_and_requests\n";
	const page = await open();
	const ran = (scenario) =>
		page.evaluate((text) => {
			const { state } = baton;
			if (!state.show({ scenario: text }, [])) throw new Error(state.wrong.value);
			return state.run.value.steps.map((_, i) => JSON.stringify(state.run.value.moment(i + 1).ran));
		}, scenario);
	const plain = await ran(head + steps.join("\n") + "\n");
	assert.equal(plain.length, steps.length);
	assert.deepEqual(await ran(head + expectations + steps.join(expectations) + expectations), plain);
	await close(page);
});

test("the end of a pause of a printed text is no timer that runs out", async () => {
	const page = await open();
	const told = async (scenario) => {
		await page.evaluate((text) => {
			const { state } = baton;
			if (!state.show({ scenario: text }, [])) throw new Error(state.wrong.value);
			state.go(state.run.value.steps.findIndex((s) => s.head.ev === "expire") + 1);
		}, scenario);
		return page.textContent("#told");
	};
	const pause = await told("algorithm lamport\nnodes 2\nparam text=printed:steps\nrequest 1\nexpire 1\n");
	assert.match(pause, /goes on with the next step of the printed text/);
	assert.doesNotMatch(pause, /timer/);
	assert.match(await told("algorithm bully\nnodes 3\ninitiate 2\nexpire 2\n"), /its timer runs out/);
	await close(page);
});

test("a file from --html opens from disk with its run", async () => {
	const path = join(folder, "run.html");
	assert.equal(native("sim", "raymond", "--nodes", "6", "--entries", "9", "--html", path).status, 0);
	const page = await open("", { base: pathToFileURL(path).href });
	assert.deepEqual(await page.evaluate(() => [baton.state.run.value.start.algorithm, baton.state.run.value.start.nodes]), ["raymond", 6]);
	await close(page);
	// The file has the whole page, with tours and comparisons.
	const tour = await open("#tour/raymond?frame=2", { base: pathToFileURL(path).href });
	assert.equal(await tour.textContent("#tour-title"), "Asking a neighbour");
	await close(tour);
	const two = await open("#compare", { base: pathToFileURL(path).href });
	assert.equal(await two.locator(".half").count(), 2);
	await close(two);
	const scenario = join(root, "test/scenarios/violated/maekawa-neilsen.scn");
	assert.equal(native("replay", scenario, "--html", path).status, 1);
	const other = await open("", { base: pathToFileURL(path).href });
	assert.equal(await other.evaluate(() => baton.state.run.value.source.scenario), readFileSync(scenario, "utf8"));
	await close(other);
});

await runBrowserTests();
