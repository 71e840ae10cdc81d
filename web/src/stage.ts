// The stage: nodes, messages in flight, pointers and queues, drawn from the tables of the algorithm.

import { Crowd } from "./crowd";
import { layOut, type Layout, type Point } from "./layout";
import type { Algorithm, NodeState, Role } from "./module";
import type { Flight, Run } from "./run";
import type { Arrow } from "./stuck";
import { baton, make, round, set } from "./svg";
import { WaysView } from "./ways";
import { LOOKS } from "./words";

export interface StageHooks {
	node(node: number, element: Element): void;
	message(msg: number, element: Element): void;
	hover(msg: number | null): void;
	hoverNode(node: number | null): void;
}

export interface Scene {
	step: number;
	time: number;
	states: NodeState[];
	still: boolean; // messages do not move, because the user prefers reduced motion
	stuck: Arrow[]; // who waits for whom, when nothing can happen any more
	broken: boolean; // a property that must hold is broken
	settled: boolean; // the time does not change at present
	hovered: number | null;
	hoveredNode: number | null;
}

const LABELS_MAX = 12;
const ALONG = 26; // how far a label may be from its message, along its way
const CROWD = 60; // if there are more messages than this, they are painted together

interface Drawn {
	group: SVGGElement;
	path: SVGLineElement;
	line: string; // the line as a part of a path
	from: Point;
	to: Point;
	receiver: number;
	way: string; // the key of the lane, made of sender and receiver
	text: string; // the text of the label
	words: string; // a key that is the same for all messages that one step sends with the same text
	label: Label | null; // the label; null: it has not been shown yet
}

interface Label {
	group: SVGGElement;
	width: number;
	sides: Point[]; // where the label may be, relative to the message
	side: number; // the index of the side where the label is
	placed: boolean;
	hidden: boolean; // the label has no room, and another message with the same words has a label
}

interface Box {
	x: number; // the middle of the box
	y: number;
	width: number;
	height: number;
}

/** Returns how large a message is drawn among nodes of this radius. */
function sizeOf(radius: number): number {
	return Math.max(0.5, Math.min(1, radius / 18));
}

function overlap(a: Box, b: Box): number {
	const [x, y] = [(a.width + b.width) / 2 - Math.abs(a.x - b.x), (a.height + b.height) / 2 - Math.abs(a.y - b.y)];
	return x > 0 && y > 0 ? x * y : 0;
}

interface NodeParts {
	group: SVGGElement;
	permissions: SVGPathElement;
	needed: SVGPathElement;
	token: SVGGElement;
	timer: SVGPathElement;
	chips: SVGTextElement;
	row: SVGGElement;
}

/** Returns the node that a variable names: a number, or the first element of an array. */
export function nodeOf(value: unknown): number {
	const node = Array.isArray(value) ? value[0] : value;
	return typeof node === "number" ? node : 0;
}

/** Returns the name of the variable that is drawn as a queue beside its node. Sets of nodes besides it are in the table only. */
export function queueOf(algorithm: Algorithm): string | null {
	const queues = algorithm.variables.filter((v) => v.kind === "queue");
	return (queues.find((v) => /^q(ueue)?$/i.test(v.name)) ?? queues[0])?.name ?? null;
}

function arc(radius: number, from: number, to: number): string {
	if (to - from >= 0.9999) to = from + 0.9999;
	const at = (part: number) => {
		const angle = 2 * Math.PI * part - Math.PI / 2;
		return `${round(radius * Math.cos(angle))} ${round(radius * Math.sin(angle))}`;
	};
	return `M${at(from)}A${radius} ${radius} 0 ${to - from > 0.5 ? 1 : 0} 1 ${at(to)}`;
}

export class StageView {
	readonly layout: Layout;
	private nodes: NodeParts[] = [];
	private flights = new Map<number, Drawn>();
	private lanes = new Map<string, number>(); // how many messages are in flight on each way
	private pointers = new Map<string, SVGPathElement>();
	private layers: Record<"edges" | "ways" | "pointers" | "paths" | "crowd" | "nodes" | "messages" | "red", SVGGElement>;
	private roles = new Map<string, Role>();
	private linked = new Set<string>();
	private ways: WaysView;
	private drawnStep = -1;
	private drawnStuck = 0;
	private litStep = -1; // the step at which the hovered node was last marked
	private litNode: number | null = null; // the hovered node that was last marked
	private flying: Flight[] = [];
	private drawnFlights: Flight[] | null = null; // the messages that were last drawn
	private litFlight: number | null = null; // the message that was hovered when messages were last drawn
	private crowd: Crowd;
	private waysOf: Flight[] | null = null; // the messages whose ways the crowd shows
	private timerSince = new Map<number, [number, number]>();

	constructor(
		private svg: SVGSVGElement,
		readonly run: Run,
		private hooks: StageHooks,
		readonly narrow: boolean,
	) {
		this.layout = layOut(run.start, narrow);
		svg.replaceChildren();
		set(svg, "viewBox", `0 0 ${this.layout.width} ${this.layout.height}`);
		const layer = (name: string) => make("g", { class: "layer-" + name }, svg);
		this.heads();
		this.layers = {
			edges: layer("edges"), ways: layer("ways"), pointers: layer("pointers"), paths: layer("paths"),
			crowd: layer("crowd"), nodes: layer("nodes"), messages: layer("messages"), red: layer("red"),
		};
		for (const message of run.algorithm.messages) this.roles.set(message.name, message.role);
		for (const [a, b] of run.start.edges) this.linked.add(`${a}-${b}`).add(`${b}-${a}`);
		this.crowd = new Crowd(this.layers.crowd, 13 * sizeOf(this.layout.radius));
		this.ways = new WaysView(this.layers.ways, run, this.layout, this.roles);
		this.drawEdges();
		for (let node = 1; node <= run.start.nodes; node++) this.nodes.push(this.drawNode(node));
	}

	private heads(): void {
		const defs = make("defs", {}, this.svg);
		for (const name of ["next", "follow", "red"]) {
			const marker = make("marker", { id: "head-" + name, viewBox: "0 0 10 10", refX: 8, refY: 5, markerWidth: 10, markerHeight: 10, markerUnits: "userSpaceOnUse", orient: "auto-start-reverse" }, defs);
			make("path", { d: "M0 0L10 5L0 10z", class: "head-" + name }, marker);
		}
		const hatch = make("pattern", { id: "hatch", width: 7, height: 7, patternUnits: "userSpaceOnUse", patternTransform: "rotate(45)" }, defs);
		make("rect", { class: "hatch-ground", width: 7, height: 7 }, hatch);
		make("rect", { class: "hatch-line", width: 2.6, height: 7 }, hatch);
	}

	private point(node: number): Point {
		return this.layout.points[node - 1];
	}

	private drawEdges(): void {
		const { oval } = this.layout;
		if (oval !== null) make("ellipse", { class: "oval", cx: this.layout.width / 2, cy: this.layout.height / 2, rx: oval.x, ry: oval.y }, this.layers.edges);
		for (const [a, b] of this.layout.edges) {
			const [from, to] = [this.point(a), this.point(b)];
			make("line", { class: "edge", x1: round(from.x), y1: round(from.y), x2: round(to.x), y2: round(to.y) }, this.layers.edges);
			if (!this.run.start.topology.startsWith("ring") || this.run.start.nodes > 24) continue;
			// An arrow shows the direction of the ring.
			const forward = b === a + 1 ? [from, to] : [to, from];
			const angle = (Math.atan2(forward[1].y - forward[0].y, forward[1].x - forward[0].x) * 180) / Math.PI;
			const [x, y] = [(from.x + to.x) / 2, (from.y + to.y) / 2];
			make("path", { class: "chevron", d: "M-4 -4L2 0L-4 4", transform: `translate(${round(x)} ${round(y)}) rotate(${round(angle)})` }, this.layers.edges);
		}
	}

	private drawNode(node: number): NodeParts {
		const { radius } = this.layout;
		const { x, y } = this.point(node);
		const group = make("g", { class: "node", role: "button", tabindex: 0, "data-node": node, transform: `translate(${round(x)} ${round(y)})` }, this.layers.nodes);
		make("circle", { class: "halo", r: radius * 1.7 }, group);
		make("circle", { class: "focus", r: radius + 7 }, group);
		const needed = make("path", { class: "needed" }, group);
		const permissions = make("path", { class: "permissions" }, group);
		const timer = make("path", { class: "timer" }, group);
		make("circle", { class: "body", r: radius }, group);
		const number = make("text", { class: "no", "font-size": round(Math.max(radius < 8 ? 7 : 9, radius * 0.68)) }, group);
		number.textContent = this.run.name(node);
		make("path", { class: "cross", d: `M${-radius * 0.6} ${-radius * 0.6}L${radius * 0.6} ${radius * 0.6}M${-radius * 0.6} ${radius * 0.6}L${radius * 0.6} ${-radius * 0.6}` }, group);
		const token = baton(group, radius / 30);
		set(token, "transform", `translate(0 ${-radius}) rotate(-18)`);
		// Queues and rows are on the side where there is room for them.
		const right = x + radius + 60 < this.layout.width;
		// On a line, the links take the room beside a node.
		const below = this.run.start.topology === "line";
		const chips = make("text", { class: "chips", x: below ? 0 : right ? radius + 8 : -radius - 8, y: round(below ? radius + 20 : radius * 0.2), "text-anchor": below ? "middle" : right ? "start" : "end" }, group);
		const row = make("g", { class: "rowbars", transform: `translate(${radius + 8} ${-radius - 2})` }, group);
		group.addEventListener("click", () => this.hooks.node(node, group));
		group.addEventListener("pointerenter", () => this.hooks.hoverNode(node));
		group.addEventListener("pointerleave", () => this.hooks.hoverNode(null));
		group.addEventListener("focus", () => this.hooks.hoverNode(node));
		group.addEventListener("blur", () => this.hooks.hoverNode(null));
		group.addEventListener("keydown", (event) => {
			if (event.key !== "Enter" && event.key !== " ") return;
			event.preventDefault();
			event.stopPropagation();
			this.hooks.node(node, group);
		});
		return { group, permissions, needed, token, timer, chips, row };
	}

	/** Draws everything as it is at this moment. This is cheap if only time has passed since the last call. */
	draw(scene: Scene): void {
		if (scene.step !== this.drawnStep) {
			this.drawnStep = scene.step;
			scene.states.forEach((state, i) => this.updateNode(i + 1, state, scene));
			this.updatePointers(scene);
			this.ways.draw(scene.step);
			this.flying = flyingAt(this.run, scene.step);
		}
		if (scene.stuck.length > 0 || this.drawnStuck > 0) this.updateStuck(scene.stuck);
		// Hundreds of dashed lines would take longer to paint than all the rest.
		const crowded = this.flying.length > CROWD;
		set(this.svg, "class", `stage${scene.broken ? " broken" : ""}${crowded ? " crowded" : ""}${crowded && !scene.settled ? " moving" : ""}`);
		if (scene.step !== this.litStep || scene.hoveredNode !== this.litNode) this.nodes.forEach((parts, i) => parts.group.classList.toggle("lit", scene.hoveredNode === i + 1));
		[this.litStep, this.litNode] = [scene.step, scene.hoveredNode];
		if (scene.hoveredNode !== null) this.updateRow(scene.states[scene.hoveredNode - 1], this.nodes[scene.hoveredNode - 1]);
		this.updateTimers(scene);
		this.updateFlights(scene);
	}

	private updateNode(node: number, state: NodeState, scene: Scene): void {
		const parts = this.nodes[node - 1];
		const head = scene.step > 0 ? this.run.steps[scene.step - 1].head : null;
		const now = head !== null && (head.node ?? head.to) === node;
		const look = this.run.look(node, state, scene.step);
		set(parts.group, "class", ["node", look, state.token ? "has" : "", now ? "now" : ""].filter((n) => n !== "").join(" "));
		set(parts.group, "aria-label", `node ${this.run.name(node)}, ${LOOKS[look]}${state.token ? ", has the token" : ""}`);
		this.updatePermissions(node, state, scene.step, parts);
		this.updateChips(state, parts);
	}

	/** Draws a segment for each permission that the node has asked for. It is filled when the permission has come. */
	private updatePermissions(node: number, state: NodeState, step: number, parts: NodeParts): void {
		const ring = this.layout.radius + 5;
		if (this.run.algorithm.token || this.run.algorithm.kind === "election" || state.phase !== "waiting") {
			set(parts.needed, "d", "");
			set(parts.permissions, "d", "");
			return;
		}
		const { asked, got } = this.run.permissionsOf(node, step);
		const count = asked.length;
		const segments = (list: number[]) => list.map((i) => arc(ring, i / count + 0.01, (i + 1) / count - 0.01)).join("");
		const all = asked.map((_, i) => i);
		set(parts.needed, "d", count === 0 || count > 60 ? "" : segments(all));
		set(parts.permissions, "d", count === 0 || count > 60 ? "" : segments(all.filter((i) => got.has(asked[i]))));
	}

	private updateChips(state: NodeState, parts: NodeParts): void {
		const named = queueOf(this.run.algorithm);
		const value = named === null ? undefined : state.vars[named];
		const queue = Array.isArray(value) && value.length > 0 ? value : undefined;
		const shown = queue === undefined || this.layout.radius < 14 ? "" : "▸ " + queue.slice(0, 6).map((v) => this.run.name(nodeOf(v))).join(" ") + (queue.length > 6 ? " …" : "");
		if (parts.chips.textContent !== shown) parts.chips.textContent = shown;
	}

	/** Draws a variable with a number for each node as small columns, which appear on hover and focus. The table has it in full. */
	private updateRow(state: NodeState, parts: NodeParts): void {
		const variable = this.run.algorithm.variables.find((v) => v.kind === "row" && Array.isArray(state.vars[v.name]));
		const values = variable === undefined ? [] : (state.vars[variable.name] as unknown[]);
		const numbers = values.map((v) => (typeof v === "number" ? v : v === true ? 1 : v === false || v === null ? 0 : Array.isArray(v) ? Number(v[v.length - 1]) || 1 : "ERHNI".includes(String(v)) && v !== "N" ? 1 : 0));
		const low = Math.min(0, ...numbers);
		const high = Math.max(1, ...numbers);
		const width = Math.max(2, Math.min(7, 90 / Math.max(1, numbers.length)));
		while (parts.row.childElementCount > numbers.length + 1) parts.row.lastElementChild!.remove();
		if (numbers.length === 0) {
			parts.row.replaceChildren();
			return;
		}
		const title = (parts.row.firstElementChild as SVGTextElement | null) ?? make("text", { class: "rowname", y: -26 }, parts.row);
		title.textContent = variable!.name;
		numbers.forEach((value, i) => {
			const bar = parts.row.children[i + 1] ?? make("rect", {}, parts.row);
			const height = Math.max(1, ((value - low) / (high - low)) * 22);
			for (const [name, number] of [["x", i * (width + 1)], ["y", -height], ["width", width], ["height", height]] as const) set(bar, name, round(number));
		});
	}

	/** Returns a bent line that keeps clear of the nodes in between. */
	private curve(from: number, to: number, side = 1): string {
		const [a, b] = [this.point(from), this.point(to)];
		const [dx, dy] = [b.x - a.x, b.y - a.y];
		const length = Math.hypot(dx, dy) || 1;
		const usual = side * Math.min(70, 22 + length * 0.16);
		const middleOf = (bend: number) => ({ x: (a.x + b.x) / 2 - (dy / length) * bend, y: (a.y + b.y) / 2 + (dx / length) * bend });
		const clear = (middle: Point) => {
			let least = Infinity;
			this.layout.points.forEach((point, i) => {
				if (i + 1 === from || i + 1 === to) return;
				for (const t of [0.25, 0.5, 0.75]) {
					const x = (1 - t) ** 2 * a.x + 2 * t * (1 - t) * middle.x + t * t * b.x;
					const y = (1 - t) ** 2 * a.y + 2 * t * (1 - t) * middle.y + t * t * b.y;
					least = Math.min(least, Math.hypot(x - point.x, y - point.y));
				}
			});
			return least;
		};
		const middles = [usual, -usual, usual * 1.8, -usual * 1.8].map(middleOf);
		const middle = middles.find((m) => clear(m) > this.layout.radius * 1.5) ?? middles.reduce((best, m) => (clear(m) > clear(best) ? m : best));
		const r = this.layout.radius + 3;
		const start = towards(a, middle, r);
		const end = towards(b, middle, r + 2);
		return `M${round(start.x)} ${round(start.y)}Q${round(middle.x)} ${round(middle.y)} ${round(end.x)} ${round(end.y)}`;
	}

	private updatePointers(scene: Scene): void {
		const wanted = new Map<string, [string, string]>();
		const variables = this.run.algorithm.variables.filter((v) => v.kind === "node");
		scene.states.forEach((state, i) => {
			variables.forEach((variable, first) => {
				const target = nodeOf(state.vars[variable.name]);
				if (target === 0 || target === i + 1 || target > this.run.start.nodes) return;
				const [a, b] = [this.point(i + 1), this.point(target)];
				const r = this.layout.radius;
				// The first pointer along a link is drawn short, as a signpost. Other pointers are curves, which do not hide it.
				if (first === 0 && this.linked.has(`${i + 1}-${target}`) && this.layout.edges.length > 0) {
					const [from, to] = [towards(a, b, r + 2), towards(a, b, Math.min(r * 2.4, Math.hypot(b.x - a.x, b.y - a.y) / 2))];
					wanted.set(`${i} ${variable.name}`, ["next", `M${round(from.x)} ${round(from.y)}L${round(to.x)} ${round(to.y)}`]);
				} else wanted.set(`${i} ${variable.name}`, ["follow", this.curve(i + 1, target)]);
			});
		});
		for (const [key, path] of this.pointers)
			if (!wanted.has(key)) {
				path.remove();
				this.pointers.delete(key);
			}
		for (const [key, [kind, d]] of wanted) {
			let path = this.pointers.get(key);
			if (path === undefined) {
				path = make("path", {}, this.layers.pointers);
				this.pointers.set(key, path);
			}
			set(path, "class", kind);
			set(path, "marker-end", `url(#head-${kind})`);
			set(path, "d", d);
		}
	}

	private updateStuck(stuck: Arrow[]): void {
		this.drawnStuck = stuck.length;
		while (this.layers.red.childElementCount > stuck.length) this.layers.red.lastElementChild!.remove();
		stuck.forEach((arrow, i) => {
			const path = this.layers.red.children[i] ?? make("path", { "marker-end": "url(#head-red)" }, this.layers.red);
			set(path, "class", arrow.cycle ? "waits cycle" : "waits");
			// A pointer between the same two nodes bends the other way.
			set(path, "d", this.curve(arrow.from, arrow.to, -1));
		});
	}

	/** Draws a timer as an arc, which becomes shorter from the moment when the timer was first seen. */
	private updateTimers(scene: Scene): void {
		if (!this.run.algorithm.timers) return;
		scene.states.forEach((state, i) => {
			const parts = this.nodes[i];
			if (state.timer === undefined) {
				this.timerSince.delete(i);
				set(parts.timer, "d", "");
				return;
			}
			const since = this.timerSince.get(i);
			if (since === undefined || since[1] !== state.timer) this.timerSince.set(i, [scene.time, state.timer]);
			const [from, until] = this.timerSince.get(i)!;
			const left = until <= from ? 0 : Math.max(0, Math.min(1, (until - scene.time) / (until - from)));
			set(parts.timer, "d", left === 0 ? "" : arc(this.layout.radius + 10, 0, left));
		});
	}

	private updateFlights(scene: Scene): void {
		const flying = this.flying;
		const crowded = flying.length > CROWD;
		const same = flying === this.drawnFlights && scene.hovered === this.litFlight;
		if (!same) this.removeGone(new Set(flying.map((f) => f.msg)));
		[this.drawnFlights, this.litFlight] = [flying, scene.hovered];
		const labels = flying.length <= (this.narrow ? LABELS_MAX / 3 : LABELS_MAX);
		const places: { role: Role; x: number; y: number }[] = [];
		const shown: [Drawn, Point][] = [];
		for (const flight of flying) {
			const drawn = this.flights.get(flight.msg) ?? this.drawFlight(flight);
			const place = placeOf(drawn, flight, scene);
			const role = this.roles.get(flight.type)!;
			if (crowded && !flight.token) places.push({ role, ...place });
			// In a crowd, the element is only there to be pointed at, and need not move in every frame.
			if (!crowded || flight.token || scene.settled) drawn.group.setAttribute("transform", `translate(${place.x.toFixed(1)} ${place.y.toFixed(1)})`);
			if (labels) shown.push([drawn, place]);
		}
		if (labels) this.placeLabels(shown);
		// In a crowd nothing has a label, and classes change only when a message is sent or arrives.
		if (!crowded || !same) this.markFlights(scene, labels);
		if (!crowded) {
			this.crowd.clear();
			this.waysOf = null;
			return;
		}
		this.crowd.draw(places);
		if (this.waysOf !== flying) this.crowd.ways(flying.map((f) => this.flights.get(f.msg)!.line));
		this.waysOf = flying;
	}

	private markFlights(scene: Scene, labels: boolean): void {
		for (const flight of this.flying) {
			const { group, label } = this.flights.get(flight.msg)!;
			const bare = !labels || label!.hidden;
			set(group, "class", `msg ${this.roles.get(flight.type)!.replace(" ", "-")}${flight.token ? " t" : ""}${scene.hovered === flight.msg ? " lit" : ""}${bare ? " bare" : ""}`);
		}
	}

	/** Removes messages that have arrived or were lost. The focus goes to the node that received the message. */
	private removeGone(present: Set<number>): void {
		for (const [msg, drawn] of this.flights) {
			if (present.has(msg)) continue;
			if (drawn.group === document.activeElement) this.nodes[drawn.receiver - 1].group.focus({ preventScroll: true });
			drawn.group.remove();
			drawn.path.remove();
			this.lanes.set(drawn.way, this.lanes.get(drawn.way)! - 1);
			this.flights.delete(msg);
		}
	}

	/** Places labels beside the paths of their messages, without covering them, on the side where they cover no node and no other
	 * label. */
	private placeLabels(shown: [Drawn, Point][]): void {
		const taken: Box[] = this.layout.points.map((p) => ({ x: p.x, y: p.y, width: this.layout.radius * 2, height: this.layout.radius * 2 }));
		// A label near another message would be taken for the label of that message.
		const others = shown.map(([, place]) => ({ ...place, width: 40, height: 28 }));
		const said = new Set<string>(); // the words that already have a label
		for (const [own, [drawn, place]] of shown.entries()) {
			if (drawn.label === null) drawn.label = this.drawLabel(drawn);
			const { width, sides } = drawn.label;
			const boxOf = (i: number): Box => ({ x: place.x + sides[i].x, y: place.y + sides[i].y, width, height: 18 });
			const covers = (box: Box) => {
				const outside = Math.max(0, width / 2 - box.x, box.x + width / 2 - this.layout.width) + Math.max(0, 9 - box.y, box.y + 9 - this.layout.height);
				return others.reduce((sum, other, i) => sum + (i === own ? 0 : overlap(box, other)), taken.reduce((sum, other) => sum + overlap(box, other), outside * 20));
			};
			// The label stays where it is unless another place is better: a label that jumps cannot be read.
			let best = drawn.label.side;
			let least = covers(boxOf(best));
			for (let i = 0; i < sides.length && least > 0; i++) {
				const cost = covers(boxOf(i));
				if (cost < least - (drawn.label.placed ? 30 : 0)) [best, least] = [i, cost];
			}
			drawn.label.placed = true;
			drawn.label.side = best;
			// Six equal labels around the node that has just sent them could not be read. A label appears again when it has
			// room.
			drawn.label.hidden = said.has(drawn.words) && least > (drawn.label.hidden ? 0 : 60);
			if (drawn.label.hidden) continue;
			said.add(drawn.words);
			taken.push(boxOf(best));
			set(drawn.label.group, "transform", `translate(${round(sides[best].x)} ${round(sides[best].y)})`);
		}
	}

	private drawLabel(drawn: Drawn): Label {
		const group = make("g", { class: "label" }, drawn.group);
		const width = drawn.text.length * 7 + 16;
		const length = Math.hypot(drawn.to.x - drawn.from.x, drawn.to.y - drawn.from.y) || 1;
		const [nx, ny] = [-(drawn.to.y - drawn.from.y) / length, (drawn.to.x - drawn.from.x) / length];
		const away = 11 + (Math.abs(nx) * width) / 2 + Math.abs(ny) * 9;
		const sides = [away, -away, away + 20, -away - 20].map((far) => ({ x: nx * far, y: ny * far }));
		for (const far of [away, -away]) for (const along of [ALONG, -ALONG]) sides.push({ x: nx * far + ny * along, y: ny * far - nx * along });
		make("rect", { class: "pill", x: -width / 2, y: -9, width, height: 18, rx: 9 }, group);
		make("text", { class: "plabel" }, group).textContent = drawn.text;
		return { group, width, sides, side: 0, placed: false, hidden: false };
	}

	private drawFlight(flight: Flight): Drawn {
		const { radius } = this.layout;
		const [a, b] = [this.point(flight.from), this.point(flight.to)];
		const length = Math.hypot(b.x - a.x, b.y - a.y) || 1;
		const [nx, ny] = [-(b.y - a.y) / length, (b.x - a.x) / length];
		const way = `${flight.from}-${flight.to}`;
		const lane = this.lanes.get(way) ?? 0;
		this.lanes.set(way, lane + 1);
		const aside = Math.min(7, radius / 3) + (lane % 4) * 3;
		const shift = (p: Point) => ({ x: p.x + nx * aside, y: p.y + ny * aside });
		const [from, to] = [shift(towards(a, b, radius + 4)), shift(towards(b, a, radius + 4))];
		const angle = (Math.atan2(to.y - from.y, to.x - from.x) * 180) / Math.PI;
		const path = make("line", { class: "path" + (flight.token ? " t" : ""), x1: round(from.x), y1: round(from.y), x2: round(to.x), y2: round(to.y) }, this.layers.paths);
		const group = make("g", { class: "msg", role: "button", tabindex: 0, "data-msg": flight.msg, "aria-label": this.describe(flight), transform: `translate(${round(from.x)} ${round(from.y)})` }, this.layers.messages);
		make("circle", { class: "touch", r: 13 }, group);
		this.drawShape(group, this.roles.get(flight.type)!, flight.token, angle);
		const text = flight.text.length > 22 ? flight.type : flight.text;
		make("title", {}, group).textContent = this.describe(flight);
		group.addEventListener("click", (event) => {
			event.stopPropagation();
			this.hooks.message(flight.msg, group);
		});
		group.addEventListener("keydown", (event) => {
			if (event.key !== "Enter" && event.key !== " ") return;
			event.preventDefault();
			event.stopPropagation();
			this.hooks.message(flight.msg, group);
		});
		const line = `M${from.x.toFixed(0)} ${from.y.toFixed(0)}L${to.x.toFixed(0)} ${to.y.toFixed(0)}`;
		const drawn: Drawn = { group, path, line, from, to, receiver: flight.to, way, text, words: `${flight.sentStep} ${flight.from} ${text}`, label: null };
		const point = () => {
			if (drawn.label === null) this.placeLabels([[drawn, { x: (from.x + to.x) / 2, y: (from.y + to.y) / 2 }]]);
			this.hooks.hover(flight.msg);
		};
		for (const name of ["pointerenter", "focus"]) group.addEventListener(name, point);
		for (const name of ["pointerleave", "blur"]) group.addEventListener(name, () => this.hooks.hover(null));
		this.flights.set(flight.msg, drawn);
		return drawn;
	}

	private describe(flight: Flight): string {
		return `${flight.text} from ${this.run.name(flight.from)} to ${this.run.name(flight.to)}`;
	}

	private drawShape(group: SVGGElement, role: Role, token: boolean, angle: number): void {
		const size = round(sizeOf(this.layout.radius));
		if (token) {
			make("circle", { class: "glow", r: 22 * size }, group);
			set(baton(group, 0.9 * Math.max(0.7, size)), "transform", `rotate(${round(angle)})`);
			return;
		}
		const shape = make("g", { transform: `scale(${size})` }, group);
		if (role === "refuses") make("path", { class: "dot", d: "M0 -7L6.5 5H-6.5z" }, shape);
		else if (role === "announces") make("path", { class: "dot", d: "M0 -7L7 0L0 7L-7 0z" }, shape);
		else if (role === "prepares") make("rect", { class: "dot", x: -5, y: -5, width: 10, height: 10 }, shape);
		else make("circle", { class: "dot", r: 6.5 }, shape);
	}

	/** Returns the node of this name. */
	nodeElement(name: string): SVGGElement | undefined {
		return this.nodes.find((_, i) => this.run.name(i + 1) === name)?.group;
	}

	/** Puts the focus on a message or, if it is not in flight any more, on the node to which it went; or on a node. */
	focus(node: number, msg: number): void {
		const element = this.flights.get(msg)?.group ?? this.nodes[(this.run.flight(msg)?.to ?? node) - 1]?.group;
		element?.focus({ preventScroll: true });
	}
}

function towards(from: Point, to: Point, distance: number): Point {
	const length = Math.hypot(to.x - from.x, to.y - from.y) || 1;
	return { x: from.x + ((to.x - from.x) / length) * distance, y: from.y + ((to.y - from.y) / length) * distance };
}

/** Returns where a message is between its sender and its receiver. */
function placeOf(drawn: Drawn, flight: Flight, scene: Scene): Point {
	const duration = flight.gone - flight.sent;
	let part = !Number.isFinite(duration) ? 0.5 : duration <= 0 ? 1 : Math.min(1, Math.max(0, (scene.time - flight.sent) / duration));
	if (scene.still) part = 0.5;
	return { x: drawn.from.x + (drawn.to.x - drawn.from.x) * part, y: drawn.from.y + (drawn.to.y - drawn.from.y) * part };
}

function flyingAt(run: Run, step: number): Flight[] {
	const flying: Flight[] = [];
	for (const flight of run.flights) {
		if (flight.sentStep > step) break;
		if (flight.goneStep > step) flying.push(flight);
	}
	return flying;
}
