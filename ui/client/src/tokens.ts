/** The tokens that a model reads and writes. `inputTokens` excludes cached tokens. */
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

/** The tokens of one usage event; providers without a cache omit the cache counts. */
export interface UsedTokens {
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly cacheCreationInputTokens?: number;
  readonly cacheReadInputTokens?: number;
}

/** All input tokens, including cached ones. */
export function inputTokensOf(used: UsedTokens): number {
  const cached = (used.cacheCreationInputTokens ?? 0) + (used.cacheReadInputTokens ?? 0);
  return used.inputTokens + cached;
}

/** All tokens, input and output. Every token sum on the page uses this function. */
export function tokensOf(used: UsedTokens): number {
  return inputTokensOf(used) + used.outputTokens;
}
