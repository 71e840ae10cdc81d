// The rows of a space-time diagram: one for each node, which shows when the node waits, is inside or has the token, and the messages
// between them. The laboratory draws its runs with it, and the cluster draws where a lock has been.

import type { Role } from "./module";
import type { Flight, Span } from "./run";
import { make, round, set } from "./svg";

const DRAWN_MAX = 3000; // the most messages drawn at once
const IN_PATH = 100; // how many messages share one element

/** The history that is drawn: a run of the laboratory, or what was seen of a lock. */
export interface History {
	start: { nodes: number; holder: number | null; since?: number }; // `since`: from when on the holder is known to have the token
	algorithm: { token: boolean; messages: { name: string; role: Role }[] };
	steps: { length: number }; // if there are more steps than before, there is more to draw
	end: number;
	spans: Span[];
	flights: Flight[]; // the messages, in the order in which they were sent
	name(node: number): string;
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

export abstract class Rows {
	protected height: number;
	protected row: number;
	protected scale: number; // how many pixels a unit of time has
	protected from = 0; // the time at the left edge
	protected window: HTMLElement; // the part that is not cut off
	protected chips: SVGGElement[] = [];
	protected lines: { msg: number; names: string; x1: number; y1: number; x2: number; y2: number }[] = []; // where each message is drawn
	protected lit: number | null = null;
	protected content: SVGGElement; // the visible part, and equally long parts before and after it
	private moving: SVGSVGElement; // the element that moves the content to the left
	private drawn: [number, number, number] = [1, 0, 0]; // the drawn times, from and to, and how many steps the history had
	private litLine: SVGLineElement | null = null;
	private roles: Map<string, Role>;
	private tokens: Flight[] = [];
	private longest = 0; // the longest time that a message was in flight
	private usual = 1; // how long a message is in flight on the average

	constructor(
		protected svg: SVGSVGElement,
		over: HTMLElement, // the layer above the rows
		readonly run: History,
		readonly narrow: boolean,
		protected width: number, // the width of the drawing, which is scaled to the room that it has
		protected left: number, // the room for the names of the nodes
		protected span: number, // how much time is visible
		protected top: number, // where the first row begins
		right = 0, // how much is cut off at the right
	) {
		const nodes = run.start.nodes;
		this.roles = new Map(run.algorithm.messages.map((m) => [m.name, m.role]));
		this.row = Math.max(6, Math.min(22, 320 / nodes));
		this.scale = (width - left - 14) / this.span;
		this.height = top + nodes * this.row + 26;
		svg.replaceChildren();
		over.replaceChildren();
		set(svg, "viewBox", `0 0 ${this.width} ${this.height}`);
		this.window = this.addWindow(over, right);
		this.moving = this.layer(this.window);
		this.content = make("g", {}, this.moving);
	}

	protected layer(parent: Element): SVGSVGElement {
		return make("svg", { viewBox: `0 0 ${this.width} ${this.height}` }, parent);
	}

	/** Makes the window, which cuts off what has moved out of sight. Its content is placed as if there were no window. */
	private addWindow(over: HTMLElement, right: number): HTMLElement {
		const window = over.appendChild(document.createElement("div"));
		const inner = window.appendChild(document.createElement("div"));
		const cut = (this.left - 4) / this.width;
		const rest = 1 - cut - right / this.width;
		window.className = "window";
		window.style.left = `${cut * 100}%`;
		window.style.right = `${(right / this.width) * 100}%`;
		inner.style.left = `${(-cut / rest) * 100}%`;
		inner.style.width = `${100 / rest}%`;
		return inner;
	}

	protected y(node: number): number {
		return this.top + (node - 0.5) * this.row;
	}

	/** Returns the x of a time within the content, which moves as a whole. */
	protected x(time: number): number {
		return this.left + time * this.scale;
	}

	/** Returns a movement by this many pixels, as a style. It is relative to the width, so that
	 * it fits a scaled drawing. */
	protected part(pixels: number): string {
		return `translateX(${((pixels / this.width) * 100).toFixed(3)}%)`;
	}

	protected drawRow(node: number): void {
		const y = round(this.y(node));
		make("line", { class: "row", x1: this.left, x2: this.width, y1: y, y2: y }, this.svg);
		if (this.row < 11 && node % Math.ceil(14 / this.row) !== 1) return;
		this.chips[node] = this.drawName(node, y);
	}

	protected abstract drawName(node: number, y: number): SVGGElement;
	protected abstract drawAxis(from: number, to: number): void;

	/** Shows the part that begins at this time, and draws it if it is not drawn yet. */
	protected show(from: number): void {
		const [first, last, steps] = this.drawn;
		this.from = from;
		if (from < first || from + this.span > last || steps !== this.run.steps.length) this.fill(from - this.span, from + 2 * this.span);
		this.moving.style.transform = this.part(-from * this.scale);
	}

	/** Draws everything between two times, including what began before and still lasts. */
	private fill(from: number, to: number): void {
		const { run } = this;
		this.drawn = [from, to, run.steps.length];
		this.tokens = run.algorithm.token ? run.flights.filter((f) => f.token) : [];
		this.longest = 0;
		let [sum, count] = [0, 0];
		for (const one of run.flights) {
			if (!Number.isFinite(one.gone)) continue;
			this.longest = Math.max(this.longest, one.gone - one.sent);
			sum += one.gone - one.sent;
			count++;
		}
		this.usual = (count === 0 ? 0 : sum / count) || 1;
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
		if (this.run.algorithm.token && holder !== null && (tokens.length === 0 || tokens[0].from === holder)) rest(holder, this.run.start.since ?? 0, tokens[0]?.sent ?? this.run.end);
		const next = new Map<number, number>(); // for each node, when it next sends the token
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
		// A message that is still in flight at the end is drawn as fast as messages are on average, and is cut off there.
		const gone = open ? flight.sent + this.usual : flight.gone;
		const part = flight.lost ? 0.6 : open ? Math.min(0.6, (this.run.end + this.span * 0.02 - flight.sent) / this.usual) : 1;
		const [y1, y2] = [this.y(flight.from), this.y(flight.to)];
		const names = `m ${this.roles.get(flight.type)!.replace(" ", "-")}${flight.token ? " t" : ""}${flight.lost ? " lost" : ""}`;
		const line = { msg: flight.msg, names, x1: round(this.x(flight.sent)), y1: round(y1), x2: round(this.x(flight.sent + (gone - flight.sent) * part)), y2: round(y1 + (y2 - y1) * part) };
		this.lines.push(line);
		if (!paths.has(names)) paths.set(names, []);
		paths.get(names)!.push(`M${line.x1} ${line.y1}L${line.x2} ${line.y2}`);
	}

	/** Draws a few paths instead of thousands of lines, because each element costs time in every frame. */
	private drawMessages(paths: Map<string, string[]>): void {
		for (const [names, parts] of paths)
			for (let i = 0; i < parts.length; i += IN_PATH) make("path", { class: names, d: parts.slice(i, i + IN_PATH).join("") }, this.content);
		this.drawLit();
	}

	protected drawLit(): void {
		this.litLine?.remove();
		const line = this.lines.find((l) => l.msg === this.lit);
		this.litLine = line === undefined ? null : make("line", { class: line.names + " lit", x1: line.x1, y1: line.y1, x2: line.x2, y2: line.y2 }, this.content);
	}
}
