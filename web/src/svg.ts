// Makes SVG elements. Each is made once; later only its attributes change.

const NAMESPACE = "http://www.w3.org/2000/svg";

export function make<K extends keyof SVGElementTagNameMap>(
	name: K,
	attributes: Record<string, string | number> = {},
	parent?: Element,
): SVGElementTagNameMap[K] {
	const element = document.createElementNS(NAMESPACE, name);
	for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, String(value));
	parent?.append(element);
	return element;
}

/** Sets an attribute only if it has changed: writing the same value still costs the browser time. */
export function set(element: Element, name: string, value: string | number): void {
	const text = String(value);
	if (element.getAttribute(name) !== text) element.setAttribute(name, text);
}

export function round(value: number): number {
	return Math.round(value * 10) / 10;
}

/** Draws a baton that lies with its centre at (0, 0). */
export function baton(parent: Element, size: number): SVGGElement {
	const group = make("g", { class: "token" }, parent);
	const [width, height] = [28 * size, 7.2 * size];
	make("rect", { class: "baton", x: -width / 2, y: -height / 2, width, height, rx: height / 2 }, group);
	for (const x of [-width * 0.3, width * 0.22]) make("rect", { class: "band", x, y: -height / 2, width: 2.4 * size, height }, group);
	return group;
}
