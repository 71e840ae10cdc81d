// The panels with text beside the stage.

import { passagesOf } from "./code";
import { boundOf, symbolsOf } from "./cost";
import type { Role } from "./module";
import { broken, grown, hovered, hoveredNode, map, moment, narrow, requests, run, source, told } from "./state";
import { stuckAt, stuckWords } from "./stuck";
import { LOOKS, propertyWords, showVariable, tell } from "./words";

export function Told() {
	const current = run.value!;
	const at = told.value;
	const now = moment.value!;
	if (at === 0)
		return (
			<section class="card" id="told" aria-labelledby="told-title">
				<h2 id="told-title">What just happened</h2>
				<p class="what">
					Nothing yet. {current.start.holder !== null ? <>The token is at <b>{current.name(current.start.holder)}</b>.</> : null}
				</p>
			</section>
		);
	const happened = current.steps[at - 1];
	const node = happened.head.node ?? happened.head.to;
	const words = tell(current, happened, node === undefined ? undefined : now.before[node - 1], node === undefined ? undefined : now.states[node - 1].vars);
	return (
		<section class="card" id="told" aria-labelledby="told-title">
			<h2 id="told-title">
				What just happened <span>t = {Number(happened.t.toFixed(3))}</span>
			</h2>
			<p class="what">
				<b>{words.who}</b> {words.what} {happened.act ? <span class="tag">by hand</span> : null}
			</p>
			<ul class="then">
				{words.then.map((one, i) => (
					<li key={i} class={one.kind === "ask" ? "a" : one.kind === "right" ? "r" : ""}>
						{one.kind === "plain" ? <code>{one.text}</code> : one.text}
					</li>
				))}
			</ul>
		</section>
	);
}

export function Properties() {
	const current = run.value!;
	const now = moment.value!;
	const wrong = now.properties.filter((p) => !p.holds);
	const last = told.value === current.steps.length && !current.cut && grown.value >= 0;
	const stuck = stuckAt(current, told.value, now.states);
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
			{wrong.length > 0 ? (
				<p class="alarm" role="alert">
					<b>Broken{broken.value === told.value ? " by this step" : ""}:</b> {wrong.map((p) => propertyWords(p.name)).join(", ")}.
				</p>
			) : null}
			{stuck !== null ? (
				<p class="alarm" role="alert">
					<b>Nothing can move any more</b>, and somebody waits. {stuckWords(current, stuck, told.value)}
				</p>
			) : now.status.violation ? (
				<p class="alarm" role="alert">{now.status.violation}</p>
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

/** Marks the variables of the paper in a line of C. */
function emphasize(text: string, names: Set<string>) {
	return text.split(/\b/).map((word, i) => (names.has(word) ? <em key={i}>{word}</em> : word));
}

export function Code() {
	const names = new Set(run.value!.algorithm.variables.map((v) => v.name));
	const now = moment.value!;
	if (source.value === null || map.value === null || told.value === 0)
		return (
			<section class="card" id="code" aria-labelledby="code-title">
				<h2 id="code-title">
					The lines that ran <span>{run.value!.algorithm.rules}</span>
				</h2>
				<p class="note">{told.value === 0 ? "Nothing has run yet." : "…"}</p>
			</section>
		);
	const passages = passagesOf(now.ran, map.value, source.value);
	return (
		<section class="card" id="code" aria-labelledby="code-title">
			<h2 id="code-title">
				{passages.length === 0 ? "The lines that ran" : `${passages[0].file}, ${passages[0].name}`} <span>{passages.length === 0 ? "" : "the lines that ran"}</span>
			</h2>
			{passages.length === 0 ? <p class="note">None: this was no step of the algorithm.</p> : null}
			{passages.map((passage) => (
				<div class="codebox" key={passage.name} tabindex={0} role="group" aria-label={passage.name}>
					{passage === passages[0] ? null : <b>{passage.name}</b>}
					{passage.lines.map((line) => (
						<div key={line.number} class={line.ran === true ? "ran" : line.ran === false ? "not" : ""}>
							<i>{line.number}</i>
							<span>{emphasize(line.text.replaceAll("\t", "  "), names)}</span>
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
	const at = told.value;
	const { before } = now;
	const looks = now.states.map((state, i) => current.look(i + 1, state, at));
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
							<tr key={i} class={(head !== null && (head.node ?? head.to) === i + 1 ? "now" : "") + (hoveredNode.value === i + 1 ? " lit" : "")} onPointerEnter={() => (hoveredNode.value = i + 1)} onPointerLeave={() => (hoveredNode.value = null)}>
								<th scope="row">
									<span class={`chip ${looks[i]}`}>{current.name(i + 1)}</span>
								</th>
								<td class={looks[i] === "idle" ? "nil" : ""}>{LOOKS[looks[i]]}</td>
								{variables.map((v) => {
									const text = v.name in state.vars ? showVariable(current, v.name, state.vars[v.name]) : "";
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
	const at = grown.value >= 0 ? told.value : 0;
	if (current.algorithm.kind === "election") {
		const flown = current.flights.filter((f) => f.sentStep <= at);
		const kinds = current.algorithm.messages.map((m) => ({ ...m, count: flown.filter((f) => f.type === m.name).length })).filter((m) => m.count > 0);
		return (
			<section class="card" id="cost" aria-labelledby="cost-title">
				<h2 id="cost-title">
					Messages{" "}
					<span>
						the paper: {current.algorithm.claim} ({symbolsOf(current.algorithm.claim)})
					</span>
				</h2>
				<ul class="kinds">
					{kinds.map((m) => (
						<li key={m.name}>
							<span>{m.name}</span>
							<svg viewBox={`0 0 100 2`} preserveAspectRatio="none" aria-hidden="true">
								<rect class={`unit ${m.role.replace(" ", "-")}`} width={(m.count / current.flights.length) * 100} height="2" />
							</svg>
							<b>{m.count}</b>
						</li>
					))}
				</ul>
				<p class="note right">
					<b>{flown.length}</b> {flown.length === 1 ? "message" : "messages"} so far
				</p>
			</section>
		);
	}
	const bound = boundOf(current);
	const symbols = symbolsOf(current.algorithm.claim);
	const roles = new Map<string, Role>(current.algorithm.messages.map((m) => [m.name, m.role]));
	const shown = requests.value.filter((r) => r.step <= at).slice(narrow.value ? -COLUMNS_MAX / 2 : -COLUMNS_MAX);
	const most = Math.max(bound ?? 0, 3, ...shown.map((r) => r.messages.filter((f) => f.sentStep <= at).length));
	const dot = Math.min(10, 80 / most);
	const width = narrow.value ? 400 : 880;
	const pitchOf = (count: number) => Math.min(38, (width - 30) / Math.max(1, count));
	// A dot for each message; where they would be too small to see, a part of a bar.
	const crowded = dot < 4;
	const [half, tall] = crowded ? [Math.min(5, pitchOf(shown.length) * 0.3), 0.5] : [dot * 0.36, 0.36];
	const pitch = pitchOf(shown.length);
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
					{symbols === "" ? "" : ` (${symbols})`}
				</span>
			</h2>
			<svg viewBox={`0 0 ${width} ${height + 28}`} role="img" aria-label={`${sent} messages, ${entered} entries so far`}>
				{bound !== null ? <line class="bound" x1="0" x2={width} y1={height - bound * dot} y2={height - bound * dot} /> : null}
				{shown.map((request, i) => (
					<g key={request.step} transform={`translate(${14 + i * pitch} 0)`}>
						{request.messages
							.filter((f) => f.sentStep <= at)
							.map((flight, k) => (
								<rect key={flight.msg} class={`unit ${roles.get(flight.type)!.replace(" ", "-")}${flight.token ? " t" : ""}${hovered.value === flight.msg ? " lit" : ""}`} x={-half} y={height - (k + 0.5) * dot - dot * tall} width={half * 2} height={dot * tall * 2} rx={crowded ? 0 : half} />
							))}
						<g class={"rowchip " + (request.entered > at ? "waiting" : request.left > at ? "in" : "")} transform={`translate(0 ${height + 14})`}>
							{pitch > 20 ? <circle r="9" /> : null}
							<text class="rowno">{current.name(request.node)}</text>
						</g>
					</g>
				))}
			</svg>
			<p class="note right">
				<b>{sent}</b> {sent === 1 ? "message" : "messages"}, <b>{entered}</b> {entered === 1 ? "entry" : "entries"} so far
			</p>
		</section>
	);
}
