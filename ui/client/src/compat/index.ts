export * from "./agent-messages.js";
export * from "./aggregate.js";
export * from "./message-line.js";
export * from "./session.js";
export * from "./session-items.js";
