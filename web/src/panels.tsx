// What there is to read beside the stage.

import { useMemo } from "preact/hooks";
import { passagesOf } from "./code";
import { boundOf } from "./cost";
import type { Role } from "./module";
import { nodeOf } from "./stage";
import { hovered, map, moment, requests, run, source, step } from "./state";
import { propertyWords, showVariable, tell } from "./words";

function statesBefore(): Record<string, unknown>[] {
	const current = run.value!;
	const found = initial();
	for (const s of current.steps.slice(0, Math.max(0, step.value - 1))) for (const line of s.rest) if (line.ev === "state") found[line.node! - 1] = line.vars!;
	return found;
}

// The variables at the start are in no line of the trace: the module tells them.
let kept: { run: unknown; states: Record<string, unknown>[] } = { run: null, states: [] };
function initial(): Record<string, unknown>[] {
	if (kept.run !== run.value) kept = { run: run.value, states: run.value!.initialVariables() };
	return [...kept.states];
}

export function Told() {
	const current = run.value!;
	const at = step.value;
	const now = moment.value!;
	const before = useMemo(statesBefore, [current, at]);
	if (at === 0)
		return (
			<section class="card" id="told" aria-labelledby="told-title">
				<h2 id="told-title">What just happened</h2>
				<p class="what">
					Nothing yet. {current.start.holder !== null ? <>The token is at <b>{current.start.holder}</b>.</> : null}
				</p>
			</section>
		);
	const happened = current.steps[at - 1];
	const node = happened.head.node ?? happened.head.to;
	const told = tell(current, happened, node === undefined ? undefined : before[node - 1], node === undefined ? undefined : now.states[node - 1].vars);
	return (
		<section class="card" id="told" aria-labelledby="told-title">
			<h2 id="told-title">
				What just happened <span>t = {happened.t}</span>
			</h2>
			<p class="what">
				<b>{told.who}</b> {told.what} {happened.act ? <span class="tag">by hand</span> : null}
			</p>
			<ul class="then">
				{told.then.map((one, i) => (
					<li key={i} class={one.kind === "ask" ? "a" : one.kind === "right" ? "r" : ""}>
						{one.kind === "plain" ? <code>{one.text}</code> : one.text}
					</li>
				))}
			</ul>
		</section>
	);
}

/** Who waits for an answer of whom, when nothing can move any more. */
export function stuckOf(): [number, number][] {
	const current = run.value!;
	const now = moment.value!;
	if (step.value !== current.steps.length || current.cut) return [];
	if (current.flights.some((f) => f.goneStep > step.value)) return [];
	const roles = new Map<string, Role>(current.algorithm.messages.map((m) => [m.name, m.role]));
	const arrows: [number, number][] = [];
	now.states.forEach((state, i) => {
		if (state.phase !== "waiting" && state.phase !== "leaving") return;
		const answers = new Map<number, number>();
		for (const flight of current.flights) {
			if (flight.from === i + 1 && roles.get(flight.type) === "asks" && flight.sentStep >= lastRequest(i + 1)) answers.set(flight.to, (answers.get(flight.to) ?? 0) + 1);
			if (flight.to === i + 1 && roles.get(flight.type) === "permits" && flight.sentStep >= lastRequest(i + 1)) answers.delete(flight.from);
		}
		for (const other of answers.keys()) {
			// The one who has the permission, if the other says so; else the other itself.
			const holder = current.algorithm.variables.filter((v) => v.kind === "node").map((v) => nodeOf(now.states[other - 1].vars[v.name])).find((n) => n !== 0 && n !== i + 1 && now.states[n - 1]?.phase === "waiting");
			arrows.push([i + 1, holder ?? other]);
		}
	});
	return arrows.filter(([a, b], i) => a !== b && arrows.findIndex(([c, d]) => c === a && d === b) === i);
}

function lastRequest(node: number): number {
	const current = run.value!;
	for (let i = step.value; i > 0; i--) if (current.steps[i - 1].head.ev === "request" && current.steps[i - 1].head.node === node) return i;
	return 0;
}

export function Properties() {
	const current = run.value!;
	const now = moment.value!;
	const broken = now.properties.filter((p) => !p.holds);
	const last = step.value === current.steps.length && !current.cut;
	const waits = last && now.states.some((s) => s.phase === "waiting" || s.phase === "leaving");
	const stuck = last && waits && !current.flights.some((f) => f.goneStep > step.value) && (current.status.violation?.startsWith("stuck") || "scenario" in current.source);
	const arrows = stuck ? stuckOf() : [];
	const verdict = last && "scenario" in current.source ? current.status : null;
	return (
		<section class="card" id="properties" aria-labelledby="properties-title">
			<h2 id="properties-title">What must hold</h2>
			<ul class="properties">
				{now.properties.map((p) => (
					<li key={p.name} class={p.holds ? "" : "broken"}>
						{p.holds ? "✓" : "✗"} {propertyWords(p.name)}
					</li>
				))}
			</ul>
			{broken.length > 0 ? <p class="alarm" role="alert">Broken here: {broken.map((p) => propertyWords(p.name)).join(", ")}.</p> : null}
			{stuck ? (
				<p class="alarm" role="alert">
					Nothing can move any more, and somebody waits. {arrows.map(([a, b]) => `${a} waits for ${b}`).join("; ")}
					{arrows.length > 0 ? "." : ""}
				</p>
			) : last && current.status.violation ? (
				<p class="alarm" role="alert">{current.status.violation}</p>
			) : null}
			{verdict !== null ? (
				verdict.verdict === "passed" ? (
					<p class="note">The scenario passed; {verdict.expectations} expectations hold.</p>
				) : (
					<p class="alarm" role="alert" id="verdict">
						Line {verdict.failed}: {verdict.expected !== null && verdict.expected !== undefined ? `expected ${verdict.expected}, found ${verdict.found}` : verdict.found}
					</p>
				)
			) : null}
		</section>
	);
}

export function Code() {
	const now = moment.value!;
	if (source.value === null || map.value === null || step.value === 0)
		return (
			<section class="card" id="code" aria-labelledby="code-title">
				<h2 id="code-title">
					The lines that ran <span>{run.value!.algorithm.rules}</span>
				</h2>
				<p class="note">{step.value === 0 ? "Nothing has run yet." : "…"}</p>
			</section>
		);
	const passages = passagesOf(now.ran, map.value, source.value);
	return (
		<section class="card" id="code" aria-labelledby="code-title">
			<h2 id="code-title">
				The lines that ran <span>{passages[0]?.file ?? ""}</span>
			</h2>
			{passages.length === 0 ? <p class="note">None: this was no step of the algorithm.</p> : null}
			{passages.map((passage) => (
				<div class="codebox" key={passage.name} tabindex={0} role="group" aria-label={passage.name}>
					{passage.lines.map((line) => (
						<div key={line.number} class={line.ran === true ? "ran" : line.ran === false ? "not" : ""}>
							<i>{line.number}</i>
							<span>{line.text.replaceAll("\t", "  ")}</span>
						</div>
					))}
				</div>
			))}
		</section>
	);
}

export function Table() {
	const current = run.value!;
	const now = moment.value!;
	const at = step.value;
	const before = useMemo(statesBefore, [current, at]);
	const head = at === 0 ? null : current.steps[at - 1].head;
	const { variables } = current.algorithm;
	return (
		<section class="card" id="vars" aria-labelledby="vars-title">
			<h2 id="vars-title">The variables, by the paper's names</h2>
			<div class="scroll" tabindex={0} role="group" aria-label="variables">
				<table>
					<thead>
						<tr>
							<th scope="col">node</th>
							<th scope="col">is</th>
							{variables.map((v) => (
								<th scope="col" key={v.name}>{v.name}</th>
							))}
						</tr>
					</thead>
					<tbody>
						{now.states.map((state, i) => (
							<tr key={i} class={head !== null && (head.node ?? head.to) === i + 1 ? "now" : ""}>
								<th scope="row">
									<span class={`chip ${state.phase}`}>{current.start.arrangement?.[i] ?? i + 1}</span>
								</th>
								<td>{state.dead ? "dead" : state.phase === "in" ? "inside" : state.phase}</td>
								{variables.map((v) => {
									const text = v.name in state.vars ? showVariable(current.algorithm, v.name, state.vars[v.name]) : "";
									const changed = at > 0 && head !== null && (head.node ?? head.to) === i + 1 && JSON.stringify(before[i]?.[v.name]) !== JSON.stringify(state.vars[v.name]);
									return (
										<td key={v.name} class={(changed ? "new" : "") + (text === "–" ? " nil" : "")}>
											{text}
										</td>
									);
								})}
							</tr>
						))}
					</tbody>
				</table>
			</div>
		</section>
	);
}

const COLUMNS_MAX = 44;

export function Cost() {
	const current = run.value!;
	const at = step.value;
	if (current.algorithm.kind === "election") {
		const sent = current.flights.filter((f) => f.sentStep <= at).length;
		return (
			<section class="card" id="cost" aria-labelledby="cost-title">
				<h2 id="cost-title">
					Messages <span>the paper: {current.algorithm.claim}</span>
				</h2>
				<p class="note">
					<b>{sent}</b> so far
				</p>
			</section>
		);
	}
	const bound = boundOf(current);
	const roles = new Map<string, Role>(current.algorithm.messages.map((m) => [m.name, m.role]));
	const shown = requests.value.filter((r) => r.step <= at).slice(-COLUMNS_MAX);
	const most = Math.max(bound ?? 0, 3, ...shown.map((r) => r.messages.filter((f) => f.sentStep <= at).length));
	const dot = Math.min(10, 80 / most);
	const height = most * dot + 8;
	const sent = current.flights.filter((f) => f.sentStep <= at && f.sentStep > 0).length;
	const entered = current.entries.filter((e) => e.step <= at).length;
	return (
		<section class="card" id="cost" aria-labelledby="cost-title">
			<h2 id="cost-title">
				Messages for each entry{" "}
				<span>
					the paper: {current.algorithm.claim}
					{bound !== null ? `, at most ${bound} here` : ""}
				</span>
			</h2>
			<svg viewBox={`0 0 880 ${height + 26}`} role="img" aria-label={`${sent} messages, ${entered} entries so far`}>
				{bound !== null ? <line class="bound" x1="0" x2="880" y1={height - bound * dot} y2={height - bound * dot} /> : null}
				{shown.map((request, i) => (
					<g key={request.step} transform={`translate(${14 + i * Math.min(38, 850 / Math.max(1, shown.length))} 0)`}>
						{request.messages
							.filter((f) => f.sentStep <= at)
							.map((flight, k) => (
								<circle key={flight.msg} class={`unit ${roles.get(flight.type)!.replace(" ", "-")}${flight.token ? " t" : ""}${hovered.value === flight.msg ? " lit" : ""}`} cx="0" cy={height - (k + 0.5) * dot} r={dot * 0.36} />
							))}
						<text class={"entry" + (request.entered <= at ? " in" : "")} y={height + 16}>
							{request.node}
						</text>
					</g>
				))}
			</svg>
			<p class="note right">
				<b>{sent}</b> messages, <b>{entered}</b> {entered === 1 ? "entry" : "entries"} so far
			</p>
		</section>
	);
}
