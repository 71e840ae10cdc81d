// What happened, in a sentence and what follows from it.

import type { Algorithm, Role } from "./module";
import type { Line, Run, Step } from "./run";

export interface Told {
	who: string;
	what: string;
	then: { kind: "ask" | "right" | "plain"; text: string }[];
}

export function showValue(value: unknown): string {
	if (value === null || value === undefined) return "–";
	if (value === true) return "yes";
	if (value === false) return "no";
	if (Array.isArray(value)) return value.length === 0 ? "–" : "[" + value.map((v) => (v === null ? "–" : Array.isArray(v) ? showValue(v) : String(v))).join(" ") + "]";
	return String(value);
}

/** 0 means nobody, where the variable is a node. */
export function showVariable(algorithm: Algorithm, name: string, value: unknown): string {
	const kind = algorithm.variables.find((v) => v.name === name)?.kind;
	return kind === "node" && value === 0 ? "–" : showValue(value);
}

function headOf(run: Run, head: Line): [string, string] {
	const flight = head.msg === undefined ? undefined : run.flights.find((f) => f.msg === head.msg);
	switch (head.ev) {
		case "request":
			return [String(head.node), "asks to enter."];
		case "initiate":
			return [String(head.node), "initiates the election."];
		case "exit":
			return [String(head.node), "leaves its critical section."];
		case "deliver":
			return [String(head.to), flight?.token ? `gets the token from ${head.from} (${flight.text}).` : `gets ${flight?.text ?? head.type} from ${head.from}.`];
		case "lose":
			return [flight?.text ?? "A message", `from ${flight?.from} to ${flight?.to} is lost.`];
		case "expire":
			return [String(head.node), "waited long enough: its timer runs out."];
		case "crash":
			return [String(head.node), "crashes. What is sent to it is lost."];
		default:
			return [String(head.node ?? ""), head.ev];
	}
}

export function tell(run: Run, step: Step, before: Record<string, unknown> | undefined, after: Record<string, unknown> | undefined): Told {
	const roles = new Map<string, Role>(run.algorithm.messages.map((m) => [m.name, m.role]));
	const [who, what] = headOf(run, step.head);
	const then: Told["then"] = [];
	const sends = new Map<string, Line[]>();
	for (const line of step.rest) {
		if (line.ev === "send") sends.set(line.text!, [...(sends.get(line.text!) ?? []), line]);
		else if (line.ev === "enter") then.push({ kind: "right", text: "enters its critical section" });
		else if (line.ev === "elected") then.push({ kind: "right", text: `knows that ${line.leader} leads` });
	}
	for (const [text, lines] of sends) {
		const to = lines.map((l) => l.to).join(", ");
		if (lines[0].token) then.unshift({ kind: "right", text: `passes the token to ${to}` });
		else then.push({ kind: roles.get(lines[0].type!) === "permits" ? "right" : "ask", text: `sends ${text} to ${to}` });
	}
	if (before !== undefined && after !== undefined)
		for (const name of Object.keys(after)) {
			const [was, is] = [showVariable(run.algorithm, name, before[name]), showVariable(run.algorithm, name, after[name])];
			if (was !== is) then.push({ kind: "plain", text: `${name} ${was} → ${is}` });
		}
	return { who, what, then };
}

export function propertyWords(name: string): string {
	return name.replaceAll("_", " ");
}
