// Describes what happened in a step, and what follows from it.

import type { Role } from "./module";
import type { Line, Look, Run, Step } from "./run";

export interface Told {
	who: string;
	what: string;
	then: { kind: "ask" | "right" | "plain"; text: string }[];
}

export function showValue(value: unknown): string {
	if (value === null || value === undefined) return "–";
	if (value === true) return "yes";
	if (value === false) return "no";
	// A list of booleans is shown as the set of nodes for which it is true.
	if (Array.isArray(value) && value.length > 0 && value.every((v) => typeof v === "boolean")) return "{" + value.flatMap((v, i) => (v ? [i + 1] : [])).join(" ") + "}";
	if (Array.isArray(value)) return value.length === 0 ? "–" : "[" + value.map((v) => (v === null ? "–" : Array.isArray(v) ? showValue(v) : String(v))).join(" ") + "]";
	return String(value);
}

/** Shows a variable. If it names a node, 0 means nobody. */
export function showVariable(run: Run, name: string, value: unknown): string {
	const kind = run.algorithm.variables.find((v) => v.name === name)?.kind;
	if (kind !== "node" || typeof value !== "number") return showValue(value);
	return value === 0 ? "–" : run.name(value);
}

function headOf(run: Run, head: Line): [string, string] {
	const flight = run.flight(head.msg);
	switch (head.ev) {
		case "request":
			return [run.name(head.node), "asks to enter."];
		case "initiate":
			return [run.name(head.node), "initiates the election."];
		case "exit":
			return [run.name(head.node), "leaves its critical section."];
		case "deliver":
			return [run.name(head.to), flight?.token ? `gets the token from ${run.name(head.from)} (${flight.text}).` : `gets ${flight?.text ?? head.type} from ${run.name(head.from)}.`];
		case "lose":
			return [flight?.text ?? "A message", `from ${run.name(flight?.from)} to ${run.name(flight?.to)} is lost.`];
		case "expire":
			return [run.name(head.node), run.algorithm.pauses ? "goes on with the next step of the printed text." : "waited long enough: its timer runs out."];
		case "restart":
			return [run.name(head.node), "begins again, with nothing in its memory."];
		case "duplicate":
			return [flight?.text ?? "A message", `from ${run.name(flight?.from)} to ${run.name(flight?.to)} is there twice.`];
		case "crash":
			return [run.name(head.node), "crashes. What is sent to it is lost."];
		case "link":
			return [run.name(head.node), `and ${run.name(head.to)} become neighbours.`];
		case "unlink":
			return [run.name(head.node), `and ${run.name(head.to)} are no longer neighbours.`];
		case "cut_link":
			return [run.name(head.node), `and ${run.name(head.to)}: their link is cut. What is sent over it is lost.`];
		default:
			return [run.name(head.node), head.ev];
	}
}

/** If only a few elements of a list have changed, names just these. */
function changeOf(name: string, was: unknown, is: unknown): string | null {
	if (!Array.isArray(was) || !Array.isArray(is) || was.length !== is.length || is.length < 5) return null;
	const changed = is.map((_, i) => i).filter((i) => showValue(was[i]) !== showValue(is[i]));
	return changed.length > 3 ? null : changed.map((i) => `${name}[${i + 1}] ${showValue(was[i])} → ${showValue(is[i])}`).join(", ");
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
		const to = lines.map((l) => run.name(l.to)).join(", ");
		if (lines[0].token) then.unshift({ kind: "right", text: `passes the token to ${to}` });
		else then.push({ kind: roles.get(lines[0].type!) === "permits" ? "right" : "ask", text: `sends ${text} to ${to}` });
	}
	if (before !== undefined && after !== undefined)
		for (const name of Object.keys(after)) {
			const [was, is] = [showVariable(run, name, before[name]), showVariable(run, name, after[name])];
			if (was !== is) then.push({ kind: "plain", text: changeOf(name, before[name], after[name]) ?? `${name} ${was} → ${is}` });
		}
	return { who, what, then };
}

export const LOOKS: Record<Look, string> = { idle: "idle", waiting: "waiting", in: "inside", leaving: "leaving", dead: "dead", part: "takes part", knows: "knows", leads: "leads" };

export function propertyWords(name: string): string {
	return name.replaceAll("_", " ");
}
