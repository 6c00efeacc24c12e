import { agentToAsk, type NewMessage } from "@parley/client";
import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import { useSetting } from "../app/hooks.js";
import { agentName, useSession } from "../app/session.js";
import { isCommand, takesText } from "../app/typing.js";
import { type Ask, kindOf, typedOption } from "../ask/asks.js";
import { Icon } from "../ui/Icon.js";
import { answerLabel, type ComposerAsk, ComposerTarget } from "./ComposerTarget.js";
import { joined, useDraft } from "./draft.js";
import { MessageOptions, type Options, optionsOf } from "./MessageOptions.js";
import { STOP_KEYS } from "./stop.js";

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
  /** True while it is not known yet what the conversation asks. */
  readonly loading?: boolean;
  /** What is asked in the conversation. */
  readonly asked?: ComposerAsk | undefined;
  /** The ids of all questions that are open, also while the past is looked at. */
  readonly open?: readonly string[];
}

const WAYS: readonly { way: WhenBusy; name: string; about: string }[] = [
  { way: "enqueue", name: "Queue", about: "It waits until what runs is done" },
  { way: "steer", name: "Steer", about: "What runs takes it up before its next step" },
  { way: "interrupt", name: "Interrupt", about: "What runs is stopped, and this comes next" },
];
const HEIGHT_MAX = 240;

/** Where messages are written, and the answers to questions. */
export function Composer(props: ComposerProps) {
  const { contextId, busy, loading = false, unsent, asked, open = [], onSend, onStop } = props;
  const { state, drafts } = useSession();
  const fresh = contextId === undefined;
  const [goesOn] = useState(() => drafts.takeOver(contextId));
  const draft = useDraft(contextId, asked, { loading, goesOn, open });
  const { content, answers, decided, setAnswers, write, writeMessage } = draft;
  const [way, setWay] = useState<WhenBusy>("enqueue");
  const [sending, setSending] = useState(false);
  const [held, setHeld] = useState(false);
  // What was typed for a choice, and is none.
  const [misfit, setMisfit] = useState<string>();
  // Who was chosen for one conversation is not meant for the others.
  const [forNew, setForNew] = useSetting("agent", "");
  const [chosen, setChosen] = useState<string>();
  const agentId = fresh ? forNew : (chosen ?? props.agentId ?? "");
  const [options, setOptions] = useState<Options>({});
  const box = useRef<HTMLTextAreaElement>(null);
  useLayoutEffect(() => {
    // It has the focus before the next key: what is typed is for the conversation that is open.
    const elsewhere = takesText(document.activeElement) && !fresh;
    if (goesOn || (!elsewhere && matchMedia("(pointer: fine)").matches)) {
      box.current?.focus({ preventScroll: true });
    }
  }, []);
  useEffect(() => {
    if (unsent !== undefined && unsent.text !== "") {
      writeMessage(joined(drafts.text(contextId), unsent.text));
    }
  }, [unsent?.n]);
  useEffect(() => grow(box.current), [content]);
  const asks = agentToAsk(state.agents, agentId);
  const message = async (): Promise<void> => {
    const next: NewMessage = {
      content,
      ...(asks === undefined ? {} : { agentId: asks }),
      ...(busy ? { whenBusy: way } : {}),
      ...optionsOf(options),
    };
    writeMessage("");
    setSending(true);
    const done = await onSend(next);
    setSending(false);
    if (!done) {
      writeMessage(joined(content, drafts.text(contextId)));
    }
  };
  const answer = async ({ ask, onAnswer }: ComposerAsk): Promise<void> => {
    if (ask.kind !== "input-required") {
      return;
    }
    const value = kindOf(ask) === "choice" ? typedOption(ask.options ?? [], content) : content;
    if (value === undefined) {
      setMisfit(content);
      return;
    }
    draft.writeAnswer(ask.inputId, "");
    setSending(true);
    const taken = await onAnswer(ask.inputId, value);
    setSending(false);
    if (!taken) {
      draft.giveBack(ask.inputId, content);
    }
  };
  const send = async (): Promise<void> => {
    if (content.trim() === "" || sending) {
      return;
    }
    if (loading) {
      // What it is for is known once the conversation is there.
      setHeld(true);
    } else if (answers && asked !== undefined) {
      await answer(asked);
    } else {
      setAnswers(true);
      await message();
    }
  };
  useEffect(() => {
    if (held && !loading && decided) {
      setHeld(false);
      if (answers || asked === undefined) {
        void send();
      }
    }
  }, [held, loading, decided]);
  const pressed = (event: KeyboardEvent): void => {
    if (event.key === "Enter" && !event.shiftKey && !event.isComposing) {
      if (isCommand(event) && content.trim() === "") {
        // There is nothing to send: the chord is for what is asked.
        return;
      }
      event.preventDefault();
      void send();
    } else if (event.key === "Escape" && !event.isComposing && asked?.folded !== false) {
      box.current?.blur();
    }
  };
  const who = asked && agentName(state.agents, asked.ask.agentId);
  const label = answers && asked ? answerLabel(asked.ask, who ?? "") : "Message";
  return (
    <form
      class="composer"
      onSubmit={(event) => {
        event.preventDefault();
        void send();
      }}
    >
      {asked !== undefined && (
        <ComposerTarget
          asked={asked}
          answers={answers}
          onAnswers={(next) => {
            setAnswers(next, true);
            box.current?.focus();
          }}
          text={content}
          onUsed={() => writeMessage("")}
          misfit={answers && misfit === content}
        />
      )}
      <textarea
        ref={box}
        rows={fresh ? 3 : 1}
        value={content}
        aria-label={label}
        placeholder={placeholder(answers ? asked?.ask : undefined, busy)}
        onInput={(event) => write(event.currentTarget.value)}
        onKeyDown={pressed}
      />
      <div class="composer-bar">
        {!answers && (
          <>
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
          </>
        )}
        <div class="composer-end">
          {busy && onStop !== undefined && (
            <button
              type="button"
              class="button stop"
              title={`Stop the task (${STOP_KEYS})`}
              onClick={onStop}
            >
              <Icon name="stop" /> <span class="stop-word">Stop</span>
            </button>
          )}
          <button
            class="icon-button send"
            type="submit"
            aria-label={answers ? "Send the answer" : "Send"}
            disabled={content.trim() === "" || sending}
          >
            <Icon name="send" />
          </button>
        </div>
      </div>
    </form>
  );
}

function placeholder(answered: Ask | undefined, busy: boolean): string {
  if (answered !== undefined) {
    const choice = kindOf(answered) === "choice";
    return choice ? "Type a choice, or its number" : "Type your answer";
  }
  return busy ? "Say something to what runs, or after it" : "Say what should be done";
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

/** As high as its text, within limits. */
function grow(box: HTMLTextAreaElement | null): void {
  if (box !== null) {
    box.style.height = "auto";
    box.style.height = `${Math.min(box.scrollHeight, HEIGHT_MAX)}px`;
  }
}
