import type { AuthRequired } from "@parley/client";
import { useState } from "preact/hooks";
import { safeLink } from "../text/sanitize.js";
import { useAnswers } from "./answers.js";
import { useReady } from "./ready.js";

/** A sign-in: with a key for the vault, or on an external page. */
export function SignIn({ question }: { question: AuthRequired }) {
  const answers = useAnswers();
  const [secret, setSecret] = useState("");
  const [sent, setSent] = useState(false);
  const ready = useReady();
  const later = async (): Promise<void> => {
    setSent(true);
    setSent(await answers.skipSignIn(question.authId));
  };
  const notNow = (
    <button
      class="button"
      type="button"
      disabled={!ready || sent}
      title="The agent continues without signing in"
      onClick={() => void later()}
    >
      Skip
    </button>
  );
  const url = question.authUrl === undefined ? undefined : safeLink(question.authUrl);
  const submit = async (): Promise<void> => {
    if (secret !== "" && !sent) {
      setSent(true);
      const done = await answers.signIn(question.authId, secret);
      setSecret("");
      setSent(done);
    }
  };
  if (question.authUrl !== undefined && url === undefined) {
    return (
      <div class="question-body">
        <p class="problem" role="alert">
          {question.provider ?? "The service"} asks you to sign in at an address that is not a web
          address. This page does not open it.
        </p>
        <div class="question-actions">{notNow}</div>
      </div>
    );
  }
  if (url !== undefined) {
    return (
      <div class="question-body">
        <p class="muted">
          {question.provider ?? "The service"} asks you to sign in on its own page
          {question.scopes !== undefined &&
            question.scopes.length > 0 &&
            `, for: ${question.scopes.join(", ")}`}
          .
        </p>
        <div class="question-actions">
          <a class="button primary" href={url} target="_blank" rel="noopener noreferrer">
            Sign in at {new URL(url).host}
          </a>
          {notNow}
        </div>
      </div>
    );
  }
  return (
    <form
      class="question-body"
      data-typing
      onSubmit={(event) => {
        event.preventDefault();
        void submit();
      }}
    >
      <label class="field">
        <span>{question.provider === undefined ? "Key" : `Key for ${question.provider}`}</span>
        <input
          type="password"
          autocomplete="off"
          value={secret}
          onInput={(event) => setSecret(event.currentTarget.value)}
        />
      </label>
      <p class="muted">The key is stored in the server’s vault. The agent never sees it.</p>
      <div class="question-actions">
        <button class="button primary" type="submit" disabled={sent || secret === ""}>
          Sign in
        </button>
        {notNow}
      </div>
    </form>
  );
}
