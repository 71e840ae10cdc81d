// A node's view of its cluster: the stream that baton web sends, the last status, the members, and the log of events.

import { computed, effect, signal } from "@preact/signals";
import { span } from "./amounts";
import { addSecond, forgetMinute } from "./minute";
import { said, view } from "./state";
import { forgetPast, noteChange, noteGap, noteStatus } from "./past";

export interface Client {
	node: string;
	pid: number | null;
	uid: number | null;
	command: string;
	since_ms: number;
}

export interface Lock {
	name: string;
	fence: number | null;
	holder: (Client & { losing: boolean }) | null;
	waiters: Client[];
	waiters_total?: number; // the number of waiters, if there are more than are listed
	waiters_more?: boolean; // there may be more waiters than these
	order: "served" | "by node";
}

export interface Member {
	name: string;
	address: string | null;
	incarnation: number;
	state: "active" | "starting" | "silent";
	lease_ms: number | null;
}

/** The counters of a member since its process started. */
export interface Counts {
	grants: number;
	sent: number; // how many messages of the algorithm it has sent
}

export interface Status {
	node: string;
	epoch: number;
	algorithm: string;
	topology: string;
	members: Member[];
	takeover_ms: number | null;
	lease_ms: number;
	waiting_for: string | null;
	locks: Lock[];
	silent: string[];
	by_member?: Record<string, Counts> | null; // what the members that answered have counted; null: baton-web may not see all locks
}

export type Info = Record<string, number | string | Record<string, number | string>>;

export interface Sample {
	at_ms: number; // the time by baton web's clock, as are all times of a stream
	status: Status;
	info: Info;
	locks_total: number; // how many locks are held or waited for; the status may have fewer
	locks_more?: boolean; // there may be more than locks_total
	waiters_total: number;
	waiters_more: boolean; // there may be more than waiters_total
	waiters_by_member: Record<string, number>;
	waits_longest: { name: string; node: string; since_ms: number } | null;
	unheard?: string; // why the stream leaves out changes
}

/** True if the status has every lock that is held or waited for. */
export function isWhole(sample: Sample): boolean {
	return !sample.locks_more && sample.locks_total <= sample.status.locks.length;
}

/** True if there may be more waiters than the sample counts. */
export function waitersMore(sample: Sample): boolean {
	return sample.waiters_more || sample.locks_more === true;
}

/** True if the node votes and serves no locks. It then waits for nothing, though it does not serve. */
export function isWitness(sample: Sample | null): boolean {
	return sample?.info.witness === 1;
}

export interface Change {
	at_ms: number;
	name: string;
	what: "granted" | "released" | "lost" | "leader" | "dropped";
	fence: number;
	node: string;
	value?: string;
}

/** A line of the log: a name, then what happened to it. */
export interface Happened {
	key: number;
	at: Date;
	kind: "grant" | "news" | "bad";
	who: string;
	what: string;
}

/** A member, or one that was a member a moment ago. */
export interface Card {
	member: Member;
	heard: number; // when the member last answered
	lease: number; // how much of its lease was left when it last answered
	removed: number | null; // when a view without the member came
	holds: string[]; // the locks that the member held when it last answered
	waits: number; // how many of its clients wait
	waitsMore: boolean; // more of its clients may wait than `waits`
	whole: boolean; // `holds` has all locks of the member, not only those in a shortened status
}

const LOG_MAX = 200; // how many grants and releases are kept, and as many other events
const REMOVED_MS = 600_000; // how long a member that was removed is remembered
const MISSED_MS = 2500; // a status comes every second: after a longer time, the log says that something is missing
const ASK_MS = 5000; // how often a page without a stream looks whether a node has come
const AGAIN_MS = 2000;

export const session = signal<{ control: boolean; node: boolean } | null>(null);
/** The state of the stream. asking: nothing was heard yet. gone: the node does not answer baton web. lost: baton web does not answer. */
export const link = signal<{ state: "asking" | "live" | "gone" | "lost"; why: string }>({ state: "asking", why: "" });
export const latest = signal<Sample | null>(null);
export const cards = signal<Card[]>([]);
export const log = signal<Happened[]>([]);
export const here = signal(false); // this page was served by baton web
const visible = signal(true);

/** Is there a cluster to show? */
export const known = computed(() => session.value?.node === true || latest.value !== null);

let stream: EventSource | null = null;
let again = 0;
let viewed: Status | null = null; // the last status of a node that was in a view
let opened = false; // a stream was opened, and has told nothing yet
let received = 0; // when the latest sample came, by the browser's clock
let lines = 0;

/** Returns the time of baton web's clock. */
export function now(): number {
	return latest.value === null ? 0 : latest.value.at_ms + performance.now() - received;
}

function tell(kind: Happened["kind"], who: string, what: string, at = now()): void {
	const one: Happened = { key: ++lines, at: new Date(Date.now() - Math.max(0, now() - at)), kind, who, what };
	let left = LOG_MAX;
	log.value = [one, ...log.value.filter((other) => (other.kind === "grant") !== (kind === "grant") || --left > 0)];
}

/** Adds a line to the log, and tells users who listen to the page instead of looking at it. */
function announce(kind: "news" | "bad", who: string, what: string): void {
	tell(kind, who, what);
	said.value = `${who} ${what}`;
}

/** Does the node know its cluster? A node that has just been started is in no view yet. It then reports only itself, although the other
 * nodes are members. */
export function isInView(status: Status): boolean {
	return status.members.some((m) => m.name !== status.node || m.incarnation !== 0);
}

function tellMembers(was: Status, is: Status): void {
	const before = new Map(was.members.map((m) => [m.name, m]));
	const after = new Map(is.members.map((m) => [m.name, m]));
	if (is.epoch !== was.epoch) {
		const joined = is.members.filter((m) => !before.has(m.name));
		const again = is.members.filter((m) => before.has(m.name) && before.get(m.name)!.incarnation !== m.incarnation);
		const removed = was.members.filter((m) => !after.has(m.name));
		const words = (of: Member[], what: string) => (of.length > 0 ? [`${of.map((m) => m.name).join(", ")} ${what}`] : []);
		announce("news", `epoch ${is.epoch}:`, [...words(joined, "joined"), ...words(again, "joined again"), ...words(removed, "removed")].join("; ") || "the same members");
	}
	for (const member of is.members) {
		const old = before.get(member.name);
		if (old === undefined || old.state === member.state) continue;
		if (member.state === "silent") announce("bad", member.name, "does not answer");
		else if (old.state === "silent") announce("news", member.name, "answers again");
	}
}

/** Updates what is known of each member from a status. */
function foldCards(sample: Sample): Card[] {
	const { status, at_ms } = sample;
	const old = new Map(cards.value.map((c) => [c.member.name, c]));
	const folded = status.members.map((member): Card => {
		const before = old.get(member.name);
		if (member.state === "silent") return { ...(before ?? { heard: at_ms, lease: 0, holds: [], waits: 0, waitsMore: false, whole: true }), member, removed: null };
		const holds = status.locks.filter((l) => l.holder?.node === member.name).map((l) => l.name);
		const waits = sample.waiters_by_member[member.name] ?? 0;
		return { member, heard: at_ms, lease: member.lease_ms ?? 0, removed: null, holds, waits, waitsMore: waitersMore(sample), whole: isWhole(sample) };
	});
	for (const card of cards.value) {
		if (status.members.some((m) => m.name === card.member.name)) continue;
		if (!isInView(status)) {
			folded.push(card);
			continue;
		}
		if (card.removed === null || at_ms - card.removed < REMOVED_MS) folded.push({ ...card, removed: card.removed ?? at_ms });
	}
	return folded.sort((a, b) => (a.member.name < b.member.name ? -1 : 1));
}

/** Is it another node that answers, or a node of another cluster? A node that has no cluster yet reports zeros as the cluster's identity. */
function isOther(before: Sample, after: Sample): boolean {
	const [was, is] = [before.info.cluster, after.info.cluster];
	const told = (id: typeof was) => typeof id === "string" && !/^0*$/.test(id);
	return before.status.node !== after.status.node || (told(was) && told(is) && was !== is);
}

function onStatus(sample: Sample): void {
	let before = latest.value;
	const other = before !== null && isOther(before, sample);
	// A clock that goes back belongs to another host, or baton web was restarted.
	if (before !== null && (other || sample.at_ms < before.at_ms)) {
		forgetMinute();
		forgetPast();
		cards.value = [];
		before = viewed = null;
	}
	const was = link.value.state;
	received = performance.now();
	latest.value = sample;
	link.value = { state: "live", why: "" };
	if (other) announce("news", sample.status.node, "answers: this is another node, or another cluster");
	if (before !== null) {
		if (was === "gone" || was === "lost") announce("news", sample.status.node, "answers again");
		if (sample.status.waiting_for !== before.status.waiting_for && sample.status.waiting_for !== null && before.status.waiting_for === null) announce("bad", sample.status.node, `waits for ${sample.status.waiting_for}`);
		if (sample.status.waiting_for === null && before.status.waiting_for !== null) announce("news", sample.status.node, "serves locks");
		if (viewed !== null && isInView(sample.status)) tellMembers(viewed, sample.status);
		else if (isInView(sample.status)) announce("news", `epoch ${sample.status.epoch}:`, `${sample.status.members.map((m) => m.name).join(", ")} are members`);
		// This page does not know what happened while it had no stream, or while there was no node. (A node that was in no view knew no locks.)
		if (viewed !== null && (opened || was === "gone")) noteGap(sample.at_ms);
		if (opened && sample.at_ms > before.at_ms + MISSED_MS) tell("news", "this page", `was not told what happened for ${span(Math.round((sample.at_ms - before.at_ms) / 1000) * 1000)}`);
	}
	opened = false;
	if (isInView(sample.status)) viewed = sample.status;
	if (sample.unheard !== undefined && before?.unheard === undefined) tell("news", "grants and releases", `are left out: ${sample.unheard}`);
	if (sample.unheard === undefined && before?.unheard !== undefined) tell("news", "grants and releases", "are told again");
	addSecond(before, sample);
	cards.value = foldCards(sample);
	noteStatus(sample, isWhole(sample));
}

/** Says how long the new holder had waited, if the last status knew it. */
function waited(change: Change): string {
	const lock = latest.value?.status.locks.find((l) => l.name === change.name);
	const longest = Math.max(0, ...(lock?.waiters ?? []).filter((w) => w.node === change.node).map((w) => w.since_ms));
	return longest === 0 ? "" : `, after ${span(longest + change.at_ms - latest.value!.at_ms)}`;
}

function onChange(change: Change): void {
	const { name, what, fence, node, value, at_ms } = change;
	if (what === "granted") tell("grant", name, `granted to ${node}, fence …${String(fence).slice(-3)}${waited(change)}`, at_ms);
	else if (what === "released") tell("grant", name, `released by ${node}`, at_ms);
	else if (what === "lost") tell("bad", name, `lost by ${node}, fence ${fence}${value === undefined ? "" : `: ${value}`}`, at_ms);
	else if (what === "leader") tell("news", name, `led by ${node}: ${value}`, at_ms);
	else tell("bad", `${fence} changes`, "were too many for the node to tell", at_ms);
	if (what !== "dropped") noteChange(change);
	else noteGap(at_ms);
}

const REFUSES = /^the node (refuses: )/;

/** Says what the node does, without its name: it does not answer, or it answers and refuses. */
export function goneWords(why: string): string {
	if (why === "the node does not answer") return "does not answer";
	return REFUSES.test(why) ? why.replace(REFUSES, "$1") : `does not answer: ${why}`;
}

function onGone(why: string): void {
	const was = link.value.state;
	link.value = { state: "gone", why };
	if (was !== "gone" && latest.value !== null) announce("bad", latest.value.status.node, goneWords(why));
}

function disconnect(): void {
	clearTimeout(again);
	stream?.close();
	stream = null;
}

function connect(): void {
	disconnect();
	const begun = new EventSource("api/events");
	const on = <T>(name: string, then: (data: T) => void) => begun.addEventListener(name, (event) => then(JSON.parse((event as MessageEvent<string>).data) as T));
	stream = begun;
	on<Sample>("status", onStatus);
	on<{ why: string }>("gone", ({ why }) => onGone(why));
	on<{ events: Change[]; more: number }>("changes", ({ events, more }) => {
		for (const change of events) onChange(change);
		if (more === 0) return;
		tell("grant", `${more} more`, "grants and releases");
		noteGap(now());
	});
	on<{ events: number }>("skipped", ({ events }) => {
		tell("bad", "this page", `was too slow: ${events} events were left out`);
		noteGap(now());
	});
	begun.onopen = () => (opened = true);
	begun.onerror = () => {
		link.value = { state: "lost", why: "baton web does not answer" };
		// The browser tries again by itself, unless the answer was an error.
		if (begun.readyState === EventSource.CLOSED) again = window.setTimeout(connect, AGAIN_MS);
	};
}

async function askSession(): Promise<void> {
	const response = await fetch("api/session").catch(() => null);
	if (response?.ok) session.value = (await response.json()) as NonNullable<typeof session.value>;
}

/** Takes a lock from its holder. Returns the outcome as a sentence. */
export async function breakLock(name: string, fence: number): Promise<string> {
	const response = await fetch("api/break", { method: "POST", headers: { "Content-Type": "application/json", "Baton-Control": "1" }, body: JSON.stringify({ name, fence }) }).catch(() => null);
	if (response === null) return "baton web does not answer: it is not known whether the lock was broken";
	const answer = (await response.json().catch(() => ({}))) as { broken?: boolean; error?: string };
	if (!response.ok) return answer.error ?? `baton web answers ${response.status}`;
	return answer.broken ? `${name} was taken from its holder` : `${name} is not held with fence ${fence} any more: nothing was done`;
}

/** Begins to listen. A page that baton web serves asks it for a cluster; other pages ask nobody.
 * The stream is open only while the page is visible. */
export function begin(): void {
	here.value = document.querySelector('meta[name="baton-web"]') !== null;
	if (!here.value) return;
	const look = () => (visible.value = document.visibilityState === "visible");
	document.addEventListener("visibilitychange", look);
	look();
	addEventListener("pagehide", disconnect);
	addEventListener("pageshow", (event) => event.persisted && stream === null && visible.value && view.value === "cluster" && connect());
	void askSession();
	// A node may be started later. A page that shows the cluster learns of it from its stream; others must ask.
	effect(() => {
		if (session.value === null || session.value.node || !visible.value || view.value === "cluster") return;
		const timer = setTimeout(() => void askSession(), ASK_MS);
		return () => clearTimeout(timer);
	});
	effect(() => {
		if (view.value === "cluster" && visible.value) connect();
		else disconnect();
	});
}
