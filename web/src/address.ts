// The address of a run: the words of the command line, the acts, and the moment.

import { ACTS, type ActName } from "./module";
import type { Act, Source } from "./run";

export interface Place {
	source: Source;
	acts: Act[];
	time: number | null;
}

// What a first visitor sees: a run that ends.
export const FIRST = "algorithm=neilsen\ntopology=tree:2\nnodes=7\nload=poisson:0.09\ndelay=uniform:0.7,1.5\ncs=uniform:1.4,2.6\nentries=8\nseed=76";

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

export async function unpack(text: string): Promise<string> {
	const binary = atob(text.replaceAll("-", "+").replaceAll("_", "/"));
	const bytes = Uint8Array.from(binary, (c) => c.charCodeAt(0));
	return new TextDecoder().decode(await through(bytes, new DecompressionStream("deflate-raw")));
}

export function actsText(acts: Act[]): string {
	return acts.map((a) => `${a.at}:${a.name}:${a.what}${a.name === "delay" ? ":" + a.by : ""}`).join(",");
}

function readActs(text: string): Act[] {
	const acts: Act[] = [];
	for (const one of text.split(",")) {
		const [at, name, what, by] = one.split(":");
		if (ACTS.includes(name as ActName)) acts.push({ at: Number(at), name: name as ActName, what: Number(what), by: Number(by ?? 0) });
	}
	return acts;
}

export function wordsOf(words: string): [string, string][] {
	return words.split("\n").filter((line) => line !== "").map((line) => {
		const equals = line.indexOf("=");
		return equals < 0 ? [line, ""] : [line.slice(0, equals), line.slice(equals + 1)];
	});
}

/** "#lab/neilsen?topology=tree:2&nodes=7&t=6.41&do=12:lose:7" */
export async function hashOf(place: Place): Promise<string> {
	const query: string[] = [];
	let name = "scenario";
	const plain = (text: string) => encodeURIComponent(text).replaceAll("%3A", ":").replaceAll("%2C", ",").replaceAll("%2F", "/").replaceAll("%3D", "=");
	if ("words" in place.source) {
		for (const [key, value] of wordsOf(place.source.words)) {
			if (key === "algorithm") name = value;
			else query.push(value === "" ? key : `${key}=${plain(value)}`);
		}
	} else query.push("scn=" + (await pack(place.source.scenario)));
	if (place.time !== null) query.push("t=" + place.time);
	if (place.acts.length !== 0) query.push("do=" + actsText(place.acts));
	return `#lab/${name}?${query.join("&")}`;
}

export async function placeOf(hash: string): Promise<Place | null> {
	const match = /^#lab\/([^?]*)\??(.*)$/.exec(hash);
	if (match === null) return null;
	const words = ["algorithm=" + decodeURIComponent(match[1])];
	const place: Place = { source: { words: "" }, acts: [], time: null };
	for (const part of match[2].split("&").filter((p) => p !== "")) {
		const equals = part.indexOf("=");
		const key = equals < 0 ? part : part.slice(0, equals);
		const value = equals < 0 ? "" : decodeURIComponent(part.slice(equals + 1));
		if (key === "t") place.time = Number(value);
		else if (key === "do") place.acts = readActs(value);
		else if (key === "scn") place.source = { scenario: await unpack(value) };
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
