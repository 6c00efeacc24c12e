import { compareJson, type Json, type JsonNode, jsonTree } from "@parley/client";
import { useMemo, useState } from "preact/hooks";
import { CopyButton } from "../ui/CopyButton.js";
import { count } from "../ui/format.js";
import { Icon } from "../ui/Icon.js";

const OPEN_DEPTH = 2;
const CHILDREN_MAX = 100;
const TEXT_MAX = 400;

/** A collapsible tree of a value. */
export function JsonView({ value }: { value: Json }) {
  const tree = useMemo(() => jsonTree(value), [value]);
  return <Tree tree={tree} copied={value} />;
}

/** The differences between two values. */
export function JsonCompare({ before, after }: { before: Json; after: Json }) {
  const tree = useMemo(() => compareJson(before, after), [before, after]);
  return (
    <>
      <p class="muted" role="status">
        {tree.differences === 0 ? "No differences" : count(tree.differences, "difference")}
      </p>
      <Tree tree={tree} copied={after} />
    </>
  );
}

function Tree({ tree, copied }: { tree: JsonNode; copied: Json }) {
  const text = useMemo(() => JSON.stringify(copied, null, 2), [copied]);
  return (
    <div class="json">
      <CopyButton text={text} what="JSON" />
      <ul>
        <Node node={tree} depth={0} />
      </ul>
    </div>
  );
}

function Node({ node, depth }: { node: JsonNode; depth: number }) {
  const differs = node.differences > 0;
  const [open, setOpen] = useState(depth < OPEN_DEPTH || differs);
  const [limit, setLimit] = useState(CHILDREN_MAX);
  const { children, name, change, value, before } = node;
  const leaf = children.length === 0;
  return (
    <li data-change={change === "changed" && !leaf ? undefined : change}>
      {leaf ? (
        <span class="json-line">
          {name !== "" && <span class="json-name">{name}</span>}
          {(change === "removed" || change === "changed") && (
            <Value value={before} class="json-before" />
          )}
          {change !== "removed" && <Value value={value} />}
          {change !== "same" && <span class="json-note">{change}</span>}
        </span>
      ) : (
        <button type="button" class="json-line" aria-expanded={open} onClick={() => setOpen(!open)}>
          <Icon name={open ? "down" : "right"} />
          {name !== "" && <span class="json-name">{name}</span>}
          <span class="muted">{sizeOf(value ?? before)}</span>
          {differs && (
            <span class="json-note">
              {change === "changed" ? count(node.differences, "difference") : change}
            </span>
          )}
        </button>
      )}
      {open && !leaf && (
        <ul>
          {children.slice(0, limit).map((child) => (
            <Node key={child.path} node={child} depth={depth + 1} />
          ))}
          {children.length > limit && (
            <li>
              <button
                type="button"
                class="button muted small"
                onClick={() => setLimit(limit + CHILDREN_MAX)}
              >
                {count(children.length - limit, "more", "more")}
              </button>
            </li>
          )}
        </ul>
      )}
    </li>
  );
}

function Value({ value, class: name = "" }: { value: Json | undefined; class?: string }) {
  const text = JSON.stringify(value) ?? "";
  const type = value === null ? "null" : typeof value;
  return (
    <span class={`json-value ${name}`} data-type={type} title={text.slice(0, 2 * TEXT_MAX)}>
      {text.length > TEXT_MAX ? `${text.slice(0, TEXT_MAX)}…` : text}
    </span>
  );
}

function sizeOf(value: Json | undefined): string {
  return Array.isArray(value)
    ? `[${count(value.length, "item")}]`
    : `{${count(Object.keys(value ?? {}).length, "field")}}`;
}
