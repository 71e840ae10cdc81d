// Tours: scenarios whose comments are texts for readers, in frames. "## Title" begins a frame. The "#" lines below it are its words. The
// steps below those are shown with the words; expectations among the steps make sure that the words are true.
//
// A frame may ask a question before it shows its steps: "#? Who enters next?". Then each line is an answer: "#+ 5" a right one, "#- 2" a
// wrong one.

import { json } from "./resources";
import type { Source } from "./run";
import { Walker } from "./walker";

export interface Question {
	text: string;
	answers: { text: string; right: boolean }[];
}

export interface Frame {
	title: string;
	words: string[]; // the words of the frame, in paragraphs
	question: Question | null;
	from: number; // the last step before the frame
	to: number; // the last step of the frame
}

export interface Tour {
	name: string;
	source: Source;
	frames: Frame[];
}

let texts: Promise<Record<string, string>> | null = null;

/** Returns all tours by name. They are loaded when the first one is asked for. */
export function loadTours(): Promise<Record<string, string>> {
	texts ??= json<Record<string, string>>("tours.json");
	return texts;
}

/**
 * The tours that show an error, by algorithm, each with a few words. These are in the first sentence of a tour: "Raymond's algorithm
 * as a summary tells it: a tour to a deadlock."
 */
export function errorsOf(all: Record<string, string>): Map<string, [string, string][]> {
	const found = new Map<string, [string, string][]>();
	for (const [name, text] of Object.entries(all)) {
		const algorithm = /^algorithm (\S+)$/m.exec(text)![1];
		const head = /^(# .*\n)+/.exec(text)![0].replaceAll(/\n?# /g, " ");
		const words = /(\b(?:as|by) [^:]*): a tour to ([^.]*)\./.exec(head);
		if (words === null) continue;
		if (!found.has(algorithm)) found.set(algorithm, []);
		found.get(algorithm)!.push([name, `${words[1]}: ${words[2]}`]);
	}
	return found;
}

/** Returns the line of the scenario at which each step happened; steps are counted from 1. */
function linesOf(source: Source): number[] {
	const walker = new Walker(source, []);
	const lines = [0];
	while (walker.advance(walker.at + 1)) lines.push(walker.instance.status().line ?? 0);
	return lines;
}

/** Reads a tour. Throws an Error if the text is not a scenario. */
export function readTour(name: string, text: string): Tour {
	const source: Source = { scenario: text };
	const found: { frame: Frame; line: number }[] = [];
	let open = false; // the next line may continue the words of a frame
	text.split("\n").forEach((raw, i) => {
		const line = raw.trim();
		const last = found[found.length - 1]?.frame;
		if (line.startsWith("## ")) {
			found.push({ frame: { title: line.slice(3), words: [], question: null, from: 0, to: 0 }, line: i + 1 });
			open = true;
		} else if (!open || last === undefined || !line.startsWith("#")) open = false;
		else if (line.startsWith("#? ")) last.question = { text: line.slice(3), answers: [] };
		else if (/^#[+-] /.test(line)) last.question?.answers.push({ text: line.slice(3), right: line[1] === "+" });
		else if (line === "#") last.words.push("");
		else last.words.push(`${last.words.pop() ?? ""} ${line.slice(2)}`.trim());
	});
	const lines = linesOf(source);
	found.forEach(({ frame }, i) => {
		const until = found[i + 1]?.line ?? Infinity;
		frame.from = i === 0 ? 0 : found[i - 1].frame.to;
		frame.to = frame.from;
		while (frame.to + 1 < lines.length && lines[frame.to + 1] < until) frame.to++;
	});
	return { name, source, frames: found.map(({ frame }) => frame) };
}

/** Returns the frame that a step belongs to, as near as possible to the one that is shown. */
export function frameOf(tour: Tour, step: number, shown: number): number {
	const has = (i: number) => tour.frames[i] !== undefined && step >= tour.frames[i].from && step <= tour.frames[i].to;
	if (has(shown)) return shown;
	const found = tour.frames.findIndex((_, i) => has(i));
	return found < 0 ? shown : found;
}
