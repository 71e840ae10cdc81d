// What the page shows: one run, one moment of it, and how it got there.

import { batch, computed, effect, signal } from "@preact/signals";
import { FIRST, hashOf, placeOf } from "./address";
import type { Mapped } from "./code";
import { requestsOf } from "./cost";
import type { ActName, Algorithm } from "./module";
import { json } from "./resources";
import { Run, type Act, type Source } from "./run";
import { Watch } from "./walker";

export const algorithms = signal<Algorithm[]>([]);
export const run = signal<Run | null>(null);
export const step = signal(0);
export const time = signal(0);
export const playing = signal(false);
export const speed = signal(1);
export const wrong = signal<string | null>(null);
export const hovered = signal<number | null>(null);
export const said = signal(""); // what a screen reader says
export const source = signal<Record<string, string> | null>(null);
export const map = signal<Record<string, Mapped> | null>(null);
export const still = signal(false);

/** The step that is told in words: the one that is shown, but not in every frame while it plays. */
export const told = signal(0);
/** Counts how often more of the run was made: its lists are longer since. */
export const grown = signal(0);
/** The first step that breaks something which must hold, once it is known. */
export const broken = signal<number | null>(null);
export const hoveredNode = signal<number | null>(null);
export const narrow = signal(false);

export const moment = computed(() => (run.value === null ? null : run.value.moment(told.value)));
export const states = computed(() => (run.value === null ? [] : told.value === step.value ? moment.value!.states : run.value.states(step.value)));
export const requests = computed(() => (grown.value >= 0 && run.value !== null ? requestsOf(run.value) : []));

const TOLD_EVERY = 120; // milliseconds
let toldLast = 0;
effect(() => {
	if (!playing.value) told.value = step.value;
});

/** While it plays: words that change sixty times a second could not be read. */
export function tellNow(now: number): void {
	if (told.value === step.value || now - toldLast < TOLD_EVERY) return;
	toldLast = now;
	told.value = step.value;
}

let watch: Watch | null = null;
function look(): void {
	const current = run.value;
	if (watch === null || current === null) return;
	const more = watch.look(current.steps.length, 6);
	broken.value = watch.broken;
	if (more) setTimeout(look, 10);
}

/** More of the run, if there is more. */
export function extend(): boolean {
	if (!run.value!.extend()) return false;
	grown.value++;
	look();
	return true;
}

/** Sources and maps come when somebody can look at them, and not before the first frame. */
export async function loadCode(): Promise<void> {
	const [texts, lines] = await Promise.all([json<Record<string, string>>("sources.json"), json<Record<string, Mapped>>("lines.json")]);
	source.value = texts;
	map.value = lines;
}

/** Another run and its moment at once: a step of the one must never be looked for in the other. */
function take(made: Run, move: () => void): void {
	watch = new Watch(made.source, made.acts);
	batch(() => {
		run.value = made;
		wrong.value = null;
		hovered.value = hoveredNode.value = broken.value = null;
		move();
		told.value = step.value;
	});
	setTimeout(look, 50);
}

/** Makes a run the one that is shown. False, and what is wrong is said, if it cannot be. */
export function show(origin: Source, acts: Act[], at: number | null): boolean {
	try {
		const made = Run.make(origin, acts, algorithms.value);
		while (at !== null && made.end < at && made.extend());
		take(made, () => go(at === null ? 0 : made.stepAt(at), at ?? 0));
		return true;
	} catch (error) {
		wrong.value = (error as Error).message;
		return false;
	}
}

export async function showAddress(hash: string): Promise<void> {
	const place = await placeOf(hash).catch(() => null);
	if (place === null) {
		if (hash.length > 1) wrong.value = "this address is not one of a run";
		show({ words: FIRST }, [], null);
		return;
	}
	if (show(place.source, place.acts, place.time)) return;
	const sentence = wrong.value;
	show({ words: FIRST }, [], null);
	wrong.value = sentence;
}

export function go(to: number, at?: number): void {
	const current = run.value!;
	while (to >= current.steps.length && extend());
	step.value = Math.max(0, Math.min(current.steps.length, to));
	time.value = at ?? (step.value === 0 ? 0 : current.steps[step.value - 1].t);
}

export function goTime(at: number): void {
	const current = run.value!;
	while (at >= current.end && extend());
	const bounded = Math.max(0, Math.min(current.end, at));
	step.value = current.stepAt(bounded);
	time.value = bounded;
}

export function goEntry(direction: 1 | -1): void {
	const steps = run.value!.entries.map((e) => e.step);
	const next = direction > 0 ? steps.find((s) => s > step.value) : steps.reverse().find((s) => s < step.value);
	go(next ?? (direction > 0 ? run.value!.steps.length : 0));
}

/** Performs a user's act at this moment and forgets later acts. Returns false if it cannot happen. */
export function act(name: ActName, what: number, by = 0): boolean {
	const current = run.value!;
	const acts = current.acts.filter((a) => a.at <= step.value && !(a.at === step.value && a.name !== "delay"));
	const added: Act = { at: step.value, name, what, by };
	const at = step.value;
	playing.value = false;
	const made = Run.make(current.source, [...acts, added], algorithms.value);
	if (!made.acts.some((a) => a.at === at && a.name === name && a.what === what)) {
		wrong.value = "that cannot happen now";
		return false;
	}
	take(made, () => go(name === "delay" ? at : at + 1));
	remember();
	return true;
}

/** Goes back to the run without any acts. */
export function returnToRun(): void {
	const current = run.value!;
	const at = Math.min(step.value, ...current.acts.map((a) => a.at));
	take(Run.make(current.source, [], algorithms.value), () => go(at));
	remember();
}

/** The address tells the run and the moment. */
export async function address(): Promise<string> {
	const current = run.value!;
	return hashOf({ source: current.source, acts: current.acts, time: Number(time.value.toFixed(3)) });
}

let remembered = 0;
export function remember(): void {
	const turn = ++remembered;
	void address().then((hash) => {
		if (turn === remembered && hash.length < 8000) history.replaceState(null, "", hash);
	});
}
