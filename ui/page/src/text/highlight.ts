import bash from "highlight.js/lib/languages/bash";
import css from "highlight.js/lib/languages/css";
import diff from "highlight.js/lib/languages/diff";
import go from "highlight.js/lib/languages/go";
import java from "highlight.js/lib/languages/java";
import javascript from "highlight.js/lib/languages/javascript";
import json from "highlight.js/lib/languages/json";
import markdown from "highlight.js/lib/languages/markdown";
import python from "highlight.js/lib/languages/python";
import rust from "highlight.js/lib/languages/rust";
import sql from "highlight.js/lib/languages/sql";
import typescript from "highlight.js/lib/languages/typescript";
import xml from "highlight.js/lib/languages/xml";
import yaml from "highlight.js/lib/languages/yaml";
import { createLowlight } from "lowlight";

const lowlight = createLowlight({
  bash,
  css,
  diff,
  go,
  java,
  javascript,
  json,
  markdown,
  python,
  rust,
  sql,
  typescript,
  xml,
  yaml,
});
lowlight.registerAlias({ bash: ["shell", "console"] });

/** Longer code is shown without colours: they would take longer than a frame. */
const COLOURED_MAX = 40_000;

/** A stretch of code, with the class that says what it is. */
export type Stretch =
  string | { readonly className: string; readonly children: readonly Stretch[] };

/** Code in stretches; one, if the language is not known. */
export function highlight(code: string, language: string | undefined): readonly Stretch[] {
  const name = (language ?? "").trim().toLowerCase().split(/\s/)[0] ?? "";
  if (name === "" || code.length > COLOURED_MAX || !lowlight.registered(name)) {
    return [code];
  }
  return lowlight.highlight(name, code).children.map(stretch);
}

type Node = ReturnType<typeof lowlight.highlight>["children"][number];

function stretch(node: Node): Stretch {
  if (node.type === "text") {
    return node.value;
  }
  if (node.type === "element") {
    const names = node.properties["className"];
    const className = Array.isArray(names) ? names.join(" ") : "";
    return { className, children: node.children.map((child) => stretch(child as Node)) };
  }
  return "";
}
