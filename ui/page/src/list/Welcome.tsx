import { newKey, ParleyError, type NewMessage } from "@parley/client";
import { useEffect, useRef, useState } from "preact/hooks";
import { FIELDS, NARROW, useMedia } from "../app/hooks.js";
import { go } from "../app/route.js";
import { useSession } from "../app/session.js";
import { Composer } from "../conversation/Composer.js";
import { FirstMessage } from "../conversation/FirstMessage.js";
import { Icon, type IconName } from "../ui/Icon.js";
import { NeedsYou } from "./Sidebar.js";

interface Suggestion {
  readonly icon: IconName;
  readonly name: string;
  readonly about: string;
  readonly message: NewMessage;
}

/** Suggestions that work with the offline model, without a key or network. */
const SUGGESTIONS: readonly Suggestion[] = [
  {
    icon: "agents",
    name: "Watch agents work in parallel",
    about: "Two agents count, slowly, each in a thread of its own.",
    message: { content: "delegate count slowly to 30 to research and writer" },
  },
  {
    icon: "ask",
    name: "Approve a command",
    about: "An agent asks for approval before it runs a command on this machine.",
    message: { content: "run echo hello from the shell", agentId: "agent-code" },
  },
  {
    icon: "file",
    name: "Have a report written",
    about: "A file grows while it is written, and stays with the conversation.",
    message: { content: "write a report on the history of tea" },
  },
];

/** The start page for new conversations, also shown for invalid links. */
export function Welcome({ lost }: { lost: boolean }) {
  const { api, contextList, state, drafts, outboxes } = useSession();
  const [problem, setProblem] = useState<string>();
  /** The message that is being sent. */
  const [begun, setBegun] = useState<NewMessage>();
  const attempt = useRef({ key: newKey(), said: "" });
  const here = useRef(true);
  useEffect(
    () => () => {
      here.current = false;
    },
    [],
  );
  const begin = async (message: NewMessage, written: boolean): Promise<boolean> => {
    setProblem(undefined);
    setBegun(message);
    const said = JSON.stringify(message);
    if (said !== attempt.current.said) {
      attempt.current = { key: newKey(), said };
    }
    try {
      const accepted = await api.begin(message, { idempotencyKey: attempt.current.key });
      const { contextId } = accepted;
      attempt.current = { key: newKey(), said: "" };
      contextList.refresh();
      // Do not navigate if the user has left this page.
      if (here.current) {
        if (written) {
          drafts.begin(contextId, typesHere());
        }
        outboxes.begin(message, accepted);
        go({ contextId });
      }
      return true;
    } catch (failure) {
      if (failure instanceof ParleyError && !failure.retryable) {
        attempt.current = { key: newKey(), said };
      }
      setProblem(failure instanceof Error ? failure.message : String(failure));
      setBegun(undefined);
      return false;
    }
  };
  // On narrow screens the list is below the suggestions, which are then collapsed.
  const narrow = useMedia(NARROW);
  const first = !state.loading && state.contexts.length === 0;
  const known = new Set(state.agents.map((agent) => agent.id));
  const offline = state.agents.length === 0 || known.has("agent-code");
  return (
    <div class="welcome" data-begun={begun !== undefined || undefined}>
      <div class="welcome-box">
        {begun !== undefined && (
          <>
            <header class="conversation-head">
              <h2 class="title">New conversation</h2>
            </header>
            <div class="thread-rows" role="status">
              <FirstMessage message={begun} />
            </div>
          </>
        )}
        {begun === undefined && (
          <>
            {lost && (
              <p class="toast muted" role="status">
                The link is not valid. Choose a conversation from the list, or start one.
              </p>
            )}
            <h2 class="welcome-title">
              {first ? "Welcome. What would you like done?" : "What would you like done?"}
            </h2>
            {first && (
              <p class="muted">
                Describe it, and agents do it. Parley records every step. You can close this page at
                any time: the agents continue, and everything is here when you come back.
              </p>
            )}
          </>
        )}
        {/* The same element before and after sending, so that the user can keep typing. */}
        <div key="composer" class={begun === undefined ? undefined : "bottom"}>
          <Composer
            contextId={undefined}
            busy={false}
            started={begun !== undefined}
            onSend={(message) => begin(message, true)}
          />
        </div>
        {problem !== undefined && (
          <p class="problem" role="alert">
            {problem}
          </p>
        )}
        {begun === undefined && <NeedsYou />}
        {offline && begun === undefined && (
          <details class="suggestion-list" open={first || !narrow}>
            <summary class="suggestion-title">Try one of these</summary>
            <ul class="suggestions">
              {SUGGESTIONS.map((one) => (
                <li key={one.name}>
                  <button
                    type="button"
                    class="suggestion"
                    onClick={() => void begin(one.message, false)}
                  >
                    <Icon name={one.icon} />
                    <strong>{one.name}</strong>
                    <span>{one.about}</span>
                    <code>{one.message.content}</code>
                  </button>
                </li>
              ))}
            </ul>
          </details>
        )}
      </div>
    </div>
  );
}

/** True if the composer still has the focus. */
function typesHere(): boolean {
  const { activeElement } = document;
  return activeElement?.matches(FIELDS) === true && activeElement.closest(".composer") !== null;
}
