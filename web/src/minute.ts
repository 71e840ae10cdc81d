// The last minute in numbers: what changed from each status to the next.
//
// A difference is taken only between two statuses of the same members: sums over other members say nothing about the time between.

import { computed, signal } from "@preact/signals";
import type { Info, Sample } from "./feed";

export const MINUTE_MS = 60_000;

/** How many waits took at most this long, by the bound in microseconds. */
type Buckets = Map<number, number>;

interface Second {
	at: number;
	ms: number; // the time since the last status
	grants: number | null;
	sent: number | null; // how many messages the nodes have sent
	came: { count: number; us: number; buckets: Buckets } | null; // how long clients of this node waited for a token that was elsewhere
	waiting: number;
	bound: number | null; // the most messages for an entry that the algorithm's claim allows
}

/** One of the numbers at the top: its values in the last minute. */
export interface Course {
	points: [number, number | null][];
	value: number | null; // the value for the whole minute
	bounds?: [number, number | null][]; // the values that should not be exceeded
}

const seconds = signal<Second[]>([]);

export function forgetMinute(): void {
	seconds.value = [];
}

/** Returns a text that changes when a member restarts, because its counters then begin at 0. */
function membersOf(sample: Sample): string {
	return sample.status.members.map((m) => `${m.name} ${m.incarnation} ${m.state}`).join(",");
}

function difference(before: number, after: number): number | null {
	return after >= before ? after - before : null;
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

export function addSecond(before: Sample, after: Sample): void {
	if (after.at_ms === before.at_ms) return; // this is the same status again: a new stream begins with the last one
	const same = membersOf(before) === membersOf(after);
	const second: Second = {
		at: after.at_ms,
		ms: after.at_ms - before.at_ms,
		grants: same ? difference(before.status.grants, after.status.grants) : null,
		sent: same ? difference(before.status.messages.sent, after.status.messages.sent) : null,
		came: cameBetween(before, after),
		waiting: after.waiters_total,
		bound: boundOf(after.info),
	};
	seconds.value = [...seconds.value.filter((s) => s.at > after.at_ms - MINUTE_MS), second];
}

/** Returns how long this part of the waits took at most, in milliseconds. Between two bounds, waits are taken to be spread evenly. */
function boundFor(buckets: Buckets, total: number, part: number): number | null {
	const bounds = [...buckets].filter(([, many]) => many >= part * total).map(([bound]) => bound);
	return bounds.length === 0 ? null : Math.min(...bounds) / 1000;
}

function sum(of: (s: Second) => number | null): number {
	return seconds.value.reduce((total, s) => total + (of(s) ?? 0), 0);
}

/** How many milliseconds these numbers cover. */
export const covered = computed(() => sum((s) => (s.grants === null ? 0 : s.ms)));

export const grants = computed<Course & { total: number }>(() => {
	const total = sum((s) => s.grants);
	return { points: seconds.value.map((s) => [s.at, s.grants === null ? null : (s.grants * 1000) / s.ms]), value: covered.value === 0 ? null : (total * 1000) / covered.value, total };
});

export const came = computed<Course & { most: number | null; count: number }>(() => {
	const all: Buckets = new Map();
	for (const { came } of seconds.value) for (const [bound, many] of came?.buckets ?? []) all.set(bound, (all.get(bound) ?? 0) + many);
	const count = sum((s) => s.came?.count ?? 0);
	const points = seconds.value.map(({ at, came }): [number, number | null] => [at, came === null || came.count === 0 ? null : came.us / came.count / 1000]);
	return { points, value: count === 0 ? null : sum((s) => s.came?.us ?? 0) / count / 1000, most: boundFor(all, count, 0.99), count };
});

export const cost = computed<Course>(() => {
	const entries = sum((s) => (s.sent === null ? 0 : s.grants));
	return { points: seconds.value.map((s) => [s.at, s.sent === null || !s.grants ? null : s.sent / s.grants]), value: entries === 0 ? null : sum((s) => s.sent) / entries, bounds: seconds.value.map((s) => [s.at, s.bound]) };
});

export const waiting = computed<Course>(() => ({ points: seconds.value.map((s) => [s.at, s.waiting]), value: seconds.value.at(-1)?.waiting ?? null }));
