// The files that the page needs. They are beside it or, if the page is a single file, inside it.

let disk: Promise<Record<string, string>> | null = null;

/** A page that is opened from disk may not fetch. It may run scripts, and disk.js beside it has all files. */
function fromDisk(): Promise<Record<string, string>> {
	disk ??= new Promise((done, failed) => {
		const script = document.createElement("script");
		script.src = "disk.js";
		script.onload = () => done((window as unknown as { batonFiles: Record<string, string> }).batonFiles);
		script.onerror = () => failed(new Error("disk.js is not beside it"));
		document.head.append(script);
	});
	return disk;
}

/** Returns a file by its name: embedded as base64 of gzip, or fetched. */
export async function resource(name: string): Promise<ArrayBuffer> {
	const packed = document.getElementById("file-" + name)?.textContent ?? (location.protocol === "file:" ? (await fromDisk())[name] : null);
	if (packed === null) {
		const response = await fetch(name);
		if (!response.ok) throw new Error(`${name}: ${response.status}`);
		return response.arrayBuffer();
	}
	const bytes = Uint8Array.from(atob(packed.trim()), (c) => c.charCodeAt(0));
	return new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"))).arrayBuffer();
}

export async function json<T>(name: string): Promise<T> {
	return JSON.parse(new TextDecoder().decode(await resource(name))) as T;
}

/** Returns the run that the page was written with (--html), or null. */
export function embeddedRun(): { words?: string; scenario?: string } | null {
	const text = document.getElementById("run")?.textContent?.trim() ?? "";
	return text === "" ? null : JSON.parse(text);
}
