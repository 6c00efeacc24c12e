import { groupsOf, ContextList, LiveClock, ParleyError } from "@parley/client";
import { useEffect, useMemo, useState } from "preact/hooks";
import { usePauseWhenHidden } from "../connection/reconnect.js";
import { ConversationPage } from "../conversation/ConversationPage.js";
import { Drafts } from "../conversation/drafts.js";
import { Outboxes } from "../conversation/outboxes.js";
import { Inbox } from "../inbox/Inbox.js";
import { useNotifications } from "../inbox/notifications.js";
import { Sidebar } from "../list/Sidebar.js";
import { Welcome } from "../list/Welcome.js";
import { ErrorBoundary } from "../ui/ErrorBoundary.js";
import { Shortcuts } from "./Shortcuts.js";
import { useKeys, useStore } from "./hooks.js";
import { followLink, go, useRoute } from "./route.js";
import { apiOf, SessionContext, storedToken, storeToken, useSession } from "./session.js";
import { TokenForm } from "./TokenForm.js";
import { isCommand, isNavigation, typeIntoVisibleInput } from "./typing.js";

/** The whole page. */
export function App() {
  const [token, setToken] = useState(storedToken);
  const api = useMemo(() => apiOf(token), [token]);
  const contextList = useMemo(() => new ContextList(api), [api]);
  const drafts = useMemo(() => {
    const restored = new Drafts();
    restored.restore();
    return restored;
  }, [api]);
  useEffect(() => {
    const store = (): void => drafts.store();
    addEventListener("pagehide", store);
    return () => removeEventListener("pagehide", store);
  }, [drafts]);
  const outboxes = useMemo(() => new Outboxes(api), [api]);
  useEffect(() => {
    // Unsent messages exist only in this page, so the browser asks before it leaves.
    const warn = (event: Event): void => {
      if (outboxes.unsent) {
        event.preventDefault();
      }
    };
    addEventListener("beforeunload", warn);
    return () => removeEventListener("beforeunload", warn);
  }, [outboxes]);
  useEffect(() => () => contextList.close(), [contextList]);
  usePauseWhenHidden(contextList);
  const clock = useMemo(() => new LiveClock(), []);
  useEffect(() => {
    const changed = (): void => (document.hidden ? clock.pause() : clock.resume());
    changed();
    document.addEventListener("visibilitychange", changed);
    return () => document.removeEventListener("visibilitychange", changed);
  }, [clock]);
  const state = useStore(contextList);
  const locked = state.error instanceof ParleyError && state.error.status === 401;
  if (locked) {
    const enter = (given: string): void => {
      // The drafts may belong to another person.
      Drafts.forget();
      storeToken(given);
      setToken(given);
      contextList.refresh();
    };
    return <TokenForm refused={token !== undefined} onEnter={enter} />;
  }
  return (
    <SessionContext.Provider value={{ api, contextList, state, drafts, outboxes, clock }}>
      <Layout needsYou={groupsOf(state).needsYou.length} />
    </SessionContext.Provider>
  );
}

function Layout({ needsYou }: { needsYou: number }) {
  const route = useRoute();
  const [help, setHelp] = useState(false);
  const { state } = useSession();
  const { contextId, inbox } = route;
  useNotifications(state.inbox, state.agents, state.loading);
  useEffect(() => {
    document.addEventListener("click", followLink);
    return () => document.removeEventListener("click", followLink);
  }, []);
  useEffect(() => {
    const name = needsYou > 0 ? `(${needsYou}) Parley` : "Parley";
    document.title = name;
  }, [needsYou]);
  useKeys((event) => {
    if (isCommand(event) && event.key === "/") {
      event.preventDefault();
      setHelp(true);
    } else if (isNavigation(event) && event.code === "KeyN") {
      event.preventDefault();
      go({});
    } else if (isNavigation(event) && event.code === "KeyI") {
      event.preventDefault();
      go({ inbox: true });
    } else {
      typeIntoVisibleInput(event);
    }
  });
  return (
    <div class="layout" data-open={contextId === undefined && !inbox ? "list" : "conversation"}>
      {/* biome-ignore lint/a11y/useValidAnchor: a skip link is an anchor. */}
      <a class="skip" href="#main" onClick={skip}>
        Skip to the conversation
      </a>
      <Sidebar selected={contextId} inbox={inbox} onKeys={() => setHelp(true)} />
      <main id="main" class="main" tabIndex={-1}>
        <h1 class="sr-only">Parley</h1>
        {inbox ? (
          <Inbox />
        ) : contextId === undefined ? (
          <Welcome lost={route.lost} />
        ) : (
          <ErrorBoundary key={contextId} what="This conversation">
            <ConversationPage contextId={contextId} route={route} />
          </ErrorBoundary>
        )}
      </main>
      {help && <Shortcuts onClose={() => setHelp(false)} />}
    </div>
  );
}

/** The hash is used for routing, so the default jump would navigate. */
function skip(event: Event): void {
  event.preventDefault();
  document.getElementById("main")?.focus();
}
