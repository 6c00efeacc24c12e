export * from "./ansi.js";
export * from "./api.js";
export * from "./artifact-content.js";
export type { Backoff, Clock } from "./clock.js";
export * from "./command-output.js";
export type { ConnectionState } from "./connection.js";
export * from "./conversation.js";
export * from "./csv.js";
export * from "./dataset.js";
export * from "./errors.js";
export * from "./event-details.js";
export * from "./event-line.js";
export * from "./event-log.js";
export * from "./events.js";
export * from "./export.js";
export * from "./form.js";
export { isPicked, pick } from "./form-list.js";
export * from "./context-list.js";
export { type ApiOptions, newKey } from "./http.js";
export * from "./json-compare.js";
export * from "./resolve-link.js";
export * from "./live-clock.js";
export * from "./live-context.js";
export * from "./trace-history.js";
export * from "./trace-selection.js";
export * from "./outbox.js";
export * from "./past.js";
export * from "./position.js";
export { corrected, readable, reduce, reduceAll } from "./reduce.js";
export * from "./rows.js";
export * from "./scroll.js";
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
export { hasEnded, retryText } from "./task-events.js";
export * from "./timeline.js";
export type { WorkflowEvent } from "./timeline-facts.js";
export * from "./tokens.js";
export * from "./tool-result.js";
export * from "./types.js";
export * from "./view.js";
export * from "./visible-text.js";
