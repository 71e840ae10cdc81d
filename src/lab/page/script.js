"use strict";
/* The page is complete without this script. It makes tables sortable, and highlights a name in
 * all plots. */
(() => {
	const key = cell => cell.dataset.v === undefined ? NaN : Number(cell.dataset.v);

	/* Sorts cells with a number before cells without one. The sort is stable. */
	const compare = (column, sign) => (a, b) => {
		const x = a.cells[column], y = b.cells[column];
		if (x.dataset.v === undefined ? y.dataset.v === undefined : false)
			return sign * x.textContent.localeCompare(y.textContent, "en");
		const missing = Number(isNaN(key(x))) - Number(isNaN(key(y)));
		return missing !== 0 ? missing : sign * (key(x) - key(y));
	};

	for (const table of document.querySelectorAll("table.sortable")) {
		const heads = [...table.querySelectorAll(".heads th")];
		heads.forEach((head, column) => {
			const button = document.createElement("button");
			button.type = "button";
			button.append(...head.childNodes);
			head.append(button);
			button.addEventListener("click", () => {
				const up = head.getAttribute("aria-sort") !== "ascending";
				heads.forEach(other => other.removeAttribute("aria-sort"));
				head.setAttribute("aria-sort", up ? "ascending" : "descending");
				const body = table.tBodies[0];
				body.append(...[...body.rows].sort(compare(column, up ? 1 : -1)));
			});
		});
	}

	/* A name is highlighted while the pointer is on it. A name that was clicked stays
	 * highlighted. */
	let pressed = null, lit = null;
	const light = name => {
		if (name === lit)
			return;
		lit = name;
		document.documentElement.classList.toggle("lighting", name !== null);
		for (const thing of document.querySelectorAll("[data-series]"))
			thing.classList.toggle("lit", thing.dataset.series === name);
	};
	const named = event => {
		const thing = event.target instanceof Element ? event.target.closest(".series, .item, .seen [data-series]") : null;
		return thing === null ? pressed : thing.dataset.series;
	};
	document.addEventListener("pointerover", event => light(named(event)));
	document.addEventListener("focusin", event => light(named(event)));
	for (const item of document.querySelectorAll(".legend .item")) {
		const button = document.createElement("button");
		button.type = "button";
		button.className = "item";
		button.dataset.series = item.dataset.series;
		button.setAttribute("aria-pressed", "false");
		button.append(...item.childNodes);
		item.replaceWith(button);
		button.addEventListener("click", () => {
			pressed = pressed === button.dataset.series ? null : button.dataset.series;
			for (const other of document.querySelectorAll("button.item"))
				other.setAttribute("aria-pressed", String(other.dataset.series === pressed));
			light(pressed);
		});
	}
})();
