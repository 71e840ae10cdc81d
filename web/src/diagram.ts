// The space-time diagram, which is the time line: a row for each node, the future veiled, dragged anywhere.

import type { Role } from "./module";
import type { Flight, Run, Span } from "./run";
import { make, round, set } from "./svg";

const LEFT = 34;
const TOP = 26;
const FLIGHTS_SHOWN = 170;
const DRAWN_MAX = 3000; // the most messages drawn at once

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

/** The first message that was sent at a time or later. */
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

export class DiagramView {
	private width: number;
	private height: number;
	private row: number;
	private scale: number; // how many pixels a unit of time has
	private span: number; // how much time is visible
	private from = 0; // the time at the left edge
	private content: SVGGElement; // what is seen, and as much before and after it
	private drawn: [number, number, number] = [1, 0, 0]; // from, to; of a run of so many steps
	private veil: SVGRectElement;
	private hand: SVGGElement;
	private grip: SVGTextElement;
	private pill: SVGRectElement;
	private mark: SVGGElement;
	private lane: SVGRectElement;
	private chips: SVGGElement[] = [];
	private messages = new Map<number, SVGLineElement>();
	private roles: Map<string, Role>;
	private tokens: Flight[] = [];
	private longest = 0; // the longest time that a message was in flight
	private lit: number | null = null;

	constructor(
		private svg: SVGSVGElement,
		readonly run: Run,
		private hooks: DiagramHooks,
		readonly narrow: boolean,
	) {
		const nodes = run.start.nodes;
		this.roles = new Map(run.algorithm.messages.map((m) => [m.name, m.role]));
		this.width = narrow ? 400 : 880;
		this.row = Math.max(6, Math.min(22, 320 / nodes));
		const shown = narrow ? FLIGHTS_SHOWN / 3 : FLIGHTS_SHOWN;
		const end = Math.max(run.end, 0.001);
		this.span = run.flights.length <= shown ? end * 1.02 : Math.max(end * (shown / run.flights.length), 0.001);
		this.scale = (this.width - LEFT - 14) / this.span;
		this.height = TOP + nodes * this.row + 26;
		svg.replaceChildren();
		set(svg, "viewBox", `0 0 ${this.width} ${this.height}`);
		const clip = make("clipPath", { id: "window" }, make("defs", {}, svg));
		make("rect", { x: LEFT - 4, y: 0, width: this.width - LEFT + 4, height: this.height }, clip);
		this.lane = make("rect", { class: "lane", x: 0, width: this.width, height: round(this.row), visibility: "hidden" }, svg);
		for (let node = 1; node <= nodes; node++) this.drawRow(node);
		const window = make("g", { "clip-path": "url(#window)" }, svg);
		this.content = make("g", {}, window);
		this.veil = make("rect", { class: "veil", y: TOP - 6, height: nodes * this.row + 8, width: this.width * 2 }, window);
		this.mark = make("g", { class: "broke", visibility: "hidden" }, window);
		make("line", { y1: TOP - 6, y2: TOP + nodes * this.row + 4 }, this.mark);
		make("path", { d: `M-5 ${TOP - 14}l10 0l-5 8z` }, this.mark);
		this.hand = make("g", { class: "handle" }, svg);
		make("line", { class: "hand", y1: 18, y2: TOP + nodes * this.row + 4 }, this.hand);
		this.pill = make("rect", { class: "grip", y: 0, height: 18, rx: 9 }, this.hand);
		this.grip = make("text", { class: "grip-t", y: 9 }, this.hand);
		this.listen();
	}

	private y(node: number): number {
		return TOP + (node - 0.5) * this.row;
	}

	/** Within the content, which moves as a whole. */
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

	/** What is seen between two times, with what began before and lasts. */
	private fill(from: number, to: number): void {
		const { run } = this;
		this.drawn = [from, to, run.steps.length];
		this.tokens = run.algorithm.token ? run.flights.filter((f) => f.token) : [];
		this.longest = 0;
		for (const one of run.flights) if (Number.isFinite(one.gone)) this.longest = Math.max(this.longest, one.gone - one.sent);
		this.content.replaceChildren();
		this.messages.clear();
		this.drawRests(from, to);
		for (const span of run.spans) if (span.from <= to && span.to >= from) this.drawSpan(span);
		const first = firstSent(run.flights, from - this.longest);
		for (let i = first, count = 0; i < run.flights.length && count < DRAWN_MAX && run.flights[i].sent <= to; i++)
			if (run.flights[i].gone >= from) {
				this.drawMessage(run.flights[i]);
				count++;
			}
		this.drawAxis(from, to);
		if (this.lit !== null) this.messages.get(this.lit)?.classList.add("lit");
	}

	/** Where the token rests: from its arrival, or the start, until it is sent. */
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

	private drawMessage(flight: Flight): void {
		const open = !Number.isFinite(flight.gone);
		const gone = open ? this.run.end : flight.gone;
		if (open && gone === flight.sent) return;
		const part = flight.lost || open ? 0.6 : 1;
		const [y1, y2] = [this.y(flight.from), this.y(flight.to)];
		const names = `m ${this.roles.get(flight.type)!.replace(" ", "-")}${flight.token ? " t" : ""}${flight.lost ? " lost" : ""}`;
		const line = make("line", { class: names, x1: round(this.x(flight.sent)), y1: round(y1), x2: round(this.x(flight.sent + (gone - flight.sent) * part)), y2: round(y1 + (y2 - y1) * part) }, this.content);
		line.addEventListener("pointerenter", () => this.hooks.hover(flight.msg));
		line.addEventListener("pointerleave", () => this.hooks.hover(null));
		this.messages.set(flight.msg, line);
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
			const node = Math.floor((place(event)[1] - TOP) / this.row) + 1;
			this.hooks.hoverNode(node >= 1 && node <= this.run.start.nodes ? node : null);
		};
		this.svg.onpointerleave = () => this.hooks.hoverNode(null);
	}

	draw(at: Instant): void {
		const end = Math.max(this.run.end, 0.001);
		this.from = this.span >= end ? 0 : Math.min(end * 1.02 - this.span, Math.max(0, at.time - this.span * 0.4));
		const [from, to, steps] = this.drawn;
		if (this.from < from || this.from + this.span > to || steps !== this.run.steps.length) this.fill(this.from - this.span, this.from + 2 * this.span);
		this.content.setAttribute("transform", `translate(${(-this.from * this.scale).toFixed(1)} 0)`);
		const x = this.x(at.time - this.from);
		this.veil.setAttribute("x", x.toFixed(1));
		this.hand.setAttribute("transform", `translate(${x.toFixed(1)} 0)`);
		set(this.hand, "class", at.now ? "handle bad" : "handle");
		const text = at.time.toFixed(2);
		if (this.grip.textContent !== text) {
			this.grip.textContent = text;
			const width = Math.max(42, text.length * 7 + 12);
			set(this.pill, "width", width);
			set(this.pill, "x", -width / 2);
		}
		set(this.mark, "visibility", at.broken === null ? "hidden" : "visible");
		if (at.broken !== null) set(this.mark, "transform", `translate(${this.x(at.broken - this.from).toFixed(1)} 0)`);
		set(this.lane, "visibility", at.hoveredNode === null ? "hidden" : "visible");
		if (at.hoveredNode !== null) set(this.lane, "y", round(this.y(at.hoveredNode) - this.row / 2));
		at.looks.forEach((look, i) => this.chips[i + 1] !== undefined && set(this.chips[i + 1], "class", "rowchip " + look));
		if (at.hovered === this.lit) return;
		if (this.lit !== null) this.messages.get(this.lit)?.classList.remove("lit");
		if (at.hovered !== null) this.messages.get(at.hovered)?.classList.add("lit");
		this.lit = at.hovered;
	}
}
