// Builds the page into the server's resources, reproducibly.
import { createHash } from "node:crypto";
import { mkdirSync, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";

const ROOT = new URL("../", import.meta.url);
const TARGET = new URL("../../server/src/main/resources/dev/parley/api/page/", ROOT);

/** All files of the page by name. */
export async function bundle() {
  const result = await build({
    absWorkingDir: fileURLToPath(ROOT),
    entryPoints: [{ in: "src/main.tsx", out: "page" }],
    outdir: "out",
    bundle: true,
    minify: true,
    write: false,
    format: "esm",
    target: "es2022",
    charset: "utf8",
    legalComments: "none",
    jsx: "automatic",
    jsxImportSource: "preact",
    define: { "process.env.NODE_ENV": '"production"' },
    logLevel: "warning",
  });
  const files = new Map();
  const links = {};
  for (const { path, contents } of result.outputFiles) {
    const ending = path.slice(path.lastIndexOf("."));
    links[ending] = add(files, "page", ending, contents);
  }
  for (const name of ["icon", "icon-waiting"]) {
    links[name] = add(files, name, ".svg", readFileSync(new URL(`src/${name}.svg`, ROOT)));
  }
  const html = readFileSync(new URL("src/index.html", ROOT), "utf8")
    .replace("{css}", links[".css"])
    .replace("{js}", links[".js"])
    .replaceAll("{icon}", links.icon)
    .replace("{icon-waiting}", links["icon-waiting"]);
  const names = [...files.keys()].map((name) => name.slice("assets/".length)).sort();
  files.set("index.html", Buffer.from(html));
  files.set("assets.txt", Buffer.from(names.map((name) => `${name}\n`).join("")));
  return files;
}

function add(files, name, ending, contents) {
  const hash = createHash("sha256").update(contents).digest("hex").slice(0, 12);
  const path = `assets/${name}-${hash}${ending}`;
  files.set(path, Buffer.from(contents));
  return path;
}

/** The committed files of the page. */
export function committed() {
  const files = new Map();
  for (const name of readdirSync(TARGET, { recursive: true, withFileTypes: true })) {
    if (name.isFile()) {
      const folder = `${name.parentPath ?? name.path}/`;
      const path = `${folder}${name.name}`.slice(fileURLToPath(TARGET).length).replace(/^\/+/, "");
      files.set(path, readFileSync(`${folder}${name.name}`));
    }
  }
  return files;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const files = await bundle();
  rmSync(TARGET, { recursive: true, force: true });
  mkdirSync(new URL("assets/", TARGET), { recursive: true });
  for (const [path, contents] of files) {
    writeFileSync(new URL(path, TARGET), contents);
  }
}
