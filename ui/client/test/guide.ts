/** The code of docs/typescript-client.md, compiled here; a test compares them. */
import {
  Conversation,
  emptyContext,
  fromSnapshot,
  groupsOf,
  ContextList,
  keyOf,
  LiveContext,
  ParleyApi,
  ParleyError,
  type ParleyEvent,
  reduce,
  rowsOf,
  streamContext,
  TaskStream,
  timelineOf,
  view,
} from "@parley/client";
import {
  AgentMessages,
  aggregateTokens,
  type MessageSource,
  lineOf,
  messagesOf,
  loadSession,
  reduceSession,
  rewindTo,
  shown,
} from "@parley/client/compat";

declare const api: ParleyApi;
declare const contextId: string;
declare const agentId: string;
declare const events: ParleyEvent[];
declare const tasks: unknown[];
declare const frames: AsyncIterable<unknown>;
declare const invocationId: string;
declare const socket: MessageSource;
declare function render(shown: unknown): void;

export async function page(): Promise<void> {
  const contextList = new ContextList(api);
  const conversation = new Conversation(api, contextId);
  conversation.subscribe(() => {
    const { shown, outgoing, refused, connection } = conversation.get();
    const rows = shown === undefined ? [] : rowsOf(view(shown));
    render({ rows, outgoing, refused, connection, lists: groupsOf(contextList.get()) });
  });
  await conversation.send({ content: "count to 10" });
  conversation.close();
  contextList.close();
}

export async function calls(): Promise<void> {
  const api = new ParleyApi({ url: "http://localhost:7070", token: "my-token" });
  const { contextId } = await api.createContext({ title: "Counting" });
  try {
    await api.send(
      contextId,
      { content: "count to 10", whenBusy: "reject" },
      { idempotencyKey: "7c9e" },
    );
  } catch (error) {
    if (error instanceof ParleyError && error.code === "busy") {
      console.log(error.message);
    }
  }
}

export async function answer(): Promise<void> {
  const answer = await TaskStream.send(api, contextId, { content: "count slowly to 20" });
  for await (const event of answer) {
    if (event.kind === "content-delta") {
      console.log(event.delta);
    }
  }
  console.log(answer.accepted.taskId, answer.outcome);
}

export async function stream(): Promise<void> {
  const stream = streamContext(api, contextId, {
    after: 0,
    onState: ({ status, lagMs, recovered, retryInMs }) =>
      render({ status, lagMs, recovered, retryInMs }),
  });
  for await (const event of stream) {
    console.log(event.seq, event.kind);
  }
}

export function live(): void {
  const live = new LiveContext(api, contextId);
  const stop = live.subscribe(() => {
    const { context, loading, connection, error } = live.get();
    render({ loading, connection, error, shown: context && view(context) });
  });
  stop();
  live.close();
}

export async function reducer(): Promise<void> {
  let state = emptyContext(contextId);
  for (const event of events) {
    state = reduce(state, event);
  }
  // The same, from a snapshot on:
  state = fromSnapshot(await api.snapshot(contextId));
  render(view(state));
}

export function timeline(): void {
  const { items, orphans } = timelineOf(events);
  for (const item of items) {
    if (item.kind === "subagentGroup") {
      const { completed, total } = item.progress;
      console.log(
        keyOf(item),
        `${completed} of ${total}`,
        item.threads.map((thread) => thread.taskId),
      );
    }
  }
  console.log(orphans.length, "sub-agents whose call has not come yet");
}

export function agentMessages(): void {
  const output = new AgentMessages(messagesOf(api), socket);
  output.subscribe(() => {
    const { messages, loading, error, refetch } = output.get();
    render({ lines: aggregateTokens(messages).map(lineOf), loading, error, refetch });
  });
  output.select(agentId);
}

export async function session(): Promise<void> {
  // tasks: the data of GET /api/sessions/{id}/tasks; frames: the data of each event of a stream.
  let state = loadSession(tasks);
  state = rewindTo(state, invocationId);
  render(shown(state));
  for await (const frame of frames) {
    state = reduceSession(state, frame, (why, payload) => console.warn(why, payload));
    render({ messages: shown(state), text: state.text, status: state.status });
  }
}
