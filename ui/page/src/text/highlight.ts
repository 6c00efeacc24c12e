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

/** Longer code is not highlighted, because that takes longer than a frame. */
const COLOURED_MAX = 40_000;

/** A span of code with its highlighting class. */
export type CodeSpan =
  | string
  | { readonly className: string; readonly children: readonly CodeSpan[] };

/** Splits code into spans; one span if the language is unknown. */
export function highlight(code: string, language: string | undefined): readonly CodeSpan[] {
  const name = (language ?? "").trim().toLowerCase().split(/\s/)[0] ?? "";
  if (name === "" || code.length > COLOURED_MAX || !lowlight.registered(name)) {
    return [code];
  }
  return lowlight.highlight(name, code).children.map(span);
}

type Node = ReturnType<typeof lowlight.highlight>["children"][number];

function span(node: Node): CodeSpan {
  if (node.type === "text") {
    return node.value;
  }
  if (node.type === "element") {
    const names = node.properties["className"];
    const className = Array.isArray(names) ? names.join(" ") : "";
    return { className, children: node.children.map((child) => span(child as Node)) };
  }
  return "";
}
