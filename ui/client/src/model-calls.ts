import type { ContentComplete, InternalLlmCall, UsageFact } from "./events.js";
import type { ModelCall } from "./state.js";
import { NO_TOKENS, type Tokens } from "./tokens.js";

/** Adds a model call. */
export function startedCall(
  calls: readonly ModelCall[],
  event: InternalLlmCall,
): readonly ModelCall[] {
  const call: ModelCall = {
    seq: event.seq,
    k: event.k ?? 0,
    model: event.model,
    iteration: event.iteration,
    startedAt: event.timestamp,
    endedAt: undefined,
    counted: false,
    ...NO_TOKENS,
    costUsd: undefined,
  };
  // An interrupted call is repeated; it ended when the interruption was noticed.
  return [...endedCalls(calls, event.timestamp), call];
}

/** Ends a model call. */
export function answeredCall(
  calls: readonly ModelCall[],
  event: ContentComplete,
): readonly ModelCall[] {
  return endedCalls(calls, event.timestamp);
}

/** Adds the usage to the last model call, or adds a call if that already has its usage. */
export function counted(calls: readonly ModelCall[], event: UsageFact): readonly ModelCall[] {
  const { model, costUsd } = event;
  const last = calls.at(-1);
  const known = last !== undefined && !last.counted ? last : undefined;
  const call: ModelCall = {
    ...(known ?? { seq: event.seq, k: 0, iteration: undefined, startedAt: undefined }),
    model,
    endedAt: known?.endedAt ?? event.timestamp,
    counted: true,
    ...tokensIn(event),
    costUsd,
  };
  return [...(known === undefined ? calls : calls.slice(0, -1)), call];
}

/** Ends all open calls. */
export function endedCalls(
  calls: readonly ModelCall[],
  timestamp: string | undefined,
): readonly ModelCall[] {
  return calls.at(-1)?.endedAt !== undefined || calls.length === 0
    ? calls
    : calls.map((call) => (call.endedAt === undefined ? { ...call, endedAt: timestamp } : call));
}

/** The tokens of one usage event. */
export function tokensIn(event: UsageFact): Tokens {
  return {
    inputTokens: event.inputTokens,
    outputTokens: event.outputTokens,
    cacheCreationInputTokens: event.cacheCreationInputTokens ?? 0,
    cacheReadInputTokens: event.cacheReadInputTokens ?? 0,
  };
}
