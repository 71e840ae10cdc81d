// Shows times and numbers as people read them.

const UNITS: [number, string][] = [
	[86_400_000, "days"],
	[3_600_000, "h"],
	[60_000, "min"],
];

/** Shows a time in milliseconds: 0.21 ms, 14 ms, 2.3 s, 3 min, 2 days. */
export function span(ms: number): string {
	if (ms < 10) return `${+ms.toFixed(2)} ms`;
	if (ms < 1000) return `${Math.round(ms)} ms`;
	if (ms < 60_000) return `${(ms / 1000).toFixed(1).replace(/\.0$/, "")} s`;
	const [size, unit] = UNITS.find(([size]) => ms >= size * (size === 60_000 ? 1 : 2)) ?? UNITS[2];
	return `${Math.floor(ms / size)} ${unit}`;
}

/** Shows a number: 1,284, 12.5, 0.21. */
export function count(value: number): string {
	const digits = value >= 100 || Number.isInteger(value) ? 0 : value >= 10 ? 1 : 2;
	return value.toLocaleString("en", { maximumFractionDigits: digits });
}

/** Shows a number with a noun: "1 client", "2 clients". */
export function many(number: number, word: string): string {
	return `${count(number)} ${word}${number === 1 ? "" : "s"}`;
}

/** Shortens a text that is too long. */
export function cut(text: string, most: number): string {
	return text.length <= most ? text : text.slice(0, most - 1) + "…";
}
