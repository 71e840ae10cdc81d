// The space-time diagram, which is also the time line. It has a row for each node, veils the future, and can be dragged to any time.
//
// There are three layers, one above the other: the rows do not move, the messages move as a whole, and the veil over the future and the
// hand follow the time. So no message is painted again in a frame.

import { Rows } from "./rows";
import type { Run } from "./run";
import { make, round, set } from "./svg";

const LEFT = 34;
const TOP = 26;
const FLIGHTS_SHOWN = 170;
const NEAR = 5; // how far from a line a pointer may be and still point at it

export interface DiagramHooks {
	drag(time: number): void;
	hover(msg: number | null): void;
	hoverNode(node: number | null): void;
}

export interface Instant {
	time: number;
	looks: string[]; // what each node looks like
	hovered: number | null;
	hoveredNode: number | null;
	broken: number | null; // when something first broke
	now: boolean; // a property is broken at this moment
}

/** Returns how much time of a run is visible at once. */
export function spanOf(run: Run, narrow: boolean): number {
	const shown = narrow ? FLIGHTS_SHOWN / 3 : FLIGHTS_SHOWN;
	const end = Math.max(run.end, 0.001);
	return run.flights.length <= shown ? end * 1.02 : Math.max(end * (shown / run.flights.length), 0.001);
}

export class DiagramView extends Rows {
	private veil: HTMLElement;
	private hand: SVGGElement;
	private grip: SVGTextElement;
	private pill: SVGRectElement;
	private mark: SVGGElement;
	private lane: SVGRectElement;

	constructor(
		svg: SVGSVGElement,
		over: HTMLElement,
		run: Run,
		private hooks: DiagramHooks,
		narrow: boolean,
		span = spanOf(run, narrow),
	) {
		super(svg, over, run, narrow, narrow ? 400 : 880, LEFT, span, TOP);
		const nodes = run.start.nodes;
		this.lane = make("rect", { class: "lane", x: 0, width: this.width, height: round(this.row), visibility: "hidden" }, svg);
		for (let node = 1; node <= nodes; node++) this.drawRow(node);
		const bottom = TOP + nodes * this.row;
		this.veil = this.window.appendChild(document.createElement("div"));
		this.veil.className = "veil";
		this.veil.style.top = `${((TOP - 6) / this.height) * 100}%`;
		this.veil.style.height = `${((bottom - TOP + 8) / this.height) * 100}%`;
		const front = this.layer(over);
		this.mark = make("g", { class: "broke", visibility: "hidden" }, front);
		make("line", { y1: TOP - 6, y2: bottom + 4 }, this.mark);
		make("path", { d: `M-5 ${TOP - 14}l10 0l-5 8z` }, this.mark);
		this.hand = make("g", { class: "handle" }, front);
		make("line", { class: "hand", y1: 18, y2: TOP + nodes * this.row + 4 }, this.hand);
		this.pill = make("rect", { class: "grip", y: 0, height: 18, rx: 9 }, this.hand);
		this.grip = make("text", { class: "grip-t", y: 9 }, this.hand);
		this.listen();
	}

	protected drawName(node: number, y: number): SVGGElement {
		const chip = make("g", { class: "rowchip", transform: `translate(12 ${y})` }, this.svg);
		if (this.row >= 15) make("circle", { r: 9 }, chip);
		make("text", { class: "rowno" }, chip).textContent = this.run.name(node);
		return chip;
	}

	/** Returns the message whose line is nearest to this point, if one is near. */
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

	protected drawAxis(from: number, to: number): void {
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
		this.show(this.span >= end ? 0 : Math.min(end * 1.02 - this.span, Math.max(0, at.time - this.span * 0.4)));
		const x = this.x(at.time - this.from);
		this.veil.style.transform = this.part(x);
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
