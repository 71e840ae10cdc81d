// Places the nodes: by a formula for known shapes, by stress majorization for any other graph.

import type { Start } from "./run";

export interface Point {
	x: number;
	y: number;
}

export interface Layout {
	points: Point[]; // where node i is: points[i - 1]
	width: number;
	height: number;
	radius: number;
	edges: [number, number][]; // the lines that are always drawn
	ring: Ring | null;
	oval: Point | null; // the half axes of the oval on which all nodes are, if every node is linked to every other
}

export interface Ring {
	x: number; // the centre of the ring
	y: number;
	radius: number; // the radius of the circle on which the nodes are placed
	room: number; // how much room there is outside the nodes
}

function radiusOf(nodes: number): number {
	return nodes <= 7 ? 25 : Math.max(9, 25 - (nodes - 7) * 0.45);
}

/** Returns a radius with which nodes do not touch. */
function radiusFor(points: Point[], wanted: number): number {
	let nearest = Infinity;
	points.forEach((a, i) => points.slice(i + 1).forEach((b) => (nearest = Math.min(nearest, Math.hypot(a.x - b.x, a.y - b.y)))));
	return Math.max(5, Math.min(wanted, nearest * 0.4));
}

function ovalOf(width: number, height: number, margin: number): Point {
	const y = height / 2 - margin;
	return { x: Math.min(width / 2 - margin, y * 1.7), y };
}

function circle(nodes: number, width: number, height: number, margin: number): Point[] {
	const { x: rx, y: ry } = ovalOf(width, height, margin);
	return Array.from({ length: nodes }, (_, i) => {
		const angle = (2 * Math.PI * i) / nodes - Math.PI / 2;
		return { x: width / 2 + rx * Math.cos(angle), y: height / 2 + ry * Math.sin(angle) };
	});
}

/** Places a tree in levels below node 1. All leaves have the same width. */
function tree(start: Start, width: number, height: number, margin: number): Point[] {
	const adjacent = neighbours(start);
	const points: Point[] = Array.from({ length: start.nodes }, () => ({ x: 0, y: 0 }));
	const depth = new Array<number>(start.nodes + 1).fill(0);
	let leaf = 0;
	const place = (node: number, parent: number): number => {
		const children = adjacent[node].filter((other) => other !== parent);
		for (const child of children) depth[child] = depth[node] + 1;
		const places = children.map((child) => place(child, node));
		const at = places.length === 0 ? leaf++ : (places[0] + places[places.length - 1]) / 2;
		points[node - 1].x = at;
		return at;
	};
	place(1, 0);
	const deepest = Math.max(1, ...depth);
	points.forEach((point, i) => {
		point.x = leaf <= 1 ? width / 2 : margin + (point.x / (leaf - 1)) * (width - 2 * margin);
		point.y = margin + (depth[i + 1] / deepest) * (height - 2 * margin);
	});
	return points;
}

function neighbours(start: Start): number[][] {
	const adjacent: number[][] = Array.from({ length: start.nodes + 1 }, () => []);
	for (const [a, b] of start.edges) {
		adjacent[a].push(b);
		adjacent[b].push(a);
	}
	return adjacent;
}

function star(nodes: number, width: number, height: number, margin: number): Point[] {
	const around = circle(Math.max(1, nodes - 1), width, height, margin);
	return [{ x: width / 2, y: height / 2 }, ...around.slice(0, nodes - 1)];
}

/** Places nodes on a line, which turns like a serpent where there is no more room. */
function line(nodes: number, width: number, height: number, margin: number, most: number): Point[] {
	const across = Math.min(nodes, most);
	const rows = Math.ceil(nodes / across);
	return Array.from({ length: nodes }, (_, i) => {
		const row = Math.floor(i / across);
		const column = row % 2 === 0 ? i % across : across - 1 - (i % across);
		return {
			x: across === 1 ? width / 2 : margin + (column / (across - 1)) * (width - 2 * margin),
			y: rows === 1 ? height / 2 : margin + (row / (rows - 1)) * (height - 2 * margin),
		};
	});
}

function grid(topology: string, width: number, height: number, margin: number): Point[] {
	const [rows, columns] = topology.slice(5).split("x").map(Number);
	return Array.from({ length: rows * columns }, (_, i) => ({
		x: columns === 1 ? width / 2 : margin + ((i % columns) / (columns - 1)) * (width - 2 * margin),
		y: rows === 1 ? height / 2 : margin + (Math.floor(i / columns) / (rows - 1)) * (height - 2 * margin),
	}));
}

function distances(start: Start): number[][] {
	const adjacent = neighbours(start);
	return Array.from({ length: start.nodes }, (_, i) => {
		const far = new Array<number>(start.nodes).fill(start.nodes);
		far[i] = 0;
		const queue = [i + 1];
		for (let node = queue.shift(); node !== undefined; node = queue.shift())
			for (const other of adjacent[node])
				if (far[other - 1] > far[node - 1] + 1) {
					far[other - 1] = far[node - 1] + 1;
					queue.push(other);
				}
		return far;
	});
}

/** Stress majorization: starts from a circle and moves each node, again and again, towards the distances that it should have. */
function stress(start: Start, width: number, height: number, margin: number): Point[] {
	const far = distances(start);
	let points = circle(start.nodes, 2, 2, 0);
	for (let round = 0; round < 200; round++) {
		points = points.map((point, i) => {
			let [x, y, weights] = [0, 0, 0];
			points.forEach((other, j) => {
				if (i === j) return;
				const wanted = far[i][j];
				const weight = 1 / (wanted * wanted);
				const distance = Math.hypot(point.x - other.x, point.y - other.y) || 1e-6;
				x += weight * (other.x + (wanted * (point.x - other.x)) / distance);
				y += weight * (other.y + (wanted * (point.y - other.y)) / distance);
				weights += weight;
			});
			return weights === 0 ? point : { x: x / weights, y: y / weights };
		});
	}
	const xs = points.map((p) => p.x);
	const ys = points.map((p) => p.y);
	const span = (list: number[]) => Math.max(...list) - Math.min(...list) || 1;
	return points.map((p) => ({
		x: margin + ((p.x - Math.min(...xs)) / span(xs)) * (width - 2 * margin),
		y: margin + ((p.y - Math.min(...ys)) / span(ys)) * (height - 2 * margin),
	}));
}

/** Places a ring. In an election the ways of the numbers are drawn outside, so that the ring is a true circle with room around it. */
function electoralRing(nodes: number, width: number, height: number): { points: Point[]; ring: Ring } {
	const half = Math.min(width, height) / 2;
	const ring = { x: width / 2, y: height / 2, radius: half * 0.54, room: half * 0.46 };
	const points = Array.from({ length: nodes }, (_, i) => {
		const angle = (2 * Math.PI * i) / nodes - Math.PI / 2;
		return { x: ring.x + ring.radius * Math.cos(angle), y: ring.y + ring.radius * Math.sin(angle) };
	});
	return { points, ring };
}

/** Places the nodes, in units that are pixels of a wide page, or of a phone. */
export function layOut(start: Start, narrow: boolean): Layout {
	const { nodes, topology } = start;
	const kind = topology.split(":")[0];
	const all = start.edges.length === (nodes * (nodes - 1)) / 2 && nodes > 3;
	const low = ["tree", "radiating", "line", "grid"].includes(kind);
	const width = narrow ? 400 : 880;
	const height = narrow ? (low ? 320 : 380) : low ? 360 : 430;
	const wanted = radiusOf(nodes);
	const margin = Math.min(wanted, narrow ? 20 : 25) + 26;
	const edges = all ? [] : start.edges;
	if (kind === "ring" && start.arrangement !== undefined) {
		const { points, ring } = electoralRing(nodes, width, height);
		const radius = radiusFor(points, wanted);
		return { points, width, height, radius, edges, ring: { ...ring, room: ring.room - radius }, oval: null };
	}
	let points: Point[];
	if (kind === "tree" || kind === "radiating") points = tree(start, width, height, margin);
	else if (kind === "star") points = star(nodes, width, height, margin);
	else if (kind === "line") points = line(nodes, width, height, margin, narrow ? 6 : 12);
	else if (kind === "grid") points = grid(topology, width, height, margin);
	else if (kind === "ring" || kind === "complete" || all) points = circle(nodes, width, height, margin);
	else points = stress(start, width, height, margin);
	return { points, width, height, radius: radiusFor(points, wanted), edges, ring: null, oval: all && ["complete", "ring"].includes(kind) ? ovalOf(width, height, margin) : null };
}
