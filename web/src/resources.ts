// The files that the page needs. They are beside it or, if the page is a single file, inside it.

/** Returns a file by its name: embedded as base64 of gzip, or fetched. */
export async function resource(name: string): Promise<ArrayBuffer> {
	const element = document.getElementById("file-" + name);
	if (element === null) {
		const response = await fetch(name);
		if (!response.ok) throw new Error(`${name}: ${response.status}`);
		return response.arrayBuffer();
	}
	const bytes = Uint8Array.from(atob(element.textContent!.trim()), (c) => c.charCodeAt(0));
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
