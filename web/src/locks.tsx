// The locks: who holds each and who waits, filtered and in pages; and the dialog that takes one from its holder.
//
// Free locks are not shown: a node does not list them. The stream has up to some hundreds. If there are more, or if they are filtered,
// a page of them is asked for.

import { effect, signal } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import { count, many, span } from "./amounts";
import { breakLock, isWhole, latest, link, session, type Client, type Lock, type Status } from "./feed";
import { narrow, said } from "./state";

const PAGE = 25;
const WAITERS_SHOWN = 6;
const ASK_MS = 2000;

export const chosen = signal<string | null>(null); // the lock whose trail is shown; null: the busiest
const filter = signal("");
const page = signal(0);
/** A page of the table, and how many locks there are in all; `more`: there may be more than that. */
interface Listed {
	locks: Lock[];
	total: number;
	more: boolean;
	wrong: string | null;
}

/** the answer to the last question, and that question */
const answer = signal<({ question: string } & Listed) | null>(null);

/** Returns what to ask for, or null if the stream has all locks. A text without the special letters
 * of a pattern may be anywhere in a name. */
function questionOf(): string | null {
	const sample = latest.value;
	if (sample === null || (filter.value === "" && isWhole(sample))) return null;
	const text = filter.value;
	const pattern = text === "" ? "*" : /[*?[\\]/.test(text) ? text : `*${text}*`;
	return `api/status?pattern=${encodeURIComponent(pattern)}&count=${PAGE}&skip=${page.value * PAGE}`;
}

let asking = false;
let asked = 0;
async function ask(question: string): Promise<void> {
	asking = true;
	asked = performance.now();
	const response = await fetch(question).catch(() => null);
	const data = (await response?.json().catch(() => null)) as (Status & { locks_total: number; locks_more?: boolean; error?: string }) | null;
	if (response?.ok && data !== null) answer.value = { question, locks: data.locks, total: data.locks_total, more: data.locks_more === true, wrong: null };
	else answer.value = { question, locks: [], total: 0, more: false, wrong: data?.error ?? "baton web does not answer" };
	asking = false;
	keepAsking();
}

/** Asks again if the question is new or the answer is old. It is called with every status. */
function keepAsking(): void {
	const question = questionOf();
	if (asking || question === null || link.peek().state !== "live") return;
	if (answer.peek()?.question !== question || performance.now() - asked > ASK_MS) void ask(question);
}

/** Returns this page of the table; null if it is not known yet. */
function shown(): Listed | null {
	if (questionOf() !== null) return answer.value;
	const all = latest.value!.status.locks;
	return { locks: all.slice(page.value * PAGE, (page.value + 1) * PAGE), total: all.length, more: false, wrong: null };
}

function clientWords(client: Client): string {
	return `${client.pid === null ? "" : `process ${client.pid}: `}${client.command}, for ${span(client.since_ms)}`;
}

/** Returns the command without its folder, which says little. For `baton run LOCK -- COMMAND`, returns COMMAND in this form. */
function shortCommand(command: string, lock: string): string {
	const runs = /^(\S*\/)?baton run /.test(command) ? command.indexOf(` ${lock} `) : -1;
	const said = runs < 0 ? command : command.slice(runs + lock.length + 2).replace(/^-- /, "");
	return said.replace(/^\S*\/(?=\S)/, "");
}

function Waiters(props: { lock: Lock }) {
	const { waiters, waiters_total, waiters_more, order } = props.lock;
	if (waiters.length === 0) return <span class="nil">–</span>;
	const rest = (waiters_total ?? waiters.length) - Math.min(waiters.length, WAITERS_SHOWN);
	return (
		<ol class="waiters" aria-label={order === "served" ? "Waiting, in order" : "Waiting, by node"}>
			{waiters.slice(0, WAITERS_SHOWN).map((w, i) => (
				<li key={i} class="wait-chip" title={clientWords(w)}>
					{w.node}
				</li>
			))}
			{rest > 0 ? <li>+{count(rest)}{waiters_more ? " or more" : ""}</li> : null}
		</ol>
	);
}

/** True if the name has an escaped byte, or looks as if it had one: then the page cannot know which
 * lock is meant. */
function isAmbiguous(name: string): boolean {
	return /\\x(00|[89a-f][0-9a-f])/.test(name);
}

/** Returns the head of the column. For algorithms without a common queue, the order of waiters is
 * known only within each node. */
function waitersHead(locks: Lock[]): string {
	const orders = new Set(locks.filter((l) => l.waiters.length > 0).map((l) => l.order));
	if (!orders.has("by node")) return "waiting, in order";
	return orders.size === 1 ? "waiting, by node" : "waiting";
}

function Row(props: { lock: Lock; current: boolean; toBreak(lock: Lock): void }) {
	const { name, fence, holder } = props.lock;
	const small = narrow.value;
	const breaks =
		holder === null || !session.value?.control || isAmbiguous(name) ? null : (
			<button class="quiet break" aria-label={`Break ${name}`} onClick={() => props.toBreak(props.lock)}>
				Break…
			</button>
		);
	return (
		<tr class={props.current ? "now" : undefined} data-lock={name}>
			<th scope="row">
				<button class="name" aria-pressed={props.current} onClick={() => choose(name)} title={name}>
					{name}
				</button>
				{small && fence !== null ? <small>{fence}</small> : null}
			</th>
			<td class="holder">
				{holder === null ? (
					<span class="nil">–</span>
				) : (
					<>
						<span class={holder.losing ? "hold-chip losing" : "hold-chip"}>{holder.node}</span>{" "}
						<span class="command" title={clientWords(holder)}>
							{shortCommand(holder.command, name)}
						</span>
						{small ? <small>{span(holder.since_ms)}</small> : null}
						{small ? breaks : null}
					</>
				)}
			</td>
			{small ? null : <td>{holder?.pid ?? <span class="nil">–</span>}</td>}
			{small ? null : <td>{holder === null ? <span class="nil">–</span> : span(holder.since_ms)}</td>}
			<td>
				<Waiters lock={props.lock} />
			</td>
			{small ? null : <td class="fence">{fence ?? <span class="nil">–</span>}</td>}
			{session.value?.control && !small ? <td class="right">{breaks}</td> : null}
		</tr>
	);
}

/** Shows where this lock has been. The address remembers it. */
export function choose(name: string): void {
	chosen.value = name;
	history.replaceState(null, "", clusterHash());
}

export function clusterHash(): string {
	return chosen.value === null ? "#cluster" : `#cluster?lock=${encodeURIComponent(chosen.value)}`;
}

/** Reads what clusterHash wrote. */
export function readCluster(hash: string): void {
	const match = /^#cluster\?lock=(.+)$/.exec(hash);
	try {
		chosen.value = match === null ? null : decodeURIComponent(match[1]);
	} catch {
		chosen.value = null;
	}
}

/** The lock that the dialog asks about. It keeps the holder from the moment at which the dialog was
 * opened, because the user means that holder. */
const breaking = signal<Lock | null>(null);

function BreakDialog() {
	const dialog = useRef<HTMLDialogElement>(null);
	const lock = breaking.value;
	useEffect(() => {
		if (lock !== null) dialog.current!.showModal();
	}, [lock]);
	const over = () => {
		breaking.value = null;
	};
	const take = async () => {
		const { name, fence } = lock!;
		dialog.current!.close();
		outcome.value = said.value = await breakLock(name, fence!);
	};
	const holder = lock?.holder;
	return (
		<dialog id="break" ref={dialog} aria-labelledby="break-title" onClose={over}>
			{lock === null || holder === null || holder === undefined ? null : (
				<>
					<h2 id="break-title">Take {lock.name} from {holder.node}?</h2>
					<dl>
						<dt>holder</dt>
						<dd>
							{holder.node}
							{holder.pid === null ? "" : `, process ${holder.pid}`}
							{holder.uid === null ? "" : ` of user ${holder.uid}`}
						</dd>
						<dt>command</dt>
						<dd>
							<code>{holder.command || "?"}</code>
						</dd>
						<dt>since</dt>
						<dd>{span(holder.since_ms)}</dd>
						<dt>fence</dt>
						<dd>{lock.fence}</dd>
						<dt>next</dt>
						<dd>{lock.waiters.length === 0 ? "nobody waits" : lock.order === "served" ? `${lock.waiters[0].node}: ${lock.waiters[0].command}` : many(lock.waiters_total ?? lock.waiters.length, "client")}</dd>
					</dl>
					<p class="note">The holder is told that it has lost the lock. If it goes on nevertheless, a resource that does not check the fence does not notice.</p>
					<form method="dialog" class="ways-in">
						<button class="quiet" autofocus>
							Leave it
						</button>
						<button type="button" class="quiet danger" id="break-it" onClick={() => void take()}>
							Break it
						</button>
					</form>
				</>
			)}
		</dialog>
	);
}

/** The outcome of the last attempt to break a lock. */
const outcome = signal<string | null>(null);

/** Says how many there are: "450", "10,000 or more". */
function total({ total, more }: { total: number; more: boolean }): string {
	return `${count(total)}${more ? " or more" : ""}`;
}

export function Locks(props: { current: string | null }) {
	useEffect(() => effect(keepAsking), []);
	const sample = latest.value!;
	const list = shown();
	const pages = Math.ceil((list?.total ?? 0) / PAGE);
	useEffect(() => {
		if (list !== null && list.wrong === null && page.value > 0 && page.value >= pages) page.value = Math.max(0, pages - 1);
	});
	const small = narrow.value;
	const control = session.value?.control === true && !small;
	const first = page.value * PAGE;
	// An answer knows more than the stream, which has up to some hundreds.
	const all = filter.value === "" && list !== null && list.wrong === null ? list : { total: sample.locks_total, more: sample.locks_more === true };
	return (
		<section class="card" id="locks" aria-labelledby="locks-title">
			<h2 id="locks-title">
				Locks <span>{sample.locks_total === 0 ? "none is held or waited for" : `${total(all)} held or waited for`}</span>
			</h2>
			<form class="tools" role="search" onSubmit={(event) => event.preventDefault()}>
				<input
					type="search"
					id="filter"
					placeholder="Filter: part of a name, or a pattern such as db/*"
					aria-label="Filter by name"
					value={filter.value}
					maxLength={255}
					onInput={(event) => {
						filter.value = event.currentTarget.value;
						page.value = 0;
					}}
				/>
			</form>
			{outcome.value === null ? null : (
				<p class="note" id="outcome">
					{outcome.value}.
				</p>
			)}
			{list?.wrong != null ? <p class="alarm">{list.wrong}</p> : null}
			{list === null || list.locks.length === 0 ? (
				<p class="note" id="no-locks">{list === null ? "…" : filter.value !== "" ? "No such lock." : "Nobody holds or wants a lock."}</p>
			) : (
				<div class="scroll-x">
					<table>
						<thead>
							<tr>
								<th scope="col">lock</th>
								<th scope="col">holder</th>
								{small ? null : <th scope="col">process</th>}
								{small ? null : <th scope="col">since</th>}
								<th scope="col">{waitersHead(list.locks)}</th>
								{small ? null : <th scope="col">fence</th>}
								{control ? (
									<th scope="col">
										<span class="unseen">break</span>
									</th>
								) : null}
							</tr>
						</thead>
						<tbody>
							{list.locks.map((lock) => (
								<Row key={lock.name} lock={lock} current={lock.name === props.current} toBreak={(one) => (breaking.value = one)} />
							))}
						</tbody>
					</table>
				</div>
			)}
			{pages > 1 ? (
				<div class="pages">
					<button class="quiet" disabled={page.value === 0} onClick={() => page.value--}>
						Before
					</button>
					<span class="note">
						{first + 1} to {Math.min(first + PAGE, list!.total)} of {total(list!)}
					</span>
					<button class="quiet" disabled={page.value + 1 >= pages} onClick={() => page.value++}>
						Next
					</button>
				</div>
			) : null}
			<BreakDialog />
		</section>
	);
}
