// An MCP server over standard input and output that does what servers should not do.
const readline = require("node:readline");
const { spawn } = require("node:child_process");

const mode = process.argv[2] || "";
const cancelled = [];
const waiting = new Map();
const tools = [
  ["crash", { readOnlyHint: true }], ["flood"], ["garbage"], ["silent"], ["ask"], ["confirm"],
  ["progress"], ["slow", { idempotentHint: true }], ["cancelled"], ["grow"], ["fail"], ["refuse"],
  ["where"], ["spawn"], ["large"], ["strange näme/" + "x".repeat(70)], ["together"], ["mixed"],
  ["defaults", { readOnlyHint: true }],
];
let asked = 1000;
let together = [];

const send = (message) => process.stdout.write(JSON.stringify({ jsonrpc: "2.0", ...message }) + "\n");
const answer = (id, text, more) => send({ id, result: { content: [{ type: "text", text }], ...more } });
const ask = (params, then) => {
  waiting.set(++asked, then);
  send({ id: asked, method: "elicitation/create", params });
};
const list = () => tools.map(([name, annotations]) => ({ name, annotations, inputSchema: { type: "object" } }));

function call(id, { name, arguments: given, _meta }) {
  const progress = (progress, message, total) =>
    send({ method: "notifications/progress", params: { progressToken: _meta.progressToken, progress, message, total } });
  const form = { type: "object", properties: { colour: { type: "string" } }, required: ["colour"] };
  switch (name) {
    case "crash":
      process.stderr.write("about to crash\n", () => process.exit(3));
      return;
    case "flood":
      process.stderr.write("x".repeat(5_000_000) + "\n" + "line\n".repeat(100_000), () => answer(id, "flooded"));
      return;
    case "garbage":
      process.stdout.write("hello, I am a banner\n{]\n[1]\n{\"jsonrpc\": 7}\n\n");
      return answer(id, "fine");
    case "silent":
      process.stderr.write("thinking\n", () => progress(1, "started"));
      return;
    case "ask":
      return ask({ message: "Which colour?", requestedSchema: form }, (result) => answer(id, JSON.stringify(result)));
    case "defaults": {
      const properties = {
        name: { type: "string" },
        size: { type: "integer", default: 3 },
        fast: { type: "boolean", default: false },
      };
      return ask({ message: "What?", requestedSchema: { type: "object", properties, required: ["name", "size"] } },
        (result) => answer(id, JSON.stringify(result)));
    }
    case "confirm":
      return ask({ message: "Really?", requestedSchema: { type: "object", properties: {} } },
        (result) => answer(id, result.action));
    case "progress":
      progress(1, "one");
      progress(0.5, "back");
      progress(20, "twenty");
      progress("soon", "nonsense");
      return progressDone(id);
    case "slow":
      return progress(1, "started", 4);
    case "cancelled":
      return answer(id, JSON.stringify(cancelled));
    case "grow":
      tools.push([given.name, undefined]);
      send({ method: "notifications/tools/list_changed" });
      return answer(id, "grown");
    case "fail":
      return answer(id, "it did not work", { isError: true });
    case "refuse":
      return send({ id, error: { code: -32602, message: "no such colour" } });
    case "where":
      return answer(id, "", { structuredContent: { folder: process.cwd(), names: Object.keys(process.env) } });
    case "spawn":
      return answer(id, String(spawn("sleep", ["1000"], { stdio: "ignore" }).pid));
    case "large":
      return answer(id, "y".repeat(300_000));
    case "mixed":
      return send({ id, result: { content: [
        { type: "text", text: "a" }, { type: "text", text: "b" },
        { type: "image", mimeType: "image/png", data: "A".repeat(100_000) },
        { type: "resource", resource: { uri: "x:1", text: "small" } },
        { type: "hologram", depth: 3 }] } });
    case "together":
      // Asks only once two calls are under way, so that nobody can tell for which.
      together.push(id);
      progress(1, "started");
      if (together.length === 2) {
        ask({ message: "Who?", requestedSchema: form }, (result) =>
          together.forEach((each) => answer(each, JSON.stringify(result))));
      }
      return;
    default:
      return answer(id, "called " + name);
  }
}

// After a tick, so that there is something to notice.
const progressDone = (id) => setImmediate(() => answer(id, "done"));

if (mode === "dies") {
  process.stderr.write("no licence found\n", () => process.exit(7));
} else {
  readline.createInterface({ input: process.stdin }).on("line", (line) => {
    const { id, method, params, result } = JSON.parse(line);
    if (method === "initialize") {
      if (mode !== "mute") {
        send({ id, result: { protocolVersion: params.protocolVersion, capabilities: { tools: {} }, serverInfo: { name: "odd", version: "1" } } });
      }
    } else if (method === "tools/list") {
      send({ id, result: { tools: list() } });
    } else if (method === "tools/call") {
      call(id, params);
    } else if (method === "notifications/cancelled") {
      cancelled.push(params);
    } else if (waiting.has(id)) {
      waiting.get(id)(result);
      waiting.delete(id);
    }
  }).on("close", () => process.exit(0));
}
