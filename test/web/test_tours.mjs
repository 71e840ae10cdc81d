// The tours: each runs to its end, each of its expectations can fail, the figures in its words are among those expectations, and what
// is shown side by side differs only where it should.
import assert from "node:assert/strict";
import { readFileSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { folder, instance, native, root, runTests, test } from "./lib.mjs";

const names = readdirSync(join(root, "web/tours")).filter((n) => n.endsWith(".scn")).map((n) => n.slice(0, -4));
const texts = new Map(names.map((name) => [name, readFileSync(join(root, "web/tours", name + ".scn"), "utf8")]));

/** Returns what becomes of a scenario: "passed", "failed", or "bad" if it cannot even begin. */
function verdict(text) {
	const stage = instance();
	stage.put(text);
	if (stage.exports.scenario(0, Buffer.byteLength(text)) !== 0) return "bad";
	while (stage.exports.step(1000) !== 0);
	stage.exports.status();
	return JSON.parse(stage.text()).verdict;
}

/** Returns the frames of a tour: title, words, and the lines that are not comments. */
function framesOf(text) {
	const parts = text.split(/^## /m);
	const head = parts.shift();
	return parts.map((part) => {
		const lines = part.split("\n");
		const words = lines.slice(1).filter((l) => /^# /.test(l)).map((l) => l.slice(2)).join(" ");
		return { title: lines[0], words, head, lines: lines.slice(1).filter((l) => l !== "" && !l.startsWith("#")), asked: lines.filter((l) => /^#[?+-] /.test(l)) };
	});
}

test("every algorithm has a tour of four to eight frames, and baton replay runs it", () => {
	for (const { name } of JSON.parse(native("algorithms", "--json").stdout).algorithms) {
		assert.ok(texts.has(name), `${name} has no tour`);
		assert.match(texts.get(name), new RegExp(`^algorithm ${name}$`, "m"));
	}
	for (const [name, text] of texts) {
		const frames = framesOf(text);
		assert.ok(frames.length >= 4 && frames.length <= 8, `${name}: ${frames.length} frames`);
		for (const frame of frames) {
			assert.ok(frame.words.length > 40, `${name}, ${frame.title}: few words`);
			assert.ok(frame.lines.some((l) => l.startsWith("expect ")), `${name}, ${frame.title}: nothing is expected`);
			if (frame.asked.length > 0) assert.ok(frame.asked.filter((l) => l.startsWith("#+")).length === 1 && frame.asked.some((l) => l.startsWith("#-")), `${name}, ${frame.title}: a question has one right answer and a wrong one`);
		}
		const done = native("replay", join(root, "web/tours", name + ".scn"));
		assert.equal(done.status, 0, done.stderr);
	}
});

/** Returns the same expectation made false. For an invariant there is none: mutants of the algorithms show that it can be broken. */
function falsify(line) {
	const words = line.split(/\s+/);
	const last = words[words.length - 1];
	const other = { idle: "in", waiting: "in", in: "idle", leaving: "in", leader: "waiting" };
	if (words[1] === "invariant") return null;
	if (words[1] === "queue") return words[2] === "nobody" ? "expect queue 1" : `expect queue ${words[2].split(",").reverse().join(",")}${words[2].includes(",") ? "" : ",1"}`;
	if (other[last] !== undefined) return [...words.slice(0, -1), other[last]].join(" ");
	if (words[1] === "flight") return /^x\d+$/.test(last) ? [...words.slice(0, -1), `x${Number(last.slice(1)) + 1}`].join(" ") : `${line} x0`;
	if (/^\d+$/.test(last)) return [...words.slice(0, -1), Number(last) + 1].join(" ");
	const [key, value] = [last.slice(0, last.indexOf("=")), last.slice(last.indexOf("=") + 1)];
	return [...words.slice(0, -1), `${key}=${value === "null" ? 1 : value === "true" ? "false" : value === "false" ? "true" : /^-?\d+$/.test(value) ? Number(value) + 1 : value.startsWith('"') ? '"another"' : value === "[]" ? "[1]" : "[]"}`].join(" ");
}

test("every expectation of a tour can fail", () => {
	let count = 0;
	for (const [name, text] of texts) {
		assert.equal(verdict(text), "passed", name);
		const lines = text.split("\n");
		lines.forEach((line, i) => {
			const wrong = line.startsWith("expect ") ? falsify(line) : null;
			if (wrong === null) return;
			count++;
			assert.equal(verdict([...lines.slice(0, i), wrong, ...lines.slice(i + 1)].join("\n")), "failed", `${name}, line ${i + 1}: '${wrong}' passes`);
		});
	}
	assert.ok(count > 350, `${count} expectations`);
});

/** Returns the figures in a text. A year does not count. */
const figures = (text) => [...text.matchAll(/(?<![\w.])-?\d+(?![\w.]\d)/g)].map(([figure]) => figure).filter((f) => !/^(19|20)\d\d$/.test(f));

/** Returns what is wrong with the words of a frame: a number of messages that is not expected there, or a figure that nothing in the frame
 * has. */
function wrongWords(frame) {
	const counts = frame.lines.filter((l) => l.startsWith("expect messages ")).map((l) => l.split(" ")[2]);
	for (const [, count] of frame.words.matchAll(/(\d+) messages/g)) if (!counts.includes(count) && !frame.lines.some((l) => l === `expect messages ${count}`)) return `${count} messages`;
	const known = new Set(figures([...frame.lines, frame.head.replace(/^#.*$/gm, "")].join(" ").replace(/[=[\],:x"]/g, " ")));
	return figures(frame.words.replace(/`[^`]*`/g, "")).find((f) => !known.has(f));
}

test("the figures in the words are held to the truth: another figure is noticed", () => {
	let counts = 0;
	for (const [name, text] of texts)
		for (const frame of framesOf(text)) {
			assert.equal(wrongWords(frame), undefined, `${name}, ${frame.title}: nothing there says so`);
			// A mutant of each number of messages.
			for (const [whole, count] of frame.words.matchAll(/(\d+) messages/g)) {
				counts++;
				const wrong = { ...frame, words: frame.words.replace(whole, `${Number(count) + 1} messages`) };
				assert.notEqual(wrongWords(wrong), undefined, `${name}, ${frame.title}: ${Number(count) + 1} messages would do as well`);
			}
		}
	assert.ok(counts > 30, `${counts} counts of messages`);
});

/** The run of a tour, frame by frame: what happened in each, who was inside or waited in it, and how many had entered by its end. */
function factsOf(text) {
	const starts = text.split("\n").flatMap((line, i) => (line.startsWith("## ") ? [i + 1] : []));
	// In an election nodes are called by their identifiers.
	const names = /^arrangement (\S+)$/m.exec(text)?.[1].split(",").map(Number);
	const nameOf = (node) => names?.[node - 1] ?? node;
	const stage = instance();
	stage.put(text);
	assert.equal(stage.exports.scenario(1, Buffer.byteLength(text)), 0);
	const start = JSON.parse(stage.text().split("\n")[0]);
	const facts = starts.map(() => ({ start, events: [], entries: 0, inside: new Set(), waiting: new Set() }));
	const now = { inside: new Set(), waiting: new Set() };
	let [entries, at] = [0, 0];
	const begin = (frame) => {
		for (; at <= frame; at++) [facts[at].inside, facts[at].waiting, facts[at].entries] = [new Set(now.inside), new Set(now.waiting), entries];
	};
	begin(0);
	while (stage.exports.step(1) !== 0) {
		const events = stage.text().trimEnd().split("\n").map((l) => JSON.parse(l));
		stage.exports.status();
		const { line } = JSON.parse(stage.text());
		const frame = starts.findLastIndex((start) => start <= line);
		begin(frame);
		for (const event of events) {
			const name = nameOf(event.node ?? event.from);
			if (event.ev === "enter") entries++;
			if (event.ev === "enter") [now.inside, facts[frame].inside].forEach((set) => set.add(name));
			if (event.ev === "exit") now.inside.delete(name);
			if (event.ev === "request") [now.waiting, facts[frame].waiting].forEach((set) => set.add(name));
			if (event.ev === "enter") now.waiting.delete(name);
			facts[frame].events.push({ ...event, name });
		}
		facts[frame].entries = entries;
	}
	begin(facts.length - 1);
	return facts;
}

const NUMBERS = ["none", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"];
const numberOf = (word) => (/^\d/.test(word) ? Number(word) : NUMBERS.indexOf(word.toLowerCase()));
const AMOUNT = `(\\d+|${NUMBERS.slice(1).join("|")})`;

/** What words claim of a run, and whether it is so. */
const CLAIMS = [
	{ form: new RegExp(`^${AMOUNT} (?:nodes|places|processes)\\b`, "gi"), holds: (n, { start }) => start.nodes === n },
	{ form: new RegExp(`\\b${AMOUNT} links\\b`, "gi"), holds: (n, { start }) => start.edges.length === n },
	{ form: new RegExp(`\\bFor (?:the )?${AMOUNT} entries`, "gi"), holds: (n, { entries }) => entries === n },
	{ form: /\b(\d+) leaves\b/g, holds: (n, { events }) => events.some((e) => e.ev === "exit" && e.name === n) },
	{ form: /\b(\d+) (?:asks|begins|initiates)\b/g, holds: (n, { events }) => events.some((e) => ["request", "initiate", "send", "deliver"].includes(e.ev) && e.name === n) },
	{ form: /\b(\d+) (?:enters|is inside)\b/g, holds: (n, { inside }) => inside.has(n) },
	{ form: /\b(\d+) (?:still )?waits\b/g, holds: (n, { waiting }) => waiting.has(n) },
];

/** The claims of words. What a mended text does, or one without a rule, is not claimed of this run. */
function claimsOf(words) {
	const claimed = words.replace(/\b(Mended|If|Without|would)\b.*/, "");
	return CLAIMS.flatMap(({ form, holds }) => [...claimed.matchAll(form)].map((match) => ({ match, holds, figure: numberOf(match[1]) })));
}

const wrongClaim = (words, facts) => claimsOf(words).find(({ figure, holds }) => !holds(figure, facts))?.match[0];

test("what the words claim of a run happens in it: another figure is noticed", () => {
	let mutants = 0;
	for (const [name, text] of texts) {
		const facts = factsOf(text);
		framesOf(text).forEach((frame, i) => {
			const known = facts[i];
			assert.equal(wrongClaim(frame.words, known), undefined, `${name}, ${frame.title}`);
			for (const { match, figure, holds } of claimsOf(frame.words)) {
				// Somebody else may do the same in this frame.
				if (holds(figure + 1, known)) continue;
				mutants++;
				const end = match.index + match[0].length;
				const other = frame.words.slice(0, match.index) + match[0].replace(match[1], figure + 1) + frame.words.slice(end);
				assert.notEqual(wrongClaim(other, known), undefined, `${name}, ${frame.title}: '${other}' would do as well`);
			}
		});
	}
	assert.ok(mutants > 60, `${mutants} claims`);
});

const HEADS = new Set(["request", "initiate", "deliver", "exit", "lose", "expire", "crash", "restart", "duplicate", "link", "unlink", "cut_link"]);

/** The steps of a scenario as `baton replay` traces it: the lines of each. */
function stepsOf(text) {
	const path = join(folder, "steps");
	writeFileSync(path + ".scn", text);
	native("replay", path + ".scn", "--trace", path);
	const steps = [];
	for (const line of readFileSync(path, "utf8").trimEnd().split("\n").slice(1)) {
		const { ev } = JSON.parse(line);
		if (HEADS.has(ev)) steps.push([]);
		if (ev !== "end" && ev !== "cut") steps.at(-1)?.push(line);
	}
	return steps;
}

/** The number of the first step that two runs do not have in common; null if they are the same. */
function partingOf(one, other) {
	const at = one.findIndex((step, i) => step.join() !== other[i]?.join());
	return at < 0 ? null : at + 1;
}

test("printed and mended first differ at the step that the erratum names", () => {
	const page = readFileSync(join(root, "doc/errata.md"), "utf8");
	const sections = new Map(page.split('<a id="').slice(1).map((part) => [part.slice(0, part.indexOf('"')), part]));
	let count = 0;
	for (const [name, text] of texts) {
		if (!/^param text=printed/m.test(text)) continue;
		count++;
		const named = /first\s+differ\s+at\s+step\s+(\d+)\s+of\s+this\s+schedule/.exec(sections.get(name) ?? "");
		assert.ok(named !== null, `doc/errata.md names no step for ${name}`);
		// What one of them expects, the other may not.
		const bare = text.replace(/^expect .*\n/gm, "");
		const printed = stepsOf(bare);
		assert.equal(partingOf(printed, stepsOf(bare)), null);
		assert.equal(partingOf(printed, stepsOf(bare.replace(/^param text=.*$/m, "param text=mended"))), Number(named[1]), name);
	}
	assert.equal(count, 21);
});

/** For each node, when it asked, and whether it was free to ask at any time since it had left. */
function wishesOf(trace) {
	const wishes = new Map();
	const left = new Map();
	for (const line of trace.trimEnd().split("\n").slice(1).map((l) => JSON.parse(l))) {
		if (line.ev === "exit") left.set(line.node, line.t);
		if (line.ev === "request") wishes.set(line.node, [...(wishes.get(line.node) ?? []), { t: line.t, free: line.t > (left.get(line.node) ?? -1) }]);
	}
	return wishes;
}

/** How many requests two traces have in common. A wish that comes while a node waits or is inside is granted later, which differs. */
function sharedWishes(one, other) {
	let [same, different] = [0, 0];
	for (const [node, list] of one)
		list.forEach((wish, i) => {
			const found = other.get(node)?.[i];
			if (found === undefined || !wish.free || !found.free) return;
			if (found.t === wish.t) same++;
			else different++;
		});
	return { same, different };
}

test("any two algorithms side by side meet the same requests", () => {
	const wishes = (name, load) => {
		const path = join(folder, "wishes");
		assert.equal(native("sim", name, "--nodes", "7", "--load", load, "--cs", "constant:1", "--entries", "30", "--seed", "4", "--trace", path).status, 0, name);
		return wishesOf(readFileSync(path, "utf8"));
	};
	const all = JSON.parse(native("algorithms", "--json").stdout).algorithms.filter((a) => a.kind === "mutex");
	const runs = all.map(({ name }) => [name, wishes(name, "wishes:0.05")]);
	for (const [left, one] of runs)
		for (const [right, other] of runs) {
			const { same, different } = sharedWishes(one, other);
			assert.equal(different, 0, `${left} and ${right}`);
			assert.ok(same > 15, `${left} and ${right} have ${same} requests in common`);
		}
	// Without wishes each run draws its own: the comparison can fail.
	assert.ok(sharedWishes(wishes("neilsen", "poisson:0.05"), wishes("suzuki-kasami", "poisson:0.05")).different > 0);
});

await runTests();
