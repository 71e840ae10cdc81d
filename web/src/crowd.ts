// Draws many messages at once: a path for each kind of message instead of an element for each message, so that a frame has little to paint.

import type { Role } from "./module";
import { make, set } from "./svg";

// The shape of a message, around its place. A line of length 0 with round ends is a dot.
const SHAPES: Record<Role, string> = {
	asks: "h0", permits: "h0", "gives back": "h0",
	refuses: "m0 -5l4.5 8h-9z", announces: "m0 -5l5 5l-5 5l-5 -5z", prepares: "m-3 -3h6v6h-6z",
};

export class Crowd {
	private paths = new Map<string, SVGPathElement>();

	constructor(
		private layer: SVGGElement,
		dot: number, // how large a dot is
	) {
		layer.style.setProperty("--dot", `${dot}px`);
	}

	private path(name: string): SVGPathElement {
		let path = this.paths.get(name);
		if (path === undefined) {
			path = make("path", { class: "many " + name, d: "" }, this.layer);
			this.paths.set(name, path);
		}
		return path;
	}

	/** Draws the ways of all messages. They change only when a message is sent or arrives. */
	ways(lines: string[]): void {
		set(this.path("ways"), "d", lines.join(""));
	}

	/** Draws where the messages are; a token is drawn separately. */
	draw(places: { role: Role; x: number; y: number }[]): void {
		const parts = new Map<Role, string>();
		for (const { role, x, y } of places) parts.set(role, `${parts.get(role) ?? ""}M${x.toFixed(1)} ${y.toFixed(1)}${SHAPES[role]}`);
		for (const role of Object.keys(SHAPES) as Role[]) {
			const d = parts.get(role) ?? "";
			if (d === "" && !this.paths.has(role)) continue;
			const name = role.replace(" ", "-");
			set(this.path(name), "d", d);
			// The rim of a permission, and the hole of a message that gives something back.
			if (role === "permits" || role === "gives back") set(this.path(name + " heart"), "d", d);
		}
	}

	clear(): void {
		if (this.paths.size === 0) return;
		this.layer.replaceChildren();
		this.paths.clear();
	}
}
