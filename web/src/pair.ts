// Two runs side by side: what they have in common, what each has of its own, and one time for both.

import { computed, signal } from "@preact/signals";
import { commandOf, pack, unpack } from "./address";
import { Run, type Source, type Step } from "./run";
import { algorithms, playing, view, wrong } from "./state";
import { loadTours } from "./tour";

type Words = [string, string][];

export interface Pair {
	common: Words;
	own: [Words, Words];
	scenario: string | null; // both follow this schedule; else they are simulations
	tour: string | null; // the tour that the schedule is from
	runs: [Run, Run];
}

export const pair = signal<Pair | null>(null);
export const time = signal(0);

export const end = computed(() => (pair.value === null ? 0 : Math.max(...pair.value.runs.map((r) => r.end))));

// What a first visitor sees: two algorithms, the same requests.
const FIRST = "#compare?nodes=7&load=wishes:0.09&cs=constant:2&entries=8&seed=4&left=neilsen&left.topology=tree:2&right=suzuki-kasami";
const SIDES = ["left", "right"] as const;

function textOf(words: Words): string {
	return words.map(([key, value]) => (value === "" ? key : `${key}=${value}`)).join("\n");
}

/** The schedule of a scenario with other words in its header: what the two sides differ in. What one of them expects, the other may not. */
function adapt(scenario: string, words: Words): string {
	let text = scenario.replace(/^expect .*\n/gm, "");
	for (const [key, value] of words) {
		const name = key === "param" ? `param ${value.split("=")[0]}` : null;
		const line = value === "" ? key : `${key} ${value}`;
		const old = name !== null ? new RegExp(`^${name}=.*\n`, "m") : key === "fifo" || key === "reorder" ? /^(fifo|reorder)\n/m : new RegExp(`^${key} .*\n`, "m");
		text = old.test(text) ? text.replace(old, `${line}\n`) : text.replace(/^algorithm .*\n/m, (all) => `${all}${line}\n`);
	}
	return text;
}

function sourceOf(made: Omit<Pair, "runs">, side: 0 | 1): Source {
	return made.scenario !== null ? { scenario: adapt(made.scenario, made.own[side]) } : { words: textOf([...made.own[side], ...made.common]) };
}

/** Throws an Error with the sentence of C if one of them cannot run. */
function make(made: Omit<Pair, "runs">): Pair {
	const runs = ([0, 1] as const).map((side) => Run.make(sourceOf(made, side), [], algorithms.value));
	return { ...made, runs: runs as [Run, Run] };
}

export async function pairOf(hash: string): Promise<{ pair: Pair; time: number }> {
	const query = (hash === "#compare" ? FIRST : hash).replace(/^#compare\??/, "");
	const made: Omit<Pair, "runs"> = { common: [], own: [[], []], scenario: null, tour: null };
	let at = 0;
	for (const part of query.split("&").filter((p) => p !== "")) {
		const [key, ...rest] = part.split("=");
		const value = decodeURIComponent(rest.join("="));
		const side = SIDES.findIndex((name) => key === name || key.startsWith(name + "."));
		if (side >= 0) made.own[side].push([key.includes(".") ? key.slice(key.indexOf(".") + 1) : "algorithm", value]);
		else if (key === "t") at = Number(value);
		else if (key === "scn") made.scenario = await unpack(value);
		else if (key === "tour") {
			made.tour = value;
			made.scenario = (await loadTours())[value] ?? null;
			if (made.scenario === null) throw new Error(`there is no tour '${value.slice(0, 40)}'`);
		} else made.common.push([key, value]);
	}
	return { pair: make(made), time: Number.isFinite(at) ? at : 0 };
}

export async function pairHash(): Promise<string> {
	const { common, own, scenario, tour } = pair.value!;
	const plain = (text: string) => encodeURIComponent(text).replace(/%(3A|2C|2F|3D)/g, (all) => decodeURIComponent(all));
	const query = common.map(([key, value]) => (value === "" ? key : `${key}=${plain(value)}`));
	if (tour !== null) query.push("tour=" + plain(tour));
	else if (scenario !== null) query.push("scn=" + (await pack(scenario)));
	SIDES.forEach((name, i) => {
		for (const [key, value] of own[i]) query.push(key === "algorithm" ? `${name}=${plain(value)}` : `${name}.${key}${value === "" ? "" : "=" + plain(value)}`);
	});
	return `#compare?${query.join("&")}&t=${Number(time.value.toFixed(3))}`;
}

/** The commands that make the two runs. */
export function pairCommands(): string[] {
	const { common, own, scenario } = pair.value!;
	return scenario !== null ? [] : own.map((words) => commandOf(textOf([...words, ...common])));
}

export async function showPair(hash: string): Promise<void> {
	let sentence: string | null = null;
	const found = await pairOf(hash).catch((error: Error) => {
		sentence = error.message;
		return pairOf("#compare");
	});
	pair.value = found.pair;
	time.value = Math.min(found.time, end.value);
	view.value = "compare";
	wrong.value = sentence;
}

let remembered = 0;
export function rememberPair(): void {
	const turn = ++remembered;
	void pairHash().then((hash) => {
		if (turn === remembered && view.value === "compare") history.replaceState(null, "", hash);
	});
}

/** Another word for both, or for one side; what cannot be is said, and nothing changes. */
export function changePair(side: 0 | 1 | null, key: string, value: string): void {
	const now = pair.value!;
	const [name, text] = key.startsWith("param ") ? ["param", `${key.slice(6)}=${value}`] : [key, value];
	const same = ([k, v]: [string, string]) => (name === "param" ? k === name && v.startsWith(key.slice(6) + "=") : name === "fifo" || name === "reorder" ? k === "fifo" || k === "reorder" : k === name);
	const replace = (words: Words): Words => [...words.filter((word) => !same(word)), [name, text]];
	const own: [Words, Words] = [...now.own];
	// Another algorithm keeps nothing that belonged to the one before.
	if (side !== null) own[side] = name === "algorithm" ? [["algorithm", value]] : replace(own[side]);
	playing.value = false;
	try {
		pair.value = make({ ...now, common: side === null ? replace(now.common) : now.common, own });
		time.value = Math.min(time.value, end.value);
		wrong.value = null;
		rememberPair();
	} catch (error) {
		wrong.value = (error as Error).message;
	}
}

export function goTo(at: number): void {
	time.value = Math.max(0, Math.min(end.value, at));
}

/** To the next time at which something happens on one side, or to the one before. */
export function goNext(direction: 1 | -1): void {
	const times = pair.value!.runs.flatMap((run) => run.steps.map((s) => s.t));
	const later = direction > 0 ? times.filter((t) => t > time.value + 1e-9) : times.filter((t) => t < time.value - 1e-9);
	goTo(later.length === 0 ? (direction > 0 ? end.value : 0) : direction > 0 ? Math.min(...later) : Math.max(...later));
}

function told(step: Step): string {
	return JSON.stringify([step.head, step.rest.filter((l) => l.ev !== "state")]);
}

/** Two runs of one algorithm on one schedule: the first step at which they do not do the same; null if there is none. */
export const parting = computed(() => {
	if (pair.value === null) return null;
	const [left, right] = pair.value.runs;
	if (left.start.algorithm !== right.start.algorithm || left.start.nodes !== right.start.nodes) return null;
	for (let i = 0; i < Math.max(left.steps.length, right.steps.length); i++) {
		if (left.steps[i] === undefined || right.steps[i] === undefined || told(left.steps[i]) !== told(right.steps[i])) return i + 1;
		if (left.statesText(i + 1) !== right.statesText(i + 1)) return i + 1;
	}
	return null;
});

export function wordOf(words: Words, key: string): string | undefined {
	return words.find(([name]) => name === key)?.[1];
}

