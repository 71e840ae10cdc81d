// Leads the module through a run: its steps, and the user's acts between them.

import { Instance, type Property } from "./module";
import type { Act, Source } from "./run";

const NODES_MAX = 60;

export function begin(instance: Instance, source: Source, traced: boolean): void {
	const wrong = "words" in source ? instance.open(source.words, traced) : instance.scenario(source.scenario, traced);
	// The page says "topology" where the command line says "--topology", and shows fewer nodes.
	if (wrong !== null) throw new Error(wrong.replace(/^--(?=[a-z]+ ')/, "").replace(/^(nodes .* to )\d+/, `$1${NODES_MAX}`));
}

export class Walker {
	readonly instance: Instance;

	/** Begins at the first step, or where a snapshot was taken. */
	constructor(
		source: Source,
		private acts: Act[],
		public at = 0,
		memory?: ArrayBuffer,
		traced = false,
	) {
		this.instance = new Instance(memory);
		if (memory !== undefined) return;
		begin(this.instance, source, traced);
		this.applyDelays();
	}

	private applyDelays(): void {
		for (const act of this.acts) if (act.at === this.at && act.name === "delay") this.instance.act("delay", act.what, act.by);
	}

	/** Makes at least one step: up to the given one, or to the next act before it. Returns false if there are no more steps. */
	advance(to: number): boolean {
		const act = this.acts.find((a) => a.at === this.at && a.name !== "delay");
		if (act !== undefined) {
			this.instance.act(act.name, act.what, act.by);
			this.at++;
		} else {
			const next = this.acts.find((a) => a.at > this.at)?.at ?? Infinity;
			const count = this.instance.step(Math.min(next, to) - this.at);
			if (count === 0) return false;
			this.at += count;
		}
		this.applyDelays();
		return true;
	}
}

/** Looks for the first step after which something that must hold does not, a little at a time. */
export class Watch {
	broken: number | null = null;
	private walker: Walker;

	constructor(source: Source, acts: Act[]) {
		this.walker = new Walker(source, acts);
	}

	/** Looks for at most `milliseconds`, up to the step `steps`. Returns true if there is more to do. */
	look(steps: number, milliseconds: number): boolean {
		const until = performance.now() + milliseconds;
		while (this.broken === null && this.walker.at < steps) {
			if (performance.now() >= until) return true;
			if (!this.walker.advance(this.walker.at + 1)) return false;
			const wrong = this.walker.instance.properties().some((p: Property) => !p.holds);
			// Some violations are visible only in the step in which they happen: afterwards, a node that was elected twice is just a leader.
			if (wrong || (this.walker.instance.status().violations ?? 0) > 0) this.broken = this.walker.at;
		}
		return false;
	}
}
