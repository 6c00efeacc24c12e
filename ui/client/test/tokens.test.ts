import assert from "node:assert/strict";
import { test } from "node:test";
import { inputTokensOf, tokensOf } from "../src/tokens.js";

// The server's `Usage.totalTokens` gives the same sums.
const USED = {
  inputTokens: 10,
  outputTokens: 5,
  cacheCreationInputTokens: 20,
  cacheReadInputTokens: 30,
};

test("sums of tokens have those of the cache", () => {
  assert.equal(inputTokensOf(USED), 60);
  assert.equal(tokensOf(USED), 65);
});

test("a provider without a cache counts what it says", () => {
  assert.equal(tokensOf({ inputTokens: 10, outputTokens: 5 }), 15);
});
