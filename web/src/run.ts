// A run: its words or its scenario, the acts of a hand, and the whole trace that follows from them.

import { Instance, type ActName, type Algorithm, type NodeState, type Property, type Ran, type Status } from "./module";

export interface Act {
	at: number; // after so many steps
	name: ActName;
	what: number; // a node, or the number of a message
	by: number; // a delay
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
	sent: number; // times
	sentStep: number;
	gone: number; // when it arrives or is lost; Infinity: never
	goneStep: number;
	lost: boolean;
	entry: number; // which entry of the run it is counted for; -1: none
}

export interface Line {
	t: number;
	ev: string;
	node?: number;
	msg?: number;
	from?: number;
	to?: number;
	type?: string;
	text?: string;
	token?: boolean;
	vars?: Record<string, unknown>;
	leader?: number;
}

/** Something that happened, and what it caused. */
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
	fromStep: number;
	toStep: number;
}

export interface Entry {
	node: number;
	step: number;
	t: number;
	messages: Flight[];
}

const LEADS = new Set(["request", "initiate", "deliver", "exit", "lose", "expire", "crash"]);
export const STEPS_MAX = 6000;

export type Source = { words: string } | { scenario: string };

export class Run {
	start!: Start;
	trace = "";
	steps: Step[] = [];
	flights: Flight[] = [];
	spans: Span[] = [];
	entries: Entry[] = [];
	status!: Status;
	cut = false; // longer than the page shows
	private witness: Instance | null = null;
	private witnessAt = -1;

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

	/** Throws an Error with the sentence of the C parser if the words are wrong. */
	static make(source: Source, acts: Act[], algorithms: Algorithm[]): Run {
		const run = new Run(source, acts, algorithms);
		const instance = new Instance();
		run.begin(instance, true);
		run.trace = instance.text();
		run.perform(instance);
		run.read();
		return run;
	}

	private begin(instance: Instance, traced: boolean): void {
		const wrong =
			"words" in this.source ? instance.open(this.source.words, traced) : instance.scenario(this.source.scenario, traced);
		if (wrong !== null) throw new Error(wrong);
	}

	/** The whole run with its acts; acts that cannot happen are left out. */
	private perform(instance: Instance): void {
		let done = 0;
		const kept: Act[] = [];
		const go = (to: number) => {
			while (done < to) {
				const count = instance.step(Math.min(500, to - done));
				this.trace += instance.text();
				done += count;
				if (count === 0) break;
			}
		};
		for (const act of this.acts) {
			go(act.at);
			if (done !== act.at || !instance.act(act.name, act.what, act.by)) continue;
			this.trace += instance.text();
			kept.push(act);
			if (act.name !== "delay") done++;
		}
		this.acts.splice(0, this.acts.length, ...kept);
		go(STEPS_MAX);
		this.status = instance.status();
		this.cut = !this.status.over;
		if (!this.cut) {
			instance.finish();
			this.trace += instance.text();
			this.status = instance.status();
		}
	}

	private read(): void {
		const lines = this.trace.trimEnd().split("\n").map((line) => JSON.parse(line));
		this.start = lines[0] as Start;
		const byNumber = new Map<number, Flight>();
		const open = new Map<number, Span>(); // by node
		let current: Step | null = null;
		const acted = new Set<number>();
		for (const act of this.acts) if (act.name !== "delay") acted.add(act.at + 1);
		for (const line of lines.slice(1) as Line[]) {
			if (line.ev === "end" || line.ev === "cut") continue;
			if (LEADS.has(line.ev)) {
				current = { t: line.t, head: line, rest: [], act: acted.has(this.steps.length + 1) };
				this.steps.push(current);
			} else if (current !== null) current.rest.push(line);
			this.note(line, byNumber, open);
		}
		const last = this.steps.length;
		for (const span of open.values()) [span.to, span.toStep] = [Infinity, last + 1];
	}

	private note(line: Line, byNumber: Map<number, Flight>, open: Map<number, Span>): void {
		const step = this.steps.length;
		const close = (node: number) => {
			const span = open.get(node);
			if (span !== undefined) [span.to, span.toStep] = [line.t, step];
			open.delete(node);
		};
		const begin = (node: number, kind: "wait" | "in") => {
			close(node);
			const span: Span = { node, kind, from: line.t, to: Infinity, fromStep: step, toStep: Infinity };
			open.set(node, span);
			this.spans.push(span);
		};
		switch (line.ev) {
			case "request":
			case "initiate":
				begin(line.node!, "wait");
				break;
			case "enter":
				begin(line.node!, "in");
				this.entries.push({ node: line.node!, step, t: line.t, messages: [] });
				break;
			case "exit":
			case "elected":
				close(line.node!);
				break;
			case "send": {
				const flight: Flight = {
					msg: line.msg!, from: line.from!, to: line.to!, type: line.type!, text: line.text!, token: line.token!,
					sent: line.t, sentStep: step, gone: Infinity, goneStep: Infinity, lost: false, entry: -1,
				};
				byNumber.set(flight.msg, flight);
				this.flights.push(flight);
				break;
			}
			case "deliver":
			case "lose": {
				const flight = byNumber.get(line.msg!)!;
				[flight.gone, flight.goneStep, flight.lost] = [line.t, step, line.ev === "lose"];
				break;
			}
		}
	}

	/** An instance that has made exactly so many steps, with its acts. */
	at(step: number): Instance {
		if (this.witness === null || this.witnessAt > step) {
			this.witness = new Instance();
			this.begin(this.witness, false);
			this.witnessAt = 0;
			this.applyDelays(0);
		}
		while (this.witnessAt < step) this.advance(this.witness, step);
		return this.witness;
	}

	private applyDelays(at: number): void {
		for (const act of this.acts)
			if (act.at === at && act.name === "delay") this.witness!.act("delay", act.what, act.by);
	}

	/** To the step, or to the next act before it. The last step is made alone, so that its lines are known. */
	private advance(instance: Instance, step: number): void {
		const act = this.acts.find((a) => a.at === this.witnessAt && a.name !== "delay");
		if (act !== undefined) {
			instance.act(act.name, act.what, act.by);
			this.witnessAt++;
		} else {
			const next = this.acts.find((a) => a.at > this.witnessAt)?.at ?? Infinity;
			const to = Math.min(next, step > this.witnessAt + 1 ? step - 1 : step);
			instance.step(to - this.witnessAt);
			this.witnessAt = to;
		}
		this.applyDelays(this.witnessAt);
	}

	/** The variables of all nodes before the first step. */
	initialVariables(): Record<string, unknown>[] {
		const instance = new Instance();
		this.begin(instance, false);
		return instance.states().map((state) => state.vars);
	}

	statesText(step: number): string {
		return this.at(step).statesText();
	}

	moment(step: number): { states: NodeState[]; properties: Property[]; ran: Ran[]; status: Status } {
		const instance = this.at(step);
		// First: describing the states runs code too.
		const ran = step === 0 ? [] : instance.lines();
		return { ran, states: instance.states(), properties: instance.properties(), status: instance.status() };
	}

	/** The last step at or before a time. */
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
