// Two runs side by side: two stages, two diagrams, one time.

import { effect, useSignal } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import { hashOf } from "./address";
import { DiagramView, spanOf } from "./diagram";
import { Icon, ICONS } from "./icons";
import { changePair, end, goNext, goTo, pair, parting, rememberPair, time, wordOf } from "./pair";
import type { Run } from "./run";
import { Choice, LOADS, DELAYS, Number_, suits, titleOf, TOPOLOGIES } from "./sentence";
import { StageView } from "./stage";
import { algorithms, narrow, playing, speed, still } from "./state";
import { arrowsOf, stuckAt, stuckWords } from "./stuck";
import { propertyWords, showVariable, tell } from "./words";

const EXAMPLES: [string, string][] = [
	["two algorithms", "#compare"],
	["printed and mended", "#compare?tour=maekawa-neilsen&left.param=text=printed:neilsen&right.param=text=mended"],
	["a star and a line", "#compare?nodes=7&load=wishes:0.09&cs=constant:2&entries=8&seed=4&left=raymond&left.topology=star&right=raymond&right.topology=line"],
	["asking all and asking a committee", "#compare?nodes=13&load=wishes:0.02&entries=8&seed=2&left=ricart-agrawala&right=maekawa"],
	["in order and not in order", "#compare?nodes=3&delay=exp:1&load=wishes:0.2&cs=constant:2&entries=8&seed=4&left=lamport&left.fifo&right=lamport&right.reorder"],
];

/** Counts up to a step how often messages were sent, and how often nodes entered or were told who leads. */
function countsAt(run: Run, step: number): { sent: number; done: number } {
	const sent = run.flights.filter((f) => f.sentStep <= step && f.sentStep > 0).length;
	if (run.algorithm.kind === "mutex") return { sent, done: run.entries.filter((e) => e.step <= step).length };
	return { sent, done: new Set(run.elected.filter((e) => e.step <= step).map((e) => e.node)).size };
}

function Side(props: { side: 0 | 1 }) {
	const stageSvg = useRef<SVGSVGElement>(null);
	const timeSvg = useRef<SVGSVGElement>(null);
	const over = useRef<HTMLDivElement>(null);
	const now = pair.value!;
	const run = now.runs[props.side];
	const small = narrow.value;
	const wrong = useSignal<string | null>(null);
	useEffect(() => {
		// Opens this run at this moment in the laboratory, where there is more to see.
		const open = () => void hashOf({ source: run.source, tour: null, frame: null, acts: [], step: run.stepAt(time.value), time: null }).then((hash) => (location.hash = hash));
		const none = () => {};
		const stage = new StageView(stageSvg.current!, run, { node: open, message: open, hover: none, hoverNode: none }, small);
		const drag = (at: number) => {
			playing.value = false;
			goTo(at);
			rememberPair();
		};
		const diagram = new DiagramView(timeSvg.current!, over.current!, run, { drag, hover: none, hoverNode: none }, small, Math.max(...now.runs.map((r) => spanOf(r, small))));
		return effect(() => {
			const at = time.value;
			const step = run.stepAt(at);
			const states = run.states(step);
			const stuck = stuckAt(run, step, states);
			const instance = run.at(step);
			const broken = instance.properties().filter((p) => !p.holds);
			// Some violations are visible only in the step in which they happen, such as a leader that is declared twice.
			const violation = instance.status().violation ?? null;
			const scene = { step, time: at, states, still: still.value, stuck: arrowsOf(run, stuck ?? [], step), broken: broken.length > 0 || violation !== null, settled: !playing.value, hovered: null, hoveredNode: null };
			stage.draw(scene);
			diagram.draw({ time: at, looks: states.map((s, i) => run.look(i + 1, s, step)), hovered: null, hoveredNode: null, broken: null, now: stuck !== null || broken.length > 0 || violation !== null });
			wrong.value = broken.length > 0 ? `Broken: ${broken.map((p) => propertyWords(p.name)).join(", ")}.` : stuck !== null ? `Nothing can move any more, and somebody waits. ${stuckWords(run, stuck, step)}` : violation !== null ? `Broken: ${violation}.` : null;
		});
	}, [now, small]);
	return (
		<section class="half" aria-label={`${props.side === 0 ? "Left" : "Right"}: ${titleOf(run.algorithm.name)}`}>
			<SideHead side={props.side} run={run} />
			<svg class="stage" ref={stageSvg} role="group" aria-label="The nodes and the messages between them" />
			<Counts side={props.side} />
			<div class="diagram">
				<svg class="time" ref={timeSvg} role="img" aria-label="The space-time diagram" />
				<div class="over" ref={over} aria-hidden="true" />
			</div>
			{wrong.value === null ? null : (
				<p class="alarm" role="alert">
					{wrong.value}
				</p>
			)}
		</section>
	);
}

function SideHead(props: { side: 0 | 1; run: Run }) {
	const { side, run } = props;
	const { algorithm, start } = run;
	const other = pair.value!.runs[1 - side].algorithm;
	const text = algorithm.parameters.find((p) => p.name === "text");
	const change = (key: string) => (value: string) => changePair(side, key, value);
	return (
		<div class="half-head">
			<h2>
				{pair.value!.scenario !== null ? titleOf(algorithm.name) : <Choice label={side === 0 ? "Algorithm on the left" : "Algorithm on the right"} value={algorithm.name} options={algorithms.value.filter((a) => a.kind === other.kind).map((a) => [a.name, titleOf(a.name)])} change={change("algorithm")} />}
			</h2>
			<p class="sentence">
				{algorithm.title.split(": ")[1] ?? ""}
				{pair.value!.scenario !== null ? null : (
					<>
						; on a <Choice label="Topology" value={start.topology} options={TOPOLOGIES.filter(([value]) => suits(algorithm.needs, value))} change={change("topology")} />; channels{" "}
						<Choice label="Order" value={start.fifo ? "fifo" : "reorder"} options={[["fifo", "keep order"], ["reorder", "may reorder"]]} change={(value) => changePair(side, value, "")} />
					</>
				)}
				{text === undefined ? null : (
					<>
						; text <Choice label="Text" value={String(start.params.text ?? text.choices[0])} options={text.choices.map((c) => [c, c])} change={change("param text")} />
					</>
				)}
			</p>
		</div>
	);
}

/** Draws the numbers of messages as bars. Both sides have one scale: the greater total. */
function Counts(props: { side: 0 | 1 }) {
	const { runs } = pair.value!;
	const run = runs[props.side];
	const { sent, done } = countsAt(run, run.stepAt(time.value));
	const most = Math.max(1, ...runs.map((r) => countsAt(r, r.steps.length).sent));
	return (
		<div class="counts">
			<b>{sent}</b>
			<div>
				<svg viewBox="0 0 100 2" preserveAspectRatio="none" aria-hidden="true">
					<rect class="all" width="100" height="2" rx="1" />
					<rect class="done" width={(sent / most) * 100} height="2" rx="1" />
				</svg>
				<span class="note">
					{sent === 1 ? "message" : "messages"} so far, {run.algorithm.kind === "mutex" ? `for ${done} ${done === 1 ? "entry" : "entries"}` : `and ${done === 0 ? "nobody knows" : done === 1 ? "one knows" : done === run.start.nodes ? "all know" : `${done} of ${run.start.nodes} know`} who leads`}
				</span>
			</div>
		</div>
	);
}

/** Goes to the moment at which the two runs first differ. */
function goParting(step: number): void {
	const { runs } = pair.value!;
	playing.value = false;
	goTo((runs[0].steps[step - 1] ?? runs[1].steps[step - 1]).t);
	rememberPair();
}

/** Says what a side does at a step, and what follows. */
function sayStep(side: 0 | 1, step: number): string {
	const { runs, refused } = pair.value!;
	const run = runs[side];
	const instead = refused[side] === step ? "that cannot happen: " : "";
	if (run.steps[step - 1] === undefined) return `${instead}nothing more happens`;
	const { head } = run.steps[step - 1];
	const { before, states } = run.moment(step);
	const node = (head.node ?? head.to ?? 1) - 1;
	const { who, what, then } = tell(run, run.steps[step - 1], before[node], states[node].vars);
	return `${instead}${who} ${what.replace(/\.$/, "")}${then.length === 0 ? ", and nothing follows" : `: ${then.map((t) => t.text).join(", ")}`}`;
}

/** Says in which variable two runs first differ after a step. */
function sayDifference(step: number): string {
	const [left, right] = pair.value!.runs.map((run) => run.states(step));
	for (const [i, { vars }] of left.entries())
		for (const [name, value] of Object.entries(vars)) {
			const [one, other] = [value, right[i].vars[name]].map((v) => showVariable(pair.value!.runs[0], name, v));
			if (one !== other) return `; then ${name} of ${pair.value!.runs[0].name(i + 1)} is ${one} on the left and ${other} on the right`;
		}
	return "";
}

/** Says what differs: where two texts part, or what two algorithms cost. */
function Difference() {
	const { runs } = pair.value!;
	const at = parting.value;
	if (at !== null && runs[0].start.topology === runs[1].start.topology) {
		const [left, right] = [sayStep(0, at), sayStep(1, at)];
		return (
			<p class="note" id="difference">
				They first differ at <button onClick={() => goParting(at)}>step {at}</button>. {left === right ? `On both sides ${left}${sayDifference(at)}.` : `On the left ${left}; on the right ${right}.`}
				{pair.value!.tour === null ? null : (
					<>
						{" "}
						<a href={`#tour/${pair.value!.tour}`}>The tour explains it.</a>
					</>
				)}
			</p>
		);
	}
	const whole = runs.map((run) => ({ name: titleOf(run.algorithm.name), ...countsAt(run, run.steps.length) }));
	return (
		<p class="note" id="difference">
			In the end: {whole.map((w) => `${w.name}, ${w.sent} messages${runs[0].algorithm.kind === "mutex" ? ` for ${w.done} entries` : ""}`).join("; ")}.
		</p>
	);
}

function PairTransport() {
	const pause = (then: () => void) => () => {
		playing.value = false;
		then();
		rememberPair();
	};
	return (
		<div class="transport" role="toolbar" aria-label="Transport">
			<button id="first" aria-label="To the beginning" onClick={pause(() => goTo(0))}>
				<Icon d={ICONS.first} />
			</button>
			<button id="back" aria-label="One step back" onClick={pause(() => goNext(-1))}>
				<Icon d={ICONS.back} />
			</button>
			<button id="play" class="play" aria-label={playing.value ? "Pause" : "Play"} onClick={togglePair}>
				<Icon d={playing.value ? ICONS.pause : ICONS.play} />
			</button>
			<button id="forward" aria-label="One step forward" onClick={pause(() => goNext(1))}>
				<Icon d={ICONS.forward} />
			</button>
			<input id="speed" type="range" min="-2" max="3" step="0.25" value={Math.log2(speed.value)} aria-label="Speed" onInput={(event) => (speed.value = 2 ** Number(event.currentTarget.value))} />
			<span class="where" id="where">
				{time.value.toFixed(2)} of {end.value.toFixed(2)}
			</span>
		</div>
	);
}

export function togglePair(): void {
	if (!playing.value && time.value >= end.value) goTo(0);
	playing.value = !playing.value;
	if (!playing.value) rememberPair();
}

/** Advances the time of a pair that plays. */
export function playPair(passed: number): void {
	goTo(time.value + passed);
	if (time.value < end.value) return;
	playing.value = false;
	rememberPair();
}

/** Handles a key. Returns true if the key has a meaning here. */
export function onPairKey(key: string): boolean {
	const go = (then: () => void) => {
		playing.value = false;
		then();
		rememberPair();
		return true;
	};
	if (key === " ") togglePair();
	else if (key === "ArrowLeft" || key === "ArrowRight") return go(() => goNext(key === "ArrowLeft" ? -1 : 1));
	else if (key === "Home" || key === "End") return go(() => goTo(key === "Home" ? 0 : end.value));
	else return false;
	return true;
}

export function Compare() {
	const now = pair.value;
	if (now === null) return <main>…</main>;
	const { start, algorithm } = now.runs[0];
	const mutex = algorithm.kind === "mutex";
	return (
		<main class="compare">
			<h1 class="unseen">Side by side</h1>
			<p class="sentence">
				{now.scenario !== null ? (
					<>
						The same schedule, step by step, on <b>{start.nodes} nodes</b>.
					</>
				) : (
					<>
						The same <Number_ label="Nodes" value={start.nodes} least={2} most={60} change={(value) => changePair(null, "nodes", value)} /> nodes
						{mutex ? (
							<>
								, the same requests: each asks <Choice label="Load" value={wordOf(now.common, "load") ?? "heavy"} options={LOADS} change={(value) => changePair(null, "load", value)} />
							</>
						) : null}
						; a message takes <Choice label="Delay" value={wordOf(now.common, "delay") ?? "constant:1"} options={DELAYS} change={(value) => changePair(null, "delay", value)} />.{" "}
						<span class="together">
							Seed <Number_ label="Seed" value={start.seed} least={0} most={1e9} change={(value) => changePair(null, "seed", value)} />.
						</span>
					</>
				)}
			</p>
			<p class="note examples">
				{EXAMPLES.map(([title, hash]) => (
					<a key={title} href={hash}>
						{title}
					</a>
				))}
			</p>
			<div class="halves">
				<Side side={0} />
				<Side side={1} />
			</div>
			<Difference />
			<PairTransport />
		</main>
	);
}
