/** What a model reads and writes. What it has in its cache is not among `inputTokens`. */
export interface Tokens {
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly cacheCreationInputTokens: number;
  readonly cacheReadInputTokens: number;
}

export const NO_TOKENS: Tokens = {
  inputTokens: 0,
  outputTokens: 0,
  cacheCreationInputTokens: 0,
  cacheReadInputTokens: 0,
};

/** What one call used, as its event tells it: providers without a cache leave those counts out. */
export interface UsedTokens {
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly cacheCreationInputTokens?: number;
  readonly cacheReadInputTokens?: number;
}

/** All that the model read: what is in the cache was read too, and is paid for. */
export function inputTokensOf(used: UsedTokens): number {
  const cached = (used.cacheCreationInputTokens ?? 0) + (used.cacheReadInputTokens ?? 0);
  return used.inputTokens + cached;
}

/** All that the model read and wrote. Every sum of tokens on the page is made of these. */
export function tokensOf(used: UsedTokens): number {
  return inputTokensOf(used) + used.outputTokens;
}
