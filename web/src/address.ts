// Reads and writes the address of the page. It has the words of the command line, the user's acts, and the moment that is shown.

import { ACTS, type ActName, type Algorithm } from "./module";
import type { Act, Source } from "./run";

export interface Place {
	source: Source;
	tour: string | null; // the name of the tour whose scenario it is
	frame: number | null; // the frame of the tour, from 1
	acts: Act[];
	step: number | null; // the number of the step that is shown; two steps may have the same time
	time: number | null; // the time that is shown; null: that of the step
}

// The run that a first visitor sees. It ends.
export const FIRST = "algorithm=neilsen\ntopology=tree:2\nnodes=7\nload=poisson:0.09\ndelay=uniform:0.7,1.5\ncs=uniform:1.4,2.6\nentries=8\nseed=76";

/** Returns the address of a short run of this algorithm in which something happens. */
export function firstOf(algorithm: Algorithm): string {
	if (algorithm.kind === "election") return `#lab/${algorithm.name}?nodes=8&arrangement=3,7,2,5,8,1,4,6&delay=uniform:0.7,1.5`;
	return `#lab/${algorithm.name}?${algorithm.needs === "tree" ? "topology=tree:2&" : ""}nodes=7&load=poisson:0.09&delay=uniform:0.7,1.5&cs=uniform:1.4,2.6&entries=8&seed=76`;
}

function base64url(bytes: Uint8Array): string {
	let text = "";
	for (const byte of bytes) text += String.fromCharCode(byte);
	return btoa(text).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
}

async function through(bytes: Uint8Array, stream: GenericTransformStream): Promise<Uint8Array> {
	const piped = new Blob([bytes as BlobPart]).stream().pipeThrough(stream as ReadableWritablePair<Uint8Array, Uint8Array>);
	return new Uint8Array(await new Response(piped).arrayBuffer());
}

export async function pack(text: string): Promise<string> {
	return base64url(await through(new TextEncoder().encode(text), new CompressionStream("deflate-raw")));
}

function bytesOf(text: string): Uint8Array {
	const binary = atob(text.replaceAll("-", "+").replaceAll("_", "/"));
	return Uint8Array.from(binary, (c) => c.charCodeAt(0));
}

const CUT = "the scenario in this address is not whole";

export async function unpackScenario(text: string): Promise<string> {
	try {
		return new TextDecoder().decode(await through(bytesOf(text), new DecompressionStream("deflate-raw")));
	} catch {
		throw new Error(`scn=…: ${CUT}`);
	}
}

function plainText(text: string): string {
	try {
		return new TextDecoder().decode(bytesOf(text));
	} catch {
		throw new Error(`text=…: ${CUT}`);
	}
}

export function actsText(acts: Act[]): string {
	return acts.map((a) => `${a.at}:${a.name}:${a.what}${a.name === "delay" ? ":" + a.by : ""}`).join(",");
}

function readActs(text: string): Act[] {
	return text.split(",").map((one) => {
		const match = /^(\d{1,9}):([a-z]+):(\d{1,9})(?::(\d{1,9}(?:\.\d+)?))?$/.exec(one);
		if (match === null || !ACTS.includes(match[2] as ActName)) throw new Error(`do=…: '${one.slice(0, 40)}' is not an act, such as 12:lose:7`);
		return { at: Number(match[1]), name: match[2] as ActName, what: Number(match[3]), by: Number(match[4] ?? 0) };
	});
}

export function readNumber(key: string, value: string, form: RegExp, example: string): number {
	if (!form.test(value)) throw new Error(`${key}=${value.slice(0, 40)}: a number is expected, such as ${example}`);
	return Number(value);
}

export function readText(text: string): string {
	try {
		return decodeURIComponent(text);
	} catch {
		throw new Error(`'${text.slice(0, 40)}' is not the text of an address`);
	}
}

export function wordsOf(words: string): [string, string][] {
	return words.split("\n").filter((line) => line !== "").map((line) => {
		const equals = line.indexOf("=");
		return equals < 0 ? [line, ""] : [line.slice(0, equals), line.slice(equals + 1)];
	});
}

/** Writes an address such as "#lab/neilsen?topology=tree:2&nodes=7&step=14&do=12:lose:7"; between
 * two steps it has the time too: "&t=6.41". */
export async function hashOf(place: Place): Promise<string> {
	const query: string[] = [];
	let name = "scenario";
	if (place.tour !== null) {
		query.push("frame=" + place.frame);
		if (place.step !== null) query.push("step=" + place.step);
		if (place.acts.length !== 0) query.push("do=" + actsText(place.acts));
		return `#tour/${place.tour}?${query.join("&")}`;
	}
	const plain = (text: string) => encodeURIComponent(text).replaceAll("%3A", ":").replaceAll("%2C", ",").replaceAll("%2F", "/").replaceAll("%3D", "=");
	if ("words" in place.source) {
		for (const [key, value] of wordsOf(place.source.words)) {
			if (key === "algorithm") name = value;
			else query.push(value === "" ? key : `${key}=${plain(value)}`);
		}
	} else query.push("scn=" + (await pack(place.source.scenario)));
	if (place.step !== null) query.push("step=" + place.step);
	if (place.time !== null) query.push("t=" + place.time);
	if (place.acts.length !== 0) query.push("do=" + actsText(place.acts));
	return `#lab/${name}?${query.join("&")}`;
}

/** Reads an address. Throws an Error with a sentence if the address makes no sense. The C code reads the words themselves. */
export async function placeOf(hash: string): Promise<Place> {
	const match = /^#(lab|tour)\/([^?]*)\??(.*)$/.exec(hash);
	if (match === null) throw new Error(`'${hash.slice(0, 40)}' is not the address of a run, such as #lab/neilsen?nodes=7`);
	const words = ["algorithm=" + readText(match[2])];
	const place: Place = { source: { words: "" }, tour: match[1] === "tour" ? readText(match[2]) : null, frame: null, acts: [], step: null, time: null };
	for (const part of match[3].split("&").filter((p) => p !== "")) {
		const equals = part.indexOf("=");
		const key = equals < 0 ? part : part.slice(0, equals);
		const value = equals < 0 ? "" : readText(part.slice(equals + 1));
		if (key === "step") place.step = readNumber(key, value, /^\d{1,9}$/, "14");
		else if (key === "t") place.time = readNumber(key, value, /^\d{1,9}(\.\d+)?$/, "6.41");
		else if (key === "frame" && place.tour !== null) place.frame = readNumber(key, value, /^\d{1,3}$/, "3");
		else if (key === "do") place.acts = readActs(value);
		// The command line writes a scenario like this, because it cannot compress.
		else if (key === "text") place.source = { scenario: plainText(value) };
		else if (key === "scn") place.source = { scenario: await unpackScenario(value) };
		else words.push(equals < 0 ? key : `${key}=${value}`);
	}
	if (!("scenario" in place.source)) place.source = { words: words.join("\n") };
	return place;
}

function quote(word: string): string {
	return /^[\w:.,=\/-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
}

export function commandOf(words: string): string {
	const list = wordsOf(words);
	const algorithm = list.find(([key]) => key === "algorithm")![1];
	const rest = list.filter(([key]) => key !== "algorithm").map(([key, value]) => (value === "" ? `--${key}` : `--${key} ${quote(value)}`));
	return ["baton sim", quote(algorithm), ...rest].join(" ");
}
