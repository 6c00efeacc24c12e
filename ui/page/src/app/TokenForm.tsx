import { useState } from "preact/hooks";

/** Asks for a token where the server wants one. */
export function TokenForm({
  refused,
  onEnter,
}: {
  refused: boolean;
  onEnter: (token: string) => void;
}) {
  const [token, setToken] = useState("");
  const submit = (event: Event): void => {
    event.preventDefault();
    if (token.trim() !== "") {
      onEnter(token.trim());
    }
  };
  return (
    <main class="gate">
      <form class="gate-card" onSubmit={submit}>
        <h1>Parley</h1>
        <p>This server wants to know who you are. Enter the token that you were given.</p>
        <label class="field">
          <span>Token</span>
          <input
            type="password"
            autocomplete="current-password"
            autofocus
            value={token}
            onInput={(event) => setToken(event.currentTarget.value)}
          />
        </label>
        {refused && (
          <p class="problem" role="alert">
            This token is nobody’s. Whoever runs the server has its list, under{" "}
            <code>auth.tokens</code>.
          </p>
        )}
        <button class="button primary" type="submit" disabled={token.trim() === ""}>
          Enter
        </button>
        <p class="quiet">It is kept in this tab only, and forgotten when you close it.</p>
      </form>
    </main>
  );
}
