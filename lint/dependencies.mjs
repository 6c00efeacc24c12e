// Keeps the lists of all libraries that Parley is built from, and checks them: see docs/licences.md.
//
//   node dependencies.mjs check                     compares lists, files and licences
//   node dependencies.mjs update REPOSITORY LIB     writes the lists; REPOSITORY is a Maven repository
//                                                   that only this build has filled, LIB the folder
//                                                   with the jars of the program
//   node dependencies.mjs page                      writes docs/licences.md, after a change of a lock file
//   node dependencies.mjs sbom FILE VERSION DATE    writes an SBOM in CycloneDX and validates it
import { createHash } from "node:crypto";
import { existsSync, readFileSync, readdirSync, writeFileSync } from "node:fs";
import { homedir } from "node:os";
import { basename, join, relative } from "node:path";
import { fileURLToPath } from "node:url";

const ROOT = fileURLToPath(new URL("../", import.meta.url));
const LIST = join(ROOT, "lint/maven-artifacts.json");
const PAGE = join(ROOT, "docs/licences.md");
const LOCKS = ["ui/page", "ui/client", "lint"].concat(
  readdirSync(join(ROOT, "peers"))
    .sort()
    .map((name) => `peers/${name}`)
    .filter((folder) => existsSync(join(ROOT, folder, "package-lock.json"))),
);

/** The licences of what is delivered: they permit use and delivery without conditions for our code. */
const SHIPPED_LICENCES = new Set(["Apache-2.0", "MIT", "BSD-2-Clause", "BSD-3-Clause", "ISC"]);

/** The licences of what only builds or tests Parley. */
const OTHER_LICENCES = new Set([
  ...SHIPPED_LICENCES,
  "0BSD",
  "AFL-2.1",
  "BlueOak-1.0.0",
  "BSD-4-Clause",
  "CC0-1.0",
  "EPL-1.0",
  "EPL-2.0",
  "GPL-2.0-with-classpath-exception",
  "LGPL-2.1",
  "MPL-2.0",
  "PostgreSQL",
  "Python-2.0",
  "Zlib",
]);

/** How POMs write the names of licences. */
const LICENCE_NAMES = [
  [/apache.*(2|licen[cs]e$)|^asl2?$|the apache software licen[cs]e/i, "Apache-2.0"],
  [/gpl.*classpath|classpath.*exception/i, "GPL-2.0-with-classpath-exception"],
  [/\bMIT\b/i, "MIT"],
  [/new bsd|3-clause|bsd-3|revised bsd|modified bsd/i, "BSD-3-Clause"],
  [/2-clause|bsd-2|simplified bsd/i, "BSD-2-Clause"],
  [/go license/i, "BSD-3-Clause"],
  [/eclipse public licen[cs]e.*2|epl.?2/i, "EPL-2.0"],
  [/eclipse public licen[cs]e|epl.?1/i, "EPL-1.0"],
  [/lgpl|lesser general public/i, "LGPL-2.1"],
  [/mozilla|mpl/i, "MPL-2.0"],
  [/cc0|public domain/i, "CC0-1.0"],
  [/^the postgresql licen[cs]e$|^postgresql$/i, "PostgreSQL"],
  [/^bsd(-| )?(licen[cs]e)?$|^the bsd licen[cs]e$/i, "BSD-3-Clause"],
];

/** Packages of npm whose lock file names no licence, with what their project says. */
const NPM_LICENCES = {
  "@modelcontextprotocol/inspector": "Apache-2.0 AND MIT",
  "@modelcontextprotocol/server-everything": "MIT",
  "@modelcontextprotocol/server-filesystem": "MIT",
  "xmlhttprequest-ssl": "MIT",
};

/** Libraries of Maven whose POM names no licence, with what their project says. */
const MAVEN_LICENCES = {
  "org.codehaus.plexus:plexus-utils": "Apache-2.0",
};

/** Programs that only `./check --long` starts, under terms of their own. Parley delivers none of them. */
const OWN_TERMS = [/^@anthropic-ai\/claude-/, /^@github\/copilot/];

const problems = [];
const sha256 = (bytes) => createHash("sha256").update(bytes).digest("hex");
const readJson = (path) => JSON.parse(readFileSync(path, "utf8"));

// --- Maven ---------------------------------------------------------------------------------------

/** A hash of all libraries, plugins and versions that a `pom.xml` names. */
function pomHash() {
  const folders = readdirSync(ROOT, { withFileTypes: true }).filter((entry) => entry.isDirectory());
  const texts = ["pom.xml", ...folders.map((entry) => `${entry.name}/pom.xml`)]
    .concat(readdirSync(join(ROOT, "compat")).map((name) => `compat/${name}/pom.xml`))
    .filter((path) => existsSync(join(ROOT, path)))
    .map((path) => readFileSync(join(ROOT, path), "utf8").replace(/<!--[\s\S]*?-->|\s+/g, ""));
  const named = texts.flatMap((text) => [
    ...text.matchAll(/<groupId>(?!dev\.parley<)[^<]+<\/groupId><artifactId>[^<]+<\/artifactId>/g),
    ...text.matchAll(/<\/artifactId><version>[^<$]+<\/version>/g),
    ...text.matchAll(/<[\w.-]+\.version>[^<]+<\/[\w.-]+\.version>/g),
  ]);
  const own = /<version>([^<]+)<\/version>/.exec(texts[0])[1];
  const all = new Set(named.map(([text]) => text).filter((text) => !text.includes(`>${own}<`)));
  return sha256([...all].sort().join("\n"));
}

/** The local repository of Maven. */
function localRepository() {
  const settings = join(homedir(), ".m2/settings.xml");
  const text = existsSync(settings) ? readFileSync(settings, "utf8") : "";
  const configured = /<localRepository>\s*([^<]+?)\s*<\/localRepository>/.exec(text);
  return configured ? configured[1] : join(homedir(), ".m2/repository");
}

function jarsBelow(folder) {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && entry.name.endsWith(".jar"))
    .map((entry) => join(entry.parentPath ?? entry.path, entry.name))
    .sort();
}

/** The coordinates of an artifact from its path: group/artifact/version/file. */
function coordinates(path) {
  const parts = path.split("/");
  const [artifact, version] = parts.slice(-3, -1);
  const file = parts.at(-1).replace(/\.jar$/, "");
  const classifier = file.slice(`${artifact}-${version}`.length + 1);
  return { group: parts.slice(0, -3).join("."), artifact, version, classifier };
}

function licenceOf(repository, library) {
  const named = pomLicence(repository, library);
  return named ?? MAVEN_LICENCES[`${library.group}:${library.artifact}`] ?? "unknown";
}

/** The licence that a POM names, or one of its parents. */
function pomLicence(repository, { group, artifact, version }) {
  const path = join(repository, group.replaceAll(".", "/"), artifact, version);
  const file = join(path, `${artifact}-${version}.pom`);
  if (!existsSync(file)) {
    return undefined;
  }
  const text = readFileSync(file, "utf8").replace(/<!--[\s\S]*?-->/g, "");
  const block = /<licenses>([\s\S]*?)<\/licenses>/.exec(text);
  if (block) {
    const names = [...block[1].matchAll(/<name>\s*([\s\S]*?)\s*<\/name>/g)].map((match) => match[1]);
    return names.map((name) => spdx(name.replace(/\s+/g, " "))).join(" OR ");
  }
  const parent = /<parent>([\s\S]*?)<\/parent>/.exec(text);
  if (!parent) {
    return undefined;
  }
  const field = (name) => new RegExp(`<${name}>\\s*([^<]+?)\\s*</${name}>`).exec(parent[1])?.[1];
  return pomLicence(repository, {
    group: field("groupId"),
    artifact: field("artifactId"),
    version: field("version"),
  });
}

function spdx(name) {
  return LICENCE_NAMES.find(([pattern]) => pattern.test(name))?.[1] ?? name;
}

function update(repository, lib) {
  const shipped = new Set(jarsBelow(lib).map((jar) => basename(jar)));
  const artifacts = jarsBelow(repository)
    .map((jar) => relative(repository, jar))
    .filter((path) => !path.startsWith("dev/parley/"))
    .map((path) => ({
      path,
      sha256: sha256(readFileSync(join(repository, path))),
      shipped: shipped.has(basename(path)),
      licence: licenceOf(repository, coordinates(path)),
    }));
  const lines = artifacts.map((artifact) => `    ${JSON.stringify(artifact)}`);
  writeFileSync(LIST, `{\n  "poms": "${pomHash()}",\n  "artifacts": [\n${lines.join(",\n")}\n  ]\n}\n`);
  writeFileSync(PAGE, licencePage(artifacts, npmPackages()));
}

function checkMaven({ poms, artifacts }) {
  if (poms !== pomHash()) {
    problems.push("a pom.xml names other libraries: run bin/dependencies update, and review the difference");
  }
  const repository = localRepository();
  let compared = 0;
  for (const { path, sha256: expected } of artifacts) {
    const file = join(repository, path);
    if (existsSync(file)) {
      compared++;
      if (sha256(readFileSync(file)) !== expected) {
        problems.push(`${file} is not the file of lint/maven-artifacts.json`);
      }
    }
  }
  const lib = join(ROOT, "app/target/parley/lib");
  if (existsSync(lib)) {
    checkProgram(lib, artifacts.filter((artifact) => artifact.shipped));
  }
  return compared;
}

/** The folder of the program has the libraries of the list, no other ones, and none is missing. */
function checkProgram(lib, shipped) {
  const expected = new Map(shipped.map((artifact) => [basename(artifact.path), artifact.sha256]));
  for (const jar of jarsBelow(lib).filter((path) => !basename(path).startsWith("parley-"))) {
    if (expected.get(basename(jar)) !== sha256(readFileSync(jar))) {
      problems.push(`${jar} is not a library of lint/maven-artifacts.json`);
    }
    expected.delete(basename(jar));
  }
  for (const name of expected.keys()) {
    problems.push(`${name} is in lint/maven-artifacts.json, but not in ${lib}`);
  }
}

// --- npm -----------------------------------------------------------------------------------------

/** All packages of all lock files. */
function npmPackages() {
  const bundled = bundledPackages();
  return LOCKS.flatMap((folder) =>
    Object.entries(readJson(join(ROOT, folder, "package-lock.json")).packages)
      .filter(([path]) => path !== "")
      .map(([path, { version, integrity, license, resolved, link }]) => {
        const name = path.slice(path.lastIndexOf("node_modules/") + "node_modules/".length);
        const licence = (NPM_LICENCES[name] ?? license ?? "unknown").replace(/[()]/g, "");
        const shipped = folder === "ui/page" && bundled.has(name);
        return { folder, name, version, integrity, licence, resolved, link, shipped };
      }),
  );
}

/** The packages that the page contains: those that its sources import, and what these need. */
function bundledPackages() {
  const { packages } = readJson(join(ROOT, "ui/page/package-lock.json"));
  const found = new Set();
  const add = (name) => {
    const entry = packages[`node_modules/${name}`];
    if (entry && !found.has(name) && !name.startsWith("@types/")) {
      found.add(name);
      Object.keys(entry.dependencies ?? {}).forEach(add);
    }
  };
  const sources = join(ROOT, "ui/page/src");
  for (const file of readdirSync(sources, { recursive: true })) {
    if (/\.tsx?$/.test(file)) {
      for (const [, name] of readFileSync(join(sources, file), "utf8").matchAll(/from "([^"]+)"/g)) {
        add(name.split("/").slice(0, name.startsWith("@") ? 2 : 1).join("/"));
      }
    }
  }
  return found;
}

function checkNpm(packages) {
  for (const { folder, name, integrity, resolved, link } of packages) {
    if (!link && !/^sha(512|384|256)-/.test(integrity ?? "")) {
      problems.push(`${folder}/package-lock.json has no strong checksum for ${name}`);
    }
    if (/^(git|http:|file:)/.test(resolved ?? "")) {
      problems.push(`${folder}/package-lock.json takes ${name} from ${resolved}`);
    }
  }
}

// --- licences ------------------------------------------------------------------------------------

/** Whether one of the alternatives consists only of allowed licences. */
function allowed(expression, licences) {
  return expression
    .split(" OR ")
    .some((choice) => choice.split(" AND ").every((licence) => licences.has(licence.trim())));
}

function checkLicences(name, { licence, shipped }) {
  const own = !shipped && OWN_TERMS.some((pattern) => pattern.test(name));
  if (!own && !allowed(licence, shipped ? SHIPPED_LICENCES : OTHER_LICENCES)) {
    const use = shipped ? "delivered" : "used to build or test";
    problems.push(`${name} is ${use}, and its licence is not on the list: ${licence}`);
  }
}

function licencePage(artifacts, packages) {
  const rows = [
    ...artifacts
      .filter((artifact) => artifact.shipped)
      .map((artifact) => {
        const { group, artifact: name, version } = coordinates(artifact.path);
        return `| \`${group}:${name}\` | ${version} | ${artifact.licence} |`;
      }),
    ...packages
      .filter((each) => each.shipped)
      .map(({ name, version, licence }) => `| \`${name}\` (page) | ${version} | ${licence} |`),
  ];
  const counts = new Map();
  for (const { licence, shipped } of [...artifacts, ...packages]) {
    if (!shipped) {
      counts.set(licence, (counts.get(licence) ?? 0) + 1);
    }
  }
  const others = [...counts].sort((a, b) => b[1] - a[1] || (a[0] < b[0] ? -1 : 1));
  return [
    "# Licences",
    "",
    "Parley is licensed under Apache-2.0. This page is generated by `bin/dependencies update` and checked",
    "by `./check`, which rejects licences that are not on its list, unknown libraries, and libraries",
    "whose SHA-256 has changed. Each release has the same information as a CycloneDX SBOM.",
    "",
    "## Delivered libraries",
    "",
    "| Library | Version | Licence |",
    "|---|---|---|",
    ...rows,
    "",
    "## Libraries that only build or test Parley",
    "",
    "| Licence | Libraries |",
    "|---|---|",
    ...others.map(([licence, count]) => `| ${licence} | ${count} |`),
    "",
  ].join("\n");
}

// --- SBOM ----------------------------------------------------------------------------------------

function mavenComponent({ path, sha256: hash, licence }) {
  const { group, artifact, version, classifier } = coordinates(path);
  const purl = `pkg:maven/${group}/${artifact}@${version}?${classifier ? `classifier=${classifier}&` : ""}type=jar`;
  return {
    type: "library",
    "bom-ref": purl,
    group,
    name: artifact,
    version,
    scope: "required",
    hashes: [{ alg: "SHA-256", content: hash }],
    licenses: licences(licence),
    purl,
  };
}

function npmComponent({ name, version, integrity, licence }) {
  const purl = `pkg:npm/${name.replace("@", "%40")}@${version}`;
  return {
    type: "library",
    "bom-ref": purl,
    name,
    version,
    scope: "required",
    hashes: [{ alg: "SHA-512", content: Buffer.from(integrity.slice(7), "base64").toString("hex") }],
    licenses: licences(licence),
    purl,
  };
}

function licences(expression) {
  return / (OR|AND) /.test(expression) ? [{ expression }] : [{ license: { id: expression } }];
}

function sbom(version, date) {
  const { artifacts } = readJson(LIST);
  const components = [
    ...artifacts.filter((artifact) => artifact.shipped).map(mavenComponent),
    ...npmPackages().filter((each) => each.shipped).map(npmComponent),
  ];
  const ref = `pkg:maven/dev.parley/parley-app@${version}?type=jar`;
  const hash = sha256(JSON.stringify([version, components]));
  const uuid = `${hash.slice(0, 8)}-${hash.slice(8, 12)}-4${hash.slice(13, 16)}-8${hash.slice(17, 20)}-${hash.slice(20, 32)}`;
  return {
    $schema: "http://cyclonedx.org/schema/bom-1.6.schema.json",
    bomFormat: "CycloneDX",
    specVersion: "1.6",
    serialNumber: `urn:uuid:${uuid}`,
    version: 1,
    metadata: {
      timestamp: date,
      component: {
        type: "application",
        "bom-ref": ref,
        group: "dev.parley",
        name: "parley",
        version,
        licenses: licences("Apache-2.0"),
        purl: ref,
      },
    },
    components,
    dependencies: [{ ref, dependsOn: components.map((component) => component["bom-ref"]) }],
  };
}

/** Validates an SBOM with the validator of the CycloneDX project. */
async function validate(text) {
  const { Spec, Validation } = await import("@cyclonedx/cyclonedx-library");
  const validator = new Validation.JsonStrictValidator(Spec.Version.v1dot6);
  const error = await validator.validate(text);
  if (error) {
    problems.push(`the SBOM is not valid: ${JSON.stringify(error).slice(0, 2_000)}`);
  }
}

// --- commands ------------------------------------------------------------------------------------

async function check() {
  const list = readJson(LIST);
  const packages = npmPackages();
  const compared = checkMaven(list);
  checkNpm(packages);
  list.artifacts.forEach((artifact) => checkLicences(artifact.path, artifact));
  packages.forEach((each) => checkLicences(each.name, each));
  if (readFileSync(PAGE, "utf8") !== licencePage(list.artifacts, packages)) {
    problems.push("docs/licences.md is not current: run bin/dependencies update");
  }
  await validate(JSON.stringify(sbom("0.0.0", "2026-01-01T00:00:00Z")));
  return `Compared ${compared} libraries of Maven and ${packages.length} of npm with their lists.`;
}

const [command, ...rest] = process.argv.slice(2);
let result = "";
switch (command) {
  case "check":
    result = await check();
    break;
  case "update":
    update(...rest);
    break;
  case "page":
    writeFileSync(PAGE, licencePage(readJson(LIST).artifacts, npmPackages()));
    break;
  case "sbom": {
    const [file, version, date] = rest;
    const text = `${JSON.stringify(sbom(version, date), null, 2)}\n`;
    await validate(text);
    writeFileSync(file, text);
    break;
  }
  default:
    problems.push("usage: dependencies.mjs check | page | update REPOSITORY LIB | sbom FILE VERSION DATE");
}
if (problems.length > 0) {
  console.error(problems.join("\n"));
  process.exitCode = 1;
} else if (result) {
  console.log(result);
}
