import type { AuthRequired } from "@parley/client";
import { useState } from "preact/hooks";
import { useSetting } from "../conversation/scene.js";
import { safeLink } from "../text/safe.js";
import { useReady } from "./ready.js";

/** Somebody is to sign in: with a key that goes to the vault, or at a page elsewhere. */
export function SignIn({ ask }: { ask: AuthRequired }) {
  const { conversation } = useSetting();
  const [secret, setSecret] = useState("");
  const [sent, setSent] = useState(false);
  const ready = useReady();
  const later = async (): Promise<void> => {
    setSent(true);
    setSent(await conversation.skipSignIn(ask.authId));
  };
  const notNow = (
    <button
      class="button"
      type="button"
      disabled={!ready || sent}
      title="The agent goes on without"
      onClick={() => void later()}
    >
      Skip
    </button>
  );
  const url = ask.authUrl === undefined ? undefined : safeLink(ask.authUrl);
  const submit = async (): Promise<void> => {
    if (secret !== "" && !sent) {
      setSent(true);
      const done = await conversation.signIn(ask.authId, secret);
      setSecret("");
      setSent(done);
    }
  };
  if (ask.authUrl !== undefined && url === undefined) {
    return (
      <div class="dock-body">
        <p class="problem" role="alert">
          {ask.provider ?? "The service"} wants you to sign in at an address that does not lead to
          the web. This page does not open it.
        </p>
        <div class="dock-actions">{notNow}</div>
      </div>
    );
  }
  if (url !== undefined) {
    return (
      <div class="dock-body">
        <p class="quiet">
          {ask.provider ?? "The service"} asks you in a page of its own
          {ask.scopes !== undefined && ask.scopes.length > 0 && `, for: ${ask.scopes.join(", ")}`}.
        </p>
        <div class="dock-actions">
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
      class="dock-body"
      data-typing
      onSubmit={(event) => {
        event.preventDefault();
        void submit();
      }}
    >
      <label class="field">
        <span>{ask.provider === undefined ? "Key" : `Key for ${ask.provider}`}</span>
        <input
          type="password"
          autocomplete="off"
          value={secret}
          onInput={(event) => setSecret(event.currentTarget.value)}
        />
      </label>
      <p class="quiet">It is kept in the server’s vault. The agent never sees it.</p>
      <div class="dock-actions">
        <button class="button primary" type="submit" disabled={sent || secret === ""}>
          Sign in
        </button>
        {notNow}
      </div>
    </form>
  );
}
