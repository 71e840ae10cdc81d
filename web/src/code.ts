// The lines of C that ran, from clang's counters.

import type { Ran } from "./module";

export interface Mapped {
	name: string;
	file: string;
	regions: [number, number, number, number, string][];
}

export interface CodeLine {
	number: number;
	text: string;
	ran: boolean | null; // null: nothing of its own, such as a brace
}

export interface Passage {
	file: string;
	name: string;
	lines: CodeLine[];
}

/** "#0", "(#0 - #1)", "((#0 + #2) - #3)" or "0". */
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
	// The region begins at the brace: its name stands above.
	let top = first;
	while (top > 1 && !source[top - 1].includes(mapped.name + "(")) top--;
	for (let number = top; number <= last; number++) {
		const text = source[number - 1];
		const column = text.search(/\S/) + 1;
		const bare = column === 0 || /^\s*(\{|\}.*)$/.test(text) || /^\s*\/?\*/.test(text);
		// The last region that has the beginning of the line is the innermost.
		let ran: boolean | null = null;
		if (!bare && number >= first) for (const region of mapped.regions) if (within(region, number, column)) ran = evaluate(region[4], counters) > 0;
		lines.push({ number, text, ran });
	}
	return { file: mapped.file, name: mapped.name, lines };
}

/** What ran in a step, as passages of the file; what only decodes and hands on is left out if there is more to see. */
export function passagesOf(ran: Ran[], map: Record<string, Mapped>, sources: Record<string, string>): Passage[] {
	const found = ran.filter(([hash]) => map[hash] !== undefined && sources[map[hash].file] !== undefined);
	const most = found.filter(([hash]) => map[hash].name !== "receive");
	const shown = most.some(([hash]) => map[hash].name.startsWith("on_")) || most.length > 0 ? most : found;
	const weight = (name: string) => (/^(on_|request$|release$|expire$)/.test(name) ? 0 : 1);
	return shown
		.map(([hash, counters]) => passageOf(map[hash], counters, sources[map[hash].file].split("\n")))
		.sort((a, b) => weight(a.name) - weight(b.name) || a.lines[0].number - b.lines[0].number)
		.slice(0, 4);
}
