// Shared by the tests of the page. A test is called with the build's folder, which has web and,
// beside it, the programs.
import { spawn, spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, readdirSync, rmSync, statSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";

export const build = resolve(process.argv[2]);
export const web = join(build, "web");
export const root = resolve(dirname(fileURLToPath(import.meta.url)), "../..");
export const baton = join(build, "baton");
export const packages = createRequire(join(web, "npm/node_modules/x.js"));
export const folder = mkdtempSync(join(tmpdir(), "baton-page-"));
process.on("exit", () => rmSync(folder, { recursive: true, force: true }));

const tests = [];
export const test = (name, run) => tests.push({ name, run });

/** Runs the tests one after the other; the first that fails ends the program with exit 1. */
export async function runTests(after = async () => {}) {
	const only = process.argv[3];
	for (const { name, run } of tests) {
		if (only !== undefined && !name.includes(only)) continue;
		const begun = Date.now();
		try {
			await run();
			console.log(`ok ${name} (${Date.now() - begun} ms)`);
		} catch (error) {
			console.log(`FAILED ${name}\n${error.stack}`);
			await after();
			process.exit(1);
		}
	}
	await after();
}

export function native(...words) {
	return spawnSync(baton, words, { encoding: "utf8", maxBuffer: 1 << 28 });
}

export function scenarios() {
	const found = [];
	const walk = (at) => {
		for (const name of readdirSync(at).sort()) {
			const path = join(at, name);
			if (statSync(path).isDirectory()) walk(path);
			else if (name.endsWith(".scn")) found.push(path);
		}
	};
	walk(join(root, "test/scenarios"));
	return found;
}

/** Starts `baton web` on any free port. Resolves to its address and a function that ends it. */
export function serve(...words) {
	const child = spawn(baton, ["web", "--listen", "127.0.0.1:0", ...words], { stdio: ["ignore", "pipe", "inherit"] });
	process.on("exit", () => child.kill()); // ends the server if a test failed
	return new Promise((done, failed) => {
		child.on("error", failed);
		child.on("exit", (code) => failed(new Error(`baton web ended with ${code}`)));
		child.stdout.once("data", (data) => done({ address: String(data).trim(), end: () => new Promise((over) => child.once("exit", over) && child.kill("SIGTERM")) }));
	});
}

const compiled = new WebAssembly.Module(readFileSync(join(web, "baton.wasm")));

/** Makes an instance of the module without a page. */
export function instance() {
	const wasi = { fd_close: () => 8, fd_seek: () => 8, fd_write: () => 8 };
	const { exports } = new WebAssembly.Instance(compiled, { wasi_snapshot_preview1: wasi });
	exports._initialize();
	const put = (bytes) => new Uint8Array(exports.memory.buffer, exports.room(bytes.length), bytes.length).set(bytes);
	const text = () => Buffer.from(new Uint8Array(exports.memory.buffer, exports.text(), exports.size())).toString("utf8");
	return { exports, put: (bytes) => put(Buffer.from(bytes)), text };
}
