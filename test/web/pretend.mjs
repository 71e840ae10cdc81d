// A server that answers as baton web does, for situations that a real cluster shows only seldom: many locks, silence, a node that goes
// away.
import { readFileSync } from "node:fs";
import http from "node:http";
import { join } from "node:path";
import { web } from "./lib.mjs";

const TYPES = { html: "text/html", js: "text/javascript", css: "text/css", wasm: "application/wasm", json: "application/json" };

/** Makes a cluster that the test changes as it likes; `tick` sends its status to all viewers. */
export async function pretend(control = true) {
	const fake = { at: 5_000_000, viewers: new Set(), streams: 0, asked: [], broken: [], gone: null, more: false, control };
	fake.info = { messages_per_entry_bound: 3, connected_clients: 38, acquire_came: { count: 0, sum_us: 0, le_100: 0, le_250: 0, le_1000: 0 } };
	fake.locks = [];
	fake.status = { node: "db1", epoch: 7, algorithm: "neilsen", topology: "star", members: ["db1", "db2", "web1"].map((name, i) => ({ name, address: `10.0.0.${i + 1}:7440`, incarnation: i + 2, state: "active", lease_ms: 2500 + 100 * i, counts: { grants: 700 * i, sent: 900 * i } })), takeover_ms: 4500, lease_ms: 3000, waiting_for: null, silent: [] };
	const held = () => fake.locks.filter((l) => l.holder !== null || l.waiters.length > 0);
	const counts = () => Object.fromEntries(fake.status.members.filter((m) => m.state !== "silent").map((m) => [m.name, m.counts]));
	const sample = () => ({ at_ms: fake.at, status: { ...fake.status, by_member: counts(), silent: fake.status.members.filter((m) => m.state === "silent").map((m) => m.name), locks: held().slice(0, 200) }, info: fake.info, locks_total: held().length, locks_more: fake.more, ...waiting() });
	const waiting = () => {
		const all = held().flatMap((l) => l.waiters.map((w) => ({ name: l.name, node: w.node, since_ms: w.since_ms })));
		const by = {};
		for (const { node } of all) by[node] = (by[node] ?? 0) + 1;
		return { waiters_total: all.length, waiters_more: held().some((l) => l.waiters_more), waiters_by_member: by, waits_longest: all.sort((a, b) => b.since_ms - a.since_ms)[0] ?? null };
	};
	const line = (event, data) => `event: ${event}\ndata: ${JSON.stringify(data)}\n\n`;
	fake.send = (event, data) => fake.viewers.forEach((v) => v.write(line(event, data)));
	fake.tick = (ms = 1000) => {
		fake.at += ms;
		fake.send("status", sample());
	};
	fake.change = (name, what, fence, node, value) => fake.send("changes", { events: [{ at_ms: fake.at, name, what, fence, node, ...(value === undefined ? {} : { value }) }], more: 0 });
	fake.goAway = (why) => {
		fake.gone = why;
		fake.send("gone", { at_ms: fake.at, why });
	};
	const answers = {
		"/api/session": (_, response) => response.end(JSON.stringify({ control: fake.control, node: fake.gone === null })),
		"/api/events": (request, response) => {
			response.writeHead(200, { "content-type": "text/event-stream" });
			response.write("retry: 100\n\n");
			response.write(fake.gone === null ? line("status", sample()) : line("gone", { at_ms: fake.at, why: fake.gone }));
			fake.viewers.add(response);
			fake.streams++;
			request.on("close", () => fake.viewers.delete(response));
		},
		"/api/status": (request, response) => {
			const query = new URL(request.url, "http://x").searchParams;
			fake.asked.push(request.url);
			const pattern = new RegExp("^" + query.get("pattern").replaceAll("*", ".*") + "$");
			const found = held().filter((l) => pattern.test(l.name));
			const [skip, count] = [Number(query.get("skip")), Number(query.get("count"))];
			response.end(JSON.stringify({ ...fake.status, locks: found.slice(skip, skip + count), locks_total: found.length, locks_more: fake.more }));
		},
		"/api/break": (request, response) => {
			let body = "";
			request.on("data", (data) => (body += data));
			request.on("end", () => {
				fake.broken.push([request.method, request.headers["baton-control"], request.headers.origin, JSON.parse(body)]);
				response.end(JSON.stringify({ broken: true }));
			});
		},
	};
	const server = http.createServer((request, response) => {
		const path = request.url.split("?")[0];
		response.setHeader("content-security-policy", "default-src 'none'; script-src 'self' 'wasm-unsafe-eval'; style-src 'self'; img-src 'self' data:; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'");
		if (answers[path] !== undefined) return answers[path](request, response);
		const name = path.slice(1) || "index.html";
		response.setHeader("content-type", TYPES[name.split(".").pop()] ?? "text/plain");
		response.end(readFileSync(join(web, name)));
	});
	await new Promise((done) => server.listen(0, "127.0.0.1", done));
	fake.address = `http://127.0.0.1:${server.address().port}/`;
	fake.end = () => {
		server.closeAllConnections();
		return new Promise((done) => server.close(done));
	};
	return fake;
}

/** Returns a lock as a status has it. */
export function lockOf(name, fence, holder, waiters = []) {
	const client = (node, i) => ({ node, pid: 4000 + i, uid: 0, command: `/usr/bin/${name} --for ${node}`, since_ms: 2300 + 100 * i });
	return { name, fence, holder: holder === null ? null : { ...client(holder, 0), losing: false }, waiters: waiters.map((w, i) => client(w, i + 1)), order: "served" };
}
