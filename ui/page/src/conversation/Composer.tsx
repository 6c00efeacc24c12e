import { agentToAsk, type NewMessage } from "@parley/client";
import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import { typing, useKeys, useSetting } from "../app/hooks.js";
import { useSession } from "../app/session.js";
import { turnToAsk } from "../ask/ready.js";
import { useFocus } from "../ui/focus.js";
import { Icon } from "../ui/Icon.js";
import { MessageOptions, type Options, optionsOf } from "./MessageOptions.js";

type WhenBusy = NonNullable<NewMessage["whenBusy"]>;

/** Text that comes back to where it was written; `n` tells one time from the next. */
export interface Unsent {
  readonly text: string;
  readonly n: number;
}

interface ComposerProps {
  /** The conversation that it writes to; a new one, if it is missing. */
  readonly contextId: string | undefined;
  /** Who was asked last in it, if somebody was chosen. */
  readonly agentId?: string | undefined;
  /** True if a task is at work: then it is said what becomes of both. */
  readonly busy: boolean;
  /** What could not be sent, to be changed. */
  readonly unsent?: Unsent;
  /** Says it. False if it did not get there: then the text stays. */
  readonly onSend: (message: NewMessage) => Promise<boolean> | boolean;
  readonly onStop?: () => void;
  /** True if one more key stops what runs. */
  readonly stopping?: boolean;
}

const WAYS: readonly { way: WhenBusy; name: string; about: string }[] = [
  { way: "enqueue", name: "Queue", about: "It waits until what runs is done" },
  { way: "steer", name: "Steer", about: "What runs takes it up before its next step" },
  { way: "interrupt", name: "Interrupt", about: "What runs is stopped, and this comes next" },
];
const HEIGHT_MAX = 240;

/** Where messages are written. */
export function Composer(props: ComposerProps) {
  const { contextId, busy, unsent, onSend, onStop, stopping = false } = props;
  const { state, drafts } = useSession();
  const fresh = contextId === undefined;
  const [goesOn] = useState(() => drafts.takeOver(contextId));
  const [content, setContent] = useState(() => drafts.text(contextId));
  const [way, setWay] = useState<WhenBusy>("enqueue");
  const [sending, setSending] = useState(false);
  // Who was chosen for one conversation is not meant for the others.
  const [forNew, setForNew] = useSetting("agent", "");
  const [chosen, setChosen] = useState<string>();
  const agentId = fresh ? forNew : (chosen ?? props.agentId ?? "");
  const [options, setOptions] = useState<Options>({});
  const box = useRef<HTMLTextAreaElement>(null);
  useFocus(box, fresh);
  useLayoutEffect(() => {
    // Who was typing when the conversation began goes on in it: no key may fall on nothing.
    if (goesOn) {
      box.current?.focus({ preventScroll: true });
    }
  }, []);
  const write = (text: string): void => {
    drafts.write(contextId, text);
    setContent(text);
  };
  useEffect(() => {
    if (unsent !== undefined && unsent.text !== "") {
      write(joined(drafts.text(contextId), unsent.text));
    }
  }, [unsent?.n]);
  useEffect(() => grow(box.current), [content]);
  useKeys((event) => {
    if (event.key === "i" && !typing(event) && !event.ctrlKey && !event.metaKey) {
      event.preventDefault();
      box.current?.focus();
    }
  });
  const asks = agentToAsk(state.agents, agentId);
  const send = async (): Promise<void> => {
    if (content.trim() === "" || sending) {
      return;
    }
    const message: NewMessage = {
      content,
      ...(asks === undefined ? {} : { agentId: asks }),
      ...(busy ? { whenBusy: way } : {}),
      ...optionsOf(options),
    };
    write("");
    setSending(true);
    const done = await onSend(message);
    setSending(false);
    if (!done) {
      write(joined(content, drafts.text(contextId)));
    }
  };
  const leave = (event: KeyboardEvent): void => {
    if (turnToAsk()) {
      // Only from there on it is about what runs.
      event.stopPropagation();
    } else if (!busy) {
      box.current?.blur();
    }
  };
  const pressed = (event: KeyboardEvent): void => {
    if (event.key === "Enter" && !event.shiftKey && !event.isComposing) {
      event.preventDefault();
      void send();
    } else if (event.key === "Escape" && !event.isComposing) {
      leave(event);
    }
  };
  return (
    <form
      class="composer"
      onSubmit={(event) => {
        event.preventDefault();
        void send();
      }}
    >
      <textarea
        ref={box}
        rows={fresh ? 3 : 1}
        value={content}
        aria-label="Message"
        placeholder={busy ? "Say something to what runs, or after it" : "Say what should be done"}
        onInput={(event) => write(event.currentTarget.value)}
        onKeyDown={pressed}
      />
      <div class="composer-bar">
        <label class="pick">
          <span class="sr">Agent</span>
          <select
            value={asks ?? ""}
            onChange={(event) => (fresh ? setForNew : setChosen)(event.currentTarget.value)}
          >
            <option value="">{state.agents.length > 1 ? "Whoever fits" : "Agent"}</option>
            {state.agents.map((agent) => (
              <option key={agent.id} value={agent.id} title={agent.description}>
                {agent.name}
              </option>
            ))}
          </select>
        </label>
        {busy && <Ways way={way} onWay={setWay} />}
        <MessageOptions options={options} onChange={setOptions} />
        <div class="composer-end">
          {busy && stopping && (
            <span class="quiet" role="status">
              Esc again stops it
            </span>
          )}
          {busy && onStop !== undefined && (
            <button type="button" class="button stop" onClick={onStop}>
              <Icon name="stop" /> <span class="stop-word">Stop</span>
            </button>
          )}
          <button
            class="icon-button send"
            type="submit"
            aria-label="Send"
            disabled={content.trim() === "" || sending}
          >
            <Icon name="send" />
          </button>
        </div>
      </div>
    </form>
  );
}

function Ways({ way, onWay }: { way: WhenBusy; onWay: (way: WhenBusy) => void }) {
  return (
    <div class="segments" role="radiogroup" aria-label="What becomes of this while a task runs">
      {WAYS.map((one) => (
        <label key={one.way} title={one.about} data-on={one.way === way}>
          <input
            class="sr"
            type="radio"
            name="way"
            checked={one.way === way}
            onChange={() => onWay(one.way)}
          />
          {one.name}
        </label>
      ))}
    </div>
  );
}

/** Two texts below one another; one of them, if the other says nothing. */
function joined(first: string, second: string): string {
  return [first, second].filter((text) => text.trim() !== "").join("\n\n");
}

/** As high as its text, within limits. */
function grow(box: HTMLTextAreaElement | null): void {
  if (box !== null) {
    box.style.height = "auto";
    box.style.height = `${Math.min(box.scrollHeight, HEIGHT_MAX)}px`;
  }
}
