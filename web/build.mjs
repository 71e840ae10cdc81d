// Makes the page: node web/build.mjs MODULES FOLDER. The packages are in MODULES. FOLDER already
// has baton.wasm and lines.json, and gets the files of the page.
//
// It writes index.html, app.js, style.css, sources.json, tours.json, all of them also compressed (.br, .gz), page.html: everything in one file, and disk.js: what
// the page fetches, for static files that are opened from disk.
import { createHash } from "node:crypto";
import { readFileSync, readdirSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { brotliCompressSync, constants, gzipSync } from "node:zlib";

const here = dirname(fileURLToPath(import.meta.url));
const [modules, folder] = process.argv.slice(2);
const esbuild = createRequire(join(modules, "x.js"))("esbuild");

const common = { bundle: true, minify: true, write: false, target: "es2022", logLevel: "error", legalComments: "none", nodePaths: [modules] };
const script = esbuild.buildSync({ ...common, entryPoints: [join(here, "src/app.tsx")], format: "iife", jsx: "automatic", jsxImportSource: "preact" }).outputFiles[0].text;
const style = esbuild.buildSync({ ...common, entryPoints: [join(here, "src/style.css")] }).outputFiles[0].text;

// The sources of the algorithms. The page shows lines of them.
const algorithms = join(here, "../src/algorithms");
const sources = {};
for (const name of readdirSync(algorithms).sort()) if (name.endsWith(".c") && name !== "registry.c") sources[name] = readFileSync(join(algorithms, name), "utf8");

// The tours, by name.
const tours = {};
for (const name of readdirSync(join(here, "tours")).sort()) if (name.endsWith(".scn")) tours[name.slice(0, -4)] = readFileSync(join(here, "tours", name), "utf8");

const html = readFileSync(join(here, "index.html"), "utf8");
writeFileSync(join(folder, "index.html"), html);
writeFileSync(join(folder, "app.js"), script);
writeFileSync(join(folder, "style.css"), style);
writeFileSync(join(folder, "sources.json"), JSON.stringify(sources));
writeFileSync(join(folder, "tours.json"), JSON.stringify(tours));

for (const name of ["index.html", "app.js", "style.css", "baton.wasm", "lines.json", "sources.json", "tours.json"]) {
	const bytes = readFileSync(join(folder, name));
	writeFileSync(join(folder, name + ".br"), brotliCompressSync(bytes, { params: { [constants.BROTLI_PARAM_SIZE_HINT]: bytes.length } }));
	writeFileSync(join(folder, name + ".gz"), gzipSync(bytes, { level: 9 }));
}

// Everything in one file that needs no server: nothing is fetched, and scripts are allowed by their hashes.
const hash = (text) => `'sha256-${createHash("sha256").update(text).digest("base64")}'`;
const inlined = script.replaceAll("</script", "<\\/script");
const policy = `default-src 'none'; script-src ${hash(inlined)} 'wasm-unsafe-eval'; style-src ${hash(style)}; img-src data:`;
const packed = Object.fromEntries(["baton.wasm", "lines.json", "sources.json", "tours.json"].map((name) => [name, readFileSync(join(folder, name + ".gz")).toString("base64")]));
const data = Object.entries(packed).map(([name, text]) => `<script type="text/plain" id="file-${name}">${text}</script>`);
const page = html
	.replace('<meta name="baton-web" content="served">\n', "")
	.replace('<link rel="stylesheet" href="style.css">\n', () => `<meta http-equiv="Content-Security-Policy" content="${policy}">\n<style>${style}</style>\n`)
	.replace('<script src="app.js" defer></script>\n', "")
	.replace("</body>", () => `<script type="application/json" id="run"></script>\n${data.join("\n")}\n<script>${inlined}</script>\n</body>`);
writeFileSync(join(folder, "page.html"), page);

// disk.js has all that the page fetches, for static files that are opened from disk, where nothing
// can be fetched.
writeFileSync(join(folder, "disk.js"), `window.batonFiles = ${JSON.stringify(packed)};\n`);
