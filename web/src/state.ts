// The state of the page: the run and the moment that are shown, and how the user got there.

import { batch, computed, effect, signal } from "@preact/signals";
import { FIRST, hashOf, placeOf } from "./address";
import type { Mapped } from "./code";
import { requestsOf } from "./cost";
import type { ActName, Algorithm } from "./module";
import { json } from "./resources";
import { Run, type Act, type Source } from "./run";
import { frameOf, loadTours, readTour, type Tour } from "./tour";
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

/** The step that is described in words. It follows the step that is shown, but not in every frame while the run plays. */
export const told = signal(0);
/** Counts how often more steps of the run were made, which makes its lists longer. */
export const grown = signal(0);
/** The first step that breaks a property which must hold, once it is known. */
export const broken = signal<number | null>(null);
export const hoveredNode = signal<number | null>(null);
export const narrow = signal(false);
export const view = signal<"all" | "lab" | "compare" | "cluster">("lab");
export const tour = signal<Tour | null>(null);
/** The frame of the tour that is shown, from 0. */
export const frame = signal(0);
/** The step at which playing ends: the last of a frame. */
export const until = signal<number | null>(null);
/** The answers that were given to the questions of tours. They are kept in this page only. */
export const answered = signal<Record<string, number>>({});

export const moment = computed(() => (run.value === null ? null : run.value.moment(told.value)));
export const states = computed(() => (run.value === null ? [] : told.value === step.value ? moment.value!.states : run.value.states(step.value)));
export const requests = computed(() => (grown.value >= 0 && run.value !== null ? requestsOf(run.value) : []));

const TOLD_EVERY = 120; // how often the description changes while a run plays, in milliseconds
let toldLast = 0;
effect(() => {
	if (playing.value) return;
	told.value = step.value;
	until.value = null;
});
effect(() => {
	// A run that the user has changed belongs to no frame of the tour any more.
	if (tour.value !== null && run.value?.acts.length === 0) frame.value = frameOf(tour.value, step.value, frame.peek());
});

/** Updates the description while the run plays. Words that change sixty times a second could not be read. */
export function tellNow(now: number): void {
	if (told.value === step.value || now - toldLast < TOLD_EVERY) return;
	toldLast = now;
	told.value = step.value;
}

let watch: Watch | null = null;
function look(): void {
	const current = run.value;
	if (watch === null || current === null) return;
	const more = watch.look(current.steps.length, playing.peek() ? 2 : 6); // drawing comes first, so only little is done here
	broken.value = watch.broken;
	if (more) setTimeout(look, 10);
}

/** Makes more steps of the run, if there are more. */
export function extend(): boolean {
	if (!run.value!.extend()) return false;
	grown.value++;
	look();
	return true;
}

/** Loads sources and maps after the first frame, because nobody can look at them before. */
export async function loadCode(): Promise<void> {
	const [texts, lines] = await Promise.all([json<Record<string, string>>("sources.json"), json<Record<string, Mapped>>("lines.json")]);
	source.value = texts;
	map.value = lines;
}

/** Changes the run and its moment at once, so that a step of one run is never looked for in the other. */
function take(made: Run, move: () => void): void {
	watch = new Watch(made.source, made.acts);
	batch(() => {
		run.value = made;
		wrong.value = null;
		hovered.value = hoveredNode.value = broken.value = null;
		if (tour.value?.source !== made.source) tour.value = null;
		move();
		told.value = step.value;
	});
	setTimeout(look, 50);
}

/** Makes a run and shows it at a step or at a time. Returns false if it cannot be made; then the page says what is wrong. */
export function show(origin: Source, acts: Act[], to: number | null = null, at: number | null = null): boolean {
	try {
		const made = Run.make(origin, [...acts], algorithms.value);
		while ((to === null ? at !== null && made.end < at : made.steps.length < to) && made.extend());
		take(made, () => (to === null && at !== null ? goTime(at) : go(to ?? 0, at ?? undefined)));
		const missing = acts.length - made.acts.length;
		if (missing > 0) wrong.value = `${missing} of the ${acts.length} acts in this address cannot happen: they are left out`;
		return true;
	} catch (error) {
		wrong.value = (error as Error).message;
		return false;
	}
}

/** Shows a tour at a frame, or at a step of it. Throws an Error if there is no tour of this name. */
async function showTour(name: string, at: number, acts: Act[], to: number | null): Promise<void> {
	const text = (await loadTours())[name];
	if (text === undefined) throw new Error(`there is no tour '${name.slice(0, 40)}'`);
	const made = readTour(name, text);
	const index = Math.max(0, Math.min(made.frames.length, at) - 1);
	tour.value = made;
	if (!show(made.source, acts)) throw new Error(wrong.value!);
	const sentence = wrong.value;
	frame.value = index;
	go(to ?? (question() === null ? made.frames[index].to : made.frames[index].from));
	frame.value = acts.length === 0 ? frameOf(made, step.value, index) : index;
	wrong.value = sentence;
}

/** Shows what an address names. If it makes no sense, says what is wrong with it, and shows the first run. */
export async function showAddress(hash: string): Promise<void> {
	let sentence: string | null = null;
	const bare = /^(#(all|lab)?)?$/.exec(hash);
	view.value = bare !== null && bare[2] !== "lab" ? "all" : "lab";
	if (bare === null)
		try {
			const place = await placeOf(hash);
			if (place.tour !== null) return await showTour(place.tour, place.frame ?? 1, place.acts, place.step);
			if (show(place.source, place.acts, place.step, place.time)) return;
			sentence = wrong.value;
		} catch (error) {
			sentence = (error as Error).message;
		}
	show({ words: FIRST }, []);
	wrong.value = sentence;
}

/** Returns the question of the frame, as long as it was not answered correctly. */
export function question(): Tour["frames"][number]["question"] {
	const asked = tour.value?.frames[frame.value]?.question ?? null;
	const given = answered.value[questionKey()];
	return asked === null || (given !== undefined && asked.answers[given].right) ? null : asked;
}

export function questionKey(): string {
	return `${tour.value?.name} ${frame.value}`;
}

/** Answers the question of the frame. If the answer is right, shows what follows. */
export function answer(index: number): void {
	answered.value = { ...answered.value, [questionKey()]: index };
	if (question() === null) playFrame();
}

/** Plays the steps of the frame, or shows its end if the user prefers reduced motion. */
function playFrame(): void {
	const { from, to } = tour.value!.frames[frame.value];
	if (step.value < from || step.value >= to) go(from);
	if (still.value || from === to) go(to);
	else {
		until.value = to;
		playing.value = true;
	}
	remember();
}

/** Goes to a frame of the tour. Forward, it is played; backward, it is shown at once. */
export function goFrame(index: number): void {
	const made = tour.value!;
	if (index < 0 || index >= made.frames.length) return;
	const forward = index > frame.value;
	playing.value = false;
	if (run.value!.acts.length > 0) take(Run.make(made.source, [], algorithms.value), () => go(made.frames[index].from));
	frame.value = index;
	if (question() !== null) go(made.frames[index].from);
	else if (forward) return playFrame();
	else go(made.frames[index].to);
	frame.value = index;
	remember();
}

/** Goes to a step, at its own time or at a later time before the next step. */
export function go(to: number, at?: number): void {
	const current = run.value!;
	while (to >= current.steps.length && extend());
	const next = Math.max(0, Math.min(current.steps.length, to));
	const [first, last] = [timeOf(current, next), timeOf(current, Math.min(current.steps.length, next + 1))];
	move(next, at === undefined ? first : Math.max(first, Math.min(last, at)));
}

/** Changes step and time together, so that everything is drawn only once. */
function move(next: number, at: number): void {
	batch(() => {
		wrong.value = null;
		step.value = next;
		time.value = at;
	});
}

function timeOf(current: Run, at: number): number {
	return at === 0 ? 0 : current.steps[at - 1].t;
}

export function goTime(at: number): void {
	const current = run.value!;
	while (at >= current.end && extend());
	const bounded = Math.max(0, Math.min(current.end, at));
	move(current.stepAt(bounded), bounded);
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

/** Writes the run and the moment into the address. */
export async function address(): Promise<string> {
	const current = run.value!;
	const between = Math.abs(time.value - timeOf(current, step.value)) > 1e-6;
	if (tour.value !== null) {
		const own = current.acts.length === 0 && step.value === tour.value.frames[frame.value].to;
		return hashOf({ source: current.source, tour: tour.value.name, frame: frame.value + 1, acts: current.acts, step: own ? null : step.value, time: null });
	}
	return hashOf({ tour: null, frame: null, source: current.source, acts: current.acts, step: step.value, time: between ? Number(time.value.toFixed(6)) : null });
}

/** Makes the browser's Back lead to the last place. */
export function keepPlace(before: string, hash: string): void {
	if (before.length < 8000) history.replaceState(null, "", before);
	if (hash.length < 8000) history.pushState(null, "", hash);
}

/** Shows another run in place of this one. Back undoes it. Acts that are not possible in the other run are reported. */
export function replaceRun(origin: Source): void {
	const before = view.value === "lab" ? address() : location.hash;
	const count = run.value!.acts.length;
	playing.value = false;
	if (!show(origin, [])) return;
	view.value = "lab";
	if (count > 0) wrong.value = `This is another run, without what you did by hand (${count === 1 ? "one act" : `${count} acts`}). The browser's Back returns to the old run.`;
	remembered++;
	void Promise.all([before, address()]).then(([was, hash]) => keepPlace(was, hash));
}

let remembered = 0;
export function remember(): void {
	// These views do not show a moment of a run.
	if (view.value === "all" || view.value === "cluster") return;
	const turn = ++remembered;
	void address().then((hash) => {
		if (turn === remembered && hash.length < 8000) history.replaceState(null, "", hash);
	});
}
