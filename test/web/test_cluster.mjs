// The page of the cluster in Chromium: with three real nodes, and with a server that pretends situations which real nodes show only seldom.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import net from "node:net";
import { join } from "node:path";
import { axe, close, open, runBrowserTests } from "./browser.mjs";
import { baton, folder, native, serve, test } from "./lib.mjs";
import { lockOf, pretend } from "./pretend.mjs";

const started = new Set();
process.on("exit", () => started.forEach((child) => child.kill("SIGKILL")));

function start(words, stdin = "ignore") {
	const child = spawn(baton, words, { stdio: [stdin, "ignore", "ignore"] });
	started.add(child);
	child.over = new Promise((done) => child.on("exit", (code) => (started.delete(child), done(code))));
	return child;
}

let tried = 0;
/** Returns a free port, below those of the Python tests (cluster.py) and of outgoing connections. */
async function freePort() {
	for (;;) {
		const port = 10000 + ((process.pid * 50 + tried++) % 5000);
		const probe = net.createServer();
		const free = await new Promise((done) => probe.once("error", () => done(false)).listen(port, "127.0.0.1", () => done(true)));
		await new Promise((done) => (free ? probe.close(done) : done()));
		if (free) return port;
	}
}

/** Makes three nodes, which are not started yet. */
async function cluster() {
	const names = ["n1", "n2", "n3"];
	const ports = [await freePort(), await freePort(), await freePort()];
	const peers = names.map((name, i) => `${name}=127.0.0.1:${ports[i]}`).join(",");
	return names.map((name, i) => {
		const node = { name, socket: join(folder, name + ".sock") };
		node.start = () => (node.process = start(["node", "--name", name, "--socket", node.socket, "--data", join(folder, name), "--listen", `127.0.0.1:${ports[i]}`, "--peers", peers, "--lease", "2s"]));
		node.kill = () => (node.process.kill("SIGKILL"), node.process.over);
		node.lock = (lock) => start(["lock", "-S", node.socket, lock], "pipe");
		return node;
	});
}

const row = (page, lock) => page.locator(`#locks tr[data-lock="${lock}"]`);
const holds = (page, lock, node) => page.waitForFunction(([l, n]) => document.querySelector(`#locks tr[data-lock="${l}"] .hold-chip`)?.textContent === n, [lock, node]);
const waits = (page, lock, list) => page.waitForFunction(([l, w]) => [...document.querySelectorAll(`#locks tr[data-lock="${l}"] .wait-chip`)].map((c) => c.textContent).join() === w, [lock, list.join()]);
const member = (page, name, state) => page.waitForFunction(([n, s]) => baton.feed.cards.value.some((c) => c.member.name === n && (c.removed !== null ? "removed" : c.member.state) === s), [name, state]);
const logged = (page, text) => page.waitForFunction((t) => [...document.querySelectorAll(".log li span")].some((l) => new RegExp(t).test(l.textContent)), text);

/** Returns what the page shows, in the words of a status. */
function shown(page) {
	return page.evaluate(() => {
		const text = (at, what) => at.querySelector(what)?.textContent ?? null;
		const locks = [...document.querySelectorAll("#locks tbody tr")].map((tr) => ({
			name: text(tr, ".name"),
			fence: Number(text(tr, ".fence")),
			holder: text(tr, ".hold-chip"),
			pid: Number(text(tr, "td:nth-of-type(2)")),
			command: tr.querySelector(".command").title,
			waiters: [...tr.querySelectorAll(".wait-chip")].map((chip) => [chip.textContent, chip.title]),
		}));
		const members = [...document.querySelectorAll(".member:not(.away)")].map((card) => [text(card, "h3").trim(), text(card, "small")]);
		return { node: text(document, "h1 span"), sentence: text(document, "#sentence"), members, locks, waiting: text(document, "#waiting b") };
	});
}

test("three real nodes: found when they come; a lock is taken, waited for, handed over, broken; nodes die and come back", async () => {
	const nodes = await cluster();
	const server = await serve("-S", nodes[0].socket, "--control");
	const page = await open("#cluster", { base: server.address });
	const other = await open("#lab", { base: server.address });
	await page.waitForFunction(() => /^No node at .*n1\.sock.*[^?.][?.] As soon as one answers/.test(document.getElementById("nothing").textContent));
	assert.equal(await other.getByRole("link", { name: "Cluster" }).count(), 0);

	// The nodes are started after baton web.
	nodes.forEach((node) => node.start());
	for (const { name } of nodes) await member(page, name, "active");
	await page.waitForFunction(() => baton.feed.latest.value.status.waiting_for === null);
	assert.equal(await page.locator(".alarm").count(), 0);
	await other.getByRole("link", { name: "Cluster" }).waitFor();
	await close(other);

	// A lock is taken, waited for, and handed over.
	const first = nodes[0].lock("demo");
	await holds(page, "demo", "n1");
	const second = nodes[1].lock("demo");
	await waits(page, "demo", ["n2"]);
	const side = nodes[2].lock("side/two");
	await holds(page, "side/two", "n3");
	await page.click('[data-lock="demo"] .name');
	assert.equal(await page.evaluate(() => location.hash), "#cluster?lock=demo");
	first.stdin.end();
	await holds(page, "demo", "n2");
	await logged(page, "^demo released by n1$");
	await logged(page, "^demo granted to n2, fence …\\d{3}, after ");
	// Two nodes were inside, and the token went from one to the other.
	await page.waitForFunction(() => document.querySelectorAll("#trail .inside").length === 2 && document.querySelectorAll("#trail path.m.t").length === 1);
	assert.match(await page.getAttribute("#trail svg.trail", "aria-label"), /^In the last minute demo was held by n1 for .*, n2 for /);

	// At rest the page shows what `baton status` says.
	const third = nodes[2].lock("demo");
	await waits(page, "demo", ["n3"]);
	const status = JSON.parse(native("status", "--json", "-S", nodes[0].socket).stdout);
	const seen = await shown(page);
	assert.equal(seen.node, `at ${status.node}`);
	assert.equal(seen.sentence, `epoch ${status.epoch}, ${status.algorithm} on a ${status.topology}, a lease lasts 2 s; if a host dies its locks move within ${(status.takeover_ms / 1000).toFixed(1)} s.`);
	assert.deepEqual(seen.members, status.members.map((m) => [m.name, m.address]));
	assert.equal(seen.waiting, String(status.locks.reduce((sum, l) => sum + l.waiters.length, 0)));
	const words = (client) => `process ${client.pid}: ${client.command}`;
	const since = /, for [0-9.]+ (ms|s|min)$/;
	for (const lock of seen.locks) {
		lock.command = lock.command.replace(since, "");
		lock.waiters = lock.waiters.map(([node, title]) => [node, title.replace(since, "")]);
	}
	assert.deepEqual(seen.locks, status.locks.map((l) => ({ name: l.name, fence: l.fence, holder: l.holder.node, pid: l.holder.pid, command: words(l.holder), waiters: l.waiters.map((w) => [w.node, words(w)]) })));

	// The lock is broken, after a dialog that names the holder and the fence.
	const { fence, holder } = status.locks[0];
	await row(page, "demo").getByRole("button", { name: "Break demo" }).click();
	const dialog = await page.locator("#break").innerText();
	for (const part of ["Take demo from n2?", `process ${holder.pid}`, holder.command, String(fence), "n3:"]) assert.ok(dialog.includes(part), `${part} in ${dialog}`);
	await page.waitForFunction(() => document.activeElement.textContent === "Leave it");
	await page.keyboard.press("Escape");
	await row(page, "demo").getByRole("button", { name: "Break demo" }).click();
	await page.click("#break-it");
	assert.notEqual(await second.over, 0);
	await holds(page, "demo", "n3");
	assert.match(await page.textContent("#outcome"), /^demo was taken from its holder\.$/);
	await logged(page, `^demo lost by n2, fence ${fence}: broken`);

	// A member dies. It is silent, then removed, and its locks move; then it comes back.
	const fourth = nodes[0].lock("demo");
	await waits(page, "demo", ["n1"]);
	await nodes[2].kill();
	await member(page, "n3", "silent");
	await page.waitForSelector('.member.away[data-member="n3"]');
	await logged(page, "^n3 does not answer$");
	await member(page, "n3", "removed");
	await logged(page, "^epoch \\d+: n3 removed$");
	await holds(page, "demo", "n1");
	assert.notEqual(await third.over, 0);
	assert.notEqual(await side.over, 0);
	nodes[2].start();
	await member(page, "n3", "active");
	await logged(page, "^epoch \\d+: n3 joined$");
	assert.equal(await page.locator(".away").count(), 0);

	// The node that baton web asks dies: the page says so at once, and finds it again by itself.
	await nodes[0].kill();
	await page.waitForSelector("#trouble");
	assert.match(await page.textContent("#trouble"), /^n1 does not answer: .+\. What is below is what was known /);
	assert.notEqual(await fourth.over, 0);
	nodes[0].start();
	await page.waitForFunction(() => baton.feed.link.value.state === "live" && baton.feed.latest.value.status.waiting_for === null && document.getElementById("trouble") === null);
	await logged(page, "^n1 answers again$");
	// n1 came back into the cluster that it knew, so the page must not say that others have
	// left.
	await logged(page, "^epoch \\d+: n1 joined");
	assert.doesNotMatch(await page.textContent(".log"), /n2[^:]* removed/);
	const last = nodes[0].lock("demo");
	await holds(page, "demo", "n1");
	last.stdin.end();
	await page.waitForFunction(() => document.querySelector('[data-lock="demo"]') === null);
	await close(page);
	await server.end();
	nodes.forEach((node) => node.process.kill("SIGTERM"));
	await Promise.all(nodes.map((node) => node.process.over));
});

/** Waits until the predicate is true. */
async function until(what, predicate) {
	for (const end = Date.now() + 60000; !predicate(); await new Promise((done) => setTimeout(done, 10))) assert.ok(Date.now() < end, `not within a minute: ${what}`);
}

/** Opens a page on a pretended cluster, with a function that waits until the page has the last status. */
async function onPretended(fake, options = {}) {
	const page = await open("#cluster", { base: fake.address, ...options });
	const tick = async (ms) => {
		fake.tick(ms);
		await page.waitForFunction((at) => baton.feed.latest.value?.at_ms === at, fake.at);
	};
	await page.waitForSelector("#locks");
	return { page, tick };
}

test("four numbers of the last minute, from differences that mean something", async () => {
	const fake = await pretend();
	const { page, tick } = await onPretended(fake);
	const figure = (id) => page.locator(`#${id} b`).textContent();
	assert.equal(await figure("grants"), "–");
	const add = (grants, sent, came) => {
		fake.status.members[0].counts.grants += grants;
		fake.status.members[1].counts.sent += sent;
		const histogram = fake.info.acquire_came;
		histogram.count += came;
		histogram.sum_us += came * 200;
		for (const bound of ["le_250", "le_1000"]) histogram[bound] += came; // all between 100 and 250 us
	};
	add(10, 20, 4);
	await tick();
	add(30, 40, 4);
	await tick();
	assert.deepEqual([await figure("grants"), await figure("came"), await figure("cost-now")], ["20", "0.2 ms", "1.5"]);
	assert.match(await page.locator("#came").innerText(), /average of \d+ at \w+; 99 % within 0.25 ms/);
	assert.match(await page.textContent("#grants"), /40 grants, last 2 s/);
	assert.match(await page.textContent("#cost-now"), /neilsen on a star: at most 3/);
	fake.status.topology = "complete";
	await tick(1);
	assert.match(await page.textContent("#cost-now"), /neilsen on a complete network: at most 3/);
	// Events that are older than a minute are not counted.
	for (let i = 0; i < 61; i++) fake.tick();
	await tick();
	assert.deepEqual([await figure("grants"), await figure("came"), await figure("cost-now")], ["0", "–", "–"]);
	await close(page);
	await fake.end();
});

test("grants are counted while members fall silent, leave, join, restart and come back", async () => {
	const fake = await pretend();
	const [db1, db2, web1] = fake.status.members;
	const late = { ...web1, name: "late", state: "silent", counts: { grants: 5000, sent: 5000 } };
	fake.status.members = [db1, db2, web1, late];
	const { page, tick } = await onPretended(fake);
	let total = 0;
	/** Sends a status. The page must then count `more` grants more than before. */
	const counted = async (more) => {
		await tick();
		total += more;
		assert.match(await page.textContent("#grants .note"), new RegExp(`^${total} grants, last`), `${more} more`);
	};
	db1.counts.grants += 10;
	db2.counts.grants += 4;
	await counted(14);
	// web1 dies; the others go on.
	web1.state = "silent";
	db1.counts.grants += 7;
	await counted(7);
	fake.status.epoch++;
	fake.status.members = [db1, db2, late];
	db2.counts.grants += 2;
	await counted(2);
	// A new member joins, and one that was silent when the page was opened answers for the
	// first time: nobody knows since when that one counts.
	const fresh = { ...db1, name: "fresh", incarnation: 40, counts: { grants: 5, sent: 6 } };
	fake.status.epoch++;
	fake.status.members = [db1, db2, fresh, late];
	late.state = "active";
	db1.counts.grants += 1;
	await counted(6);
	late.counts.grants += 3;
	await counted(3);
	// web1 was only cut off, and has gone on counting. Then its process is started again.
	Object.assign(web1, { state: "active", counts: { grants: 1400 + 9, sent: 1800 } });
	fake.status.epoch++;
	fake.status.members = [db1, db2, fresh, late, web1];
	await counted(9);
	Object.assign(web1, { incarnation: 50, counts: { grants: 2, sent: 1 } });
	await counted(2);
	await close(page);
	await fake.end();
});

test("silence is said, leases run down, and what the node waits for", async () => {
	const fake = await pretend();
	const { page, tick } = await onPretended(fake);
	fake.locks = [lockOf("deploy", 31, "web1")];
	await tick();
	fake.status.members[2] = { ...fake.status.members[2], state: "silent" };
	fake.locks = [];
	await tick();
	const card = page.locator('.member.away[data-member="web1"]');
	assert.match(await card.textContent(), /silent.*held deploy/);
	const left = async () => Number(await card.locator("text").textContent());
	const before = await left();
	assert.ok(before <= 1.8, `${before} of 2.7 s are left after a second`);
	await page.waitForFunction((old) => Number(document.querySelector(".away .lease text").textContent) < old, before);
	assert.match(await page.textContent("#said"), /web1 does not answer/);
	fake.status.waiting_for = "most of the voters to agree on a leader";
	await tick();
	assert.equal(await page.textContent("#trouble"), "db1 lets nobody in. It waits for most of the voters to agree on a leader.");
	assert.match(await page.title(), /^⚠ db1/);
	fake.status.waiting_for = null;
	fake.status.members[2] = { ...fake.status.members[2], state: "active", lease_ms: 2900 };
	await tick();
	assert.equal(await page.locator(".away, #trouble").count(), 0);
	assert.match(await page.title(), /^db1/);
	await close(page);
	await fake.end();
});

test("many locks: a page of them is asked for, filtered, and the stream stays as it is", async () => {
	const fake = await pretend(false);
	const name = (i) => `job/${String(i).padStart(4, "0")}`;
	fake.locks = Array.from({ length: 450 }, (_, i) => lockOf(name(i), 100 + i, "db1", i % 9 === 0 ? ["db2", "web1"] : []));
	const { page, tick } = await onPretended(fake);
	const names = () => page.locator("#locks .name").allTextContents();
	const begins = (first) => page.waitForFunction((n) => document.querySelector("#locks .name")?.textContent === n, first);
	await begins(name(0));
	assert.equal((await names()).length, 25);
	assert.match(await page.textContent("#locks h2"), /450 held or waited for/);
	assert.match(await page.textContent(".pages"), /1 to 25 of 450/);
	await page.getByRole("button", { name: "Next" }).click();
	await begins(name(25));
	await page.fill("#filter", "044");
	await begins(name(44));
	assert.deepEqual(await names(), [44, 440, 441, 442, 443, 444, 445, 446, 447, 448, 449].map(name));
	await page.fill("#filter", "job/01*");
	await begins(name(100));
	assert.ok(fake.asked.at(-1).includes("pattern=job%2F01*&"), fake.asked.at(-1));
	await page.fill("#filter", "nothing");
	await page.waitForFunction(() => document.getElementById("no-locks")?.textContent === "No such lock.");
	await page.fill("#filter", "");
	// Figures that are known for only some of the locks are marked as such.
	const card = (member) => page.textContent(`[data-member="${member}"] small:last-child`);
	fake.more = true;
	await tick();
	assert.match(await page.textContent("#waiting"), /100\+the longest for 2\.5 s: web1, for job\/0000, of the first 450 locks/);
	assert.equal(await card("db1"), "38 clients; holds 200 or more");
	assert.equal(await card("db2"), "50 or more waiting");
	await page.fill("#filter", "job");
	await page.waitForFunction(() => /1 to 25 of 450 or more/.test(document.querySelector(".pages")?.textContent));
	await page.fill("#filter", "");
	await page.waitForFunction(() => /450 or more held or waited for/.test(document.querySelector("#locks h2").textContent));
	for (const lock of fake.locks) lock.waiters = [];
	await tick();
	assert.match(await page.textContent("#waiting"), /0\+nobody waits for the first 450 locks/);
	fake.more = false;
	// Once the stream has all locks, the page asks for none.
	fake.locks = fake.locks.slice(0, 30);
	await tick();
	await begins(name(0));
	const asked = fake.asked.length;
	await tick();
	await tick();
	assert.equal(fake.asked.length, asked);
	await page.getByRole("button", { name: "Next" }).click();
	assert.equal((await names()).length, 5);
	// Without control there is nothing to break.
	assert.equal(await page.locator(".break").count(), 0);
	await close(page);
	await fake.end();
});

test("a witness, another cluster, a node that refuses, and names that are not text", async () => {
	const fake = await pretend();
	fake.locks = [lockOf("plain", 31, "db1", ["db2"]), lockOf("odd \\x80", 32, "db1")];
	fake.info.cluster = "0badcafe";
	const { page, tick } = await onPretended(fake);
	const heads = () => page.locator("#locks thead th").allTextContents();
	// Only a lock whose name is known exactly can be broken.
	assert.equal(await row(page, "plain").locator(".break").count(), 1);
	assert.equal(await page.locator("#locks .break").count(), 1);
	assert.ok((await heads()).includes("waiting, in order"));
	fake.locks[0].order = "by node";
	await tick();
	assert.ok((await heads()).includes("waiting, by node"));
	// The page says why grants are missing from the log.
	const send = (unheard) => fake.send("status", { at_ms: (fake.at += 1000), status: { ...fake.status, locks: [] }, info: fake.info, locks_total: 0, waiters_total: 0, waiters_more: false, waiters_by_member: {}, waits_longest: null, unheard });
	send("NOPERM not permitted: this rule is missing: allow * observe uid:5");
	await page.waitForSelector("#unheard");
	assert.equal(await page.textContent("#unheard"), "Grants and releases are left out: no right to observe. NOPERM not permitted: this rule is missing: allow * observe uid:5.");
	await logged(page, "^grants and releases are left out: NOPERM not permitted: this rule is missing: allow \\* observe uid:5$");
	send("there are too many changes, more than 1500 in a second");
	await page.waitForFunction(() => /too many changes/.test(document.querySelector("#unheard").textContent));
	assert.equal(await page.textContent("#unheard"), "Grants and releases are left out: there are too many changes, more than 1500 in a second.");
	// For a minute, the picture does not claim to be complete.
	assert.equal(await page.textContent("#gap"), "Some changes are left out: it may have been elsewhere too.");
	assert.match(await page.getAttribute(".trail", "aria-label"), /^In the last minute .* was seen with db1 /);
	await tick();
	await logged(page, "^grants and releases are told again$");
	assert.equal(await page.locator("#unheard").count(), 0);
	assert.equal(await page.locator("#gap").count(), 1);
	await tick(61_000);
	assert.equal(await page.locator("#gap").count(), 0);
	// The node answers, and refuses.
	fake.goAway("the node refuses: NOPERM not permitted");
	await page.waitForSelector("#trouble");
	assert.match(await page.textContent("#trouble"), /^db1 refuses: NOPERM not permitted\. What/);
	fake.gone = null;
	await tick();
	fake.goAway("the node does not answer");
	await page.waitForSelector("#trouble");
	assert.match(await page.textContent("#trouble"), /^db1 does not answer\. What/);
	fake.gone = null;
	// Nothing is carried over from another cluster.
	fake.status.members = fake.status.members.slice(0, 1);
	fake.info.cluster = "00000001";
	fake.status.members[0].counts.grants += 1000;
	await tick();
	assert.equal(await page.locator(".member").count(), 1);
	assert.equal(await page.locator("#grants b").textContent(), "–");
	await logged(page, "^db1 answers: this is another node, or another cluster$");
	// A witness does not serve, and nothing is wrong.
	fake.info.witness = 1;
	fake.status.members[0].state = "starting";
	fake.status.waiting_for = "nothing: this node is a witness, which votes and serves no locks";
	await tick();
	assert.match(await page.textContent("#witness"), /^db1 is a witness: it votes and serves no locks\./);
	assert.equal(await page.locator("#trouble, .member .lease").count(), 0);
	assert.match(await page.textContent(".member"), /db1 witness/);
	assert.match(await page.title(), /^db1/);
	await close(page);
	await fake.end();
});

test("a node that is started again has not seen its cluster yet, and nobody was removed", async () => {
	const fake = await pretend();
	fake.locks = [lockOf("deploy", 31, "db2")];
	const { page, tick } = await onPretended(fake);
	const { members } = fake.status;
	const names = () => page.locator(".member h3").allInnerTexts();
	fake.goAway("/run/baton.sock: Connection refused");
	await page.waitForSelector("#trouble");
	fake.gone = null;
	fake.locks = [];
	fake.status.members = [{ ...members[0], address: null, incarnation: 0, state: "starting", lease_ms: null, counts: { grants: 0, sent: 0 } }];
	fake.status.waiting_for = "a view that includes this node";
	await tick();
	assert.deepEqual(await names(), ["db1 starting"]);
	fake.status = { ...fake.status, epoch: 9, waiting_for: null, members: [{ ...members[0], incarnation: 20 }, members[1], members[2]] };
	await tick();
	assert.deepEqual(await names(), ["db1", "db2", "web1"]);
	await logged(page, "^epoch 9: db1 joined again$");
	assert.doesNotMatch(await page.textContent(".log"), /removed/);
	// The page was not told what happened while the node was away.
	assert.equal(await page.locator("#gap").count(), 1);
	await close(page);
	await fake.end();
});

test("a node that closes its connections when it joins has told all that it knew", async () => {
	const fake = await pretend();
	const { members } = fake.status;
	fake.status.members = [{ ...members[0], address: null, incarnation: 0, state: "starting", lease_ms: null }];
	fake.status.waiting_for = "a view that includes this node";
	const { page, tick } = await onPretended(fake);
	await tick();
	fake.goAway("the node has closed the connection");
	await page.waitForSelector("#trouble");
	fake.gone = null;
	fake.status = { ...fake.status, waiting_for: null, members };
	fake.locks = [lockOf("deploy", 31, "db2")];
	await tick();
	await logged(page, "^epoch 7: db1, db2, web1 are members$");
	await page.waitForSelector("#trail .trail");
	assert.equal(await page.locator("#gap").count(), 0);
	await close(page);
	await fake.end();
});

test("many waiters: those that are not listed are counted, and it is said if there may be more", async () => {
	const fake = await pretend();
	fake.locks = [lockOf("deploy", 31, "db1", Array.from({ length: 30 }, (_, i) => (i < 12 ? "db2" : "web1")))];
	fake.locks[0].waiters_total = 230;
	const { page, tick } = await onPretended(fake);
	const card = (member) => page.textContent(`[data-member="${member}"] small:last-child`);
	assert.equal(await row(page, "deploy").locator(".waiters li:last-child").textContent(), "+224");
	assert.equal(await page.textContent("#waiting b"), "30");
	assert.equal(await card("web1"), "18 waiting");
	fake.locks[0].waiters_more = true;
	await tick();
	assert.equal(await row(page, "deploy").locator(".waiters li:last-child").textContent(), "+224 or more");
	assert.equal(await page.textContent("#waiting b"), "30+");
	assert.equal(await card("web1"), "18 or more waiting");
	assert.match(await page.textContent("#trail .whole"), /and 200 or more$/);
	await close(page);
	await fake.end();
});

test("the stream ends while nobody looks, comes back after a break, and what was left out is told", async () => {
	const fake = await pretend();
	fake.locks = [lockOf("deploy", 31, "db1")];
	const { page, tick } = await onPretended(fake);
	const hide = (state) =>
		page.evaluate((value) => {
			Object.defineProperty(document, "visibilityState", { value, configurable: true });
			document.dispatchEvent(new Event("visibilitychange"));
		}, state);
	const viewers = (count) => until(`${count} viewers`, () => fake.viewers.size === count);
	await viewers(1);
	await hide("hidden");
	await viewers(0);
	await hide("visible");
	await viewers(1);
	await tick(61_000);
	assert.equal(await page.locator("#gap").count(), 0);
	await page.evaluate(() => (location.hash = "#lab"));
	await viewers(0);
	fake.at += 20_000;
	await page.evaluate(() => (location.hash = "#cluster"));
	await viewers(1);
	await page.waitForSelector("#locks");
	// The page does not claim to know what happened meanwhile.
	await logged(page, "^this page was not told what happened for 20 s$");
	await page.waitForSelector("#gap");
	fake.send("changes", { events: [], more: 37 });
	fake.send("skipped", { events: 12 });
	fake.change("*", "dropped", 9, "");
	fake.change("primary", "leader", 40, "db2", "host-a:5432");
	await logged(page, "^37 more grants and releases$");
	await logged(page, "^this page was too slow: 12 events were left out$");
	await logged(page, "^9 changes were too many for the node to tell$");
	await logged(page, "^primary led by db2: host-a:5432$");
	await page.check("#quietly");
	assert.doesNotMatch(await page.textContent(".log"), /37 more/);
	// The node goes away and comes back.
	fake.goAway("/run/baton.sock: Connection refused");
	await page.waitForSelector("#trouble");
	assert.match(await page.textContent("#trouble"), /^db1 does not answer: \/run\/baton\.sock: Connection refused\. What is below/);
	fake.gone = null;
	await tick();
	assert.equal(await page.locator("#trouble").count(), 0);
	assert.deepEqual(page.wrongs, []);
	// baton web itself goes away, which browsers write into the console.
	const streams = fake.streams;
	for (const viewer of fake.viewers) viewer.socket.destroy();
	await page.waitForFunction(() => baton.feed.link.value.state !== "live");
	await until("a new stream", () => fake.streams > streams);
	await page.waitForFunction(() => baton.feed.link.value.state === "live");
	await page.context().close();
	await fake.end();
});

test("a way too crowded to be drawn, a node that died with the token, and a lock that is chosen by its address", async () => {
	const fake = await pretend();
	fake.locks = [lockOf("deploy", 31, "db1"), lockOf("reindex", 7, "db2", ["web1"])];
	const { page, tick } = await onPretended(fake);
	await page.evaluate(() => (location.hash = "#cluster?lock=reindex"));
	await page.waitForFunction(() => document.querySelector("#trail code").textContent === "reindex");
	assert.match(await page.textContent("#trail .whole"), /db2 holds it: .*process 4000, for 2\.3 s, fence 7\.Next:web1/);
	await page.waitForFunction(() => document.querySelectorAll("#trail .wait").length === 1); // drawn with the next frame
	await page.evaluate(() => (location.hash = "#cluster?lock=deploy"));
	await page.waitForFunction(() => document.querySelector("#trail code").textContent === "deploy");
	fake.at += 300;
	fake.change("deploy", "released", 31, "db1");
	fake.at += 300;
	fake.change("deploy", "granted", 32, "web1");
	fake.locks[0] = lockOf("deploy", 32, "web1");
	await tick();
	await page.waitForFunction(() => document.querySelectorAll("#trail .inside").length === 2 && document.querySelectorAll("#trail path.m.t").length === 1);
	// web1 dies: its bar ends where it was last seen, and no token rests there.
	fake.status.members[2] = { ...fake.status.members[2], state: "silent" };
	fake.locks.shift();
	for (let i = 0; i < 3; i++) await tick();
	await page.waitForFunction(() => {
		const bars = [...document.querySelectorAll("#trail .inside")].map((bar) => Number(bar.getAttribute("width")));
		return bars.length === 2 && bars[1] < 60;
	});
	// db1 had the token from its first grant on; web1 had it until it died.
	assert.equal(await page.locator("#trail .rest").count(), 2);
	for (let i = 0; i < 130; i++) fake.change("deploy", "granted", 40 + i, i % 2 === 0 ? "db1" : "db2");
	await tick();
	await page.waitForFunction(() => /It changed hands 132 times/.test(document.getElementById("trail").textContent) && document.querySelectorAll("#trail path.m").length === 0);
	await close(page);
	await fake.end();
});

test("the lock that moves is shown, the command that runs, and news that many grants do not hide", async () => {
	const fake = await pretend();
	fake.locks = [lockOf("deploy", 31, "db1"), lockOf("job", 7, "db2")];
	fake.locks[0].holder.command = "/usr/bin/baton run -w 5 deploy -- /usr/bin/make all";
	const { page, tick } = await onPretended(fake);
	assert.equal(await row(page, "deploy").locator(".command").textContent(), "make all");
	assert.equal(await row(page, "job").locator(".command").textContent(), "job --for db2");
	fake.status.members[2].state = "silent";
	fake.info.acquire_came.count++; // a single wait is drawn as a line with one value
	await tick();
	await logged(page, "^web1 does not answer$");
	assert.match(await page.getAttribute("#came .course", "d"), /^M[\d.]+ [\d.]+h0$/);
	for (let i = 0; i < 70; i++) fake.change("job", "granted", 40 + i, "db2");
	for (let i = 0; i < 8; i++) fake.change("deploy", "granted", 140 + i, i % 2 === 0 ? "db2" : "db1");
	await logged(page, "fence …147");
	await page.waitForFunction(() => document.querySelector("#trail code").textContent === "deploy");
	await logged(page, "^web1 does not answer$");
	assert.match(await page.textContent("#log"), /Of grants and releases, only the last 10 are shown\./);
	await page.check("#quietly");
	assert.equal(await page.locator(".log .grant").count(), 0);
	await close(page);
	await fake.end();
});

test("breaking asks with the holder and the fence, and sends what the server wants", async () => {
	const fake = await pretend();
	fake.locks = [lockOf("deploy", 31, "db1", ["db2"])];
	const { page, tick } = await onPretended(fake);
	await page.getByRole("button", { name: "Break deploy" }).focus();
	await page.keyboard.press("Enter");
	await page.waitForSelector("#break[open]");
	// The holder changes meanwhile, but the question stays as it was asked.
	fake.locks = [lockOf("deploy", 32, "db2")];
	await tick();
	assert.match(await page.locator("#break").innerText(), /Take deploy from db1\?[^]*31/);
	await page.keyboard.press("Tab");
	await page.keyboard.press("Enter");
	await page.waitForSelector("#outcome");
	assert.deepEqual(fake.broken, [["POST", "1", fake.address.slice(0, -1), { name: "deploy", fence: 31 }]]);
	await close(page);
	await fake.end();
});

test("axe finds nothing in either theme at three widths, and nothing is wider than the window", async () => {
	const fake = await pretend();
	fake.status.members.push({ name: "a-node-with-a-long-name-of-a-host.example.org", address: "[2001:db8::1234:5678]:7440", incarnation: 9, state: "starting", lease_ms: 0 });
	fake.locks = [lockOf("deploy", 131826715824164, "db1", ["web1", "db2"]), lockOf("a/very/long/name/of/a/lock/that/goes/on/and/on/and/on", 131826715824131, "db2"), lockOf("reindex", 131826715824170, null, ["db2"])];
	const violations = (page, of) => page.evaluate(async (what) => (await globalThis.axe.run(what ?? document)).violations.map((v) => `${v.id}: ${v.nodes.map((n) => n.html.slice(0, 120)).slice(0, 3).join(" | ")}`), of);
	for (const colorScheme of ["light", "dark"])
		for (const width of [400, 1280, 2560]) {
			fake.status.members[2] = { ...fake.status.members[2], state: "active", lease_ms: 2800 };
			const { page, tick } = await onPretended(fake, { viewport: { width, height: 900 }, colorScheme, reducedMotion: "reduce", bypassCSP: true });
			fake.status.members[2] = { ...fake.status.members[2], state: "silent" };
			await tick();
			fake.change("deploy", "lost", 131826715824163, "web1", "lease");
			await logged(page, "^deploy lost by web1");
			await page.evaluate(axe);
			assert.deepEqual(await violations(page), [], `${colorScheme} ${width}`);
			assert.ok(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth), `wider than ${width}`);
			await page.getByRole("button", { name: "Break deploy" }).click();
			assert.deepEqual(await violations(page, "#break"), [], `the dialog, ${colorScheme} ${width}`);
			if (process.env.PICTURES !== undefined) await page.keyboard.press("Escape"), await page.screenshot({ path: join(process.env.PICTURES, `cluster-${width}-${colorScheme}.png`), fullPage: true });
			await close(page);
		}
	await fake.end();
});

await runBrowserTests();
