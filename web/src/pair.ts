// Two runs side by side: what they have in common, what belongs to each, and one time for both.

import { computed, signal } from "@preact/signals";
import { commandOf, pack, readNumber, readText, unpackScenario } from "./address";
import { Run, type Step } from "./run";
import { algorithms, keepPlace, playing, view, wrong } from "./state";
import { loadTours } from "./tour";

type Words = [string, string][];

export interface Pair {
	common: Words;
	own: [Words, Words];
	scenario: string | null; // the schedule that both follow; null: both are simulations
	tour: string | null; // the tour that has this schedule
	runs: [Run, Run];
	refused: [number | null, number | null]; // for each side, the step of the schedule that cannot happen there; from then on it goes its own way
}
type Made = Omit<Pair, "runs" | "refused">;

export const pair = signal<Pair | null>(null);
export const time = signal(0);

export const end = computed(() => (pair.value === null ? 0 : Math.max(...pair.value.runs.map((r) => r.end))));

// The pair that a first visitor sees: two algorithms with the same requests.
const FIRST = "#compare?nodes=7&load=wishes:0.09&cs=constant:2&entries=8&seed=4&left=neilsen&left.topology=tree:2&right=suzuki-kasami";
const SIDES = ["left", "right"] as const;

function textOf(words: Words): string {
	return words.map(([key, value]) => (value === "" ? key : `${key}=${value}`)).join("\n");
}

/** Returns the schedule of a scenario with other words in its header, in which the two sides
 * differ. Expectations are left out, because one side may not meet those of the other. */
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

/** Makes a run of a schedule that was written for another text. Where the schedule ends, or cannot
 * be followed, the messages in flight arrive. */
function runOn(scenario: string): { run: Run; refused: number | null } {
	const followed = Run.make({ scenario }, [], algorithms.value);
	const bad = followed.status.verdict === "bad";
	const lines = scenario.trimEnd().split("\n");
	const kept = bad ? lines.slice(0, followed.status.failed! - 1) : lines;
	return { run: Run.make({ scenario: [...kept, "run", ""].join("\n") }, [], algorithms.value), refused: bad ? followed.steps.length + 1 : null };
}

function makeSide(made: Made, side: 0 | 1): { run: Run; refused: number | null } {
	if (made.scenario === null) return { run: Run.make({ words: textOf([...made.own[side], ...made.common]) }, [], algorithms.value), refused: null };
	const scenario = adapt(made.scenario, made.own[side]);
	if (scenario !== adapt(made.scenario, [])) return runOn(scenario);
	return { run: Run.make({ scenario }, [], algorithms.value), refused: null };
}

const KINDS = { mutex: "is for mutual exclusion", election: "elects a leader" };

/** Makes both runs. Throws an Error with a sentence of the C code if one of them cannot run. */
function make(made: Made): Pair {
	const [left, right] = [makeSide(made, 0), makeSide(made, 1)];
	const [one, other] = [left.run.algorithm, right.run.algorithm];
	if (one.kind !== other.kind) throw new Error(`${one.name} ${KINDS[one.kind]} and ${other.name} ${KINDS[other.kind]}: only two of one kind can be side by side`);
	return { ...made, runs: [left.run, right.run], refused: [left.refused, right.refused] };
}

export async function pairOf(hash: string): Promise<{ pair: Pair; time: number }> {
	const query = (hash === "#compare" ? FIRST : hash).replace(/^#compare\??/, "");
	const made: Made = { common: [], own: [[], []], scenario: null, tour: null };
	let at = 0;
	for (const part of query.split("&").filter((p) => p !== "")) {
		const [key, ...rest] = part.split("=");
		const value = readText(rest.join("="));
		const side = SIDES.findIndex((name) => key === name || key.startsWith(name + "."));
		if (side >= 0) made.own[side].push([key.includes(".") ? key.slice(key.indexOf(".") + 1) : "algorithm", value]);
		else if (key === "t") at = readNumber(key, value, /^\d{1,9}(\.\d+)?$/, "6.41");
		else if (key === "scn") made.scenario = await unpackScenario(value);
		else if (key === "tour") {
			made.tour = value;
			made.scenario = (await loadTours())[value] ?? null;
			if (made.scenario === null) throw new Error(`there is no tour '${value.slice(0, 40)}'`);
		} else made.common.push([key, value]);
	}
	return { pair: make(made), time: at };
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

/** Returns the commands that make the two runs. */
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
/** Writes the pair and the time into the address. After a change, `before` is the address to which Back returns. */
export function rememberPair(before: Promise<string> | null = null): void {
	const turn = ++remembered;
	void Promise.all([before, pairHash()]).then(([was, hash]) => {
		if (view.value !== "compare") return;
		if (was !== null) keepPlace(was, hash);
		else if (turn === remembered) history.replaceState(null, "", hash);
	});
}

/** Changes a word for both sides or for one. If that is not possible, says why, and changes nothing. */
export function changePair(side: 0 | 1 | null, key: string, value: string): void {
	const now = pair.value!;
	const [name, text] = key.startsWith("param ") ? ["param", `${key.slice(6)}=${value}`] : [key, value];
	const same = ([k, v]: [string, string]) => (name === "param" ? k === name && v.startsWith(key.slice(6) + "=") : name === "fifo" || name === "reorder" ? k === "fifo" || k === "reorder" : k === name);
	const replace = (words: Words): Words => [...words.filter((word) => !same(word)), [name, text]];
	const own: [Words, Words] = [...now.own];
	// If the algorithm changes, drop all options of the old one.
	if (side !== null) own[side] = name === "algorithm" ? [["algorithm", value]] : replace(own[side]);
	playing.value = false;
	const before = pairHash();
	try {
		pair.value = make({ ...now, common: side === null ? replace(now.common) : now.common, own });
		time.value = Math.min(time.value, end.value);
		wrong.value = null;
		rememberPair(before);
	} catch (error) {
		wrong.value = (error as Error).message;
	}
}

export function goTo(at: number): void {
	time.value = Math.max(0, Math.min(end.value, at));
}

/** Goes to the next time at which something happens on one side or, backward, to the previous one. */
export function goNext(direction: 1 | -1): void {
	const times = pair.value!.runs.flatMap((run) => run.steps.map((s) => s.t));
	const later = direction > 0 ? times.filter((t) => t > time.value + 1e-9) : times.filter((t) => t < time.value - 1e-9);
	goTo(later.length === 0 ? (direction > 0 ? end.value : 0) : direction > 0 ? Math.min(...later) : Math.max(...later));
}

/** Returns what happened, without the time and the numbers of messages, which may differ even if
 * nothing else does. */
function told(step: Step): string {
	return JSON.stringify([step.head, ...step.rest.filter((l) => l.ev !== "state")].map(({ t, msg, of, ...rest }) => rest));
}

/** The first step at which two runs of one algorithm on one schedule differ; null if there is none. */
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

