// Draws, for elections on a ring, how far each number went.

import type { Layout } from "./layout";
import type { Role } from "./module";
import type { Flight, Run } from "./run";
import { make, round, set } from "./svg";

const NODES_MAX = 24;
const LANES_MAX = 9;

interface Way {
	first: number; // the node that the number started from
	direction: 1 | -1;
	hops: Flight[];
	lane: number;
}

/** Returns the number that a message carries: ELECTION(3,true) carries 3. */
function numberIn(text: string): string {
	return /\(([^,)]*)/.exec(text)?.[1] ?? "";
}

/** Joins messages to ways. A message that is passed on where it arrived, in the same direction and with the same number, continues a way. */
function findWays(run: Run, roles: Map<string, Role>): Way[] {
	const { nodes } = run.start;
	const ways: Way[] = [];
	const arrived = new Map<number, Way>(); // the way of each message, by the step in which it arrived
	for (const flight of run.flights) {
		if (roles.get(flight.type) !== "asks") continue;
		const direction = flight.to === (flight.from % nodes) + 1 ? 1 : -1;
		const before = arrived.get(flight.sentStep);
		const last = before?.hops[before.hops.length - 1];
		const goesOn = last !== undefined && before!.direction === direction && last.type === flight.type && numberIn(last.text) === numberIn(flight.text);
		const way: Way = goesOn ? before! : { first: flight.from, direction, hops: [], lane: 0 };
		if (!goesOn) ways.push(way);
		way.hops.push(flight);
		arrived.set(flight.goneStep, way);
	}
	return ways;
}

/** Gives each way a lane. Ways that do not overlap share one; ways that go all the way round are outside of all others. */
function assignLanes(ways: Way[], nodes: number): number {
	const lanes: Set<number>[] = [];
	const links = (way: Way) => way.hops.map((hop) => (way.direction === 1 ? hop.from : hop.to));
	const isHome = (way: Way) => way.hops.length >= nodes;
	for (const way of ways) {
		if (isHome(way)) continue;
		const mine = links(way);
		let lane = lanes.findIndex((taken) => mine.every((link) => !taken.has(link)));
		if (lane < 0) lane = lanes.length < LANES_MAX ? lanes.push(new Set()) - 1 : ways.indexOf(way) % LANES_MAX;
		for (const link of mine) lanes[lane].add(link);
		way.lane = lane;
	}
	let outer = lanes.length;
	for (const way of ways) if (isHome(way)) way.lane = Math.min(LANES_MAX + 2, outer++);
	return Math.min(LANES_MAX + 3, outer);
}

export class WaysView {
	private ways: Way[] = [];
	private paths: SVGPathElement[] = [];
	private ends: SVGPathElement[] = [];
	private known = -1; // how many flights were read
	private lanes = 0;

	constructor(
		private layer: SVGGElement,
		private run: Run,
		private layout: Layout,
		private roles: Map<string, Role>,
	) {}

	draw(step: number): void {
		const { ring } = this.layout;
		if (ring === null || this.run.start.nodes > NODES_MAX) return;
		if (this.known !== this.run.flights.length) this.read();
		this.ways.forEach((way, i) => this.drawWay(way, i, step));
	}

	private read(): void {
		this.known = this.run.flights.length;
		this.ways = findWays(this.run, this.roles);
		this.lanes = assignLanes(this.ways, this.run.start.nodes);
		this.layer.replaceChildren();
		this.paths = this.ways.map(() => make("path", { class: "way" }, this.layer));
		this.ends = this.ways.map(() => make("path", { class: "extinguished", d: "" }, this.layer));
	}

	private drawWay(way: Way, i: number, step: number): void {
		const nodes = this.run.start.nodes;
		const come = way.hops.filter((hop) => hop.goneStep <= step && !hop.lost).length;
		if (come === 0) {
			set(this.paths[i], "d", "");
			set(this.ends[i], "d", "");
			return;
		}
		const { x, y, radius, room } = this.layout.ring!;
		const gap = Math.min(11, (room - 22) / Math.max(1, this.lanes));
		const out = radius + this.layout.radius + 12 + way.lane * gap;
		const hop = (2 * Math.PI) / nodes;
		const from = hop * (way.first - 1) - Math.PI / 2;
		const short = Math.min(0.3 * hop, 9 / out);
		const at = (angle: number) => [x + out * Math.cos(angle), y + out * Math.sin(angle)] as const;
		const first = from + way.direction * short;
		const last = from + way.direction * (come * hop - short);
		const parts = Math.max(2, Math.ceil((come * hop) / 0.06));
		const points = Array.from({ length: parts + 1 }, (_, k) => at(first + ((last - first) * k) / parts));
		set(this.paths[i], "class", "way" + (come >= nodes ? " home" : ""));
		set(this.paths[i], "d", "M" + points.map(([px, py]) => `${round(px)} ${round(py)}`).join("L"));
		const [ex, ey] = at(from + way.direction * come * hop);
		// If numbers go in both directions, a number may have ended because it went as far as it should. Only on a ring with one
		// direction was it certainly stopped.
		const stopped = this.run.algorithm.oneWay && come === way.hops.length && come < nodes;
		set(this.ends[i], "d", stopped ? `M${round(ex - 3)} ${round(ey - 3)}l6 6m0 -6l-6 6` : "");
	}
}
