// Finds the lines of C that ran, from clang's counters.

import type { Ran } from "./module";

export interface Mapped {
	name: string;
	file: string;
	regions: [number, number, number, number, string][];
}

export interface CodeLine {
	number: number;
	text: string;
	ran: boolean | null; // null: the line has no code of its own, such as a brace
}

export interface Passage {
	file: string;
	name: string;
	lines: CodeLine[]; // the lines of the function's body
}

/** Evaluates an expression of counters: "#0", "(#0 - #1)", "((#0 + #2) - #3)" or "0". */
export function evaluate(expression: string, counters: number[]): number {
	let at = 0;
	const skip = () => {
		while (expression[at] === " ") at++;
	};
	const term = (): number => {
		skip();
		if (expression[at] === "(") {
			at++;
			const value = sum();
			skip();
			at++;
			return value;
		}
		const match = /^#?\d+/.exec(expression.slice(at))!;
		at += match[0].length;
		return match[0][0] === "#" ? (counters[Number(match[0].slice(1))] ?? 0) : Number(match[0]);
	};
	const sum = (): number => {
		let value = term();
		for (skip(); expression[at] === "+" || expression[at] === "-"; skip()) value += expression[at++] === "+" ? term() : -term();
		return value;
	};
	return sum();
}

function within(region: Mapped["regions"][number], line: number, column: number): boolean {
	const [fromLine, fromColumn, toLine, toColumn] = region;
	return (line > fromLine || (line === fromLine && column >= fromColumn)) && (line < toLine || (line === toLine && column <= toColumn));
}

function passageOf(mapped: Mapped, counters: number[], source: string[]): Passage {
	const [first, , last] = mapped.regions[0];
	const lines: CodeLine[] = [];
	// Shows the lines between the braces, without the first ones that only give names to arguments.
	let top = first + 1;
	while (top < last && /^\s*(struct state \*node = state;|const struct state \*node = state;|\(void\)\w+;)?$/.test(source[top - 1])) top++;
	for (let number = top; number < last; number++) {
		const text = source[number - 1];
		const column = text.search(/\S/) + 1;
		const bare = column === 0 || /^\s*(\{|\}.*)$/.test(text) || /^\s*\/?\*/.test(text);
		// Of the regions that contain the beginning of the line, the last one in the list is the innermost.
		let ran: boolean | null = null;
		if (!bare) for (const region of mapped.regions) if (within(region, number, column)) ran = evaluate(region[4], counters) > 0;
		lines.push({ number, text, ran });
	}
	return { file: mapped.file, name: mapped.name, lines };
}

const LONG = 16; // a passage of more lines than these is shortened
const PALE = 5; // up to this many lines in a row that did not run are shown

/** Leaves out the middle of long stretches in which nothing ran. Their beginning shows which branch was not taken. */
function shorten(lines: CodeLine[]): CodeLine[] {
	if (lines.length <= LONG) return lines;
	const kept: CodeLine[] = [];
	for (let i = 0; i < lines.length; ) {
		let end = i;
		while (end < lines.length && lines[end].ran !== true) end++;
		if (end - i > PALE) kept.push(...lines.slice(i, i + PALE - 2), { number: lines[i + PALE - 2].number, text: "\t…", ran: null }, lines[end - 1]);
		else kept.push(...lines.slice(i, end));
		if (end < lines.length) kept.push(lines[end]);
		i = end + 1;
	}
	return kept;
}

/** Is this a body that only looks at the kind of a message and calls the function that handles it? */
function dispatches(passage: Passage): boolean {
	return /^\s*switch \(type\)/.test(passage.lines[0]?.text ?? "");
}

const ENTRANCES = /^(request|release|receive|expire)$/;
const PASSAGES_MAX = 4;

/**
 * Returns the functions of the algorithm's file that ran in a step. Helpers in other files are left
 * out, and so are functions that only decode a message and pass it on, unless nothing else ran.
 */
export function passagesOf(ran: Ran[], map: Record<string, Mapped>, sources: Record<string, string>): Passage[] {
	const found = ran.map(([hash, counters]) => ({ mapped: map[hash], counters })).filter(({ mapped }) => mapped !== undefined && sources[mapped.file] !== undefined);
	const file = found.find(({ mapped }) => ENTRANCES.test(mapped.name))?.mapped.file;
	const own = found.filter(({ mapped }) => mapped.file === file);
	const most = own.filter(({ mapped }) => !/^(receive|read)/.test(mapped.name));
	const weight = (name: string) => (/^(on_|request$|release$|expire$)/.test(name) ? 0 : 1);
	const passages = (most.length > 0 ? most : own)
		.map(({ mapped, counters }) => passageOf(mapped, counters, sources[mapped.file].split("\n")))
		.sort((a, b) => weight(a.name) - weight(b.name) || a.lines[0]?.number - b.lines[0]?.number)
		// A helper of one line only gives a name to a formula. It is left out, because the line that calls it is shown.
		.filter(({ lines, name }) => lines.some((line) => line.ran !== null) && (weight(name) === 0 || lines.length > 1));
	const rest = passages.filter((passage) => !dispatches(passage));
	return (rest.length > 0 ? rest : passages).slice(0, PASSAGES_MAX).map((passage) => ({ ...passage, lines: shorten(passage.lines) }));
}
