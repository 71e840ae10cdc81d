// The stage: nodes, messages in flight, pointers and queues, drawn from the tables of the algorithm.

import { layOut, type Layout, type Point } from "./layout";
import type { NodeState, Role } from "./module";
import type { Flight, Run } from "./run";
import { baton, make, round, set } from "./svg";

export interface StageHooks {
	node(node: number): void;
	message(msg: number, element: Element): void;
	hover(msg: number | null): void;
}

export interface Scene {
	step: number;
	time: number;
	states: NodeState[];
	still: boolean; // no flight: reduced motion
	stuck: [number, number][]; // who waits for whom, when nothing moves
	hovered: number | null;
}

const LABELS_MAX = 12;
const WAYS_NODES_MAX = 24;

interface Drawn {
	group: SVGGElement;
	path: SVGLineElement;
	from: Point;
	to: Point;
	angle: number;
	label: SVGGElement;
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

/** A node of a variable: a number, or the first element of an array. */
export function nodeOf(value: unknown): number {
	const node = Array.isArray(value) ? value[0] : value;
	return typeof node === "number" ? node : 0;
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
	private pointers = new Map<string, SVGPathElement>();
	private layers: Record<"edges" | "ways" | "pointers" | "paths" | "nodes" | "messages" | "red", SVGGElement>;
	private roles = new Map<string, Role>();
	private linked = new Set<string>();
	private sceneStep = -1;
	private timerSince = new Map<number, [number, number]>();

	constructor(
		private svg: SVGSVGElement,
		readonly run: Run,
		private hooks: StageHooks,
	) {
		this.layout = layOut(run.start);
		svg.replaceChildren();
		set(svg, "viewBox", `0 0 ${this.layout.width} ${this.layout.height}`);
		const layer = (name: string) => make("g", { class: "layer-" + name }, svg);
		this.heads();
		this.layers = {
			edges: layer("edges"), ways: layer("ways"), pointers: layer("pointers"), paths: layer("paths"),
			nodes: layer("nodes"), messages: layer("messages"), red: layer("red"),
		};
		for (const message of run.algorithm.messages) this.roles.set(message.name, message.role);
		for (const [a, b] of run.start.edges) this.linked.add(`${a}-${b}`).add(`${b}-${a}`);
		this.drawEdges();
		for (let node = 1; node <= run.start.nodes; node++) this.nodes.push(this.drawNode(node));
	}

	private heads(): void {
		const defs = make("defs", {}, this.svg);
		for (const name of ["next", "follow", "red"]) {
			const marker = make("marker", { id: "head-" + name, viewBox: "0 0 10 10", refX: 8, refY: 5, markerWidth: 10, markerHeight: 10, markerUnits: "userSpaceOnUse", orient: "auto-start-reverse" }, defs);
			make("path", { d: "M0 0L10 5L0 10z", class: "head-" + name }, marker);
		}
	}

	private point(node: number): Point {
		return this.layout.points[node - 1];
	}

	private drawEdges(): void {
		for (const [a, b] of this.layout.edges) {
			const [from, to] = [this.point(a), this.point(b)];
			make("line", { class: "edge", x1: round(from.x), y1: round(from.y), x2: round(to.x), y2: round(to.y) }, this.layers.edges);
			if (!this.layout.ring || this.run.start.nodes > 24) continue;
			// The direction of a ring.
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
		const identifier = this.run.start.arrangement?.[node - 1];
		const number = make("text", { class: "no", "font-size": Math.max(9, radius * 0.68) }, group);
		number.textContent = String(identifier ?? node);
		if (identifier !== undefined && identifier !== node && radius > 14) {
			const place = make("text", { class: "under", y: radius + 14 }, group);
			place.textContent = "place " + node;
		}
		make("path", { class: "cross", d: `M${-radius * 0.6} ${-radius * 0.6}L${radius * 0.6} ${radius * 0.6}M${-radius * 0.6} ${radius * 0.6}L${radius * 0.6} ${-radius * 0.6}` }, group);
		const token = baton(group, radius / 30);
		set(token, "transform", `translate(0 ${-radius}) rotate(-18)`);
		const chips = make("text", { class: "chips", x: radius + 8, y: radius * 0.2 }, group);
		const row = make("g", { class: "rowbars", transform: `translate(${radius + 8} ${-radius - 2})` }, group);
		group.addEventListener("click", () => this.hooks.node(node));
		group.addEventListener("keydown", (event) => {
			if (event.key !== "Enter" && event.key !== " ") return;
			event.preventDefault();
			event.stopPropagation();
			this.hooks.node(node);
		});
		return { group, permissions, needed, token, timer, chips, row };
	}

	/** Everything as at this moment; cheap if only time has gone by. */
	draw(scene: Scene): void {
		if (scene.step !== this.sceneStep) {
			this.sceneStep = scene.step;
			scene.states.forEach((state, i) => this.updateNode(i + 1, state, scene));
			this.updatePointers(scene);
			this.updateWays(scene.step);
			this.updateStuck(scene.stuck);
		}
		this.updateTimers(scene);
		this.updateFlights(scene);
	}

	private updateNode(node: number, state: NodeState, scene: Scene): void {
		const parts = this.nodes[node - 1];
		const head = scene.step > 0 ? this.run.steps[scene.step - 1].head : null;
		const now = head !== null && (head.node ?? head.to) === node;
		const asks = this.run.algorithm.kind === "election" && state.phase === "idle" && !state.ready && !state.dead;
		const names = ["node", state.phase === "leaving" ? "leaving" : state.phase, state.token ? "has" : "", now ? "now" : "", state.dead ? "dead" : "", asks ? "part" : ""];
		set(parts.group, "class", names.filter((n) => n !== "").join(" "));
		const words = state.dead ? "dead" : state.phase === "in" ? "inside" : asks ? "takes part" : state.phase;
		set(parts.group, "aria-label", `node ${node}, ${words}${state.token ? ", has the token" : ""}`);
		this.updatePermissions(node, state, scene.step, parts);
		this.updateChips(state, parts);
		this.updateRow(state, parts);
	}

	/** A segment for each permission that the node has asked for, filled when it has come. */
	private updatePermissions(node: number, state: NodeState, step: number, parts: NodeParts): void {
		const ring = this.layout.radius + 5;
		if (this.run.algorithm.token || this.run.algorithm.kind === "election" || state.phase !== "waiting") {
			set(parts.needed, "d", "");
			set(parts.permissions, "d", "");
			return;
		}
		const { asked, got } = permissionsOf(this.run, this.roles, node, step);
		const count = asked.length;
		const segments = (list: number[]) => list.map((i) => arc(ring, i / count + 0.01, (i + 1) / count - 0.01)).join("");
		const all = asked.map((_, i) => i);
		set(parts.needed, "d", count === 0 || count > 60 ? "" : segments(all));
		set(parts.permissions, "d", count === 0 || count > 60 ? "" : segments(all.filter((i) => got.has(asked[i]))));
	}

	private updateChips(state: NodeState, parts: NodeParts): void {
		const queue = this.run.algorithm.variables.filter((v) => v.kind === "queue").map((v) => state.vars[v.name]).find((v) => Array.isArray(v) && v.length > 0) as unknown[] | undefined;
		const shown = queue === undefined || this.layout.radius < 14 ? "" : "▸ " + queue.slice(0, 6).map(nodeOf).join(" ") + (queue.length > 6 ? " …" : "");
		if (parts.chips.textContent !== shown) parts.chips.textContent = shown;
	}

	/** Rows by node: small columns that show on hover and focus; in full in the table. */
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

	private curve(a: Point, b: Point): string {
		const [dx, dy] = [b.x - a.x, b.y - a.y];
		const length = Math.hypot(dx, dy) || 1;
		const bend = Math.min(70, 22 + length * 0.16);
		const middle = { x: (a.x + b.x) / 2 - (dy / length) * bend, y: (a.y + b.y) / 2 + (dx / length) * bend };
		const r = this.layout.radius + 3;
		const from = towards(a, middle, r);
		const to = towards(b, middle, r + 2);
		return `M${round(from.x)} ${round(from.y)}Q${round(middle.x)} ${round(middle.y)} ${round(to.x)} ${round(to.y)}`;
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
				// The first pointer along a link is a signpost; any other would hide it.
				if (first === 0 && this.linked.has(`${i + 1}-${target}`) && this.layout.edges.length > 0) {
					const [from, to] = [towards(a, b, r + 2), towards(a, b, Math.min(r * 2.4, Math.hypot(b.x - a.x, b.y - a.y) / 2))];
					wanted.set(`${i} ${variable.name}`, ["next", `M${round(from.x)} ${round(from.y)}L${round(to.x)} ${round(to.y)}`]);
				} else wanted.set(`${i} ${variable.name}`, ["follow", this.curve(a, b)]);
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

	/** On a ring: how far each candidature came, as arcs outside. */
	private updateWays(step: number): void {
		if (this.run.algorithm.kind !== "election" || !this.layout.ring || this.run.start.nodes > WAYS_NODES_MAX) return;
		const ways = waysOf(this.run, this.roles, step);
		const { width, height, points } = this.layout;
		const centre = { x: width / 2, y: height / 2 };
		while (this.layers.ways.childElementCount > ways.length) this.layers.ways.lastElementChild!.remove();
		ways.forEach((way, i) => {
			const path = this.layers.ways.children[i] ?? make("path", {}, this.layers.ways);
			const out = 1 + (this.layout.radius + 10 + (i % 8) * 3.5) / (height / 2 - this.layout.radius - 26);
			const place = (node: number) => {
				const p = points[(node - 1) % points.length];
				return `${round(centre.x + (p.x - centre.x) * out)} ${round(centre.y + (p.y - centre.y) * out)}`;
			};
			set(path, "class", "way" + (way.home ? " home" : ""));
			set(path, "d", "M" + way.places.map(place).join("L"));
		});
	}

	private updateStuck(stuck: [number, number][]): void {
		this.layers.red.replaceChildren();
		for (const [a, b] of stuck) make("path", { class: "waits", "marker-end": "url(#head-red)", d: this.curve(this.point(a), this.point(b)) }, this.layers.red);
	}

	/** An arc that runs down from when the timer was first seen. */
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
		const flying: Flight[] = [];
		for (const flight of this.run.flights) {
			if (flight.sentStep > scene.step) break;
			if (flight.goneStep > scene.step) flying.push(flight);
		}
		const present = new Set(flying.map((f) => f.msg));
		for (const [msg, drawn] of this.flights)
			if (!present.has(msg)) {
				drawn.group.remove();
				drawn.path.remove();
				this.flights.delete(msg);
			}
		const labels = flying.length <= LABELS_MAX;
		for (const flight of flying) {
			const drawn = this.flights.get(flight.msg) ?? this.drawFlight(flight);
			const duration = flight.gone - flight.sent;
			let part = !Number.isFinite(duration) ? 0.5 : duration <= 0 ? 1 : Math.min(1, Math.max(0, (scene.time - flight.sent) / duration));
			if (scene.still) part = 0.5;
			const x = drawn.from.x + (drawn.to.x - drawn.from.x) * part;
			const y = drawn.from.y + (drawn.to.y - drawn.from.y) * part;
			drawn.group.setAttribute("transform", `translate(${x.toFixed(1)} ${y.toFixed(1)})`);
			set(drawn.group, "class", `msg ${this.roles.get(flight.type)!.replace(" ", "-")}${flight.token ? " t" : ""}${scene.hovered === flight.msg ? " lit" : ""}${labels ? "" : " bare"}`);
		}
	}

	private drawFlight(flight: Flight): Drawn {
		const { radius } = this.layout;
		const [a, b] = [this.point(flight.from), this.point(flight.to)];
		const length = Math.hypot(b.x - a.x, b.y - a.y) || 1;
		const [nx, ny] = [-(b.y - a.y) / length, (b.x - a.x) / length];
		const lane = [...this.flights.values()].filter((d) => d.group.dataset.way === `${flight.from}-${flight.to}`).length;
		const aside = Math.min(7, radius / 3) + (lane % 4) * 3;
		const shift = (p: Point) => ({ x: p.x + nx * aside, y: p.y + ny * aside });
		const [from, to] = [shift(towards(a, b, radius + 4)), shift(towards(b, a, radius + 4))];
		const angle = (Math.atan2(to.y - from.y, to.x - from.x) * 180) / Math.PI;
		const path = make("line", { class: "path" + (flight.token ? " t" : ""), x1: round(from.x), y1: round(from.y), x2: round(to.x), y2: round(to.y) }, this.layers.paths);
		const group = make("g", { class: "msg", role: "button", tabindex: 0, "data-msg": flight.msg, "data-way": `${flight.from}-${flight.to}`, "aria-label": `${flight.text} from ${flight.from} to ${flight.to}` }, this.layers.messages);
		make("circle", { class: "touch", r: 13 }, group);
		this.drawShape(group, this.roles.get(flight.type)!, flight.token, angle);
		const label = make("g", { class: "label" }, group);
		const text = flight.text.length > 22 ? flight.type : flight.text;
		const width = text.length * 7 + 16;
		const above = ny > 0.2 || (Math.abs(ny) <= 0.2 && ny >= 0) ? 20 : -20;
		make("rect", { class: "pill", x: -width / 2, y: above - 9, width, height: 18, rx: 9 }, label);
		make("text", { class: "plabel", y: above }, label).textContent = text;
		make("title", {}, group).textContent = `${flight.text} from ${flight.from} to ${flight.to}`;
		group.addEventListener("click", (event) => {
			event.stopPropagation();
			this.hooks.message(flight.msg, group);
		});
		group.addEventListener("keydown", (event) => {
			if (event.key !== "Enter") return;
			event.stopPropagation();
			this.hooks.message(flight.msg, group);
		});
		group.addEventListener("pointerenter", () => this.hooks.hover(flight.msg));
		group.addEventListener("pointerleave", () => this.hooks.hover(null));
		const drawn = { group, path, from, to, angle, label };
		this.flights.set(flight.msg, drawn);
		return drawn;
	}

	private drawShape(group: SVGGElement, role: Role, token: boolean, angle: number): void {
		if (token) {
			make("circle", { class: "glow", r: 22 }, group);
			set(baton(group, 0.9), "transform", `rotate(${round(angle)})`);
		} else if (role === "refuses") make("path", { class: "dot", d: "M0 -7L6.5 5H-6.5z" }, group);
		else if (role === "announces") make("path", { class: "dot", d: "M0 -7L7 0L0 7L-7 0z" }, group);
		else if (role === "prepares") make("rect", { class: "dot", x: -5, y: -5, width: 10, height: 10 }, group);
		else make("circle", { class: "dot", r: 6.5 }, group);
	}

	nodeElement(node: number): SVGGElement | undefined {
		return this.nodes[node - 1]?.group;
	}

	get flying(): number {
		return this.flights.size;
	}
}

function towards(from: Point, to: Point, distance: number): Point {
	const length = Math.hypot(to.x - from.x, to.y - from.y) || 1;
	return { x: from.x + ((to.x - from.x) / length) * distance, y: from.y + ((to.y - from.y) / length) * distance };
}

/** Whom a waiting node has asked since its request, and whose permission it has. */
export function permissionsOf(run: Run, roles: Map<string, Role>, node: number, step: number): { asked: number[]; got: Set<number> } {
	let first = step;
	while (first > 0 && !((run.steps[first - 1].head.ev === "request") && run.steps[first - 1].head.node === node)) first--;
	const asked: number[] = [];
	const got = new Set<number>();
	for (let i = Math.max(0, first - 1); i < step; i++) {
		const { head, rest } = run.steps[i];
		if (head.ev === "deliver" && head.to === node && roles.get(head.type!) === "permits") got.add(head.from!);
		if ((head.node ?? head.to) !== node) continue;
		for (const line of rest) {
			if (line.ev !== "send") continue;
			const role = roles.get(line.type!);
			if (role === "asks" && !asked.includes(line.to!)) asked.push(line.to!);
			else if (role === "refuses") got.delete(line.to!);
		}
	}
	return { asked: asked.sort((a, b) => a - b), got };
}

/** Messages that were passed on unchanged are one way. */
function waysOf(run: Run, roles: Map<string, Role>, step: number): { places: number[]; home: boolean }[] {
	const ways: { places: number[]; home: boolean; text: string; last: number }[] = [];
	for (const flight of run.flights) {
		if (flight.sentStep > step) break;
		if (roles.get(flight.type) !== "asks") continue;
		const before = ways.find((way) => way.text === flight.text && way.last === flight.from && way.places.length > 0 && !way.home);
		const way = before ?? { places: [flight.from], home: false, text: flight.text, last: flight.from };
		if (before === undefined) ways.push(way);
		if (flight.goneStep > step) continue;
		way.places.push(flight.to);
		way.last = flight.to;
		way.home = way.places.length > 1 && flight.to === way.places[0];
	}
	return ways.filter((way) => way.places.length > 1);
}
