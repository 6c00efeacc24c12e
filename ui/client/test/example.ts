import { LiveContext, ParleyApi, TaskStream, view } from "@parley/client";

const api = new ParleyApi({ url: process.env["PARLEY_URL"] ?? "http://localhost:7070" });
const { contextId } = await api.createContext({ title: "First steps" });

// Say something, and read what comes of it, however often the connection is lost.
const stream = await TaskStream.send(api, contextId, { content: "count to 5" });
for await (const event of stream) {
  if (event.kind === "content-delta") {
    process.stdout.write(event.delta);
  }
}
console.log(`: ${stream.outcome}`);

// Keep a view of the whole context: messages, tasks, questions, artifacts, costs.
const live = new LiveContext(api, contextId);
live.subscribe(() => {
  const { context } = live.get();
  if (context !== undefined) {
    for (const entry of view(context).conversation) {
      console.log(
        entry.kind === "message" ? `${entry.message.role}: ${entry.message.content}` : entry.text,
      );
    }
    live.close();
  }
});
