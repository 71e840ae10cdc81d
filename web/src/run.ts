// A run: its words or its scenario, the user's acts, and the whole trace that follows from them.

import { Instance, type ActName, type Algorithm, type NodeState, type Property, type Ran, type Role, type Status } from "./module";
import { begin, Walker } from "./walker";

export interface Act {
	at: number; // after how many steps the act happens
	name: ActName;
	what: number; // a node, or the number of a message
	by: number; // how long the delay is
}

export interface Start {
	algorithm: string;
	topology: string;
	nodes: number;
	edges: [number, number][];
	holder: number | null;
	fifo: boolean;
	seed: number;
	params: Record<string, unknown>;
	arrangement?: number[];
}

export interface Flight {
	msg: number;
	from: number;
	to: number;
	type: string;
	text: string;
	token: boolean;
	sent: number; // when the message was sent
	sentStep: number;
	gone: number; // when the message arrives or is lost; Infinity: never
	goneStep: number;
	lost: boolean;
	of?: number; // the number of the message that this one duplicates
	entry: number; // the entry of the run for which the message is counted; -1: none
}

export interface Line {
	t: number;
	ev: string;
	node?: number;
	msg?: number;
	of?: number;
	from?: number;
	to?: number;
	type?: string;
	text?: string;
	token?: boolean;
	vars?: Record<string, unknown>;
	leader?: number;
}

/** A step: something that happened, and what it caused. */
export interface Step {
	t: number;
	head: Line;
	rest: Line[];
	act: boolean;
}

export interface Span {
	node: number;
	kind: "wait" | "in";
	from: number;
	to: number;
}

export interface Entry {
	node: number;
	step: number;
}

/** Something that happened to a permission that a node asked for. */
interface Permission {
	step: number;
	kind: "begins" | "asks" | "gets" | "yields";
	other: number;
}

const LEADS = new Set(["request", "initiate", "deliver", "exit", "lose", "expire", "crash", "restart", "duplicate", "link", "unlink", "cut_link"]);
const STEPS_FIRST = 6000; // how many steps are made at first; more are made when the user comes near the end
const STEPS_MORE = 2000;
export const STEPS_MAX = 60000;
const SNAPSHOTS_MAX = 16;

export type Source = { words: string } | { scenario: string };

export type Look = NodeState["phase"] | "dead" | "part" | "knows" | "leads";

export interface Moment {
	states: NodeState[];
	before: Record<string, unknown>[]; // the variables of each node before the step
	properties: Property[];
	ran: Ran[];
	status: Status;
}

export class Run {
	start!: Start;
	trace = "";
	steps: Step[] = [];
	flights: Flight[] = [];
	spans: Span[] = [];
	entries: Entry[] = [];
	elected: { node: number; leader: number; step: number }[] = [];
	private permissions = new Map<number, Permission[]>(); // indexed by the node that asks
	private roles = new Map<string, Role>();
	status!: Status;
	cut = false; // the run has more steps than have been made
	private maker = new Instance(); // the instance that makes the run, with a trace
	private byNumber = new Map<number, Flight>();
	private open = new Map<number, Span>(); // what each node is doing now, by node
	private acted = new Set<number>();
	private walker: Walker | null = null;
	private snapshots = new Map<number, ArrayBuffer>(); // snapshots of the memory, by step
	private spacing = 250;

	private constructor(
		readonly source: Source,
		readonly acts: Act[],
		readonly algorithms: Algorithm[],
	) {}

	get algorithm(): Algorithm {
		return this.algorithms.find((a) => a.name === this.start.algorithm)!;
	}

	get end(): number {
		return this.steps.length === 0 ? 0 : this.steps[this.steps.length - 1].t;
	}

	/** Returns the name of a node: its number, or in an election its identifier, which messages and variables use too. */
	name(node: number | undefined): string {
		return String(this.start.arrangement?.[(node ?? 0) - 1] ?? node ?? "");
	}

	/** Returns the state of a node at a moment, in one word. */
	look(node: number, state: NodeState, step: number): Look {
		if (state.dead) return "dead";
		if (this.algorithm.kind === "mutex") return state.phase;
		const knows = this.elected.findLast((e) => e.node === node && e.step <= step);
		if (knows !== undefined) return String(knows.leader) === this.name(node) ? "leads" : "knows";
		return state.phase === "waiting" || !state.ready ? "part" : "idle";
	}

	flight(msg: number | undefined): Flight | undefined {
		return msg === undefined ? undefined : this.byNumber.get(msg);
	}

	/** Throws an Error with the sentence of the C parser if the words are wrong. */
	static make(source: Source, acts: Act[], algorithms: Algorithm[]): Run {
		const run = new Run(source, acts, algorithms);
		begin(run.maker, source, true);
		run.read(run.maker.text());
		run.perform();
		return run;
	}

	/** Makes the run with all its acts. Acts that cannot happen are left out. */
	private perform(): void {
		const kept: Act[] = [];
		for (const act of this.acts) {
			this.make(act.at);
			if (this.steps.length !== act.at || !this.maker.act(act.name, act.what, act.by)) continue;
			if (act.name !== "delay") this.acted.add(act.at + 1);
			this.read(this.maker.text());
			kept.push(act);
		}
		this.acts.splice(0, this.acts.length, ...kept);
		this.cut = true;
		this.extend(STEPS_FIRST);
	}

	private make(to: number): void {
		while (this.steps.length < to) {
			const count = this.maker.step(Math.min(500, to - this.steps.length));
			this.read(this.maker.text());
			if (count === 0) break;
		}
	}

	/** Makes more of the run. Returns false if there is no more to show. */
	extend(count = STEPS_MORE): boolean {
		if (!this.cut || this.steps.length >= STEPS_MAX) return false;
		this.make(Math.min(STEPS_MAX, this.steps.length + count));
		this.status = this.maker.status();
		this.cut = !this.status.over;
		if (!this.cut) {
			this.maker.finish();
			this.read(this.maker.text());
			this.status = this.maker.status();
		}
		return true;
	}

	private read(text: string): void {
		this.trace += text;
		for (const json of text.split("\n")) {
			// Lines with states are half of a trace. They are skipped: the module is asked for states instead.
			if (json === "" || json.slice(0, 60).includes('"ev":"state"')) continue;
			const line = JSON.parse(json);
			if (this.start === undefined) {
				this.start = line as Start;
				for (const message of this.algorithm.messages) this.roles.set(message.name, message.role);
				continue;
			}
			if (line.ev === "end" || line.ev === "cut") continue;
			if (LEADS.has(line.ev)) this.steps.push({ t: line.t, head: line, rest: [], act: this.acted.has(this.steps.length + 1) });
			else this.steps[this.steps.length - 1]?.rest.push(line);
			this.note(line);
		}
	}

	private note(line: Line): void {
		const { byNumber, open } = this;
		const step = this.steps.length;
		const close = (node: number) => {
			const span = open.get(node);
			if (span !== undefined) span.to = line.t;
			open.delete(node);
		};
		const span = (node: number, kind: "wait" | "in") => {
			close(node);
			const opened: Span = { node, kind, from: line.t, to: Infinity };
			open.set(node, opened);
			this.spans.push(opened);
		};
		const permission = (node: number, kind: Permission["kind"], other: number) => {
			if (!this.permissions.has(node)) this.permissions.set(node, []);
			this.permissions.get(node)!.push({ step, kind, other });
		};
		switch (line.ev) {
			case "request":
				permission(line.node!, "begins", 0);
				span(line.node!, "wait");
				break;
			case "initiate":
				span(line.node!, "wait");
				break;
			case "enter":
				span(line.node!, "in");
				this.entries.push({ node: line.node!, step });
				break;
			case "elected":
				this.elected.push({ node: line.node!, leader: line.leader!, step });
				close(line.node!);
				break;
			case "exit":
			case "crash":
			case "restart":
				close(line.node!);
				break;
			case "duplicate":
			case "send": {
				const flight: Flight = {
					msg: line.msg!, from: line.from!, to: line.to!, type: line.type!, text: line.text!, token: line.token!,
					sent: line.t, sentStep: step, gone: Infinity, goneStep: Infinity, lost: false, of: line.of, entry: -1,
				};
				byNumber.set(flight.msg, flight);
				this.flights.push(flight);
				const role = this.roles.get(flight.type);
				// In an algorithm with a token a node also passes on requests of others. Only the first one is its own.
				if (role === "asks" && (!this.algorithm.token || this.steps[step - 1]?.head.node === flight.from)) permission(flight.from, "asks", flight.to);
				// A refusal that answers a refusal gives a permission back. Any other refusal takes nothing away.
				else if (role === "refuses" && this.roles.get(this.steps[step - 1]?.head.type ?? "") === "refuses") permission(flight.from, "yields", flight.to);
				break;
			}
			case "deliver":
			case "lose": {
				const flight = byNumber.get(line.msg!)!;
				[flight.gone, flight.goneStep, flight.lost] = [line.t, step, line.ev === "lose"];
				if (!flight.lost && this.roles.get(flight.type) === "permits") permission(flight.to, "gets", flight.from);
				break;
			}
		}
	}

	/** Returns an instance that has made exactly `step` steps. The last step is made separately, so that the lines that ran in it are known. */
	at(step: number): Instance {
		const near = Math.max(0, ...[...this.snapshots.keys()].filter((at) => at < step));
		let walker = this.walker;
		if (walker === null || walker.at > step || walker.at < near) walker = this.walker = new Walker(this.source, this.acts, near, this.snapshots.get(near));
		while (walker.at < step) {
			const mark = (Math.floor(walker.at / this.spacing) + 1) * this.spacing;
			if (!walker.advance(Math.min(mark, step > walker.at + 1 ? step - 1 : step))) break;
			if (walker.at % this.spacing === 0) this.keep(walker);
		}
		return walker.instance;
	}

	/** Keeps a snapshot, so that going back takes little time. If there are too many snapshots, every other one is dropped. */
	private keep(walker: Walker): void {
		if (this.snapshots.has(walker.at)) return;
		this.snapshots.set(walker.at, walker.instance.snapshot());
		if (this.snapshots.size <= SNAPSHOTS_MAX) return;
		this.spacing *= 2;
		for (const at of [...this.snapshots.keys()]) if (at % this.spacing !== 0) this.snapshots.delete(at);
	}

	/** Returns which nodes a waiting node has asked since its request, and whose permission it has. */
	permissionsOf(node: number, step: number): { asked: number[]; got: Set<number> } {
		const list = this.permissions.get(node) ?? [];
		const last = list.findLastIndex((p) => p.step <= step);
		let first = last;
		while (first > 0 && list[first].kind !== "begins") first--;
		const asked = new Set<number>();
		const got = new Set<number>();
		for (const { kind, other } of list.slice(Math.max(0, first), last + 1)) {
			if (kind === "asks") asked.add(other);
			else if (kind === "gets") got.add(other);
			else if (kind === "yields") got.delete(other);
		}
		return { asked: [...asked].sort((a, b) => a - b), got };
	}

	states(step: number): NodeState[] {
		return this.at(step).states();
	}

	statesText(step: number): string {
		return this.at(step).statesText();
	}

	moment(step: number): Moment {
		const before = this.states(Math.max(0, step - 1)).map((state) => state.vars);
		const instance = this.at(step);
		// Read this first, because describing the states runs code too.
		const ran = step === 0 ? [] : instance.lines();
		return { before, ran, states: instance.states(), properties: instance.properties(), status: instance.status() };
	}

	/** Returns the last step at or before a time. */
	stepAt(time: number): number {
		let low = 0;
		let high = this.steps.length;
		while (low < high) {
			const middle = (low + high + 1) >> 1;
			if (this.steps[middle - 1].t <= time) low = middle;
			else high = middle - 1;
		}
		return low;
	}
}
