// The space-time diagram, which is also the time line. It has a row for each node, veils the future, and can be dragged to any time.
//
// What moves has layers of its own, one above the other: the rows stand, the messages move as a whole, the veil over the future and
// the hand follow the time. So a frame paints none of the messages again.

import type { Role } from "./module";
import type { Flight, Run, Span } from "./run";
import { make, round, set } from "./svg";

const LEFT = 34;
const TOP = 26;
const FLIGHTS_SHOWN = 170;
const DRAWN_MAX = 3000; // the most messages drawn at once
const IN_PATH = 100; // how many of them are one element
const NEAR = 5; // how far from a line a pointer still means it

export interface DiagramHooks {
	drag(time: number): void;
	hover(msg: number | null): void;
	hoverNode(node: number | null): void;
}

export interface Instant {
	time: number;
	looks: string[]; // how each node looks
	hovered: number | null;
	hoveredNode: number | null;
	broken: number | null; // when something first broke
	now: boolean; // a property is broken at this moment
}

/** Returns the first message that was sent at that time or later. */
function firstSent(flights: Flight[], time: number): number {
	let low = 0;
	let high = flights.length;
	while (low < high) {
		const middle = (low + high) >> 1;
		if (flights[middle].sent < time) low = middle + 1;
		else high = middle;
	}
	return low;
}

/** How much time of a run is seen at once. */
export function spanOf(run: Run, narrow: boolean): number {
	const shown = narrow ? FLIGHTS_SHOWN / 3 : FLIGHTS_SHOWN;
	const end = Math.max(run.end, 0.001);
	return run.flights.length <= shown ? end * 1.02 : Math.max(end * (shown / run.flights.length), 0.001);
}

export class DiagramView {
	private width: number;
	private height: number;
	private row: number;
	private scale: number; // how many pixels a unit of time has
	private span: number; // how much time is visible
	private from = 0; // the time at the left edge
	private moving: SVGSVGElement; // moves the content to the left
	private content: SVGGElement; // what is seen, and as much before and after it
	private drawn: [number, number, number] = [1, 0, 0]; // from, to; of a run of so many steps
	private veil: HTMLElement;
	private hand: SVGGElement;
	private grip: SVGTextElement;
	private pill: SVGRectElement;
	private mark: SVGGElement;
	private lane: SVGRectElement;
	private chips: SVGGElement[] = [];
	private lines: { msg: number; names: string; x1: number; y1: number; x2: number; y2: number }[] = []; // where messages are drawn
	private litLine: SVGLineElement | null = null;
	private roles: Map<string, Role>;
	private tokens: Flight[] = [];
	private longest = 0; // the longest time that a message was in flight
	private lit: number | null = null;

	constructor(
		private svg: SVGSVGElement,
		over: HTMLElement, // lies above it
		readonly run: Run,
		private hooks: DiagramHooks,
		readonly narrow: boolean,
		span = spanOf(run, narrow),
	) {
		const nodes = run.start.nodes;
		this.roles = new Map(run.algorithm.messages.map((m) => [m.name, m.role]));
		this.width = narrow ? 400 : 880;
		this.row = Math.max(6, Math.min(22, 320 / nodes));
		this.span = span;
		this.scale = (this.width - LEFT - 14) / this.span;
		this.height = TOP + nodes * this.row + 26;
		svg.replaceChildren();
		set(svg, "viewBox", `0 0 ${this.width} ${this.height}`);
		this.lane = make("rect", { class: "lane", x: 0, width: this.width, height: round(this.row), visibility: "hidden" }, svg);
		for (let node = 1; node <= nodes; node++) this.drawRow(node);
		over.replaceChildren();
		const bottom = TOP + nodes * this.row;
		const layer = (parent: Element) => make("svg", { viewBox: `0 0 ${this.width} ${this.height}` }, parent);
		const window = this.addWindow(over);
		this.moving = layer(window);
		this.content = make("g", {}, this.moving);
		this.veil = window.appendChild(document.createElement("div"));
		this.veil.className = "veil";
		this.veil.style.top = `${((TOP - 6) / this.height) * 100}%`;
		this.veil.style.height = `${((bottom - TOP + 8) / this.height) * 100}%`;
		const front = layer(over);
		this.mark = make("g", { class: "broke", visibility: "hidden" }, front);
		make("line", { y1: TOP - 6, y2: bottom + 4 }, this.mark);
		make("path", { d: `M-5 ${TOP - 14}l10 0l-5 8z` }, this.mark);
		this.hand = make("g", { class: "handle" }, front);
		make("line", { class: "hand", y1: 18, y2: TOP + nodes * this.row + 4 }, this.hand);
		this.pill = make("rect", { class: "grip", y: 0, height: 18, rx: 9 }, this.hand);
		this.grip = make("text", { class: "grip-t", y: 9 }, this.hand);
		this.listen();
	}

	/** Cuts off what has moved out to the left; what is in it lies as if it were not there. */
	private addWindow(over: HTMLElement): HTMLElement {
		const window = over.appendChild(document.createElement("div"));
		const inner = window.appendChild(document.createElement("div"));
		const cut = (LEFT - 4) / this.width;
		window.className = "window";
		window.style.left = `${cut * 100}%`;
		inner.style.left = `${(-cut / (1 - cut)) * 100}%`;
		inner.style.width = `${100 / (1 - cut)}%`;
		return inner;
	}

	private y(node: number): number {
		return TOP + (node - 0.5) * this.row;
	}

	/** Returns the x of a time within the content, which moves as a whole. */
	private x(time: number): number {
		return LEFT + time * this.scale;
	}

	private drawRow(node: number): void {
		const y = round(this.y(node));
		make("line", { class: "row", x1: LEFT, x2: this.width, y1: y, y2: y }, this.svg);
		if (this.row < 11 && node % Math.ceil(14 / this.row) !== 1) return;
		const chip = make("g", { class: "rowchip", transform: `translate(12 ${y})` }, this.svg);
		if (this.row >= 15) make("circle", { r: 9 }, chip);
		make("text", { class: "rowno" }, chip).textContent = this.run.name(node);
		this.chips[node] = chip;
	}

	/** Draws everything between two times, including what began before and still lasts. */
	private fill(from: number, to: number): void {
		const { run } = this;
		this.drawn = [from, to, run.steps.length];
		this.tokens = run.algorithm.token ? run.flights.filter((f) => f.token) : [];
		this.longest = 0;
		for (const one of run.flights) if (Number.isFinite(one.gone)) this.longest = Math.max(this.longest, one.gone - one.sent);
		this.content.replaceChildren();
		this.lines = [];
		this.drawRests(from, to);
		for (const span of run.spans) if (span.from <= to && span.to >= from) this.drawSpan(span);
		const first = firstSent(run.flights, from - this.longest);
		const paths = new Map<string, string[]>();
		for (let i = first; i < run.flights.length && this.lines.length < DRAWN_MAX && run.flights[i].sent <= to; i++) if (run.flights[i].gone >= from) this.addMessage(run.flights[i], paths);
		this.drawMessages(paths);
		this.drawAxis(from, to);
	}

	/** Draws where the token rests: from its arrival, or the start, until it is sent. */
	private drawRests(from: number, to: number): void {
		const { holder } = this.run.start;
		const rest = (node: number, since: number, until: number) => {
			if (until > since && since <= to && until >= from)
				make("line", { class: "rest", x1: round(this.x(since)), x2: round(this.x(until)), y1: round(this.y(node)), y2: round(this.y(node)) }, this.content);
		};
		const { tokens } = this;
		if (this.run.algorithm.token && holder !== null && (tokens.length === 0 || tokens[0].from === holder)) rest(holder, 0, tokens[0]?.sent ?? this.run.end);
		const next = new Map<number, number>(); // when each node next sends it
		for (let i = tokens.length - 1; i >= 0; i--) {
			const token = tokens[i];
			if (Number.isFinite(token.gone) && !token.lost) rest(token.to, token.gone, next.get(token.to) ?? this.run.end);
			next.set(token.from, token.sent);
		}
	}

	private drawSpan(span: Span): void {
		const [from, to] = [this.x(span.from), this.x(Math.min(span.to, this.run.end))];
		const height = span.kind === "in" ? Math.min(12, this.row * 0.6) : Math.min(5, this.row * 0.3);
		make("rect", { class: span.kind === "in" ? "inside" : "wait", x: round(from), y: round(this.y(span.node) - height / 2), width: round(Math.max(1.5, to - from)), height: round(height), rx: round(Math.min(4, height / 2)) }, this.content);
	}

	/** Adds a message to the path of its kind, and remembers where it is. */
	private addMessage(flight: Flight, paths: Map<string, string[]>): void {
		const open = !Number.isFinite(flight.gone);
		const gone = open ? this.run.end : flight.gone;
		if (open && gone === flight.sent) return;
		const part = flight.lost || open ? 0.6 : 1;
		const [y1, y2] = [this.y(flight.from), this.y(flight.to)];
		const names = `m ${this.roles.get(flight.type)!.replace(" ", "-")}${flight.token ? " t" : ""}${flight.lost ? " lost" : ""}`;
		const line = { msg: flight.msg, names, x1: round(this.x(flight.sent)), y1: round(y1), x2: round(this.x(flight.sent + (gone - flight.sent) * part)), y2: round(y1 + (y2 - y1) * part) };
		this.lines.push(line);
		if (!paths.has(names)) paths.set(names, []);
		paths.get(names)!.push(`M${line.x1} ${line.y1}L${line.x2} ${line.y2}`);
	}

	/** A few paths instead of thousands of lines: each element costs time in every frame. */
	private drawMessages(paths: Map<string, string[]>): void {
		for (const [names, parts] of paths)
			for (let i = 0; i < parts.length; i += IN_PATH) make("path", { class: names, d: parts.slice(i, i + IN_PATH).join("") }, this.content);
		this.drawLit();
	}

	private drawLit(): void {
		this.litLine?.remove();
		const line = this.lines.find((l) => l.msg === this.lit);
		this.litLine = line === undefined ? null : make("line", { class: line.names + " lit", x1: line.x1, y1: line.y1, x2: line.x2, y2: line.y2 }, this.content);
	}

	/** The message whose line is nearest, if one is near. */
	private nearest(x: number, y: number): number | null {
		let [least, found] = [NEAR, null as number | null];
		for (const { msg, x1, y1, x2, y2 } of this.lines) {
			if (x < x1 - NEAR || x > x2 + NEAR) continue;
			const [dx, dy] = [x2 - x1, y2 - y1];
			const part = Math.max(0, Math.min(1, ((x - x1) * dx + (y - y1) * dy) / (dx * dx + dy * dy || 1)));
			const far = Math.hypot(x - x1 - part * dx, y - y1 - part * dy);
			if (far < least) [least, found] = [far, msg];
		}
		return found;
	}

	private drawAxis(from: number, to: number): void {
		const wanted = this.span / (this.narrow ? 4 : 6);
		const power = 10 ** Math.floor(Math.log10(wanted));
		const step = [1, 2, 5, 10].map((n) => n * power).find((n) => n >= wanted)!;
		for (let i = Math.max(0, Math.floor(from / step)); i * step <= Math.min(to, this.run.end * 1.001); i++)
			make("text", { class: "axis", x: round(this.x(i * step)), y: this.height - 6 }, this.content).textContent = String(+(i * step).toFixed(3));
	}

	private listen(): void {
		const place = (event: PointerEvent) => {
			const box = this.svg.getBoundingClientRect();
			return [((event.clientX - box.left) / box.width) * this.width, ((event.clientY - box.top) / box.height) * this.height];
		};
		const drag = (event: PointerEvent) => this.hooks.drag(Math.max(0, (place(event)[0] - LEFT) / this.scale + this.from));
		this.svg.onpointerdown = (event) => {
			if (event.button !== 0) return;
			this.svg.setPointerCapture(event.pointerId);
			drag(event);
		};
		this.svg.onpointermove = (event) => {
			if (this.svg.hasPointerCapture(event.pointerId)) drag(event);
			const [x, y] = place(event);
			const node = Math.floor((y - TOP) / this.row) + 1;
			this.hooks.hover(this.nearest(x + this.from * this.scale, y));
			this.hooks.hoverNode(node >= 1 && node <= this.run.start.nodes ? node : null);
		};
		this.svg.onpointerleave = () => {
			this.hooks.hoverNode(null);
			this.hooks.hover(null);
		};
	}

	draw(at: Instant): void {
		const end = Math.max(this.run.end, 0.001);
		this.from = this.span >= end ? 0 : Math.min(end * 1.02 - this.span, Math.max(0, at.time - this.span * 0.4));
		const [from, to, steps] = this.drawn;
		if (this.from < from || this.from + this.span > to || steps !== this.run.steps.length) this.fill(this.from - this.span, this.from + 2 * this.span);
		const part = (pixels: number) => `translateX(${((pixels / this.width) * 100).toFixed(3)}%)`;
		this.moving.style.transform = part(-this.from * this.scale);
		const x = this.x(at.time - this.from);
		this.veil.style.transform = part(x);
		this.hand.setAttribute("transform", `translate(${x.toFixed(1)} 0)`);
		set(this.hand, "class", at.now ? "handle bad" : "handle");
		const text = at.time.toFixed(2);
		if (this.grip.textContent !== text) {
			this.grip.textContent = text;
			const width = Math.max(42, text.length * 7 + 12);
			set(this.pill, "width", width);
			set(this.pill, "x", -width / 2);
		}
		const broke = at.broken === null ? 0 : this.x(at.broken - this.from);
		set(this.mark, "visibility", at.broken === null || broke < LEFT ? "hidden" : "visible");
		set(this.mark, "transform", `translate(${broke.toFixed(1)} 0)`);
		set(this.lane, "visibility", at.hoveredNode === null ? "hidden" : "visible");
		if (at.hoveredNode !== null) set(this.lane, "y", round(this.y(at.hoveredNode) - this.row / 2));
		at.looks.forEach((look, i) => this.chips[i + 1] !== undefined && set(this.chips[i + 1], "class", "rowchip " + look));
		if (at.hovered === this.lit) return;
		this.lit = at.hovered;
		this.drawLit();
	}
}
