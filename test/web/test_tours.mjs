// The tours: each runs to its end, each of its expectations can fail, and the figures in its words are among those expectations.
import assert from "node:assert/strict";
import { readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { instance, native, root, runTests, test } from "./lib.mjs";

const names = readdirSync(join(root, "web/tours")).filter((n) => n.endsWith(".scn")).map((n) => n.slice(0, -4));
const texts = new Map(names.map((name) => [name, readFileSync(join(root, "web/tours", name + ".scn"), "utf8")]));

/** "passed", "failed" or "bad": what becomes of a scenario, or of one that cannot even begin. */
function verdict(text) {
	const stage = instance();
	stage.put(text);
	if (stage.exports.scenario(0, Buffer.byteLength(text)) !== 0) return "bad";
	while (stage.exports.step(1000) !== 0);
	stage.exports.status();
	return JSON.parse(stage.text()).verdict;
}

/** The frames of a tour: title, words, and the lines that are not comments. */
function framesOf(text) {
	const parts = text.split(/^## /m);
	const head = parts.shift();
	return parts.map((part) => {
		const lines = part.split("\n");
		const words = lines.slice(1).filter((l) => /^# /.test(l)).join(" ");
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

/** The same expectation, but false. Of an invariant there is none: that it can be broken is what mutants of algorithms show. */
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

/** The figures of a text. A year is none. */
const figures = (text) => [...text.matchAll(/(?<![\w.])-?\d+(?![\w.]\d)/g)].map(([figure]) => figure).filter((f) => !/^(19|20)\d\d$/.test(f));

/** What is wrong with the words of a frame: a number of messages that is not expected there, or a figure that nothing there has. */
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

await runTests();
