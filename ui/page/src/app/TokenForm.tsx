import { useEffect, useState } from "preact/hooks";
import { type SignInOffer, signInLink, signInOffers, storeToken } from "./session.js";

/** Links to sign in, and the form for a token. */
export function TokenForm({
  refused,
  onEnter,
}: {
  refused: boolean;
  onEnter: (token: string) => void;
}) {
  const [token, setToken] = useState("");
  const [offers, setOffers] = useState<readonly SignInOffer[]>([]);
  useEffect(() => {
    void signInOffers().then(setOffers);
  }, []);
  const submit = (event: Event): void => {
    event.preventDefault();
    if (token.trim() !== "") {
      onEnter(token.trim());
    }
  };
  return (
    <main class="token-page">
      <form class="token-card" onSubmit={submit}>
        <h1>Parley</h1>
        {offers.map((offer) => (
          // A token that this tab still has would be sent instead of the cookie of the sign-in.
          <a
            key={offer.url}
            class="button primary"
            href={signInLink(offer)}
            onClick={() => storeToken(undefined)}
          >
            Sign in with {offer.name}
          </a>
        ))}
        <p>
          {offers.length === 0
            ? "This server requires a token. Enter the token that you were given."
            : "Or enter a token that you were given."}
        </p>
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
            This token is not valid. The server’s configuration lists the valid tokens under{" "}
            <code>auth.tokens</code>.
          </p>
        )}
        <button class="button primary" type="submit" disabled={token.trim() === ""}>
          Sign in
        </button>
        <p class="muted">
          The token is kept in this tab only and is removed when you close the tab.
        </p>
      </form>
    </main>
  );
}
