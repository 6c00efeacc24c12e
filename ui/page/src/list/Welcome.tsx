import { newKey, ParleyError, type NewMessage } from "@parley/client";
import { useEffect, useRef, useState } from "preact/hooks";
import { FIELDS, NARROW, useMedia } from "../app/hooks.js";
import { go } from "../app/route.js";
import { useSession } from "../app/session.js";
import { Composer } from "../conversation/Composer.js";
import { Icon, type IconName } from "../ui/Icon.js";
import { NeedsYou } from "./Sidebar.js";

interface Suggestion {
  readonly icon: IconName;
  readonly name: string;
  readonly about: string;
  readonly message: NewMessage;
}

/** Three things that work on the offline model, without a key or a network. */
const SUGGESTIONS: readonly Suggestion[] = [
  {
    icon: "agents",
    name: "Watch agents work side by side",
    about: "Two agents count, slowly, each in a thread of its own.",
    message: { content: "delegate count slowly to 30 to research and writer" },
  },
  {
    icon: "ask",
    name: "Approve a command",
    about: "An agent wants to run something on this machine, and waits for your yes.",
    message: { content: "run echo hello from the shell", agentId: "agent-code" },
  },
  {
    icon: "file",
    name: "Have a report written",
    about: "A file grows while it is written, and stays with the conversation.",
    message: { content: "write a report on the history of tea" },
  },
];

/** Where a conversation begins; also for who came by a link that leads nowhere. */
export function Welcome({ lost }: { lost: boolean }) {
  const { api, home, state, drafts } = useSession();
  const [problem, setProblem] = useState<string>();
  const [begun, setBegun] = useState(false);
  const attempt = useRef({ key: newKey(), said: "" });
  const here = useRef(true);
  useEffect(() => () => void (here.current = false), []);
  const begin = async (message: NewMessage, written: boolean): Promise<boolean> => {
    setProblem(undefined);
    setBegun(true);
    const said = JSON.stringify(message);
    if (said !== attempt.current.said) {
      attempt.current = { key: newKey(), said };
    }
    try {
      const { contextId } = await api.begin(message, { idempotencyKey: attempt.current.key });
      attempt.current = { key: newKey(), said: "" };
      home.refresh();
      // Who has gone elsewhere meanwhile types for something else, also when they have come back.
      if (here.current) {
        if (written) {
          drafts.begin(contextId, typesHere());
        }
        go({ contextId });
      }
      return true;
    } catch (failure) {
      if (failure instanceof ParleyError && !failure.passing) {
        attempt.current = { key: newKey(), said };
      }
      setProblem(failure instanceof Error ? failure.message : String(failure));
      setBegun(false);
      return false;
    }
  };
  // The list stands below what can be tried on a narrow screen: who has one is not to look for it.
  const narrow = useMedia(NARROW);
  const first = !state.loading && state.contexts.length === 0;
  const known = new Set(state.agents.map((agent) => agent.id));
  const offline = state.agents.length === 0 || known.has("agent-code");
  return (
    <div class="welcome">
      <div class="welcome-box">
        {lost && (
          <p class="toast quiet" role="status">
            The link leads to nothing here. Choose a conversation from the list, or begin one.
          </p>
        )}
        <h2>{first ? "Welcome. What should be done?" : "What should be done?"}</h2>
        {first && (
          <p class="quiet">
            Say it, and agents do it. Every step they take is kept, and you can close this page at
            any moment: they go on, and it is all here when you come back.
          </p>
        )}
        <Composer
          contextId={undefined}
          busy={false}
          onSend={(message) => begin(message, true)}
        />
        {problem !== undefined && (
          <p class="problem" role="alert">
            {problem}
          </p>
        )}
        <NeedsYou />
        {offline && (
          <details class="tries" open={first || !narrow}>
            <summary class="try">Three things to try</summary>
            <ul class="suggestions">
              {SUGGESTIONS.map((one) => (
                <li key={one.name}>
                  <button
                    class="suggestion"
                    disabled={begun}
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

/** True if the hands are still where the message was written. */
function typesHere(): boolean {
  const { activeElement } = document;
  return activeElement?.matches(FIELDS) === true && activeElement.closest(".composer") !== null;
}
