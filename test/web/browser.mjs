// A browser for the tests of the page, and `baton web`, which serves it.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { packages, runTests, serve } from "./lib.mjs";

const { chromium } = packages("playwright-core");
export const axe = readFileSync(packages.resolve("axe-core/axe.min.js"), "utf8");
export const server = await serve();
// The headless shell: the whole browser takes twice the processor time, because it makes windows that nobody sees.
const browser = await chromium.launch({ executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium-headless-shell", args: ["--no-sandbox", "--disable-gpu"] });

/** Opens a page. Its console must stay empty, and it must fetch nothing from other servers. */
export async function open(hash = "#lab", options = {}) {
	const context = await browser.newContext({ viewport: { width: 1280, height: 900 }, acceptDownloads: true, permissions: ["clipboard-read", "clipboard-write"], ...options });
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

export async function close(page) {
	assert.deepEqual(page.wrongs, []);
	await page.context().close();
}

export const pause = (page) => page.evaluate(() => (baton.state.playing.value = false));
export const at = (page) => page.evaluate(() => baton.state.step.value);

/** Runs all tests of a file. The browser and the server end with them. */
export async function runBrowserTests() {
	await runTests(async () => {
		await browser.close();
		await server.end();
	});
}
