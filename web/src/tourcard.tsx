// The card of a tour: the words of a frame, its question, and the buttons to other frames.

import { answer, answered, frame, goFrame, question, questionKey, returnToRun, run, tour } from "./state";

/** Shows words; those between backquotes are code. */
function Words(props: { text: string }) {
	return <>{props.text.split("`").map((part, i) => (i % 2 === 1 ? <code key={i}>{part}</code> : part))}</>;
}

function Ask(props: { asked: NonNullable<ReturnType<typeof question>> }) {
	const given = answered.value[questionKey()];
	return (
		<div class="ask">
			<p>
				<Words text={props.asked.text} />
			</p>
			{props.asked.answers.map((one, i) => (
				<button key={one.text} class={given === i ? "no" : ""} onClick={() => answer(i)}>
					<Words text={one.text} />
				</button>
			))}
			<p class="note" role="status">
				{given === undefined ? "" : "No. Look again: the picture shows all that you need."}
			</p>
		</div>
	);
}

/** Says how many questions of this tour were answered correctly. */
function countRight(): string {
	const { name, frames } = tour.value!;
	const asked = frames.flatMap((f, i) => (f.question === null ? [] : [{ question: f.question, given: answered.value[`${name} ${i}`] }]));
	const right = asked.filter(({ question, given }) => given !== undefined && question.answers[given].right).length;
	return asked.length === 0 ? "" : ` · ${right} of ${asked.length} answered`;
}

const LATE = 9999; // a step that is later than the end of any tour

export function TourCard() {
	const current = tour.value;
	if (current === null) return null;
	const index = frame.value;
	const shown = current.frames[index];
	const asked = question();
	const printed = String(run.value!.start.params.text ?? "");
	const beside = `#compare?tour=${current.name}&left.param=text=${printed}&right.param=text=mended`;
	const away = run.value!.acts.length > 0;
	return (
		<section class="card tour" id="tour" aria-labelledby="tour-title">
			<p class="of">
				<span>Tour</span>
				<span>
					{index + 1} of {current.frames.length}
					{countRight()}
				</span>
			</p>
			<h2 id="tour-title">{shown.title}</h2>
			{asked === null ? shown.words.map((text, i) => <p key={i}><Words text={text} /></p>) : <Ask asked={asked} />}
			{!printed.startsWith("printed") ? null : index < current.frames.length - 1 ? (
				<p>
					<a href={beside}>Printed and mended, side by side</a>
				</p>
			) : (
				<p>
					What you see here is still the printed text. <a href={`${beside}&t=${LATE}`}>See how the mended one ends, beside it.</a>
				</p>
			)}
			{away ? (
				<p class="alarm" role="status">
					What you did by hand is not in the tour: from that step on, these words do not describe the run. <button id="tour-return" onClick={returnToRun}>Return to the tour</button>
				</p>
			) : null}
			<div class="way">
				<span class="dots" aria-hidden="true">
					{current.frames.map((f, i) => (
						<i key={f.title} class={i === index ? "here" : ""} />
					))}
				</span>
				<button id="tour-back" disabled={index === 0} onClick={() => goFrame(index - 1)}>
					Back
				</button>
				<button id="tour-next" disabled={index === current.frames.length - 1 || asked !== null} onClick={() => goFrame(index + 1)}>
					Next
				</button>
			</div>
		</section>
	);
}
