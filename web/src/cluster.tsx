// The cluster as a node shows it: four numbers, the members, the trail of a lock, the locks, and the log of events.

import { effect, signal } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import { firstOf } from "./address";
import { count, cut, many, span } from "./amounts";
import { cards, goneWords, here, isInView, isWitness, latest, link, log, now, waitersMore, type Card, type Happened } from "./feed";
import { chosen, Locks } from "./locks";
import * as minute from "./minute";
import { changed, worthSeeing } from "./past";
import { algorithms, still } from "./state";
import { round } from "./svg";
import { TrailCard } from "./trail";

const LOG_SHOWN = 60;
const GRANTS_BESIDE = 10; // the most grants and releases that are shown if there are other events, which more of them would hide
const RING = 2 * Math.PI * 18;

/** Returns a topology as words: "a star", "a complete network". */
function networkOf(topology: string): string {
	return topology === "complete" ? "a complete network" : `a ${topology.replace(/:.*/, "")}`;
}

function Sentence() {
	const { status } = latest.value!;
	const algorithm = algorithms.value.find((a) => a.name === status.algorithm);
	return (
		<p class="sentence" id="sentence">
			epoch <b>{status.epoch}</b>, {algorithm === undefined ? status.algorithm : <a href={firstOf(algorithm)}>{status.algorithm}</a>} on {networkOf(status.topology)}, a lease lasts <b>{span(status.lease_ms)}</b>
			{status.takeover_ms === null || status.members.length < 2 ? (
				"."
			) : (
				<>
					; if a host dies its locks move within <b>{span(status.takeover_ms)}</b>.
				</>
			)}
		</p>
	);
}

/** Ends a reason as a sentence; some are questions. */
function sentence(why: string): string {
	return /[.?!]$/.test(why) ? why : `${why}.`;
}

function noNode(why: string): string {
	if (goneWords(why).startsWith("refuses")) return `The node ${sentence(goneWords(why))} As soon as the node allows it, the cluster is shown here.`;
	const words = why.startsWith("no node ") ? `N${why.slice(1)}` : `No node answers: ${why}`;
	return `${sentence(words)} As soon as one answers, it is shown here. “baton dev” starts three to try.`;
}

/** Says what is wrong, if anything is. */
function Trouble() {
	const sample = latest.value;
	const { state, why } = link.value;
	if (sample === null) return null;
	if (state === "gone" || state === "lost")
		return (
			<p class="alarm" role="alert" id="trouble">
				{state === "gone" ? sentence(`${sample.status.node} ${goneWords(why)}`) : "baton web does not answer."} What is below is what was known <Ago at={sample.at_ms} />. This page asks again every second.
			</p>
		);
	if (sample.status.waiting_for === null) return null;
	if (isWitness(sample))
		return (
			<p class="sentence" id="witness">
				{sample.status.node} is a witness: it votes and serves no locks. A member of its cluster shows more.
			</p>
		);
	return (
		<p class="alarm" role="alert" id="trouble">
			{sample.status.node} lets nobody in. It waits for {sample.status.waiting_for}.
		</p>
	);
}

/** Shows how much time has passed since then, and goes on counting. */
function Ago(props: { at: number }) {
	const text = useRef<HTMLSpanElement>(null);
	useEffect(() => {
		const write = () => {
			const seconds = Math.round((now() - props.at) / 1000);
			text.current!.textContent = seconds < 1 ? "a moment ago" : `${span(seconds * 1000)} ago`;
		};
		const timer = setInterval(write, 1000);
		write();
		return () => clearInterval(timer);
	}, [props.at]);
	return <span ref={text} aria-hidden="true" />;
}

/** Draws the values of a minute as a line, from 0 up to the greatest value. */
function Line(props: { course: minute.Course }) {
	const { points, bounds = [] } = props.course;
	const most = Math.max(0, ...[...points, ...bounds].map(([, value]) => value ?? 0)) || 1;
	const end = points.at(-1)?.[0] ?? 0;
	const x = (at: number) => round(108 - ((end - at) / minute.MINUTE_MS) * 106);
	const y = (value: number) => round(29 - (value / most) * 25);
	// A value without neighbours is a line of length 0, which is drawn as a dot.
	const path = (of: [number, number | null][]) => of.map(([at, value], i) => (value === null ? "" : i > 0 && of[i - 1][1] !== null ? `L${x(at)} ${y(value)}` : `M${x(at)} ${y(value)}h0`)).join("");
	const last = points.at(-1);
	return (
		<svg class="spark" viewBox="0 0 112 32" aria-hidden="true">
			<path class="bound" d={path(bounds)} />
			<path class="course" d={path(points)} />
			{last === undefined || last[1] === null ? null : <circle cx={x(last[0])} cy={y(last[1])} r="2.6" />}
		</svg>
	);
}

function Tile(props: { id: string; title: string; value: string; note: string; course: minute.Course }) {
	return (
		<div class="tile" id={props.id}>
			<h2>{props.title}</h2>
			<div class="figure">
				<b>{props.value}</b>
				<Line course={props.course} />
			</div>
			<p class="note">{props.note}</p>
		</div>
	);
}

/** Returns the client that has waited longest: "n2, for reindex". */
function longestWait(): string {
	const { waits_longest, locks_more, locks_total } = latest.value!;
	const locks = locks_more ? `the first ${count(locks_total)} locks` : null;
	if (waits_longest === null) return locks === null ? "nobody waits" : `nobody waits for ${locks}`;
	const { name, node, since_ms } = waits_longest;
	return `the longest for ${span(since_ms)}: ${node}, for ${name}${locks === null ? "" : `, of ${locks}`}`;
}

function Tiles() {
	const { status, info, waiters_total } = latest.value!;
	const [grants, came, cost, waiting] = [minute.grants.value, minute.came.value, minute.cost.value, minute.waiting.value];
	const bound = minute.boundOf(info);
	const claim = algorithms.value.find((a) => a.name === status.algorithm)?.claim;
	const time = minute.covered.value > 55_000 ? "last minute" : `last ${span(Math.round(minute.covered.value / 1000) * 1000)}`;
	return (
		<div class="tiles">
			<Tile id="grants" title="Grants a second" value={grants.value === null ? "–" : count(grants.value)} note={grants.value === null ? "…" : `${many(grants.total, "grant")}, ${time}`} course={grants} />
			<Tile id="came" title="Wait for a token that had to come" value={came.value === null ? "–" : span(came.value)} note={came.value === null ? `none had to come to ${status.node}` : `average of ${count(came.count)} at ${status.node}${came.most === null ? "" : `; 99 % within ${span(came.most)}`}`} course={came} />
			<Tile id="cost-now" title="Messages an entry" value={cost.value === null ? "–" : count(cost.value)} note={bound !== null ? `${status.algorithm} on ${networkOf(status.topology)}: at most ${count(bound)}` : claim === undefined ? "" : `${status.algorithm}: ${claim}`} course={cost} />
			<Tile id="waiting" title="Waiting now" value={count(waiters_total) + (waitersMore(latest.value!) ? "+" : "")} note={longestWait()} course={waiting} />
		</div>
	);
}

/** Shows how much of its lease a member has left. If the member is silent, its lease runs out;
 * otherwise each status says how much is left. */
function Lease(props: { card: Card; bad: boolean }) {
	const arc = useRef<SVGCircleElement>(null);
	const text = useRef<SVGTextElement>(null);
	const { card, bad } = props;
	const lease = latest.value!.status.lease_ms;
	useEffect(() => {
		const draw = () => {
			const left = Math.max(0, bad ? card.lease - (now() - card.heard) : card.lease);
			arc.current!.setAttribute("stroke-dasharray", `${round(Math.min(1, left / lease) * RING)} ${round(RING + 1)}`);
			text.current!.textContent = (left / 1000).toFixed(1);
		};
		draw();
		if (!bad) return;
		const timer = setInterval(draw, still.value ? 1000 : 100);
		return () => clearInterval(timer);
	}, [card, bad, lease]);
	return (
		<svg class="lease" viewBox="0 0 46 46" aria-hidden="true">
			<circle class="ring" cx="23" cy="23" r="18" />
			<circle class="arc" ref={arc} cx="23" cy="23" r="18" transform="rotate(-90 23 23)" />
			<text ref={text} x="23" y="24" />
		</svg>
	);
}

/** Returns which locks the member has, or how many: "deploy, reindex". */
function holding({ holds, whole }: Card): string {
	if (!whole) return `${count(holds.length)} or more`;
	return holds.length > 2 ? count(holds.length) : holds.map((h) => cut(h, 24)).join(", ");
}

function MemberCard(props: { card: Card }) {
	const { member, removed, heard, holds, waits, waitsMore, whole } = props.card;
	const silent = removed === null && member.state === "silent";
	const bad = silent || removed !== null;
	const { node } = latest.value!.status;
	const witness = member.name === node && isWitness(latest.value!);
	const state = witness ? "witness" : member.state;
	const clients = latest.value!.info.connected_clients;
	const parts = [member.name === node && typeof clients === "number" ? many(clients, "client") : "", holds.length > 0 ? `holds ${holding(props.card)}` : "", waits > 0 && !bad ? `${count(waits)}${waitsMore ? " or more" : ""} waiting` : ""];
	return (
		<li class={bad ? "member away" : "member"} data-member={member.name}>
			{witness ? null : <Lease card={props.card} bad={bad} />}
			<div>
				<h3>
					{member.name} {removed !== null ? <span class="tag">removed</span> : state !== "active" ? <span class="tag">{state}</span> : null}
				</h3>
				<small>{member.address ?? "no address yet"}</small>
				<small>{bad ? <>last heard <Ago at={heard} />{holds.length > 0 ? `, held ${holding(props.card)}` : ""}</> : parts.filter((p) => p !== "").join("; ") || (witness ? "votes" : whole ? "holds nothing" : "holds none of the first locks")}</small>
			</div>
		</li>
	);
}

const quietly = signal(false); // grants and releases are not shown

function clock(at: Date): string {
	return at.toLocaleTimeString("en-GB");
}

function LogLine(props: { one: Happened }) {
	const { at, who, what, kind } = props.one;
	return (
		<li class={kind}>
			<time dateTime={at.toISOString()}>{clock(at)}</time>
			<span>
				<b>{who}</b> {what}
			</span>
		</li>
	);
}

function Log() {
	const news = log.value.some((l) => l.kind !== "grant");
	let left = quietly.value ? 0 : news ? GRANTS_BESIDE : LOG_SHOWN;
	const lines = log.value.filter((l) => l.kind !== "grant" || left-- > 0).slice(0, LOG_SHOWN);
	return (
		<section class="card" id="log" aria-labelledby="log-title">
			<h2 id="log-title">
				What happened <span>newest first</span>
			</h2>
			<label class="note">
				<input type="checkbox" id="quietly" checked={quietly.value} onChange={(event) => (quietly.value = event.currentTarget.checked)} /> without grants and releases
			</label>
			{latest.value!.unheard === undefined ? null : (
				<p class="note" id="unheard">
					Grants and releases are left out: {/^NOPERM/.test(latest.value!.unheard) ? "no right to observe. " : ""}
					{sentence(latest.value!.unheard)}
				</p>
			)}
			{lines.length === 0 ? (
				<p class="note">Nothing since this page was opened.</p>
			) : (
				<ol class="log" tabIndex={0} aria-labelledby="log-title">
					{lines.map((one) => (
						<LogLine key={one.key} one={one} />
					))}
				</ol>
			)}
			{left < 0 && !quietly.value ? <p class="note">Of grants and releases, only the last {news ? GRANTS_BESIDE : LOG_SHOWN} are shown.</p> : null}
		</section>
	);
}

function Machines() {
	return (
		<section class="card" aria-labelledby="machines-title">
			<h2 id="machines-title">For machines</h2>
			<p class="note">
				<a href="metrics">/metrics</a> for Prometheus, <a href="api/status">/api/status</a> as JSON, <code>/api/events</code> as a stream.
			</p>
		</section>
	);
}

/** Says why there is nothing to show yet, and what to do. */
function Nothing() {
	const { state, why } = link.value;
	return (
		<main class="cluster">
			<h1>Cluster</h1>
			<p class="sentence" id="nothing" role="status">
				{!here.value
					? "This page comes from a file or from another server: it knows no cluster. Run “baton web” beside a node to see its cluster."
					: state === "gone"
						? noNode(why)
						: state === "lost"
							? "baton web does not answer. This page asks again and again."
							: "Asking the node…"}
			</p>
		</main>
	);
}

export function Cluster() {
	const sample = latest.value;
	void changed.value;
	// The title shows trouble even to a user who looks at another tab.
	useEffect(() => {
		const before = document.title;
		const stop = effect(() => {
			const sample = latest.value;
			const bad = link.value.state !== "live" || (sample !== null && ((sample.status.waiting_for !== null && !isWitness(sample)) || sample.status.silent.length > 0));
			document.title = sample === null ? "baton: cluster" : `${bad ? "⚠ " : ""}${sample.status.node}: cluster`;
		});
		return () => {
			stop();
			document.title = before;
		};
	}, []);
	if (sample === null) return <Nothing />;
	const current = chosen.value ?? worthSeeing();
	const stale = link.value.state === "gone" || link.value.state === "lost";
	return (
		<main class={stale ? "cluster stale" : "cluster"}>
			<div class="head">
				<h1>
					Cluster <span>at {sample.status.node}</span>
				</h1>
				<Sentence />
			</div>
			<Trouble />
			<Tiles />
			<ul class="members" aria-label="Members">
				{cards.value.filter((card) => isInView(sample.status) || card.member.name === sample.status.node).map((card) => (
					<MemberCard key={card.member.name} card={card} />
				))}
			</ul>
			<div class="left">
				<TrailCard lock={current} />
				<Locks current={current} />
			</div>
			<div class="side">
				<Log />
				<Machines />
			</div>
		</main>
	);
}
