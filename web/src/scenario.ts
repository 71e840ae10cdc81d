// Writes a run as a scenario, which `baton replay` can replay.

import type { Run } from "./run";

export function scenarioOf(run: Run, note: string, upTo = run.steps.length): string {
	const { start } = run;
	const lines = [`# ${note}`, `algorithm ${start.algorithm}`];
	if (/^(random|file):/.test(start.topology)) lines.push("topology edges:" + start.edges.map(([a, b]) => `${a}-${b}`).join(","));
	else lines.push(`topology ${start.topology}`);
	lines.push(`nodes ${start.nodes}`);
	if (start.holder !== null) lines.push(`holder ${start.holder}`);
	if (start.arrangement !== undefined) lines.push(`arrangement ${start.arrangement.join(",")}`);
	const crash = "words" in run.source ? /^crash=(.*)$/m.exec(run.source.words)?.[1] : /^crash (.*)$/m.exec(run.source.scenario.split(/^(?:initiate|deliver|run)/m)[0])?.[1];
	if (crash !== undefined) lines.push(`crash ${crash}`);
	for (const [name, value] of Object.entries(start.params)) lines.push(`param ${name}=${value}`);
	lines.push(start.fifo ? "fifo" : "reorder", "");
	const flying = run.flights.filter((f) => f.sentStep === 0);
	const call = (msg: number) => {
		const index = flying.findIndex((f) => f.msg === msg);
		const flight = flying[index];
		const rank = flying.slice(0, index + 1).filter((f) => f.from === flight.from && f.to === flight.to && f.type === flight.type).length;
		return `${flight.from} ${flight.to} ${flight.type}${rank > 1 ? ` #${rank}` : ""}`;
	};
	const name = (msg: number) => {
		const words = call(msg);
		flying.splice(flying.findIndex((f) => f.msg === msg), 1);
		return words;
	};
	const sent = new Map<number, typeof flying>();
	for (const flight of run.flights) if (flight.of === undefined) sent.set(flight.sentStep, [...(sent.get(flight.sentStep) ?? []), flight]);
	run.steps.slice(0, upTo).forEach(({ head }, i) => {
		switch (head.ev) {
			case "request":
			case "initiate":
				lines.push(`${head.ev} ${head.node}`);
				break;
			case "exit":
				lines.push(`release ${head.node}`);
				break;
			case "deliver":
				lines.push(`deliver ${name(head.msg!)}`);
				break;
			case "duplicate":
				lines.push(`duplicate ${call(run.flight(head.msg)!.of!)}`);
				flying.push(run.flight(head.msg)!);
				break;
			case "lose":
				lines.push(`drop ${name(head.msg!)}`);
				break;
			default:
				lines.push(`${head.ev} ${head.node}`);
		}
		flying.push(...(sent.get(i + 1) ?? []));
	});
	return lines.join("\n") + "\n";
}
