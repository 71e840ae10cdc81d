// The last minute in numbers: what changed from each status to the next.
//
// Differences are taken member by member, so that grants are counted while other members come and go.

import { computed, signal } from "@preact/signals";
import type { Counts, Info, Sample } from "./feed";

export const MINUTE_MS = 60_000;

/** From a bound, in microseconds, to the number of waits that took at most that long. */
type Buckets = Map<number, number>;

interface Second {
	at: number;
	ms: number; // the time since the last status
	grants: number;
	sent: number; // how many messages the nodes have sent
	came: { count: number; us: number; buckets: Buckets } | null; // how long clients of this node waited for a token that was elsewhere
	waiting: number;
	bound: number | null; // the most messages for an entry that the algorithm's claim allows
}

/** One of the numbers at the top of the page, with its values in the last minute. */
export interface Course {
	points: [number, number | null][];
	value: number | null; // the value for the whole minute
	bounds?: [number, number | null][]; // the values that should not be exceeded
}

const seconds = signal<Second[]>([]);
/** The last counters of each member; null: the member is known, but has reported none yet. Members that are silent or removed stay, because they may come back. */
const told = new Map<string, Counts | null>();

export function forgetMinute(): void {
	seconds.value = [];
	told.clear();
}

/** Returns what has happened at a member since it last reported its counters. `first`: this is the first status. */
function sinceTold(name: string, now: Counts | undefined, first: boolean): Counts {
	const before = told.get(name);
	if (now !== undefined) told.set(name, now);
	else if (before === undefined) told.set(name, null);
	if (now === undefined || before === null || (before === undefined && first)) return { grants: 0, sent: 0 };
	// A member that is new, or whose process was started again, has counted from 0.
	if (before === undefined || now.grants < before.grants || now.sent < before.sent) return now;
	return { grants: now.grants - before.grants, sent: now.sent - before.sent };
}

export function boundOf(info: Info): number | null {
	return typeof info.messages_per_entry_bound === "number" ? info.messages_per_entry_bound : null;
}

function histogram(info: Info): Record<string, number> | null {
	const value = info.acquire_came;
	return typeof value === "object" ? (value as Record<string, number>) : null;
}

function cameBetween(before: Sample, after: Sample): Second["came"] {
	const [was, is] = [histogram(before.info), histogram(after.info)];
	if (was === null || is === null || is.count < was.count) return null;
	const buckets: Buckets = new Map();
	for (const [key, value] of Object.entries(is)) if (key.startsWith("le_")) buckets.set(Number(key.slice(3)), value - (was[key] ?? 0));
	return { count: is.count - was.count, us: is.sum_us - was.sum_us, buckets };
}

/** Adds a status. There is no earlier one if `before` is null: then the counters say nothing yet. */
export function addSecond(before: Sample | null, after: Sample): void {
	if (after.at_ms === before?.at_ms) return; // this is the same status again: a new stream begins with the last one
	const since = after.status.members.map(({ name }) => sinceTold(name, after.status.by_member?.[name], before === null));
	if (before === null || after.at_ms - before.at_ms > MINUTE_MS) return;
	const second: Second = {
		at: after.at_ms,
		ms: after.at_ms - before.at_ms,
		grants: since.reduce((sum, one) => sum + one.grants, 0),
		sent: since.reduce((sum, one) => sum + one.sent, 0),
		came: cameBetween(before, after),
		waiting: after.waiters_total,
		bound: boundOf(after.info),
	};
	seconds.value = [...seconds.value.filter((s) => s.at > after.at_ms - MINUTE_MS), second];
}

/** Returns a time, in milliseconds, that this part of the waits did not exceed. Assumes that waits
 * are spread evenly between two bounds. */
function boundFor(buckets: Buckets, total: number, part: number): number | null {
	const bounds = [...buckets].filter(([, many]) => many >= part * total).map(([bound]) => bound);
	return bounds.length === 0 ? null : Math.min(...bounds) / 1000;
}

function sum(of: (s: Second) => number): number {
	return seconds.value.reduce((total, s) => total + of(s), 0);
}

/** The number of milliseconds that these numbers cover. */
export const covered = computed(() => sum((s) => s.ms));

export const grants = computed<Course & { total: number }>(() => {
	const total = sum((s) => s.grants);
	return { points: seconds.value.map((s) => [s.at, (s.grants * 1000) / s.ms]), value: covered.value === 0 ? null : (total * 1000) / covered.value, total };
});

export const came = computed<Course & { most: number | null; count: number }>(() => {
	const all: Buckets = new Map();
	for (const { came } of seconds.value) for (const [bound, many] of came?.buckets ?? []) all.set(bound, (all.get(bound) ?? 0) + many);
	const count = sum((s) => s.came?.count ?? 0);
	const points = seconds.value.map(({ at, came }): [number, number | null] => [at, came === null || came.count === 0 ? null : came.us / came.count / 1000]);
	return { points, value: count === 0 ? null : sum((s) => s.came?.us ?? 0) / count / 1000, most: boundFor(all, count, 0.99), count };
});

export const cost = computed<Course>(() => {
	const entries = sum((s) => s.grants);
	return { points: seconds.value.map((s) => [s.at, s.grants === 0 ? null : s.sent / s.grants]), value: entries === 0 ? null : sum((s) => s.sent) / entries, bounds: seconds.value.map((s) => [s.at, s.bound]) };
});

export const waiting = computed<Course>(() => ({ points: seconds.value.map((s) => [s.at, s.waiting]), value: seconds.value.at(-1)?.waiting ?? null }));
