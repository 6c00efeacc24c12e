import type { InputRequired, Json, JsonObject } from "@parley/client";
import { useLayoutEffect, useRef } from "preact/hooks";
import { useKeys } from "../app/hooks.js";
import { composerBox, isCommand, MODIFIER, takesText } from "../app/typing.js";
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

/** What a call does, where the server did not say it in words. */
function summaryOf(facts: JsonObject): string {
  const said = facts["summary"];
  if (typeof said === "string" && said !== "") {
    return said;
  }
  return facts["effect"] === "pure" ? "Reads only, changes nothing" : "May change something";
}

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
  // The button asks why first.
  const refuse = (): void => (reason === undefined ? setReason("") : deny());
  const keep = (): void => {
    setReason(undefined);
    composerBox()?.focus({ preventScroll: true });
  };
  useKeys((event) => {
    const chord = event.key === "Enter" && isCommand(event) && !event.isComposing;
    if (chord && idle && reason === undefined && isForApproval(event, form.current)) {
      event.preventDefault();
      approve();
    }
  });
  const summary = summaryOf(facts);
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
      onKeyDown={(event) => {
        // Enter alone approves nothing, also in the fields of the arguments.
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
            aria-keyshortcuts="Control+Enter Meta+Enter"
          >
            {draft === undefined ? "Approve" : "Approve with changes"}{" "}
            <Key name={`${MODIFIER}+Enter`} />
          </button>
        )}
        <button
          class="button"
          type="button"
          disabled={!idle}
          onClick={refuse}
        >
          {reason === undefined ? "Deny…" : "Deny"} {reason !== undefined && <Key name="Enter" />}
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

/** True if the chord is about what is asked: not while something is written for another purpose. */
function isForApproval(event: KeyboardEvent, form: HTMLElement | null): boolean {
  const target = event.target as Element;
  if (form?.contains(target) === true) {
    return true;
  }
  if (event.defaultPrevented) {
    // It has sent a message just now.
    return false;
  }
  const box = composerBox();
  return (!takesText(target) || target === box) && (box === null || box.value.trim() === "");
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
    <label class="field" data-typing>
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
