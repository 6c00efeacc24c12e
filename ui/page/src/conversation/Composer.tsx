import { agentToAsk, type NewMessage } from "@parley/client";
import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import { useSetting } from "../app/hooks.js";
import { agentName, useSession } from "../app/session.js";
import { isCommand, takesText } from "../app/typing.js";
import { type PendingQuestion, kindOf, typedOption } from "../questions/pending-questions.js";
import { Icon } from "../ui/Icon.js";
import { answerLabel, type ComposerQuestion, ComposerTarget } from "./ComposerTarget.js";
import { joined, useDraft } from "./draft.js";
import { MessageOptions, type Options, optionsOf } from "./MessageOptions.js";
import { STOP_KEYS } from "./stop-key.js";

type WhenBusy = NonNullable<NewMessage["whenBusy"]>;

/** Text that is returned to the composer; `n` distinguishes repetitions. */
export interface Unsent {
  readonly text: string;
  readonly n: number;
}

interface ComposerProps {
  /** The conversation to write to; undefined for a new one. */
  readonly contextId: string | undefined;
  /** The agent that was last chosen in it. */
  readonly agentId?: string | undefined;
  /** True if a task is working: the composer then offers what to do with both. */
  readonly busy: boolean;
  /** Text that could not be sent. */
  readonly unsent?: Unsent;
  /** Sends a message. False if it failed: the text then stays. */
  readonly onSend: (message: NewMessage) => Promise<boolean> | boolean;
  readonly onStop?: () => void;
  /** True once the first message of a new conversation is being sent. */
  readonly started?: boolean;
  /** True until the conversation is loaded. */
  readonly loading?: boolean;
  /** The current question of the conversation. */
  readonly pending?: ComposerQuestion | undefined;
  /** The ids of all open questions, even if the past is shown. */
  readonly open?: readonly string[];
}

const BUSY_MODES: readonly { mode: WhenBusy; name: string; about: string }[] = [
  { mode: "enqueue", name: "Queue", about: "Runs after the current task" },
  { mode: "steer", name: "Steer", about: "The current task reads it before its next step" },
  { mode: "interrupt", name: "Interrupt", about: "Stops the current task and runs this next" },
];
const HEIGHT_MAX = 240;

/** The input for messages and answers. */
export function Composer(props: ComposerProps) {
  const { contextId, busy, loading = false, unsent, pending, open = [], onSend, onStop } = props;
  const { started = contextId !== undefined } = props;
  const { state, drafts } = useSession();
  const fresh = contextId === undefined;
  const [continuesTyping] = useState(() => drafts.takeOver(contextId));
  const draft = useDraft(contextId, pending, { loading, continuesTyping, open });
  const { content, answers, decided, setAnswers, write, writeMessage } = draft;
  const [mode, setMode] = useState<WhenBusy>("enqueue");
  const [sending, setSending] = useState(false);
  const [held, setHeld] = useState(false);
  // Text that matches none of the choices.
  const [invalidChoice, setInvalidChoice] = useState<string>();
  // The agent chosen in one conversation does not apply to others.
  const [forNew, setForNew] = useSetting("agent", "");
  const [chosen, setChosen] = useState<string>();
  const agentId = fresh ? forNew : (chosen ?? props.agentId ?? "");
  const [options, setOptions] = useState<Options>({});
  const box = useRef<HTMLTextAreaElement>(null);
  useLayoutEffect(() => {
    // Focus it before the next key press, so that typing goes to the open conversation.
    const elsewhere = takesText(document.activeElement) && !fresh;
    if (continuesTyping || (!elsewhere && matchMedia("(pointer: fine)").matches)) {
      box.current?.focus({ preventScroll: true });
    }
  }, []);
  useEffect(() => {
    if (unsent !== undefined && unsent.text !== "") {
      writeMessage(joined(drafts.text(contextId), unsent.text));
    }
  }, [unsent?.n]);
  useEffect(() => grow(box.current), [content, started]);
  const selectedAgent = agentToAsk(state.agents, agentId);
  const message = async (): Promise<void> => {
    const next: NewMessage = {
      content,
      ...(selectedAgent === undefined ? {} : { agentId: selectedAgent }),
      ...(busy ? { whenBusy: mode } : {}),
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
  const answer = async ({ question, onAnswer }: ComposerQuestion): Promise<void> => {
    if (question.kind !== "input-required") {
      return;
    }
    const value =
      kindOf(question) === "choice" ? typedOption(question.options ?? [], content) : content;
    if (value === undefined) {
      setInvalidChoice(content);
      return;
    }
    draft.writeAnswer(question.inputId, "");
    setSending(true);
    const taken = await onAnswer(question.inputId, value);
    setSending(false);
    if (!taken) {
      draft.giveBack(question.inputId, content);
    }
  };
  const send = async (): Promise<void> => {
    if (content.trim() === "" || sending) {
      return;
    }
    if (loading) {
      // Its target is known once the conversation is loaded.
      setHeld(true);
    } else if (answers && pending !== undefined) {
      await answer(pending);
    } else {
      setAnswers(true);
      await message();
    }
  };
  useEffect(() => {
    if (held && !loading && decided) {
      setHeld(false);
      if (answers || pending === undefined) {
        void send();
      }
    }
  }, [held, loading, decided]);
  const pressed = (event: KeyboardEvent): void => {
    if (event.key === "Enter" && !event.shiftKey && !event.isComposing) {
      if (isCommand(event) && content.trim() === "") {
        // Nothing to send: the shortcut approves the question.
        return;
      }
      event.preventDefault();
      void send();
    } else if (event.key === "Escape" && !event.isComposing && pending?.folded !== false) {
      box.current?.blur();
    }
  };
  const who = pending && agentName(state.agents, pending.question.agentId);
  const label = answers && pending ? answerLabel(pending.question, who ?? "") : "Message";
  return (
    <form
      class="composer"
      onSubmit={(event) => {
        event.preventDefault();
        void send();
      }}
    >
      {pending !== undefined && (
        <ComposerTarget
          pending={pending}
          answers={answers}
          onAnswers={(next) => {
            setAnswers(next, true);
            box.current?.focus();
          }}
          text={content}
          onUsed={() => writeMessage("")}
          invalidChoice={answers && invalidChoice === content}
        />
      )}
      <textarea
        ref={box}
        rows={started ? 1 : 3}
        value={content}
        aria-label={label}
        placeholder={placeholder(answers ? pending?.question : undefined, busy)}
        onInput={(event) => write(event.currentTarget.value)}
        onKeyDown={pressed}
      />
      <div class="composer-bar">
        {!answers && (
          <>
            <label class="pick">
              <span class="sr-only">Agent</span>
              <select
                value={selectedAgent ?? ""}
                onChange={(event) => (fresh ? setForNew : setChosen)(event.currentTarget.value)}
              >
                <option value="">{state.agents.length > 1 ? "Auto" : "Agent"}</option>
                {state.agents.map((agent) => (
                  <option key={agent.id} value={agent.id} title={agent.description}>
                    {agent.name}
                  </option>
                ))}
              </select>
            </label>
            {busy && <BusyModes mode={mode} onMode={setMode} />}
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

function placeholder(answered: PendingQuestion | undefined, busy: boolean): string {
  if (answered !== undefined) {
    const choice = kindOf(answered) === "choice";
    return choice ? "Type a choice, or its number" : "Type your answer";
  }
  return busy ? "Add a message while it works…" : "Message Parley…";
}

function BusyModes({ mode, onMode }: { mode: WhenBusy; onMode: (mode: WhenBusy) => void }) {
  return (
    <div class="segments" role="radiogroup" aria-label="While a task is running">
      {BUSY_MODES.map((one) => (
        <label key={one.mode} title={one.about} data-on={one.mode === mode}>
          <input
            class="sr-only"
            type="radio"
            name="mode"
            checked={one.mode === mode}
            onChange={() => onMode(one.mode)}
          />
          {one.name}
        </label>
      ))}
    </div>
  );
}

/** Fits the height to the text, within limits. */
function grow(box: HTMLTextAreaElement | null): void {
  if (box !== null) {
    box.style.height = "auto";
    box.style.height = `${Math.min(box.scrollHeight, HEIGHT_MAX)}px`;
  }
}
