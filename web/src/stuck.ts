// Finds who waits for whom when a node waits and nothing can happen any more.

import type { NodeState } from "./module";
import type { Flight, Run } from "./run";
import { nodeOf } from "./stage";

export interface Waiting {
	node: number;
	asked: number; // the node whose answer is missing; 0: nobody was asked
	held: number; // the node that has the permission instead; 0: not known
}

/** Returns the nodes that wait; null if something can still happen, by itself or because a node leaves. */
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
		const missing = asked.filter((o) => !got.has(o));
		// The request may have stopped at another node, which has already asked on behalf of all nodes on this side of the tree.
		if (missing.length === 0 && run.algorithm.token && pointers.length > 0) missing.push(nodeOf(states[i].vars[pointers[0].name]));
		if (missing.length === 0) found.push({ node, asked: 0, held: 0 });
		for (const other of missing) {
			if (other === 0) continue;
			const holders = pointers.map((v) => nodeOf(states[other - 1].vars[v.name]));
			// In an algorithm with a token, a pointer says where the token is looked for. It says nothing about permissions.
			const held = run.algorithm.token ? 0 : (holders.find((n) => n !== 0 && n !== node && waits[n - 1]) ?? 0);
			found.push({ node, asked: other, held });
		}
	});
	return found;
}

export interface Arrow {
	from: number;
	to: number;
	cycle: boolean; // the arrow is part of a cycle, which is why nothing can happen
}

/** Returns the token that was lost up to a step, if no other was sent since. Then this is why nothing can happen. */
export function lostToken(run: Run, step: number): Flight | null {
	const last = run.flights.findLast((f) => f.token && f.sentStep <= step);
	return last !== undefined && last.lost && last.goneStep <= step ? last : null;
}

/** Returns arrows from each node that waits to the node that would have to act. */
export function arrowsOf(run: Run, waiting: Waiting[], step: number): Arrow[] {
	const pairs = new Map<string, Arrow>();
	for (const { node, asked, held } of waiting) {
		const to = held === 0 ? asked : held;
		if (to !== 0 && to !== node) pairs.set(`${node} ${to}`, { from: node, to, cycle: false });
	}
	const arrows = [...pairs.values()];
	// Requests may go round in a circle, but no node waits for the next one in it.
	if (lostToken(run, step) !== null) return arrows;
	const reaches = (from: number, to: number, seen = new Set<number>()): boolean => {
		if (from === to) return true;
		seen.add(from);
		return arrows.some((a) => a.from === from && !seen.has(a.to) && reaches(a.to, to, seen));
	};
	for (const arrow of arrows) arrow.cycle = reaches(arrow.to, arrow.from);
	return arrows;
}

const SENTENCES_MAX = 6;

/** Writes a list such as "1, 2 and 5". */
function list(words: string[]): string {
	return words.length < 2 ? words.join("") : `${words.slice(0, -1).join(", ")} and ${words[words.length - 1]}`;
}

export function stuckWords(run: Run, waiting: Waiting[], step: number): string {
	const name = (node: number) => run.name(node);
	const lost = lostToken(run, step);
	if (lost !== null) {
		const nodes = [...new Set(waiting.map((w) => w.node))];
		return `The token is gone: ${lost.text} from ${name(lost.from)} to ${name(lost.to)} was lost at step ${lost.goneStep}. ${list(nodes.map(name))} ${nodes.length === 1 ? "waits" : "wait"} for it.`;
	}
	const words = waiting.map(({ node, asked, held }) => {
		if (asked === 0) return `${name(node)} waits, but has asked nobody`;
		if (run.algorithm.token) return `${name(node)} waits for the token, and asked ${name(asked)}`;
		return `${name(node)} needs the permission of ${name(asked)}${held === 0 ? "" : held === asked ? ", which keeps it" : `, which ${name(held)} has`}`;
	});
	if (words.length === 0) return "";
	// Do not write "and 1 more": the sentence itself takes no more room.
	const shown = words.length <= SENTENCES_MAX + 1 ? words : [...words.slice(0, SENTENCES_MAX), `and ${words.length - SENTENCES_MAX} more`];
	return `${shown.join("; ")}.`;
}
