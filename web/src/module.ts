// The laboratory's C, compiled to WebAssembly: one instance has one run.

export type Role = "asks" | "permits" | "refuses" | "gives back" | "announces" | "prepares";
export type Kind = "plain" | "node" | "queue" | "row";

export interface Parameter {
	name: string;
	help: string | null;
	least: number;
	most: number;
	initial: number;
	choices: string[];
}

export interface Algorithm {
	name: string;
	kind: "mutex" | "election";
	year: number;
	title: string;
	rules: string;
	topology: string;
	needs: string;
	claim: string;
	delay: string | null;
	fifo: boolean;
	token: boolean;
	circulates: boolean;
	oneWay: boolean;
	timers: boolean;
	/** Timers do not measure time: when one expires, it ends a pause between two steps of the printed text. */
	pauses: boolean;
	messages: { name: string; role: Role; token: boolean; init: boolean }[];
	variables: { name: string; kind: Kind }[];
	parameters: Parameter[];
}

export interface NodeState {
	phase: "idle" | "waiting" | "in" | "leaving";
	ready: boolean;
	token: boolean;
	dead: boolean;
	timer?: number;
	vars: Record<string, unknown>;
}

export interface Status {
	steps: number;
	time: number;
	over: boolean;
	violations?: number;
	violation?: string | null;
	line?: number;
	verdict?: "passed" | "failed" | "bad";
	failed?: number;
	expectations?: number;
	expected?: string | null;
	found?: string | null;
}

export interface Property {
	name: string;
	holds: boolean;
}

/** A function that ran, by the hash of its name, and its counters. */
export type Ran = [string, number[]];

export const ACTS = ["ask", "leave", "deliver", "lose", "delay", "expire", "crash"] as const;
export type ActName = (typeof ACTS)[number];

interface Exports {
	memory: WebAssembly.Memory;
	_initialize(): void;
	room(size: number): number;
	text(): number;
	size(): number;
	catalogue(): void;
	open(traced: number): number;
	scenario(traced: number, size: number): number;
	step(count: number): number;
	act(act: number, what: number, by: number): number;
	finish(): void;
	states(): void;
	flights(): void;
	properties(): void;
	lines(): void;
	status(): void;
	diagram(): void;
}

let compiled: WebAssembly.Module;

export async function load(bytes: Response | Promise<Response> | BufferSource): Promise<void> {
	if (ArrayBuffer.isView(bytes) || bytes instanceof ArrayBuffer) compiled = await WebAssembly.compile(bytes as BufferSource);
	else {
		const response = await (bytes as Promise<Response>);
		compiled = await WebAssembly.compile(await response.arrayBuffer());
	}
}

export class Instance {
	private exports: Exports;

	/** Makes a new instance, or one that continues from the memory of another: that memory holds everything about a run. */
	constructor(memory?: ArrayBuffer) {
		// The C library asks for these three and never calls them: nothing is printed.
		const wasi = { fd_close: () => 8, fd_seek: () => 8, fd_write: () => 8 };
		const instance = new WebAssembly.Instance(compiled, { wasi_snapshot_preview1: wasi });
		this.exports = instance.exports as unknown as Exports;
		if (memory === undefined) this.exports._initialize();
		else this.remember(memory);
	}

	private remember(memory: ArrayBuffer): void {
		const own = this.exports.memory;
		const missing = memory.byteLength - own.buffer.byteLength;
		if (missing > 0) own.grow(missing / 65536);
		new Uint8Array(own.buffer).set(new Uint8Array(memory));
	}

	snapshot(): ArrayBuffer {
		return this.exports.memory.buffer.slice(0);
	}

	private put(text: string): number {
		const bytes = new TextEncoder().encode(text);
		const place = this.exports.room(bytes.length);
		new Uint8Array(this.exports.memory.buffer, place, bytes.length).set(bytes);
		return bytes.length;
	}

	text(): string {
		const { memory, text, size } = this.exports;
		return new TextDecoder().decode(new Uint8Array(memory.buffer, text(), size()));
	}

	private json<T>(call: () => void): T {
		call();
		return JSON.parse(this.text()) as T;
	}

	catalogue(): Algorithm[] {
		return this.json(this.exports.catalogue);
	}

	/** Begins a run. Returns null, or a sentence that says what is wrong. */
	open(words: string, traced: boolean): string | null {
		this.put(words);
		return this.exports.open(traced ? 1 : 0) === 0 ? null : this.text();
	}

	scenario(text: string, traced: boolean): string | null {
		const size = this.put(text);
		return this.exports.scenario(traced ? 1 : 0, size) === 0 ? null : this.text();
	}

	step(count: number): number {
		return this.exports.step(count);
	}

	act(name: ActName, what: number, by = 0): boolean {
		return this.exports.act(ACTS.indexOf(name), what, Math.round(by * 1e6)) === 1;
	}

	finish(): void {
		this.exports.finish();
	}

	states(): NodeState[] {
		return this.json(this.exports.states);
	}

	statesText(): string {
		this.exports.states();
		return this.text();
	}

	properties(): Property[] {
		return this.json(this.exports.properties);
	}

	lines(): Ran[] {
		return this.json(this.exports.lines);
	}

	status(): Status {
		return this.json(this.exports.status);
	}

	diagram(): string {
		this.exports.diagram();
		return this.text();
	}
}
