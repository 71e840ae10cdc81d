// When nothing can move any more and somebody waits: who waits for whom.

import type { NodeState } from "./module";
import type { Run } from "./run";
import { nodeOf } from "./stage";

export interface Waiting {
	node: number;
	asked: number; // whose answer is missing
	held: number; // who has it instead; 0: nobody says so
}

/** Null if something can still happen, by itself or because somebody leaves. */
export function stuckAt(run: Run, step: number, states: NodeState[]): Waiting[] | null {
	if (step !== run.steps.length || run.cut || step === 0) return null;
	const waits = states.map((s) => !s.dead && (s.phase === "waiting" || s.phase === "leaving"));
	if (!waits.includes(true) || states.some((s) => s.phase === "in" || s.timer !== undefined)) return null;
	if (run.flights.some((f) => f.goneStep > step)) return null;
	if (run.algorithm.kind === "election") return [];
	const pointers = run.algorithm.variables.filter((v) => v.kind === "node");
	const found: Waiting[] = [];
	waits.forEach((waiting, i) => {
		if (!waiting) return;
		const node = i + 1;
		const { asked, got } = run.permissionsOf(node, step);
		for (const other of asked.filter((o) => !got.has(o))) {
			const holders = pointers.map((v) => nodeOf(states[other - 1].vars[v.name]));
			// A token's algorithm points to where the token is sought: that has nothing to do with permissions.
			const held = run.algorithm.token ? 0 : (holders.find((n) => n !== 0 && n !== node && waits[n - 1]) ?? 0);
			found.push({ node, asked: other, held });
		}
	});
	return found;
}

/** The arrows: from the one who waits to the one who would have to move. */
export function arrowsOf(waiting: Waiting[]): [number, number][] {
	const arrows = waiting.map(({ node, asked, held }): [number, number] => [node, held === 0 ? asked : held]);
	return arrows.filter(([a, b], i) => a !== b && arrows.findIndex(([c, d]) => c === a && d === b) === i);
}

const SENTENCES_MAX = 6;

export function stuckWords(run: Run, waiting: Waiting[]): string {
	const name = (node: number) => run.name(node);
	const words = waiting.map(({ node, asked, held }) => {
		if (run.algorithm.token) return `${name(node)} waits for the token, and asked ${name(asked)}`;
		return `${name(node)} needs the permission of ${name(asked)}${held === 0 ? "" : `, which ${name(held)} has`}`;
	});
	const shown = words.slice(0, SENTENCES_MAX).join("; ");
	return shown === "" ? "" : shown + (words.length > SENTENCES_MAX ? "; and more." : ".");
}
