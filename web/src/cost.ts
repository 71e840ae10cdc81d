// Counts the messages of each entry. A message belongs to the request that made it necessary.

import type { Role } from "./module";
import type { Flight, Line, Run } from "./run";

export interface Request {
	node: number;
	step: number; // the step at which the node asked
	entered: number; // the step at which the node entered; Infinity: not yet
	left: number;
	messages: Flight[];
}

/**
 * Finds the request to which each message belongs. A message that is sent when a node asks belongs
 * to that request. A message that is sent because another one arrived belongs to the same request
 * as the other one. But a permission belongs to the request of the node that waits for it, and a
 * message that is sent at an exit belongs to the entry that ends.
 */
export function requestsOf(run: Run): Request[] {
	const roles = new Map<string, Role>(run.algorithm.messages.map((m) => [m.name, m.role]));
	const inits = new Set(run.algorithm.messages.filter((m) => m.init).map((m) => m.name));
	const flights = new Map(run.flights.map((f) => [f.msg, f]));
	const requests: Request[] = [];
	const waiting = new Map<number, number>(); // maps a node that waits to its request
	const last = new Map<number, number>();
	const take = (line: Line, cause: number | undefined) => {
		const flight = flights.get(line.msg!)!;
		if (inits.has(flight.type)) return;
		const permits = roles.get(flight.type) === "permits";
		const request = (permits ? waiting.get(flight.to) : undefined) ?? cause ?? waiting.get(flight.to) ?? last.get(flight.from);
		if (request === undefined) return;
		flight.entry = request;
		requests[request].messages.push(flight);
	};
	run.steps.forEach(({ head, rest }, i) => {
		let cause: number | undefined;
		if (head.ev === "request") {
			cause = requests.length;
			requests.push({ node: head.node!, step: i + 1, entered: Infinity, left: Infinity, messages: [] });
			waiting.set(head.node!, cause);
			last.set(head.node!, cause);
		} else if (head.ev === "deliver") {
			const entry = flights.get(head.msg!)!.entry;
			cause = entry < 0 ? undefined : entry;
		} else if (head.ev === "exit") {
			cause = last.get(head.node!);
			if (cause !== undefined) requests[cause].left = i + 1;
		}
		for (const line of rest) {
			if (line.ev === "send") take(line, cause);
			if (line.ev !== "enter") continue;
			const request = waiting.get(line.node!);
			if (request !== undefined) requests[request].entered = i + 1;
			waiting.delete(line.node!);
		}
	});
	return requests;
}

const SYMBOLS: [RegExp, string][] = [
	[/\bN\b|\dN/, "N: nodes"],
	[/n(?=\()|log n/, "n: nodes"],
	[/\bD\b|\dD/, "D: edges of the longest path"],
	[/\bE\b|\dE/, "E: links"],
	[/\bK\b/, "K: nodes in a committee"],
	[/\bL\b/, "L: requests in a round"],
];

/** Says what the letters of the paper's formula stand for: "D: edges of the longest path". */
export function symbolsOf(claim: string): string {
	return SYMBOLS.filter(([form]) => form.test(claim)).map(([, words]) => words).join(", ");
}

/** Returns the largest number of messages that the paper allows for one entry, or null if that is not a formula of N and D. */
export function boundOf(run: Run): number | null {
	const claim = run.algorithm.claim;
	const last = claim.split(/ to | or |, /).pop()!.replace(/ of \w+$/, "");
	if (!/^[\dND()+*\-E ]+$/.test(last)) return null;
	const values: Record<string, number> = { N: run.start.nodes, D: diameter(run), E: run.start.edges.length };
	const text = last.replaceAll(" ", "");
	let at = 0;
	const factor = (): number => {
		if (text[at] === "(") {
			at++;
			const value = sum();
			at++;
			return value;
		}
		if (text[at] in values) return values[text[at++]];
		const digits = /^\d+/.exec(text.slice(at));
		if (digits === null) return NaN;
		at += digits[0].length;
		return Number(digits[0]);
	};
	const product = (): number => {
		let value = factor();
		while (at < text.length && /[\dNDE(*]/.test(text[at])) {
			if (text[at] === "*") at++;
			value *= factor();
		}
		return value;
	};
	const sum = (): number => {
		let value = product();
		while (text[at] === "+" || text[at] === "-") value += text[at++] === "+" ? product() : -product();
		return value;
	};
	const value = sum();
	return Number.isFinite(value) && at >= text.length ? value : null;
}

const diameters = new WeakMap<Run, number>();

function diameter(run: Run): number {
	const { nodes, edges } = run.start;
	const known = diameters.get(run);
	if (known !== undefined) return known;
	const adjacent: number[][] = Array.from({ length: nodes + 1 }, () => []);
	for (const [a, b] of edges) {
		adjacent[a].push(b);
		adjacent[b].push(a);
	}
	let most = 0;
	for (let from = 1; from <= nodes; from++) {
		const far = new Array<number>(nodes + 1).fill(-1);
		far[from] = 0;
		const queue = [from];
		for (let i = 0; i < queue.length; i++)
			for (const other of adjacent[queue[i]])
				if (far[other] < 0) {
					far[other] = far[queue[i]] + 1;
					queue.push(other);
				}
		most = Math.max(most, ...far);
	}
	diameters.set(run, most);
	return most;
}
