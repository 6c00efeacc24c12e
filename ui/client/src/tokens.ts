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

/** All of them: what is in the cache was read too, and is paid for. */
export function tokensOf(used: Tokens): number {
  const cached = used.cacheCreationInputTokens + used.cacheReadInputTokens;
  return used.inputTokens + cached + used.outputTokens;
}
