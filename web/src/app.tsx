// The page: the layout of its parts, its animation, and the handling of keys and pointers.

import { effect, signal, useSignal } from "@preact/signals";
import { render } from "preact";
import { useEffect, useLayoutEffect, useRef } from "preact/hooks";
import { commandOf } from "./address";
import { Cluster } from "./cluster";
import { Compare, onPairKey, playPair } from "./compare";
import { DiagramView } from "./diagram";
import * as feed from "./feed";
import { Families } from "./front";
import { Icon, ICONS } from "./icons";
import { clusterHash, readCluster } from "./locks";
import { Instance, load, type ActName } from "./module";
import { Code, Cost, Properties, Table, Told } from "./panels";
import * as pair from "./pair";
import { embeddedRun, resource } from "./resources";
import { scenarioOf } from "./scenario";
import { Sentence, Title } from "./sentence";
import { queueOf, StageView } from "./stage";
import { make } from "./svg";
import * as state from "./state";
import { arrowsOf, stuckAt } from "./stuck";
import { TourCard } from "./tourcard";
import { Walker } from "./walker";
import { tell } from "./words";

let stage: StageView | null = null;
let diagram: DiagramView | null = null;

function Bar() {
	const note = useSignal("");
	const { value: view } = state.view;
	const { source, acts } = state.run.value!;
	const commands = view === "compare" ? pair.pairCommands() : view === "lab" && "words" in source ? [commandOf(source.words)] : [];
	const copy = async (text: string) => {
		document.body.dataset.copied = text;
		// Browsers give access to the clipboard only to secure pages. On others, the text to copy is shown.
		if (await (navigator.clipboard?.writeText(text).then(() => true, () => false) ?? false)) note.value = "copied";
		else showText(text);
	};
	const copyLink = async () => copy(location.href.split("#")[0] + (view === "cluster" ? clusterHash() : view === "compare" ? await pair.pairHash() : await state.address()));
	const copyCommand = () => {
		closeMenus();
		return copy(commands.join("\n"));
	};
	const saveScenario = () => save("run.scn", "text/plain", scenarioOf(state.run.value!, "saved from the page"));
	return (
		<header class="bar">
			<a class="mark" href="#all" aria-label="baton">
				<svg viewBox="0 0 30 20" width="30" height="20" aria-hidden="true">
					<g transform="rotate(-24 15 10)">
						<rect class="baton" x="1" y="6.4" width="28" height="7.2" rx="3.6" />
						<rect class="band" x="7" y="6.4" width="2.4" height="7.2" />
						<rect class="band" x="20.6" y="6.4" width="2.4" height="7.2" />
					</g>
				</svg>
				<span>baton</span>
			</a>
			<nav class="fill" aria-label="Places">
				<a href="#all" aria-current={state.view.value === "all" ? "page" : undefined}>
					All {state.algorithms.value.length}
				</a>
				<a href="#lab" aria-current={state.view.value === "lab" ? "page" : undefined}>
					Laboratory
				</a>
				<a href="#compare" aria-current={state.view.value === "compare" ? "page" : undefined}>
					Side by side
				</a>
				{feed.known.value || state.view.value === "cluster" ? (
					<a href="#cluster" class={feed.link.value.state === "gone" || feed.link.value.state === "lost" ? "live bad" : "live"} aria-current={state.view.value === "cluster" ? "page" : undefined}>
						Cluster
					</a>
				) : null}
			</nav>
			<button class="quiet" id="copy" onClick={copyLink}>
				Copy link
			</button>
			<span role="status" class="note">
				{note}
			</span>
			<details class="menu" hidden={commands.length === 0}>
				<summary class="quiet">Command…</summary>
				<div>
					{commands.map((command, i) => (
						<code key={i}>{command}</code>
					))}
					<button id="copy-command" onClick={copyCommand}>
						Copy {commands.length > 1 ? "both" : "it"}
					</button>
					{view === "lab" && acts.length > 0 ? (
						<>
							<p class="note" id="by-hand">
								The command makes the run without what you did by hand. <code>baton replay</code> repeats that as well, from a scenario:
							</p>
							<button onClick={saveScenario}>Save run.scn</button>
						</>
					) : null}
				</div>
			</details>
			<details class="menu" hidden={state.view.value !== "lab"}>
				<summary class="quiet">Save…</summary>
				<div>
					<button id="save-scn" onClick={saveScenario}>The run as a scenario (.scn)</button>
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

/** Closes the menus of the bar, but not the given one. */
function closeMenus(but: Element | null = null): void {
	for (const menu of document.querySelectorAll<HTMLDetailsElement>("details.menu")) if (menu !== but) menu.open = false;
}

function showText(text: string): void {
	const dialog = document.getElementById("text") as HTMLDialogElement;
	const area = dialog.querySelector("textarea")!;
	area.value = text;
	dialog.showModal();
	area.select();
}

function save(name: string, type: string, text: string): void {
	closeMenus();
	const link = document.createElement("a");
	link.href = URL.createObjectURL(new Blob([text], { type }));
	link.download = name;
	link.click();
	URL.revokeObjectURL(link.href);
}

async function openFile(file: File | undefined): Promise<void> {
	if (file === undefined) return;
	closeMenus();
	state.replaceRun({ scenario: await file.text() });
}

/** Returns the picture with its colours written into it, so that it looks the same outside of the page. */
function viewAsSvg(): string {
	const svg = document.getElementById("stage")! as unknown as SVGSVGElement;
	const copy = svg.cloneNode(true) as SVGSVGElement;
	const from = [svg, ...svg.querySelectorAll("*")];
	[copy, ...copy.querySelectorAll("*")].forEach((element, i) => {
		const style = getComputedStyle(from[i]);
		element.removeAttribute("style");
		for (const name of ["fill", "stroke", "stroke-width", "stroke-dasharray", "opacity", "font-size", "font-family", "font-weight", "text-anchor", "dominant-baseline", "visibility", "display"]) element.setAttribute(name, style.getPropertyValue(name));
	});
	copy.setAttribute("xmlns", "http://www.w3.org/2000/svg");
	const ground = make("rect", { width: "100%", height: "100%", fill: getComputedStyle(document.documentElement).backgroundColor });
	copy.prepend(ground);
	return new XMLSerializer().serializeToString(copy);
}

function diagramAsSvg(): string {
	const current = state.run.value!;
	const walker = new Walker(current.source, current.acts, 0, undefined, true);
	while (walker.at < current.steps.length && walker.advance(current.steps.length));
	return walker.instance.diagram();
}

const hover = (msg: number | null) => (state.hovered.value = msg);
const hoverNode = (node: number | null) => (state.hoveredNode.value = node);

function Stage() {
	const svg = useRef<SVGSVGElement>(null);
	const current = state.run.value!;
	const narrow = state.narrow.value;
	useEffect(() => {
		closeMenu();
		// Keep the focus at the same place for users of the keyboard, although the elements are new.
		const held = document.activeElement?.closest<SVGGElement>("#stage [data-node], #stage [data-msg]")?.dataset;
		stage = new StageView(svg.current!, current, { node: clickNode, message: clickMessage, hover, hoverNode }, narrow);
		draw();
		if (held !== undefined) stage.focus(Number(held.node), Number(held.msg));
	}, [current, narrow]);
	return <svg id="stage" class="stage" ref={svg} role="group" aria-label="The nodes and the messages between them" />;
}

function Diagram() {
	const svg = useRef<SVGSVGElement>(null);
	const over = useRef<HTMLDivElement>(null);
	const current = state.run.value!;
	const narrow = state.narrow.value;
	useEffect(() => {
		diagram = new DiagramView(svg.current!, over.current!, current, { drag, hover, hoverNode }, narrow);
		draw();
	}, [current, narrow]);
	const drag = (time: number) => {
		state.playing.value = false;
		state.goTime(time);
		state.remember();
	};
	const at = state.told.value;
	const words = at === 0 ? "the beginning" : tell(current, current.steps[at - 1], undefined, undefined);
	return (
		<div id="diagram" class="diagram">
			<svg class="time" ref={svg} role="slider" tabindex={0} aria-label="Time" aria-valuemin={0} aria-valuemax={Number(current.end.toFixed(3))} aria-valuenow={at === 0 ? 0 : current.steps[at - 1].t} aria-valuetext={typeof words === "string" ? words : `${current.steps[at - 1].t}: ${words.who} ${words.what}`} />
			<div class="over" ref={over} aria-hidden="true" />
		</div>
	);
}

/** If only one act is possible at the node, it happens at once; otherwise a menu offers the
 * choices. */
function clickNode(node: number, element: Element): void {
	const current = state.run.value!;
	const now = state.states.value[node - 1];
	const election = current.algorithm.kind === "election";
	const items: MenuItem[] = [];
	const offer = (text: string, act: ActName) => items.push({ text, run: () => state.act(act, node) });
	if (now.phase === "in") offer("It leaves", "leave");
	if (now.phase === "idle" && now.ready && !now.dead) offer(election ? "It initiates an election" : "It asks to enter", "ask");
	if (now.timer !== undefined && !now.dead) offer(current.algorithm.pauses ? "It goes on with its next step" : "Its timer runs out", "expire");
	if (election && current.algorithm.timers && !now.dead) offer(CRASH, "crash");
	if (items.length === 0) state.wrong.value = `${current.name(node)} ${now.dead ? "is dead" : now.phase === "waiting" ? "waits already" : "is not ready to ask"}`;
	else if (items.length === 1 && items[0].text !== CRASH) items[0].run();
	else openMenu(`Node ${current.name(node)}`, items, element);
}

const CRASH = "It crashes";
const DELAY = 2;

function clickMessage(msg: number, element: Element): void {
	const current = state.run.value!;
	const flight = current.flight(msg)!;
	const items: MenuItem[] = [{ text: "Deliver it now", run: () => state.act("deliver", msg) }];
	// In a scenario there are no times, so a message cannot be delayed.
	if ("words" in current.source) items.push({ text: `Delay it by ${DELAY}`, run: () => state.act("delay", msg, DELAY) });
	items.push({ text: "Lose it", run: () => state.act("lose", msg) });
	openMenu(`${flight.text} from ${current.name(flight.from)} to ${current.name(flight.to)}`, items, element);
}

interface MenuItem {
	text: string;
	run: () => void;
}

const menu = signal<{ title: string; items: MenuItem[]; left: number; top: number; above: number } | null>(null);
let menuOf: Element | null = null; // the element that gets the focus back

function openMenu(title: string, items: MenuItem[], element: Element): void {
	state.playing.value = false;
	const box = element.getBoundingClientRect();
	menuOf = element;
	menu.value = { title, items, left: Math.max(8, Math.min(innerWidth - 260, box.left)), top: box.bottom + 6, above: box.top - 6 };
}

function closeMenu(): void {
	if (menu.value === null) return;
	menu.value = null;
	(menuOf as SVGElement | null)?.focus();
}

function Menu() {
	const box = useRef<HTMLDivElement>(null);
	const shown = menu.value;
	useLayoutEffect(() => {
		if (shown === null) return;
		// Place the menu below what it belongs to, or above it where there is no room.
		const { height } = box.current!.getBoundingClientRect();
		const top = shown.top + height <= innerHeight - 8 ? shown.top : Math.max(8, shown.above - height);
		box.current!.style.left = `${shown.left + scrollX}px`;
		box.current!.style.top = `${top + scrollY}px`;
		box.current!.querySelector("button")!.focus({ preventScroll: true });
	}, [shown]);
	if (shown === null) return null;
	const choose = (item: MenuItem) => {
		closeMenu();
		item.run();
	};
	const onMenuKey = (event: KeyboardEvent) => {
		const buttons = [...box.current!.querySelectorAll("button")];
		const at = buttons.indexOf(document.activeElement as HTMLButtonElement);
		const to = { ArrowDown: at + 1, ArrowUp: at - 1, Home: 0, End: buttons.length - 1 }[event.key];
		if (event.key === "Escape" || event.key === "Tab") closeMenu();
		else if (to !== undefined) buttons[(to + buttons.length) % buttons.length].focus();
		else return;
		event.preventDefault();
	};
	return (
		<div id="menu" ref={box} role="menu" aria-label={shown.title} onKeyDown={onMenuKey}>
			<b role="presentation">{shown.title}</b>
			{[...shown.items, { text: "Nothing", run: () => {} }].map((item) => (
				<button key={item.text} role="menuitem" onClick={() => choose(item)}>
					{item.text}
				</button>
			))}
		</div>
	);
}

/** Goes back. The button disappears then, so the focus must move elsewhere. */
function goBack(): void {
	state.returnToRun();
	document.getElementById("play")!.focus();
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
				<button class="quiet return" id="return" onClick={goBack}>
					Return: it went its own way at step {current.acts[0].at}
				</button>
			) : null}
			<span class="where" id="where">
				step {state.playing.value ? state.told.value : state.step.value} of {state.grown.value >= 0 ? current.steps.length : 0}
				{current.cut ? "+" : ""}
			</span>
		</div>
	);
}

const TOUCH = matchMedia("(pointer: coarse)").matches ? "Tap" : "Click";

function Legend() {
	const { algorithm, flights } = state.run.value!;
	// Show messages of the initialization only if the run has some: few runs do.
	const messages = algorithm.messages.filter((m) => !m.init || flights.some((f) => f.type === m.name));
	const pointers = algorithm.variables.filter((v) => v.kind === "node").map((v) => v.name);
	const queue = queueOf(algorithm);
	const signposts = state.run.value!.start.edges.length > 0 && algorithm.needs !== "complete";
	return (
		<div class="line">
			<div class="legend">
				{algorithm.kind === "mutex" ? <span class="l-in">inside</span> : <span class="l-leads">leads</span>}
				<span class="l-wait">{algorithm.kind === "mutex" ? "waits" : "takes part"}</span>
				{messages.map((m) => (
					<span key={m.name} class={`l-${m.token ? "token" : m.role.replace(" ", "-")}`}>{m.token ? m.name + ", the token" : m.name}</span>
				))}
				{pointers.map((name, i) => (
					<span key={name} class="l-pointer">
						<svg viewBox="0 0 26 10" aria-hidden="true">
							<path class={i === 0 && signposts ? "next" : "follow"} d="M1 5H17" />
							<path class={i === 0 && signposts ? "head-next" : "head-follow"} d="M17 1L25 5L17 9z" />
						</svg>
						{name}
					</span>
				))}
				{queue === null ? null : <span class="l-queue">{queue}</span>}
			</div>
			<span class="note hint">{TOUCH} a node to {algorithm.kind === "mutex" ? "ask or leave" : algorithm.timers ? "initiate or crash" : "initiate"}, a message to deliver, delay or lose it.</span>
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
				<dt>1 … 9</dt><dd>to that node; Enter makes it ask or leave</dd>
				<dt>c</dt><dd>the focused node crashes, if the algorithm allows for crashes</dd>
				<dt>d l w</dt><dd>the focused message is delivered, is lost, has to wait</dd>
				<dt>n p</dt><dd>next and previous frame of a tour</dd>
				<dt>?</dt><dd>this list</dd>
			</dl>
			<p class="note">Amber is the right to be inside, or a part of it. Blue asks, magenta refuses, grey gives back, teal announces. Drop a .scn file anywhere to see it.</p>
			<form method="dialog">
				<button class="quiet">Close</button>
			</form>
		</dialog>
	);
}

function Front() {
	return (
		<main class="front">
			<div class="hero">
				<div>
					<h1>Only one may act</h1>
					<p>
						{state.algorithms.value.length} published algorithms let machines that share no memory agree, by messages alone, which one it is. This page runs their C code itself, as the lock service does.
					</p>
					<p class="ways-in">
						<a class="main" href="#tour/neilsen">
							Take a tour
						</a>
						<a class="quiet" href="#compare">
							Set two side by side
						</a>
					</p>
				</div>
				<Stage />
			</div>
			<Families />
		</main>
	);
}

/** With more variables than these the table is too wide for the column at the side. */
const VARIABLES_AT_THE_SIDE = 4;

function Laboratory() {
	const { algorithm } = state.run.value!;
	const wide = algorithm.variables.length > VARIABLES_AT_THE_SIDE;
	return (
		<main class="lab">
			<div class="head">
				<Title />
				<span class="year">{algorithm.year}</span>
				<Sentence />
				{state.tour.value === null ? (
					<a class="quiet" id="to-tour" href={`#tour/${algorithm.name}`}>
						Tour
					</a>
				) : null}
			</div>
			<div class="left">
				<Stage />
				<Legend />
				<Transport />
				<Diagram />
				<Cost />
				{wide ? <Table /> : null}
			</div>
			<div class="side">
				<TourCard />
				<Told />
				<Code />
				<Properties />
				{wide ? null : <Table />}
			</div>
		</main>
	);
}

function Wrong() {
	if (state.wrong.value === null) return null;
	return (
		<p class="alarm" role="alert" id="wrong">
			<span>{state.wrong.value}</span>
			<button aria-label="Close this message" onClick={() => (state.wrong.value = null)}>
				✕
			</button>
		</p>
	);
}

function App() {
	if (state.run.value === null) return <main>…</main>;
	return (
		<>
			<Bar />
			{state.view.value === "all" ? <Front /> : state.view.value === "compare" ? <Compare /> : state.view.value === "cluster" ? <Cluster /> : <Laboratory />}
			<Wrong />
			<Menu />
			<Help />
			<dialog id="text" aria-label="To copy">
				<textarea readOnly rows={6} aria-label="To copy" />
				<form method="dialog">
					<button class="quiet">Close</button>
				</form>
			</dialog>
			<p class="unseen" role="status" aria-live="polite" id="said">
				{state.said.value}
			</p>
		</>
	);
}

function draw(): void {
	const current = state.run.value;
	const states = state.states.value;
	const [step, time, hovered, hoveredNode, broken] = [state.step.value, state.time.value, state.hovered.value, state.hoveredNode.value, state.broken.value];
	void state.grown.value;
	if (current === null) return;
	const wrong = state.moment.value!.properties.some((p) => !p.holds) || broken === state.told.value;
	const stuck = stuckAt(current, step, states);
	// The views of another run are replaced as soon as its page is rendered.
	if (stage?.run === current) stage.draw({ step, time, states, still: state.still.value, stuck: arrowsOf(current, stuck ?? [], step), broken: wrong, settled: !state.playing.value, hovered, hoveredNode });
	if (diagram?.run === current) diagram.draw({ time, looks: states.map((s, i) => current.look(i + 1, s, step)), hovered, hoveredNode, broken: broken === null ? null : current.steps[broken - 1].t, now: wrong || stuck !== null });
}

/** While the run plays, every frame advances the time, and steps happen when their time comes. */
let before = 0;
function frame(at: number): void {
	const current = state.run.value;
	const passed = Math.min(100, at - before) / 1000;
	if (state.playing.value && state.view.value === "compare") playPair(passed * state.speed.value * 1.2);
	else if (current !== null && state.playing.value) {
		const next = state.time.value + passed * state.speed.value * 1.2;
		// Make more steps before the user reaches the last one.
		if (current.cut && current.steps.length - state.step.value < 500) state.extend();
		const broke = state.broken.value;
		if (broke !== null && state.step.value < broke && current.stepAt(next) >= broke) {
			state.go(broke);
			state.playing.value = false;
			state.remember();
		} else if (state.until.value !== null && current.stepAt(next) >= state.until.value) {
			state.go(state.until.value);
			state.playing.value = false;
			state.remember();
		} else if (next >= current.end + 0.01) {
			state.go(current.steps.length);
			state.playing.value = false;
			state.remember();
		} else state.goTime(next);
		state.tellNow(at);
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

/** Moves by one step, or to the next entry. */
function move(direction: 1 | -1, entry: boolean): void {
	if (entry) state.goEntry(direction);
	else state.go(state.step.value + direction);
}

function onKey(event: KeyboardEvent): void {
	if ((state.view.value === "all" || state.view.value === "cluster") && event.key !== "?") return;
	const target = event.target as HTMLElement;
	if (/^(INPUT|SELECT|TEXTAREA|DIALOG|SUMMARY)$/.test(target.tagName) || event.ctrlKey || event.altKey || event.metaKey) return;
	if (target.closest("dialog, #menu") !== null) return;
	if (state.view.value === "compare") {
		if (!(event.key === " " && target.tagName === "BUTTON") && onPairKey(event.key)) event.preventDefault();
		return;
	}
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
		case "ArrowRight":
			stop();
			move(event.key === "ArrowLeft" ? -1 : 1, event.shiftKey);
			break;
		case "ArrowUp":
		case "ArrowDown":
		case "PageUp":
		case "PageDown":
			// On the time slider these keys move it, as on any slider; elsewhere they scroll.
			if (!target.classList.contains("time")) return;
			stop();
			move(event.key.endsWith("Down") ? -1 : 1, event.key.startsWith("Page"));
			break;
		case "Home":
			stop();
			state.go(0);
			break;
		case "End":
			stop();
			state.go(state.run.value!.steps.length);
			break;
		case "n":
		case "p":
			if (state.tour.value === null) return;
			return state.goFrame(state.frame.value + (event.key === "n" ? 1 : -1));
		case "c":
			if (node === null || node === undefined) return;
			state.act("crash", Number(node));
			break;
		case "?":
			(document.getElementById("help") as HTMLDialogElement).showModal();
			break;
		default:
			if (!/^[1-9]$/.test(event.key)) return;
			stage?.nodeElement(event.key)?.focus();
	}
	event.preventDefault();
	if (!state.playing.value) state.remember();
}

/** The run plays at once, unless the user prefers reduced motion, or the address names a moment. */
function movesAlone(hash: string): boolean {
	return !state.still.value && /^(#(all|lab|compare)?)?$/.test(hash);
}

async function arrive(hash: string): Promise<void> {
	if (/^#cluster(\?|$)/.test(hash)) {
		readCluster(hash);
		state.view.value = "cluster";
	} else if (/^#compare(\?|$)/.test(hash)) await pair.showPair(hash);
	else await state.showAddress(hash);
}

/** Shows what the address says now. */
async function visit(): Promise<void> {
	state.playing.value = false;
	await arrive(location.hash);
	scrollTo(0, 0);
	state.playing.value = movesAlone(location.hash);
}

async function main(): Promise<void> {
	const motion = matchMedia("(prefers-reduced-motion: reduce)");
	state.still.value = motion.matches;
	motion.onchange = () => (state.still.value = motion.matches);
	const small = matchMedia("(max-width: 640px)");
	state.narrow.value = small.matches;
	small.onchange = () => (state.narrow.value = small.matches);
	await load(await resource("baton.wasm"));
	state.algorithms.value = new Instance().catalogue();
	const given = embeddedRun();
	if (location.hash.length > 1 || given === null) await arrive(location.hash);
	else if (given?.scenario !== undefined) state.show({ scenario: given.scenario }, []);
	else if (given?.words !== undefined) state.show({ words: given.words }, []);
	// The laboratory always has a run, even while another view hides it.
	if (state.run.value === null) {
		const [shown, sentence] = [state.view.value, state.wrong.value];
		await state.showAddress("#lab");
		[state.view.value, state.wrong.value] = [shown, sentence];
	}
	feed.begin();
	render(<App />, document.getElementById("page")!);
	effect(draw);
	effect(() => {
		const [current, at] = [state.run.value!, state.step.value];
		// Clear the last sentence: it is not about the other views, nor about the beginning of a run.
		if (state.view.value !== "lab" || at === 0) state.said.value = "";
		if (state.playing.value || state.view.value !== "lab" || at === 0) return;
		const told = tell(current, current.steps[at - 1], undefined, undefined);
		state.said.value = `${told.who} ${told.what} ${told.then.map((t) => t.text).join(", ")}`;
	});
	addEventListener("keydown", onKey);
	addEventListener("hashchange", () => void visit());
	addEventListener("dragover", (event) => event.preventDefault());
	addEventListener("drop", (event) => {
		event.preventDefault();
		void openFile(event.dataTransfer?.files[0]);
	});
	addEventListener("pointerdown", (event) => {
		const target = event.target as Element;
		if (target.closest("#menu, [data-msg], [data-node]") === null) closeMenu();
		closeMenus(target.closest("details.menu"));
	});
	state.playing.value = movesAlone(location.hash) && given === null;
	requestAnimationFrame(frame);
	document.body.dataset.ready = "yes";
	(window as unknown as { baton: unknown }).baton = { state, pair, feed, Instance, Walker };
	await state.loadCode();
}

void main().catch((error: Error) => {
	document.getElementById("page")!.textContent = `The page could not start: ${error.message}`;
});
