// The front page: a running stage, and all algorithms in their families.

import { signal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { firstOf } from "./address";
import type { Algorithm } from "./module";
import { algorithms } from "./state";
import { errorsOf, loadTours } from "./tour";

interface Family {
	title: string;
	note: string;
	has(a: Algorithm): boolean;
}

// The families. An algorithm belongs to the first one that its table fits.
const FAMILIES: Family[] = [
	{ title: "Elections", note: "one leader, known to all", has: (a) => a.kind === "election" },
	{ title: "A token on a ring", note: "each speaks to its neighbours only", has: (a) => a.needs === "ring" },
	{ title: "A token, asked for along a tree or a graph", note: "few messages, however many nodes there are", has: (a) => a.token && a.needs !== "complete" },
	{ title: "A token, and others are asked for it", note: "up to N messages, one delay", has: (a) => a.token },
	{ title: "Others give permission", note: "no token that could be lost", has: () => true },
];
const ORDER = [2, 3, 4, 1, 0];

/** Draws seven dots in the shape of the algorithm's network; the one that may act is filled. */
function Glyph(props: { algorithm: Algorithm }) {
	const { needs, kind, token } = props.algorithm;
	const around = (count: number, from: number) => Array.from({ length: count }, (_, i) => [22 + 17 * Math.sin((2 * Math.PI * i) / count), 22 - 17 * Math.cos((2 * Math.PI * i) / count), from + i] as const);
	let points: (readonly [number, number, number])[] = around(7, 0);
	let edges: [number, number][] = [];
	if (needs === "tree") {
		points = [[22, 6, 0], [11, 20, 1], [33, 20, 2], [5, 36, 3], [16, 36, 4], [28, 36, 5], [39, 36, 6]];
		edges = [[0, 1], [0, 2], [1, 3], [1, 4], [2, 5], [2, 6]];
	} else if (needs === "star") {
		points = [[22, 22, 0], ...around(6, 1)];
		edges = [1, 2, 3, 4, 5, 6].map((i) => [0, i]);
	} else if (needs === "ring") edges = points.map((_, i) => [i, (i + 1) % 7]);
	else if (needs === "complete") edges = points.flatMap((_, i) => points.slice(i + 1).map((_, k) => [i, i + 1 + k] as [number, number]));
	else edges = [[0, 1], [1, 2], [2, 3], [3, 4], [4, 5], [5, 6], [0, 3], [1, 6], [2, 5]];
	return (
		<svg class="glyph" viewBox="0 0 44 44" aria-hidden="true">
			{edges.map(([a, b]) => (
				<line key={`${a} ${b}`} x1={points[a][0]} y1={points[a][1]} x2={points[b][0]} y2={points[b][1]} />
			))}
			{points.map(([x, y, i]) => (
				<circle key={i} cx={x} cy={y} r={i === 0 ? 4 : 2.6} class={i > 0 ? "" : kind === "election" ? "leads" : token ? "in" : "asked"} />
			))}
		</svg>
	);
}

function Card(props: { algorithm: Algorithm; errors: [string, string][] }) {
	const { name, title, year, claim } = props.algorithm;
	const [who, what] = title.split(": ");
	return (
		<li class="one">
			<Glyph algorithm={props.algorithm} />
			<div>
				<a class="go" href={`#tour/${name}`} aria-label={`tour: ${who}`}>
					tour
				</a>
				<h3>
					<a href={firstOf(props.algorithm)}>{who}</a>
				</h3>
				<p>{what === undefined ? year : `${year}, ${what}`}</p>
				<p>messages: {claim}</p>
				{props.errors.map(([tour, words]) => (
					<p class="wrong-text" key={tour}>
						<a href={`#tour/${tour}`}>{words}</a>
					</p>
				))}
			</div>
		</li>
	);
}

const errors = signal<ReturnType<typeof errorsOf>>(new Map());

export function Families() {
	// Tours are loaded after the first frame; from them the page learns which algorithms have errors.
	useEffect(() => void loadTours().then((all) => (errors.value = errorsOf(all))), []);
	return (
		<div class="families">
			{ORDER.map((at) => {
				const family = FAMILIES[at];
				const members = algorithms.value.filter((a) => FAMILIES.find((f) => f.has(a)) === family);
				return (
					<section key={family.title}>
						<h2>
							{family.title} <span>{family.note}</span>
						</h2>
						<ul>
							{members.map((a) => (
								<Card key={a.name} algorithm={a} errors={errors.value.get(a.name) ?? []} />
							))}
						</ul>
					</section>
				);
			})}
		</div>
	);
}
