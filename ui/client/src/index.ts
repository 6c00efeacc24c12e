export * from "./agent-messages.js";
export * from "./aggregate.js";
export * from "./api.js";
export * from "./artifact-content.js";
export { type Backoff, type Clock } from "./clock.js";
export type { ConnectionState } from "./connection.js";
export * from "./conversation.js";
export * from "./csv.js";
export * from "./dataset.js";
export * from "./display.js";
export * from "./errors.js";
export * from "./event-line.js";
export * from "./event-log.js";
export * from "./events.js";
export * from "./export.js";
export * from "./form.js";
export { isPicked, pick } from "./form-list.js";
export * from "./home.js";
export { type ApiOptions, newKey } from "./http.js";
export * from "./json-compare.js";
export * from "./linked.js";
export * from "./live-context.js";
export * from "./marks.js";
export * from "./outbox.js";
export * from "./past.js";
export * from "./position.js";
export { corrected, readable, reduce, reduceAll } from "./reduce.js";
export * from "./rows.js";
export * from "./scroll.js";
export * from "./session.js";
export * from "./session-items.js";
export * from "./snapshot.js";
export * from "./spans.js";
export * from "./sse.js";
export * from "./state.js";
export * from "./store.js";
export {
  EventStream,
  type StreamedEvent,
  StreamGap,
  type StreamOptions,
  streamContext,
} from "./stream.js";
export { type FollowOptions, TaskStream } from "./task-stream.js";
export { hasEnded } from "./task-events.js";
export * from "./timeline.js";
export { type WorkflowEvent } from "./timeline-facts.js";
export * from "./tokens.js";
export * from "./types.js";
export * from "./view.js";
export * from "./visible-text.js";
