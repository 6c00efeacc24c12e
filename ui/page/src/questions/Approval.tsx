import type { InputRequired, Json, JsonObject } from "@parley/client";
import { useLayoutEffect, useRef } from "preact/hooks";
import { useKeys } from "../app/hooks.js";
import { composerBox, isCommand, MODIFIER, takesText } from "../app/typing.js";
import { JsonText } from "../text/JsonText.js";
import { Icon } from "../ui/Icon.js";
import { useAnswerDraft, useSendAnswer } from "./answer-state.js";
import { useListed } from "./answers.js";
import { Diff, isDiff } from "./Diff.js";
import { Fields } from "./Fields.js";
import { KeyHint } from "./KeyHint.js";
import { useReady } from "./ready.js";
import {
  draftOf,
  editedOf,
  type FormDraft,
  problemsOf,
  visibleJson,
  visibleText,
} from "@parley/client";

/** The summary of a call, with a fallback. */
function summaryOf(facts: JsonObject): string {
  const said = facts["summary"];
  if (typeof said === "string" && said !== "") {
    return said;
  }
  return facts["effect"] === "pure" ? "Reads only, changes nothing" : "May change something";
}

/** A tool call that waits for approval, with a preview of its effect. */
export function Approval({ question }: { question: InputRequired }) {
  const facts = question.metadata ?? {};
  const call = object(facts["toolCall"]);
  const args = object(call?.["arguments"]);
  const schema = object(facts["argumentsSchema"]);
  const [draft, setDraft] = useAnswerDraft<FormDraft | undefined>(
    question.inputId,
    "form",
    undefined,
  );
  const [reason, setReason] = useAnswerDraft<string | undefined>(
    question.inputId,
    "reason",
    undefined,
  );
  const { sent, send: answer } = useSendAnswer(question.inputId);
  const form = useRef<HTMLFormElement>(null);
  const listed = useListed() !== undefined;
  const idle = useReady() && !sent;
  const problems =
    draft === undefined || schema === undefined
      ? []
      : // An argument may be an empty text, for example to delete text.
        problemsOf(schema, draft, { emptyTexts: true });
  const approve = (): void => {
    const edited = draft && schema && editedOf(schema, args ?? {}, draft);
    if (edited === undefined || JSON.stringify(edited) === JSON.stringify(args)) {
      void answer(true);
    } else if (problems.length === 0) {
      void answer({ approved: true, arguments: edited });
    }
  };
  const deny = (): void =>
    void answer(reason === undefined || reason === "" ? false : { approved: false, reason });
  // The button first asks for a reason.
  const refuse = (): void => (reason === undefined ? setReason("") : deny());
  const keep = (): void => {
    setReason(undefined);
    composerBox()?.focus({ preventScroll: true });
  };
  useKeys((event) => {
    const chord = event.key === "Enter" && isCommand(event) && !event.isComposing;
    const mine = listed ? isInCard(event, form.current) : isForApproval(event, form.current);
    if (chord && idle && reason === undefined && mine) {
      event.preventDefault();
      approve();
    }
  });
  const summary = summaryOf(facts);
  return (
    <form
      ref={form}
      class="question-body"
      noValidate
      onSubmit={(event) => {
        event.preventDefault();
        if (idle) {
          approve();
        }
      }}
      onKeyDown={(event) => {
        // Enter alone does not approve, not even in argument fields.
        if (event.key === "Enter" && event.target instanceof HTMLInputElement) {
          event.preventDefault();
        }
      }}
    >
      {call !== undefined && (
        <p class="approval-what">
          <Icon name="tool" /> <code>{String(call["toolName"])}</code>
          <strong class="approval-summary">
            {draft === undefined ? summary : `Before your changes: ${summary}`}
          </strong>
        </p>
      )}
      {draft !== undefined && schema !== undefined ? (
        <Fields schema={schema} draft={draft} onChange={setDraft} problems={problems} />
      ) : (
        <Preview preview={facts["preview"]} args={args} />
      )}
      {reason !== undefined && (
        <Reason reason={reason} onReason={setReason} onDone={() => idle && deny()} onBack={keep} />
      )}
      <div class="question-actions">
        {reason === undefined && (
          <button
            class="button primary"
            type="submit"
            disabled={!idle || problems.length > 0}
            aria-keyshortcuts="Control+Enter Meta+Enter"
          >
            {draft === undefined ? "Approve" : "Approve with changes"}{" "}
            <KeyHint name={`${MODIFIER}+Enter`} />
          </button>
        )}
        <button class="button" type="button" disabled={!idle} onClick={refuse}>
          {reason === undefined ? "Deny…" : "Deny"}{" "}
          {reason !== undefined && <KeyHint name="Enter" />}
        </button>
        {reason !== undefined && (
          <button class="button muted" type="button" disabled={sent} onClick={keep}>
            Back
          </button>
        )}
        {reason === undefined && args !== undefined && schema !== undefined && (
          <button
            class="button muted"
            type="button"
            disabled={sent}
            onClick={() => setDraft(draft === undefined ? draftOf(schema, args) : undefined)}
          >
            {draft === undefined ? "Edit" : "Reset"}
          </button>
        )}
      </div>
    </form>
  );
}

/** True if the focus is on the card of this approval or in it. */
function isInCard(event: KeyboardEvent, form: HTMLElement | null): boolean {
  const card = form?.closest(".question-card") ?? null;
  return !event.defaultPrevented && card?.contains(event.target as Element) === true;
}

/** True if the shortcut applies to this approval, not to other text input. */
function isForApproval(event: KeyboardEvent, form: HTMLElement | null): boolean {
  const target = event.target as Element;
  if (form?.contains(target) === true) {
    return true;
  }
  if (event.defaultPrevented) {
    // The shortcut has just sent a message.
    return false;
  }
  const box = composerBox();
  return (!takesText(target) || target === box) && (box === null || box.value.trim() === "");
}

interface ReasonProps {
  readonly reason: string;
  readonly onReason: (reason: string) => void;
  readonly onDone: () => void;
  /** Cancels the denial. */
  readonly onBack: () => void;
}

function Reason({ reason, onReason, onDone, onBack }: ReasonProps) {
  const box = useRef<HTMLInputElement>(null);
  // Also on touch screens: the user asked for the field.
  useLayoutEffect(() => box.current?.focus(), []);
  return (
    <label class="field" data-typing>
      <span>Reason (optional). The agent receives it.</span>
      <input
        ref={box}
        value={reason}
        onInput={(event) => onReason(event.currentTarget.value)}
        onKeyDown={(event) => {
          if (event.isComposing) {
            return;
          }
          if (event.key === "Enter") {
            event.preventDefault();
            onDone();
          } else if (event.key === "Escape") {
            event.preventDefault();
            onBack();
          }
        }}
      />
    </label>
  );
}

function Preview({ preview, args }: { preview: Json | undefined; args: JsonObject | undefined }) {
  if (typeof preview === "string" && preview !== "") {
    return isDiff(preview) ? (
      <Diff text={visibleText(preview)} />
    ) : (
      <pre class="plain preview" tabIndex={0}>
        {visibleText(preview)}
      </pre>
    );
  }
  return args === undefined ? null : <JsonText value={visibleJson(args)} />;
}

function object(value: Json | undefined): JsonObject | undefined {
  return typeof value === "object" && value !== null && !Array.isArray(value) ? value : undefined;
}
