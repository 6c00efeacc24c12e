import type { InputRequired, Json, JsonObject } from "@parley/client";
import { useLayoutEffect, useRef } from "preact/hooks";
import { typing, useKeys } from "../app/hooks.js";
import { JsonText } from "../text/JsonText.js";
import { Icon } from "../ui/Icon.js";
import { useAnswer, useGive } from "./answer.js";
import { Diff, isDiff } from "./Diff.js";
import { Fields } from "./Fields.js";
import { Key } from "./Key.js";
import { useReady } from "./ready.js";
import {
  draftOf,
  editedOf,
  type FormDraft,
  problemsOf,
  visibleJson,
  visibleText,
} from "@parley/client";

const EFFECTS: Readonly<Record<string, string>> = {
  pure: "changes nothing",
  idempotent: "can be repeated without harm",
  "at-most-once": "changes something, once",
  ask: "may change something",
};

/** Somebody is to say yes or no to a call of a tool, with what it would do in plain sight. */
export function Approval({ ask }: { ask: InputRequired }) {
  const facts = ask.metadata ?? {};
  const call = object(facts["toolCall"]);
  const args = object(call?.["arguments"]);
  const schema = object(facts["argumentsSchema"]);
  const [draft, setDraft] = useAnswer<FormDraft | undefined>(ask.inputId, "form", undefined);
  const [reason, setReason] = useAnswer<string | undefined>(ask.inputId, "reason", undefined);
  const { sent, give: answer } = useGive(ask.inputId);
  const form = useRef<HTMLFormElement>(null);
  const idle = useReady() && !sent;
  const problems =
    draft === undefined || schema === undefined
      ? []
      : // A call may well have an empty text, to put nothing in the place of something.
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
  // The key does what the button does: it asks why first.
  const refuse = (): void => (reason === undefined ? setReason("") : deny());
  const keep = (): void => {
    setReason(undefined);
    form.current?.closest<HTMLElement>(".dock")?.focus();
  };
  useKeys((event) => {
    if (!typing(event) && idle && !event.ctrlKey && !event.metaKey && !event.altKey) {
      if (event.key === "y") {
        approve();
      } else if (event.key === "d") {
        // It must not be the first letter of the reason.
        event.preventDefault();
        refuse();
      }
    }
  });
  // Where there is something to type, these keys are letters.
  const plain = draft === undefined && reason === undefined;
  const effect = EFFECTS[String(facts["effect"])];
  return (
    <form
      ref={form}
      class="dock-body"
      noValidate
      onSubmit={(event) => {
        event.preventDefault();
        if (idle) {
          approve();
        }
      }}
    >
      {call !== undefined && (
        <p class="approval-what">
          <Icon name="tool" /> <code>{String(call["toolName"])}</code>
          {effect !== undefined && <span class="quiet">{effect}</span>}
        </p>
      )}
      {draft !== undefined && schema !== undefined ? (
        <Fields schema={schema} draft={draft} onChange={setDraft} problems={problems} />
      ) : (
        <Preview preview={facts["preview"]} args={args} />
      )}
      {reason !== undefined && (
        <Reason
          reason={reason}
          onReason={setReason}
          onDone={() => idle && deny()}
          onBack={keep}
        />
      )}
      <div class="dock-actions">
        {reason === undefined && (
          <button
            class="button primary"
            type="submit"
            disabled={!idle || problems.length > 0}
            aria-keyshortcuts="y"
          >
            {draft === undefined ? "Approve" : "Approve with changes"} {plain && <Key name="y" />}
          </button>
        )}
        <button
          class="button"
          type="button"
          disabled={!idle}
          aria-keyshortcuts="d"
          onClick={refuse}
        >
          {reason === undefined ? "Deny…" : "Deny"} {plain && <Key name="d" />}
          {reason !== undefined && <Key name="Enter" />}
        </button>
        {reason !== undefined && (
          <button class="button quiet" type="button" disabled={sent} onClick={keep}>
            Back
          </button>
        )}
        {reason === undefined && args !== undefined && schema !== undefined && (
          <button
            class="button quiet"
            type="button"
            disabled={sent}
            onClick={() => setDraft(draft === undefined ? draftOf(schema, args) : undefined)}
          >
            {draft === undefined ? "Edit first" : "As it was"}
          </button>
        )}
      </div>
    </form>
  );
}

interface ReasonProps {
  readonly reason: string;
  readonly onReason: (reason: string) => void;
  readonly onDone: () => void;
  /** Nothing is refused after all. */
  readonly onBack: () => void;
}

function Reason({ reason, onReason, onDone, onBack }: ReasonProps) {
  const box = useRef<HTMLInputElement>(null);
  // Also where that brings up a keyboard: whoever denies has asked for the field.
  useLayoutEffect(() => box.current?.focus(), []);
  return (
    <label class="field">
      <span>Why not? The agent is told. It may stay empty.</span>
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
