// Measures what the page costs: node bench/page/run.mjs BUILD [ROUNDS]
//
// It measures the bytes of the first load; the time until a stage is drawn; frames while 60 nodes
// have some 400 messages in flight; and one step back at the end of a long run. Without a screen
// Chromium paints with the processor. Frames per second then say more about the machine than about
// the page, so the time that the page's own thread needs for a frame is measured too.
import { spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join, resolve } from "node:path";

const build = resolve(process.argv[2] ?? "build");
const rounds = Number(process.argv[3] ?? 5);
const { chromium } = createRequire(join(build, "web/npm/node_modules/x.js"))("playwright-core");

const BUSY = "#lab/suzuki-kasami?nodes=60&load=poisson:0.03&delay=uniform:4,8&entries=400&seed=5&t=9";
const LONG = "#lab/ricart-agrawala?nodes=30&load=heavy&entries=2000";

const median = (list) => [...list].sort((a, b) => a - b)[list.length >> 1];
const say = (what, figure, goal) => console.log(`${what.padEnd(52)} ${figure.padStart(12)}   ${goal}`);

function reportSize() {
	const parts = ["index.html", "app.js", "style.css", "baton.wasm"].map((name) => readFileSync(join(build, "web", name + ".br")).length);
	say("first load, brotli", `${(parts.reduce((a, b) => a + b) / 1000).toFixed(1)} kB`, "goal: below 200 kB");
}

async function open(browser, address) {
	const context = await browser.newContext({ viewport: { width: 1280, height: 900 } });
	const page = await context.newPage();
	await page.goto(address);
	await page.waitForFunction(() => document.body.dataset.ready === "yes");
	return page;
}

/** Measures the time from the start of the navigation to the first frame after the stage has
 * nodes. */
async function reportFirst(browser, address) {
	const times = [];
	for (let i = 0; i < rounds; i++) {
		const context = await browser.newContext({ viewport: { width: 1280, height: 900 } });
		await context.addInitScript(() => {
			const look = () => (document.querySelector("[data-node]") === null ? requestAnimationFrame(look) : requestAnimationFrame((next) => (window.firstFrame = next)));
			requestAnimationFrame(look);
		});
		const page = await context.newPage();
		await page.goto(address);
		times.push(await page.waitForFunction(() => window.firstFrame).then((handle) => handle.jsonValue()));
		await context.close();
	}
	say(`first frame with a stage, median of ${rounds}`, `${median(times).toFixed(0)} ms`, "goal: below 1000 ms");
}

async function metrics(session) {
	const list = (await session.send("Performance.getMetrics")).metrics;
	return Object.fromEntries(list.map(({ name, value }) => [name, value]));
}

/** Measures the page's own work for frames of a sixtieth of a second, one after the other: steps,
 * drawing, words, style and layout. */
async function reportWork(page, session) {
	const before = await metrics(session);
	const frames = 300;
	const flying = await page.evaluate(async (count) => {
		const { state } = baton;
		state.speed.value = 1;
		const flying = [];
		state.playing.value = true;
		for (let i = 0, now = performance.now(); i < count; i++) {
			state.goTime(state.time.value + 1.2 / 60);
			state.tellNow((now += 1000 / 60));
			await new Promise((done) => setTimeout(done));
			document.getElementById("stage").getBoundingClientRect();
			flying.push(document.querySelectorAll("[data-msg]").length);
		}
		state.playing.value = false;
		return flying;
	}, frames);
	const after = await metrics(session);
	const each = (name) => ((after[name] - before[name]) * 1000) / frames;
	say("60 nodes, messages in flight", `${Math.min(...flying)} to ${Math.max(...flying)}`, `median ${median(flying)}`);
	say("script for a frame, without painting", `${each("ScriptDuration").toFixed(2)} ms`, "of 16.7");
	say("style and layout for a frame", `${(each("RecalcStyleDuration") + each("LayoutDuration")).toFixed(2)} ms`, "");
}

/** Measures what painting costs, from the browser's own trace. It has the times of threads, so that
 * other processes do not count. */
async function reportPainting(page, session) {
	const events = [];
	session.on("Tracing.dataCollected", ({ value }) => events.push(...value));
	await session.send("Tracing.start", { transferMode: "ReportEvents", traceConfig: { includedCategories: ["devtools.timeline", "cc", "disabled-by-default-devtools.timeline"] } });
	const frames = await page.evaluate(async () => {
		const { state } = baton;
		let count = 0;
		// The run plays, but its time advances only here: in each frame as much as on a
		// machine that paints sixty frames a second.
		state.speed.value = 1e-9;
		state.playing.value = true;
		for (; count < 40; count++) {
			state.goTime(state.time.value + 1.2 / 60);
			state.tellNow((count * 1000) / 60);
			await new Promise(requestAnimationFrame);
		}
		state.playing.value = false;
		state.speed.value = 1;
		return count;
	});
	const done = new Promise((over) => session.once("Tracing.tracingComplete", over));
	await session.send("Tracing.end");
	await done;
	const sum = (name) => events.filter((e) => e.name === name).reduce((all, e) => all + (e.tdur ?? 0), 0) / 1000 / frames;
	say("recording what to paint, for a frame", `${(sum("Paint") + sum("PrePaint") + sum("Layerize")).toFixed(2)} ms`, "of 16.7");
	say("painting by the processor, for a frame", `${sum("RasterTask").toFixed(2)} ms`, "a graphics card does this elsewhere");
}

async function reportFrames(browser, address) {
	const page = await open(browser, address + BUSY);
	const session = await page.context().newCDPSession(page);
	// Use the times of the thread itself, so that other processes of the machine do not count.
	await session.send("Performance.enable", { timeDomain: "threadTicks" });
	await reportWork(page, session);
	await page.evaluate(() => baton.state.goTime(12));
	await reportPainting(page, session);
	await page.evaluate(() => baton.state.goTime(12));
	const seen = await page.evaluate(async () => {
		const { state } = baton;
		state.playing.value = true;
		let frames = 0;
		const begun = performance.now();
		for (; performance.now() - begun < 5000; frames++) await new Promise(requestAnimationFrame);
		state.playing.value = false;
		return frames / ((performance.now() - begun) / 1000);
	});
	say("frames a second, painted by this machine", seen.toFixed(1), "goal: 60");
	await page.context().close();
}

async function reportBack(browser, address) {
	const page = await open(browser, address + LONG);
	const [steps, times] = await page.evaluate(() => {
		const { state } = baton;
		while (state.extend());
		const last = state.run.value.steps.length;
		state.go(last);
		const list = [];
		for (let i = 0; i < 30; i++) {
			const begun = performance.now();
			state.go(state.step.value - 1);
			list.push(performance.now() - begun);
		}
		return [last, list];
	});
	say(`one step back at the end of ${steps} steps`, `${median(times).toFixed(1)} ms`, "median of 30");
	await page.context().close();
}

const server = spawn(join(build, "baton"), ["web", "--listen", "127.0.0.1:0"], { stdio: ["ignore", "pipe", "inherit"] });
const address = await new Promise((done) => server.stdout.once("data", (data) => done(String(data).trim())));
const browser = await chromium.launch({ executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium-headless-shell", args: ["--no-sandbox"] });
try {
	reportSize();
	await reportFirst(browser, address);
	await reportFrames(browser, address);
	await reportBack(browser, address);
} finally {
	await browser.close();
	server.kill("SIGTERM");
}
