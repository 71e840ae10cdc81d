// The run as a sentence whose words are its controls.

import { useRef } from "preact/hooks";
import { wordsOf } from "./address";
import type { Algorithm } from "./module";
import { algorithms, replaceRun, run, tour } from "./state";

export const LOADS: [string, string][] = [
	["light", "one after the other"],
	["heavy", "again and again"],
	["poisson:0.05", "seldom"],
	["poisson:0.09", "now and then"],
	["poisson:0.3", "often"],
	["wishes:0.09", "when it wishes"],
];
export const DELAYS: [string, string][] = [
	["constant:1", "always 1"],
	["uniform:0.7,1.5", "0.7 to 1.5"],
	["uniform:0.2,3", "0.2 to 3"],
	["exp:1", "1 on average"],
];
const STAYS: [string, string][] = [
	["constant:1", "1"],
	["constant:0", "no time"],
	["uniform:1.4,2.6", "1.4 to 2.6"],
	["exp:2", "2 on average"],
];
export const TOPOLOGIES: [string, string][] = [
	["complete", "complete graph"],
	["star", "star"],
	["ring", "ring"],
	["line", "line"],
	["tree:2", "tree of two branches"],
	["tree:3", "tree of three branches"],
	["radiating:3", "star of three arms"],
	["random:3", "random graph"],
	["grid:3x3", "grid of 3 by 3"],
];

export function suits(needs: string, topology: string): boolean {
	const kind = topology.split(":")[0];
	switch (needs) {
		case "complete":
			return kind === "complete";
		case "ring":
			return kind === "ring";
		case "star":
			return kind === "star" || kind === "complete";
		case "tree":
			return ["star", "line", "tree", "radiating"].includes(kind);
		default:
			return true;
	}
}

/** Shows the run with one of its words changed, or without that word if the value is null. */
function change(key: string, value: string | null): void {
	const current = run.value!;
	if (!("words" in current.source)) return;
	let words = wordsOf(current.source.words);
	if (key === "algorithm") {
		const next = algorithms.value.find((a) => a.name === value)!;
		const was = current.algorithm;
		words = words.filter(([name]) => name !== "param" && name !== "fifo" && name !== "reorder" && name !== "holder");
		words = words.filter(([name, old]) => name !== "topology" || suits(next.needs, old));
		if (next.kind !== was.kind) words = words.filter(([name]) => ["algorithm", "nodes", "seed", "delay", "topology"].includes(name));
		if (next.kind === "mutex" && was.kind === "election") words.push(["load", "poisson:0.09"], ["entries", "8"]);
	}
	if (key === "topology" && value!.startsWith("grid")) words = words.filter(([name]) => name !== "nodes");
	if (key === "nodes") words = words.filter(([name, old]) => name !== "arrangement" || !/^\d/.test(old));
	const parameter = key.startsWith("param ") ? key.slice(6) : null;
	const at = words.findIndex(([name, old]) => (parameter === null ? name === key : name === "param" && old.startsWith(parameter + "=")));
	const word: [string, string] = parameter === null ? [key, value ?? ""] : ["param", `${parameter}=${value}`];
	if (value === null) words = words.filter((_, i) => i !== at);
	else if (at >= 0) words[at] = word;
	else words.push(word);
	replaceRun({ words: words.map(([name, text]) => (text === "" ? name : `${name}=${text}`)).join("\n") });
}

/** Returns in plain words an option of the command line that is not among the choices. */
function sayWord(word: string): string {
	const [kind, ...rest] = word.split(":");
	const value = rest.join(":");
	switch (kind) {
		case "grid":
			return `grid of ${value.replace("x", " by ")}`;
		case "tree":
			return `tree of ${value} branches`;
		case "radiating":
			return `star of ${value} arms`;
		case "random":
			return value === "" ? "at random" : `random graph of degree ${value}`;
		case "edges":
			return "graph of its own";
		case "poisson":
			return `at a rate of ${value}`;
		case "wishes":
			return `when it wishes, at a rate of ${value}`;
		case "constant":
			return `always ${value}`;
		case "uniform":
			return value.replace(",", " to ");
		case "exp":
			return `${value} on average`;
		default:
			return word;
	}
}

export function Choice(props: { label: string; value: string; options: [string, string][]; change: (value: string) => void }) {
	const known = props.options.some(([value]) => value === props.value);
	const options = known ? props.options : [[props.value, sayWord(props.value)] as [string, string], ...props.options];
	return (
		<select class="word" aria-label={props.label} value={props.value} onChange={(event) => props.change(event.currentTarget.value)}>
			{options.map(([value, text]) => (
				<option value={value} key={value}>
					{text}
				</option>
			))}
		</select>
	);
}

const DRAG_PIXELS = 9; // the distance that changes a number by one

/** A number that can be typed, changed by arrow keys, or dragged to the left and right. */
export function Number_(props: { label: string; value: number; least: number; most: number; change: (value: string) => void }) {
	const drag = useRef<{ x: number; value: number } | null>(null);
	const current = useRef(props.value);
	current.current = props.value;
	const move = (event: PointerEvent & { currentTarget: HTMLInputElement }) => {
		if (drag.current === null) return;
		const more = Math.trunc((event.clientX - drag.current.x) / DRAG_PIXELS);
		const value = Math.max(props.least, Math.min(props.most, drag.current.value + more));
		if (value !== props.value) props.change(String(value));
	};
	const begin = (event: PointerEvent & { currentTarget: HTMLInputElement }) => {
		drag.current = { x: event.clientX, value: props.value };
		event.currentTarget.setPointerCapture(event.pointerId);
	};
	return (
		<input
			class="word number"
			type="number"
			aria-label={props.label}
			min={props.least}
			max={props.most}
			value={props.value}
			onChange={(event) => {
				const input = event.currentTarget;
				if (input.value !== "") props.change(input.value);
				// The value was refused: show the old one again.
				input.value = String(current.current);
			}}
			onPointerDown={begin}
			onPointerMove={move}
			onPointerUp={() => (drag.current = null)}
			onPointerCancel={() => (drag.current = null)}
		/>
	);
}

/** If two algorithms have the same title, the one with the longer name gets the rest of its name as well: ricart-agrawala-token. */
export function titleOf(name: string): string {
	const title = (one: Algorithm) => one.title.split(":")[0];
	const own = algorithms.value.find((a) => a.name === name)!;
	const other = algorithms.value.find((a) => a.kind === own.kind && title(a) === title(own) && name.startsWith(a.name + "-"));
	return other === undefined ? title(own) : `${title(own)}, ${name.slice(other.name.length + 1)}`;
}

export function Title() {
	const { algorithm, source } = run.value!;
	if (!("words" in source)) return <h1>{titleOf(algorithm.name)}</h1>;
	const group = (kind: string, label: string) => (
		<optgroup label={label}>
			{algorithms.value
				.filter((a) => a.kind === kind)
				.map((a) => (
					<option value={a.name} key={a.name}>
						{titleOf(a.name)}
					</option>
				))}
		</optgroup>
	);
	return (
		<h1>
			<select class="word" aria-label="Algorithm" value={algorithm.name} onChange={(event) => change("algorithm", event.currentTarget.value)}>
				{group("mutex", "Mutual exclusion")}
				{group("election", "Election")}
			</select>
		</h1>
	);
}

export function Sentence() {
	const current = run.value!;
	const { algorithm, start } = current;
	if (!("words" in current.source))
		return (
			<p class="sentence">
				a {tour.value === null ? "scenario" : "tour"} on a <b>{TOPOLOGIES.find(([value]) => value === start.topology)?.[1] ?? sayWord(start.topology)}</b> with <b>{start.nodes} nodes</b>; channels {start.fifo ? "keep order" : "may reorder"}
				{Object.entries(start.params).map(([name, value]) => `; ${name} ${value}`)}.
			</p>
		);
	const words = new Map(wordsOf(current.source.words));
	const election = algorithm.kind === "election";
	return (
		<p class="sentence">
			on a{" "}
			<Choice label="Topology" value={start.topology} options={TOPOLOGIES.filter(([value]) => suits(algorithm.needs, value))} change={(value) => change("topology", value)} /> with{" "}
			<Number_ label="Nodes" value={start.nodes} least={2} most={60} change={(value) => change("nodes", value)} /> nodes;{" "}
			{election ? (
				<>
					the numbers are{" "}
					<Choice label="Arrangement" value={words.get("arrangement") ?? "increasing"} options={[["increasing", "increasing"], ["decreasing", "decreasing"], ["random", "in random order"]]} change={(value) => change("arrangement", value)} />,{" "}
					<Choice label="Initiators" value={words.get("initiators") ?? "all"} options={[["all", "all"], ["one", "one"], ["random:2", "two"]]} change={(value) => change("initiators", value)} /> of them begin, and{" "}
				</>
			) : (
				<>
					each asks <Choice label="Load" value={words.get("load") ?? "heavy"} options={LOADS} change={(value) => change("load", value)} />, stays inside for{" "}
					<Choice label="Stay" value={words.get("cs") ?? "constant:1"} options={STAYS} change={(value) => change("cs", value)} />,{" "}
					<Number_ label="Entries" value={Number(words.get("entries") ?? 1000)} least={1} most={2000} change={(value) => change("entries", value)} /> times in all, and{" "}
				</>
			)}
			a message takes <Choice label="Delay" value={words.get("delay") ?? "constant:1"} options={DELAYS} change={(value) => change("delay", value)} />; channels{" "}
			<Choice label="Order" value={start.fifo ? "fifo" : "reorder"} options={[["fifo", "keep order"], ["reorder", "may reorder"]]} change={(value) => orderTo(value)} />
			{algorithm.parameters.map((parameter) => (
				<span key={parameter.name} title={parameter.help ?? ""}>
					; {parameter.name}{" "}
					{parameter.choices.length > 0 ? (
						<Choice label={parameter.name} value={String(start.params[parameter.name] ?? parameter.choices[0])} options={parameter.choices.map((c) => [c, c])} change={(value) => change("param " + parameter.name, value)} />
					) : (
						<Number_ label={parameter.name} value={Number(start.params[parameter.name] ?? parameter.initial)} least={parameter.least} most={parameter.most} change={(value) => change("param " + parameter.name, value)} />
					)}
				</span>
			))}
			.{" "}
			<span class="together">
				Seed <Number_ label="Seed" value={start.seed} least={0} most={1e9} change={(value) => change("seed", value)} />.
			</span>
		</p>
	);
}

function orderTo(value: string): void {
	const current = run.value!;
	if (!("words" in current.source)) return;
	const words = wordsOf(current.source.words).filter(([name]) => name !== "fifo" && name !== "reorder");
	words.push([value, ""]);
	replaceRun({ words: words.map(([name, text]) => (text === "" ? name : `${name}=${text}`)).join("\n") });
}
