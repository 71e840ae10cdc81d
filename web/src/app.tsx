// The page: what is where, what moves, and what keys and pointers do.

import { effect } from "@preact/signals";
import { render } from "preact";
import { useEffect, useRef } from "preact/hooks";
import { commandOf } from "./address";
import { DiagramView } from "./diagram";
import { Instance, load } from "./module";
import { Code, Cost, Properties, stuckOf, Table, Told } from "./panels";
import { embeddedRun, resource } from "./resources";
import { scenarioOf } from "./scenario";
import { Sentence } from "./sentence";
import { StageView } from "./stage";
import * as state from "./state";
import { tell } from "./words";

let stage: StageView | null = null;
let diagram: DiagramView | null = null;

function Bar() {
	const copied = useRef<HTMLSpanElement>(null);
	const copy = async () => {
		const current = state.run.value!;
		const link = location.href.split("#")[0] + (await state.address());
		const text = "words" in current.source ? `${link}\n${commandOf(current.source.words)}` : link;
		await navigator.clipboard?.writeText(text).catch(() => undefined);
		copied.current!.textContent = "copied";
		document.body.dataset.copied = text;
	};
	return (
		<header class="bar">
			<a class="mark" href="#lab/neilsen" aria-label="baton">
				<svg viewBox="0 0 30 20" width="30" height="20" aria-hidden="true">
					<g transform="rotate(-24 15 10)">
						<rect class="baton" x="1" y="6.4" width="28" height="7.2" rx="3.6" />
						<rect class="band" x="7" y="6.4" width="2.4" height="7.2" />
						<rect class="band" x="20.6" y="6.4" width="2.4" height="7.2" />
					</g>
				</svg>
				<span>baton</span>
			</a>
			<span class="fill">Laboratory</span>
			<button class="quiet" id="copy" onClick={copy}>
				Copy link
			</button>
			<span ref={copied} role="status" class="note" />
			<details class="menu">
				<summary class="quiet">Save…</summary>
				<div>
					<button id="save-scn" onClick={() => save("run.scn", "text/plain", scenarioOf(state.run.value!, "saved from the page"))}>The run as a scenario (.scn)</button>
					<button id="save-svg" onClick={() => save("view.svg", "image/svg+xml", viewAsSvg())}>The view as SVG</button>
					<button id="save-diagram" onClick={() => save("diagram.svg", "image/svg+xml", diagramAsSvg())}>The space-time diagram as SVG</button>
					<label>
						Open a scenario… <input type="file" id="open" accept=".scn,text/plain" onChange={(event) => void openFile(event.currentTarget.files?.[0])} />
					</label>
				</div>
			</details>
			<button class="quiet" id="help-button" onClick={() => (document.getElementById("help") as HTMLDialogElement).showModal()} aria-label="Help">
				?
			</button>
		</header>
	);
}

function save(name: string, type: string, text: string): void {
	const link = document.createElement("a");
	link.href = URL.createObjectURL(new Blob([text], { type }));
	link.download = name;
	link.click();
	URL.revokeObjectURL(link.href);
}

async function openFile(file: File | undefined): Promise<void> {
	if (file === undefined) return;
	state.playing.value = false;
	if (state.show({ scenario: await file.text() }, [], null)) state.remember();
}

/** The picture with the colours of this moment in it, so that it looks the same elsewhere. */
function viewAsSvg(): string {
	const svg = document.getElementById("stage")! as unknown as SVGSVGElement;
	const copy = svg.cloneNode(true) as SVGSVGElement;
	const from = [svg, ...svg.querySelectorAll("*")];
	[copy, ...copy.querySelectorAll("*")].forEach((element, i) => {
		const style = getComputedStyle(from[i]);
		for (const name of ["fill", "stroke", "stroke-width", "stroke-dasharray", "opacity", "font-size", "font-family", "font-weight", "text-anchor", "dominant-baseline", "visibility", "display"]) element.setAttribute(name, style.getPropertyValue(name));
	});
	copy.setAttribute("xmlns", "http://www.w3.org/2000/svg");
	return new XMLSerializer().serializeToString(copy);
}

function diagramAsSvg(): string {
	const instance = new Instance();
	const current = state.run.value!;
	if ("words" in current.source) instance.open(current.source.words, true);
	else instance.scenario(current.source.scenario, true);
	for (let done = 0; done < current.steps.length; ) {
		const act = current.acts.find((a) => a.at === done && a.name !== "delay");
		for (const delay of current.acts.filter((a) => a.at === done && a.name === "delay")) instance.act("delay", delay.what, delay.by);
		if (act !== undefined) instance.act(act.name, act.what, act.by);
		else if (instance.step(1) === 0) break;
		done++;
	}
	return instance.diagram();
}

function Stage() {
	const svg = useRef<SVGSVGElement>(null);
	const current = state.run.value!;
	useEffect(() => {
		closeMenu();
		stage = new StageView(svg.current!, current, { node: clickNode, message: openMenu, hover: (msg) => (state.hovered.value = msg) });
		draw();
	}, [current]);
	return <svg id="stage" ref={svg} role="group" aria-label="The nodes and the messages between them" />;
}

function Diagram() {
	const svg = useRef<SVGSVGElement>(null);
	const current = state.run.value!;
	useEffect(() => {
		diagram = new DiagramView(svg.current!, current, { drag, hover: (msg) => (state.hovered.value = msg) }, matchMedia("(max-width:640px)").matches);
		draw();
	}, [current]);
	const drag = (time: number) => {
		state.playing.value = false;
		state.goTime(time);
		state.remember();
	};
	const at = state.step.value;
	const words = at === 0 ? "the beginning" : tell(current, current.steps[at - 1], undefined, undefined);
	return (
		<div id="diagram">
			<svg class="time" ref={svg} role="slider" tabindex={0} aria-label="Time" aria-valuemin={0} aria-valuemax={Number(current.end.toFixed(3))} aria-valuenow={Number(state.time.value.toFixed(3))} aria-valuetext={typeof words === "string" ? words : `${state.time.value.toFixed(2)}: ${words.who} ${words.what}`} />
		</div>
	);
}

/** The most useful thing that a node can do now. */
function clickNode(node: number): void {
	const now = state.moment.value!.states[node - 1];
	if (now.phase === "in") state.act("leave", node);
	else if (now.phase === "idle" && now.ready) state.act("ask", node);
	else if (state.run.value!.algorithm.timers && now.timer !== undefined) state.act("expire", node);
	else state.wrong.value = `${node} ${now.dead ? "is dead" : now.phase === "waiting" ? "waits already" : "is not ready to ask"}`;
}

let menuFor: number | null = null;

function openMenu(msg: number, element: Element): void {
	state.playing.value = false;
	const menu = document.getElementById("message-menu")!;
	const box = element.getBoundingClientRect();
	const flight = state.run.value!.flights.find((f) => f.msg === msg)!;
	menuFor = msg;
	menu.hidden = false;
	menu.querySelector("b")!.textContent = `${flight.text} from ${flight.from} to ${flight.to}`;
	menu.style.left = `${Math.max(8, Math.min(innerWidth - 250, box.left + scrollX))}px`;
	menu.style.top = `${box.bottom + scrollY + 6}px`;
	menu.querySelector("button")!.focus();
}

function closeMenu(): void {
	menuFor = null;
	const menu = document.getElementById("message-menu");
	if (menu !== null) menu.hidden = true;
}

function Menu() {
	const choose = (name: "deliver" | "lose" | "delay") => {
		const msg = menuFor;
		closeMenu();
		if (msg !== null) state.act(name, msg, name === "delay" ? 2 : 0);
	};
	return (
		<div id="message-menu" role="dialog" aria-label="What to do with this message" hidden onKeyDown={(event) => event.key === "Escape" && closeMenu()}>
			<b />
			<button onClick={() => choose("deliver")}>Deliver it now</button>
			<button onClick={() => choose("delay")}>Delay it by 2</button>
			<button onClick={() => choose("lose")}>Lose it</button>
			<button onClick={closeMenu}>Leave it</button>
		</div>
	);
}

const ICONS = {
	first: "M4 3v12M15 3L7 9l8 6z",
	back: "M6 3v12M14 4L8 9l6 5z",
	play: "M5 3l10 6-10 6z",
	pause: "M5 3h3v12H5zM10 3h3v12h-3z",
	forward: "M12 3v12M4 4l6 5-6 5z",
	entry: "M3 4l6 5-6 5zM9 4l6 5-6 5z",
};

function Icon(props: { d: string }) {
	return (
		<svg viewBox="0 0 18 18" aria-hidden="true">
			<path d={props.d} stroke="currentColor" stroke-width="1.6" fill="currentColor" />
		</svg>
	);
}

function Transport() {
	const current = state.run.value!;
	const pause = (then: () => void) => () => {
		state.playing.value = false;
		then();
		state.remember();
	};
	return (
		<div class="transport" role="toolbar" aria-label="Transport">
			<button id="first" aria-label="To the beginning" onClick={pause(() => state.go(0))}>
				<Icon d={ICONS.first} />
			</button>
			<button id="back" aria-label="One step back" onClick={pause(() => state.go(state.step.value - 1))}>
				<Icon d={ICONS.back} />
			</button>
			<button id="play" class="play" aria-label={state.playing.value ? "Pause" : "Play"} onClick={togglePlay}>
				<Icon d={state.playing.value ? ICONS.pause : ICONS.play} />
			</button>
			<button id="forward" aria-label="One step forward" onClick={pause(() => state.go(state.step.value + 1))}>
				<Icon d={ICONS.forward} />
			</button>
			<button id="entry" aria-label="To the next entry" onClick={pause(() => state.goEntry(1))}>
				<Icon d={ICONS.entry} />
			</button>
			<input id="speed" type="range" min="-2" max="3" step="0.25" value={Math.log2(state.speed.value)} aria-label="Speed" onInput={(event) => (state.speed.value = 2 ** Number(event.currentTarget.value))} />
			{current.acts.length > 0 ? (
				<button class="quiet return" id="return" onClick={state.returnToRun}>
					Return: it went its own way at step {current.acts[0].at}
				</button>
			) : null}
			<span class="where" id="where">
				step {state.step.value} of {current.steps.length}
				{current.cut ? " shown" : ""}
			</span>
		</div>
	);
}

function Legend() {
	const { algorithm } = state.run.value!;
	const pointers = algorithm.variables.filter((v) => v.kind === "node").map((v) => v.name);
	return (
		<div class="line">
			<div class="legend">
				{algorithm.kind === "mutex" ? <span class="l-in">inside</span> : null}
				<span class="l-wait">{algorithm.kind === "mutex" ? "waits" : "initiated"}</span>
				{algorithm.messages.map((m) => (
					<span key={m.name} class={`l-${m.token ? "token" : m.role.replace(" ", "-")}`}>{m.token ? m.name + ", the token" : m.name}</span>
				))}
				{pointers.length > 0 ? <span class="l-next">{pointers.join(", ")}</span> : null}
			</div>
			<span class="note hint">Click a node to ask or leave, a message to deliver, delay or lose it.</span>
		</div>
	);
}

function Help() {
	return (
		<dialog id="help" aria-labelledby="help-title">
			<h2 id="help-title">Keys</h2>
			<dl>
				<dt>space</dt><dd>play, pause</dd>
				<dt>← →</dt><dd>one step back, forward</dd>
				<dt>shift ← →</dt><dd>to the entry before, after</dd>
				<dt>Home End</dt><dd>beginning, end</dd>
				<dt>1 … 9</dt><dd>to that node; Enter: it asks or leaves</dd>
				<dt>c</dt><dd>the focused node crashes, where the algorithm knows that</dd>
				<dt>d l w</dt><dd>the focused message is delivered, lost, made to wait</dd>
				<dt>?</dt><dd>this</dd>
			</dl>
			<p class="note">Amber is the right to be inside, or a part of it. Blue asks, magenta refuses, grey gives back, teal announces. Drop a .scn file anywhere to see it.</p>
			<form method="dialog">
				<button class="quiet">Close</button>
			</form>
		</dialog>
	);
}

function App() {
	const current = state.run.value;
	if (current === null) return <main>…</main>;
	const { algorithm } = current;
	return (
		<>
			<Bar />
			<main class="lab">
				<div class="head">
					<h1>{algorithm.title.split(":")[0]}</h1>
					<span class="year">{algorithm.year}</span>
					<Sentence />
				</div>
				{state.wrong.value !== null ? (
					<p class="alarm wide" role="alert" id="wrong">
						{state.wrong.value}
					</p>
				) : null}
				<div class="left">
					<Stage />
					<Legend />
					<Transport />
					<Diagram />
					<Cost />
				</div>
				<div class="side">
					<Told />
					<Code />
					<Properties />
					<Table />
				</div>
			</main>
			<Menu />
			<Help />
			<p class="unseen" role="status" aria-live="polite" id="said">
				{state.said.value}
			</p>
		</>
	);
}

function draw(): void {
	const current = state.run.value;
	const now = state.moment.value;
	// The views of another run are replaced as soon as its page is rendered.
	if (current === null || now === null || stage?.run !== current || diagram?.run !== current) return;
	const scene = { step: state.step.value, time: state.time.value, states: now.states, still: state.still.value, stuck: stuckOf(), hovered: state.hovered.value };
	stage.draw(scene);
	diagram.draw(scene.time, now.states.map((s) => s.phase), scene.hovered);
}

/** While it plays, time goes by in every frame; steps happen as time passes them. */
let before = 0;
function frame(at: number): void {
	const current = state.run.value;
	if (current !== null && state.playing.value) {
		const passed = Math.min(100, at - before) / 1000;
		const next = state.time.value + passed * state.speed.value * 1.2;
		const end = current.end + 0.01;
		if (next >= end) {
			state.go(current.steps.length);
			state.playing.value = false;
			state.remember();
		} else state.goTime(next);
	}
	before = at;
	requestAnimationFrame(frame);
}

function togglePlay(): void {
	const current = state.run.value!;
	if (!state.playing.value && state.step.value === current.steps.length) state.go(0);
	state.playing.value = !state.playing.value;
	if (!state.playing.value) state.remember();
}

function onMessageKey(msg: number, key: string): boolean {
	if (key === "d") state.act("deliver", msg);
	else if (key === "l") state.act("lose", msg);
	else if (key === "w") state.act("delay", msg, 2);
	else return false;
	return true;
}

function onKey(event: KeyboardEvent): void {
	const target = event.target as HTMLElement;
	if (/^(INPUT|SELECT|TEXTAREA|DIALOG|SUMMARY)$/.test(target.tagName) || event.ctrlKey || event.altKey || event.metaKey) return;
	if (target.closest("dialog, #message-menu") !== null) return;
	const msg = target.closest("[data-msg]")?.getAttribute("data-msg");
	if (msg !== null && msg !== undefined && onMessageKey(Number(msg), event.key)) return event.preventDefault();
	const node = target.closest("[data-node]")?.getAttribute("data-node");
	const stop = () => (state.playing.value = false);
	switch (event.key) {
		case " ":
			if (target.tagName === "BUTTON") return;
			togglePlay();
			break;
		case "ArrowLeft":
		case "ArrowRight": {
			stop();
			const direction = event.key === "ArrowLeft" ? -1 : 1;
			if (event.shiftKey) state.goEntry(direction);
			else state.go(state.step.value + direction);
			break;
		}
		case "Home":
			stop();
			state.go(0);
			break;
		case "End":
			stop();
			state.go(state.run.value!.steps.length);
			break;
		case "c":
			if (node === null || node === undefined) return;
			state.act("crash", Number(node));
			break;
		case "?":
			(document.getElementById("help") as HTMLDialogElement).showModal();
			break;
		default:
			if (!/^[1-9]$/.test(event.key)) return;
			stage?.nodeElement(Number(event.key))?.focus();
	}
	event.preventDefault();
	if (!state.playing.value) state.remember();
}

async function main(): Promise<void> {
	const motion = matchMedia("(prefers-reduced-motion: reduce)");
	state.still.value = motion.matches;
	motion.onchange = () => (state.still.value = motion.matches);
	await load(await resource("baton.wasm"));
	state.algorithms.value = new Instance().catalogue();
	const given = embeddedRun();
	if (location.hash.length > 1) await state.showAddress(location.hash);
	else if (given?.scenario !== undefined) state.show({ scenario: given.scenario }, [], null);
	else if (given?.words !== undefined) state.show({ words: given.words }, [], null);
	if (state.run.value === null) await state.showAddress("");
	render(<App />, document.getElementById("page")!);
	effect(draw);
	effect(() => {
		const [current, at] = [state.run.value!, state.step.value];
		if (state.playing.value || at === 0) return;
		const told = tell(current, current.steps[at - 1], undefined, undefined);
		state.said.value = `${told.who} ${told.what} ${told.then.map((t) => t.text).join(", ")}`;
	});
	addEventListener("keydown", onKey);
	addEventListener("hashchange", () => {
		state.playing.value = false;
		void state.showAddress(location.hash);
	});
	addEventListener("dragover", (event) => event.preventDefault());
	addEventListener("drop", (event) => {
		event.preventDefault();
		void openFile(event.dataTransfer?.files[0]);
	});
	addEventListener("pointerdown", (event) => {
		if ((event.target as Element).closest("#message-menu, [data-msg]") === null) closeMenu();
	});
	// Something moves within a second; who wants no motion, or came for a moment, finds it standing.
	state.playing.value = !state.still.value && location.hash.length <= 1 && given === null;
	requestAnimationFrame(frame);
	document.body.dataset.ready = "yes";
	(window as unknown as { baton: unknown }).baton = { state, Instance };
	await state.loadCode();
}

void main().catch((error: Error) => {
	document.getElementById("page")!.textContent = `The page could not start: ${error.message}`;
});
