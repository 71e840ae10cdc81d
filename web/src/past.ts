// The past of locks: who held each of them in the last minute and who waited, as far as this page
// has seen it.

import { signal } from "@preact/signals";
import type { Change, Sample } from "./feed";
import { MINUTE_MS } from "./minute";
import type { Flight, Span } from "./run";
import type { History } from "./rows";

/** One hold of a lock, from its grant on. The fence tells it from other holds. */
interface Hold {
	fence: number;
	node: string;
	from: number;
	to: number | null; // when the hold ended; null: it has not ended
	seen: number; // when the lock was last known to be held
}

interface Wait {
	node: string;
	from: number;
	to: number; // when the client was last seen waiting
}

export interface Past {
	holds: Hold[]; // the holds, sorted by fence
	waits: Wait[];
}

const FLIGHT_MS = 300; // It is not known when a token left. It is drawn as if it had been in flight for at most this long.
const MISSED_MS = 1500; // a hold that was in no status for this long is over
const HOLDS_SEEN = 120; // the most holds of the last minute that a readable picture can show
const NEAR_MS = 60; // two bars of a row with less time between them are drawn as one

const pasts = new Map<string, Past>();
/** Counts changes, so that views know when to draw again. */
export const changed = signal(0);

let gap = -Infinity; // when changes were last left out
/** Notes that changes are missing, so that locks may have been where nobody saw them. */
export function noteGap(at: number): void {
	gap = Math.max(gap, at);
	changed.value++;
}

/** Are changes of the last minute missing? */
export function hasGap(now: number): boolean {
	return gap > now - MINUTE_MS;
}

export function forgetPast(): void {
	pasts.clear();
	gap = -Infinity;
	changed.value++;
}

export function pastOf(lock: string): Past {
	return pasts.get(lock) ?? { holds: [], waits: [] };
}

/** Says how much there is to see of a lock: how often it went to another node. */
function worth(name: string): number {
	const { holds } = pastOf(name);
	return trailIsCrowded(name) || holds.length === 0 ? 0 : 1 + holds.filter((hold, i) => i > 0 && hold.node !== holds[i - 1].node).length;
}

let shown: string | null = null;
/** Returns the lock to show if nobody has chosen one: a lock that has moved. It stays the same, unless another has much more to show. */
export function worthSeeing(): string | null {
	let best: string | null = null;
	for (const name of [...pasts.keys()].sort()) if (best === null || worth(name) > worth(best)) best = name;
	if (shown === null || !pasts.has(shown) || worth(best!) > 3 * worth(shown) + 2) shown = best;
	return shown;
}

/** Are there so many holds that the lines between them would cover everything? */
export function trailIsCrowded(lock: string): boolean {
	return pastOf(lock).holds.length > HOLDS_SEEN;
}

function of(lock: string): Past {
	let past = pasts.get(lock);
	if (past === undefined) pasts.set(lock, (past = { holds: [], waits: [] }));
	return past;
}

/** Notes a grant, from a change or from a status. Earlier holds are over. */
function noteHold(past: Past, fence: number, node: string, from: number, at: number): void {
	const known = past.holds.find((h) => h.fence === fence);
	if (known !== undefined) {
		known.seen = Math.max(known.seen, at);
		return;
	}
	for (const hold of past.holds) if (hold.to === null && hold.fence < fence) hold.to = Math.min(from, Math.max(hold.seen, hold.from));
	past.holds.push({ fence, node, from, to: null, seen: at });
	past.holds.sort((a, b) => a.fence - b.fence);
}

export function noteChange({ name, what, fence, node, at_ms }: Change): void {
	const past = of(name);
	if (what === "granted" || what === "leader") {
		// The last hold had certainly ended by then.
		for (const hold of past.holds) if (hold.to === null && hold.fence < fence) hold.seen = at_ms;
		noteHold(past, fence, node, at_ms, at_ms);
	} else {
		const hold = past.holds.find((h) => h.fence === fence);
		if (hold !== undefined && hold.to === null) hold.to = at_ms;
	}
	changed.value++;
}

function prune(now: number): void {
	for (const [name, past] of pasts) {
		past.holds = past.holds.filter((h) => h.to === null || h.to > now - MINUTE_MS);
		past.waits = past.waits.filter((w) => w.to > now - MINUTE_MS);
		if (past.holds.length === 0 && past.waits.length === 0) pasts.delete(name);
	}
}

/** Notes a status. `whole` says that it has every lock that is held or waited for. */
export function noteStatus({ at_ms, status, unheard }: Sample, whole: boolean): void {
	if (unheard !== undefined) noteGap(at_ms);
	const listed = new Set(status.locks.map((l) => l.name));
	for (const { name, fence, holder, waiters } of status.locks) {
		const past = of(name);
		if (holder !== null && fence !== null) noteHold(past, fence, holder.node, at_ms - holder.since_ms, at_ms);
		for (const waiter of waiters) {
			const from = at_ms - waiter.since_ms;
			const known = past.waits.find((w) => w.node === waiter.node && from <= w.to);
			if (known !== undefined) [known.from, known.to] = [Math.min(known.from, from), at_ms];
			else past.waits.push({ node: waiter.node, from, to: at_ms });
		}
	}
	for (const [name, past] of pasts)
		if (whole || listed.has(name))
			for (const hold of past.holds) if (hold.to === null && at_ms - hold.seen > MISSED_MS) hold.to = hold.seen;
	prune(at_ms);
	changed.value++;
}

/** A lock's past in the form of a run: rows are nodes, and times are in seconds, counted from a
 * minute ago. */
export class Trail implements History {
	start: { nodes: number; holder: number | null; since: number };
	algorithm: History["algorithm"];
	steps = { length: 0 };
	end = 0;
	spans: Span[] = [];
	flights: Flight[] = [];
	private origin = 0;

	constructor(
		readonly lock: string,
		readonly nodes: string[],
		token: boolean,
	) {
		this.start = { nodes: nodes.length, holder: null, since: 0 };
		this.algorithm = { token, messages: [{ name: "token", role: "permits" }] };
	}

	name(node: number): string {
		return this.nodes[node - 1];
	}

	/** Converts a time of the stream to a time of the trail. */
	time(at: number): number {
		return (at - this.origin) / 1000;
	}

	/** Takes over what is known now. `alive` are the members that answer; no token is drawn at others. */
	refresh(now: number, alive: Set<string>): void {
		const { holds, waits } = pastOf(this.lock);
		this.origin = now - MINUTE_MS;
		this.end = this.time(now + 2 * MINUTE_MS); // bars that last until now are drawn beyond the edge, until the next refresh
		this.steps.length++;
		this.spans = [];
		this.flights = [];
		for (const { node, from, to } of waits) this.addSpan("wait", node, from, to);
		for (const hold of holds) this.addSpan("in", hold.node, hold.from, hold.to ?? now + 2 * MINUTE_MS);
		this.start.holder = holds.length === 0 ? null : this.row(holds[0].node);
		this.start.since = holds.length === 0 ? 0 : this.time(holds[0].from);
		if (trailIsCrowded(this.lock)) this.start.holder = null;
		else for (let i = 1; i < holds.length; i++) this.addFlight(holds[i - 1], holds[i]);
		const last = holds.at(-1);
		if (last !== undefined && last.to !== null && !alive.has(last.node) && !trailIsCrowded(this.lock)) this.addFlight(last, { ...last, from: last.to });
	}

	private row(node: string): number {
		return this.nodes.indexOf(node) + 1;
	}

	private addSpan(kind: Span["kind"], node: string, from: number, to: number): void {
		const row = this.row(node);
		if (row === 0) return;
		const before = this.spans.findLast((s) => s.node === row && s.kind === kind);
		if (before !== undefined && this.time(from) - before.to < NEAR_MS / 1000) before.to = Math.max(before.to, this.time(to));
		else this.spans.push({ node: row, kind, from: this.time(from), to: this.time(to) });
	}

	private addFlight(from: Hold, to: Hold): void {
		const [a, b] = [this.row(from.node), this.row(to.node)];
		if (a === 0 || b === 0 || (a === b && from !== to && from.fence !== to.fence)) return;
		const sent = Math.min(to.from, Math.max(from.to ?? to.from, to.from - FLIGHT_MS));
		this.flights.push({ msg: this.flights.length + 1, from: a, to: b, type: "token", text: "", token: true, sent: this.time(sent), sentStep: 0, gone: this.time(to.from), goneStep: 0, lost: from.fence === to.fence, entry: -1 });
	}
}
