// The trail of a lock's token in the last minute, drawn as the laboratory draws its runs.

import { effect } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import { count, cut, span } from "./amounts";
import { cards, latest, now, type Lock } from "./feed";
import { MINUTE_MS } from "./minute";
import { changed, hasGap, pastOf, Trail, trailIsCrowded } from "./past";
import { Rows } from "./rows";
import { algorithms, narrow, still } from "./state";
import { make, round } from "./svg";

const RIGHT = 14; // the same margin as in the diagram of a run
const ROWS_MAX = 12; // in a larger cluster, only nodes that held the lock or waited for it have a row
const REFRESH_MS = 250;
const FRAME_MS = 100;

class TrailView extends Rows {
	constructor(
		svg: SVGSVGElement,
		over: HTMLElement,
		readonly trail: Trail,
		narrow: boolean,
	) {
		super(svg, over, trail, narrow, narrow ? 400 : svg.clientWidth > 1200 ? 1400 : 880, narrow ? 70 : 96, MINUTE_MS / 1000, 4, RIGHT);
		for (let node = 1; node <= trail.nodes.length; node++) this.drawRow(node);
		const step = narrow ? 20 : 15;
		for (let at = -60; at <= 0; at += step) make("text", { class: "axis", x: round(this.x(60 + at)), y: this.height - 6 }, svg).textContent = at === 0 ? "now" : `${at} s`;
	}

	protected drawName(node: number, y: number): SVGGElement {
		const name = make("g", { transform: `translate(0 ${y})` }, this.svg);
		make("text", { class: "rowlabel" }, name).textContent = cut(this.trail.name(node), this.narrow ? 8 : 12);
		make("title", {}, name).textContent = this.trail.name(node);
		return name;
	}

	protected drawAxis(): void {} // this axis does not move

	draw(at: number): void {
		this.show(this.trail.time(at) - MINUTE_MS / 1000);
	}
}

/** Returns the nodes that have a row: the members, and those that held the lock or waited for it. */
function rowsOf(lock: string): string[] {
	const { holds, waits } = pastOf(lock);
	const involved = new Set([...holds, ...waits].map((one) => one.node));
	const members = cards.value.filter((c) => c.removed === null).map((c) => c.member.name);
	for (const name of members) if (members.length <= ROWS_MAX) involved.add(name);
	return [...involved].sort();
}

function alive(): Set<string> {
	return new Set(cards.value.filter((c) => c.removed === null && c.member.state !== "silent").map((c) => c.member.name));
}

/** Describes the picture in words. */
function wordsOf(lock: string): string {
	const times = new Map<string, number>();
	for (const { node, from, to } of pastOf(lock).holds) times.set(node, (times.get(node) ?? 0) + (to ?? now()) - Math.max(from, now() - MINUTE_MS));
	const parts = [...times].map(([node, ms]) => `${node} for ${span(Math.max(0, ms))}`);
	if (hasGap(now())) return parts.length === 0 ? `Nobody was seen to hold ${lock} in the last minute.` : `In the last minute ${lock} was seen with ${parts.join(", ")}.`;
	return parts.length === 0 ? `Nobody held ${lock} in the last minute.` : `In the last minute ${lock} was held by ${parts.join(", ")}.`;
}

function Picture(props: { lock: string; nodes: string[]; token: boolean }) {
	const svg = useRef<SVGSVGElement>(null);
	const over = useRef<HTMLDivElement>(null);
	const small = narrow.value;
	useEffect(() => {
		const trail = new Trail(props.lock, props.nodes, props.token);
		const view = new TrailView(svg.current!, over.current!, trail, small);
		let [fresh, timer] = [-1, 0];
		let refreshed = 0;
		const draw = () => {
			const at = now();
			if (fresh !== changed.peek() && performance.now() - refreshed >= REFRESH_MS) {
				trail.refresh(at, alive());
				fresh = changed.peek();
				refreshed = performance.now();
				svg.current!.setAttribute("aria-label", wordsOf(props.lock));
			}
			view.draw(at);
		};
		draw();
		// If the user prefers reduced motion, the picture moves only with each status.
		const stop = effect(() => {
			clearInterval(timer);
			void latest.value;
			draw();
			if (!still.value) timer = window.setInterval(draw, FRAME_MS);
		});
		return () => {
			stop();
			clearInterval(timer);
		};
	}, [props.lock, props.nodes.join("\n"), props.token, small]);
	return (
		<div class="diagram">
			<svg class="trail" ref={svg} role="img" aria-label={wordsOf(props.lock)} />
			<div class="over" ref={over} aria-hidden="true" />
		</div>
	);
}

/** Describes the chosen lock in words: who holds it, and who waits in which order. */
function Whole(props: { lock: Lock }) {
	const { holder, waiters, waiters_total, waiters_more, order, fence } = props.lock;
	return (
		<div class="whole">
			<p>
				{holder === null ? (
					"Nobody holds it."
				) : (
					<>
						<b>{holder.node}</b> holds it{holder.losing ? " and is told to stop" : ""}: <code>{holder.command || "?"}</code>
						{holder.pid === null ? "" : `, process ${holder.pid}`}, for {span(holder.since_ms)}, fence {fence}.
					</>
				)}
			</p>
			{waiters.length === 0 ? null : (
				<>
					<p class="note">{order === "served" ? "Next:" : "Waiting, each node's own in order:"}</p>
					<ol>
						{waiters.map((w, i) => (
							<li key={i}>
								<b>{w.node}</b> <code>{w.command || "?"}</code>
								{w.pid === null ? "" : `, process ${w.pid}`}, for {span(w.since_ms)}
							</li>
						))}
					</ol>
					{waiters_total === undefined ? null : <p class="note">and {count(waiters_total - waiters.length)} {waiters_more ? "or more" : "more"}</p>}
				</>
			)}
		</div>
	);
}

export function TrailCard(props: { lock: string | null }) {
	const sample = latest.value!;
	void changed.value;
	if (props.lock === null)
		return (
			<section class="card" id="trail" aria-labelledby="trail-title">
				<h2 id="trail-title">Where a lock has been</h2>
				<p class="note">No lock is held or waited for. Try <code>baton run demo sleep 10</code>.</p>
			</section>
		);
	const token = algorithms.value.find((a) => a.name === sample.status.algorithm)?.token ?? false;
	const lock = sample.status.locks.find((l) => l.name === props.lock);
	const gap = hasGap(now());
	return (
		<section class="card" id="trail" aria-labelledby="trail-title">
			<h2 id="trail-title">
				<span>
					{token ? "Where the token of " : "Who has held "}
					<code>{cut(props.lock, 40)}</code>
					{token ? " has been" : ""}
				</span>
				<span>last minute</span>
			</h2>
			<Picture lock={props.lock} nodes={rowsOf(props.lock)} token={token} />
			{trailIsCrowded(props.lock) ? <p class="note">It changed hands {gap ? "at least " : ""}{count(pastOf(props.lock).holds.length)} times: the lines between its places are left out.</p> : null}
			{gap ? <p class="note" id="gap">Some changes are left out: it may have been elsewhere too.</p> : null}
			{lock === undefined ? <p class="note">Nobody holds it now.</p> : <Whole lock={lock} />}
		</section>
	);
}

