// The space-time diagram, which is the time line: a row for each node, the future veiled, dragged anywhere.

import type { Role } from "./module";
import type { Run } from "./run";
import { make, round, set } from "./svg";

const WIDTH = 880;
const LEFT = 34;
const TOP = 26;
const FLIGHTS_SHOWN = 170;
const DRAWN_MAX = 4000;

export interface DiagramHooks {
	drag(time: number): void;
	hover(msg: number | null): void;
}

export class DiagramView {
	private scale: number; // pixels for a unit of time
	private content: SVGGElement;
	private veil: SVGRectElement;
	private hand: SVGGElement;
	private grip: SVGTextElement;
	private chips: SVGGElement[] = [];
	private messages = new Map<number, SVGLineElement>();
	private height: number;
	private span: number; // of time that is visible
	private from = 0;
	private lit: number | null = null;

	constructor(
		private svg: SVGSVGElement,
		readonly run: Run,
		hooks: DiagramHooks,
		narrow: boolean,
	) {
		const nodes = run.start.nodes;
		const row = Math.max(6, Math.min(22, 320 / nodes));
		const shown = narrow ? FLIGHTS_SHOWN / 3 : FLIGHTS_SHOWN;
		const end = Math.max(run.end, 0.001);
		this.span = run.flights.length <= shown ? end * 1.02 : Math.max(end * (shown / run.flights.length), 0.001);
		this.scale = (WIDTH - LEFT - 14) / this.span;
		this.height = TOP + nodes * row + 26;
		svg.replaceChildren();
		set(svg, "viewBox", `0 0 ${WIDTH} ${this.height}`);
		const clip = make("clipPath", { id: "window" }, make("defs", {}, svg));
		make("rect", { x: LEFT - 4, y: 0, width: WIDTH - LEFT + 4, height: this.height }, clip);
		const window = make("g", { "clip-path": "url(#window)" }, svg);
		this.content = make("g", {}, window);
		const y = (node: number) => TOP + (node - 0.5) * row;
		for (let node = 1; node <= nodes; node++) this.drawRow(node, y(node), row);
		this.drawRests(y);
		this.drawSpans(y, row);
		this.drawMessages(y, hooks);
		this.drawAxis(end);
		this.veil = make("rect", { class: "veil", y: TOP - 6, height: nodes * row + 8, width: WIDTH * 4 }, window);
		this.hand = make("g", { class: "handle" }, svg);
		make("line", { class: "hand", y1: 18, y2: TOP + nodes * row + 4 }, this.hand);
		make("rect", { class: "grip", x: -21, y: 0, width: 42, height: 18, rx: 9 }, this.hand);
		this.grip = make("text", { class: "grip-t", y: 9 }, this.hand);
		this.listen(hooks);
	}

	private x(time: number): number {
		return LEFT + time * this.scale;
	}

	private drawRow(node: number, y: number, row: number): void {
		make("line", { class: "row", x1: LEFT, x2: this.x(Math.max(this.run.end, this.span)), y1: y, y2: y }, this.content);
		if (row < 11 && node % Math.ceil(14 / row) !== 1) return;
		const chip = make("g", { class: "rowchip", transform: `translate(12 ${round(y)})` }, this.svg);
		if (row >= 15) make("circle", { r: 9 }, chip);
		const identifier = this.run.start.arrangement?.[node - 1] ?? node;
		make("text", { class: "rowno" }, chip).textContent = String(identifier);
		this.chips[node] = chip;
	}

	/** Where the token rests: from its arrival, or the start, until it is sent. */
	private drawRests(y: (node: number) => number): void {
		if (!this.run.algorithm.token) return;
		const tokens = this.run.flights.filter((f) => f.token);
		const rest = (node: number, from: number, to: number) => {
			if (to > from) make("line", { class: "rest", x1: round(this.x(from)), x2: round(this.x(to)), y1: y(node), y2: y(node) }, this.content);
		};
		if (this.run.start.holder !== null && (tokens.length === 0 || tokens[0].from === this.run.start.holder)) rest(this.run.start.holder, 0, tokens[0]?.sent ?? this.run.end);
		tokens.slice(0, DRAWN_MAX).forEach((token, i) => {
			if (!token.lost && Number.isFinite(token.gone)) rest(token.to, token.gone, tokens.slice(i + 1).find((t) => t.from === token.to)?.sent ?? this.run.end);
		});
	}

	private drawSpans(y: (node: number) => number, row: number): void {
		for (const span of this.run.spans.slice(0, DRAWN_MAX)) {
			const [from, to] = [this.x(span.from), this.x(Math.min(span.to, this.run.end))];
			const height = span.kind === "in" ? Math.min(12, row * 0.6) : Math.min(5, row * 0.3);
			make("rect", { class: span.kind === "in" ? "inside" : "wait", x: round(from), y: round(y(span.node) - height / 2), width: round(Math.max(1.5, to - from)), height: round(height), rx: round(Math.min(4, height / 2)) }, this.content);
		}
	}

	private drawMessages(y: (node: number) => number, hooks: DiagramHooks): void {
		const roles = new Map<string, Role>(this.run.algorithm.messages.map((m) => [m.name, m.role]));
		for (const flight of this.run.flights.slice(0, DRAWN_MAX)) {
			const open = !Number.isFinite(flight.gone);
			const gone = open ? this.run.end : flight.gone;
			if (open && gone === flight.sent) continue;
			const part = flight.lost || open ? 0.6 : 1;
			const line = make("line", { class: `m ${roles.get(flight.type)!.replace(" ", "-")}${flight.token ? " t" : ""}${flight.lost ? " lost" : ""}`, x1: round(this.x(flight.sent)), y1: round(y(flight.from)), x2: round(this.x(flight.sent + (gone - flight.sent) * part)), y2: round(y(flight.from) + (y(flight.to) - y(flight.from)) * part) }, this.content);
			line.addEventListener("pointerenter", () => hooks.hover(flight.msg));
			line.addEventListener("pointerleave", () => hooks.hover(null));
			this.messages.set(flight.msg, line);
		}
	}

	private drawAxis(end: number): void {
		const wanted = this.span / 6;
		const power = 10 ** Math.floor(Math.log10(wanted));
		const step = [1, 2, 5, 10].map((n) => n * power).find((n) => n >= wanted)!;
		for (let t = 0, i = 0; t <= end * 1.001 && i < 2000; t += step, i++) make("text", { class: "axis", x: round(this.x(t)), y: this.height - 6 }, this.content).textContent = String(+t.toFixed(3));
	}

	private listen(hooks: DiagramHooks): void {
		const time = (event: PointerEvent) => {
			const box = this.svg.getBoundingClientRect();
			const x = ((event.clientX - box.left) / box.width) * WIDTH;
			return Math.min(this.run.end, Math.max(0, (x - LEFT) / this.scale + this.from));
		};
		this.svg.onpointerdown = (event) => {
			if (event.button !== 0) return;
			this.svg.setPointerCapture(event.pointerId);
			hooks.drag(time(event));
		};
		this.svg.onpointermove = (event) => {
			if (this.svg.hasPointerCapture(event.pointerId)) hooks.drag(time(event));
		};
	}

	draw(time: number, phases: string[], hovered: number | null): void {
		const end = Math.max(this.run.end, 0.001);
		this.from = this.span >= end ? 0 : Math.min(end * 1.02 - this.span, Math.max(0, time - this.span * 0.4));
		this.content.setAttribute("transform", `translate(${(-this.from * this.scale).toFixed(1)} 0)`);
		const x = LEFT + (time - this.from) * this.scale;
		this.veil.setAttribute("x", x.toFixed(1));
		this.hand.setAttribute("transform", `translate(${x.toFixed(1)} 0)`);
		const text = time.toFixed(2);
		if (this.grip.textContent !== text) this.grip.textContent = text;
		phases.forEach((phase, i) => this.chips[i + 1] !== undefined && set(this.chips[i + 1], "class", "rowchip " + phase));
		if (hovered === this.lit) return;
		if (this.lit !== null) this.messages.get(this.lit)?.classList.remove("lit");
		if (hovered !== null) this.messages.get(hovered)?.classList.add("lit");
		this.lit = hovered;
	}
}
