import {
  type FormDraft,
  type FieldProblem,
  type FieldSpec,
  fieldsOf,
  isPicked,
  type Json,
  type JsonObject,
  givenIn,
  keyOfPath,
  pick,
} from "@parley/client";
import { useId } from "preact/hooks";

interface FieldsProps {
  readonly schema: JsonObject;
  readonly draft: FormDraft;
  readonly problems: readonly FieldProblem[];
  readonly onChange: (draft: FormDraft) => void;
}

const INPUTS: Readonly<Record<string, string>> = {
  email: "email",
  uri: "url",
  date: "date",
  time: "time",
  "date-time": "text",
  password: "password",
};

/** The fields of a schema. */
export function Fields({ schema, draft, problems, onChange }: FieldsProps) {
  return (
    <div class="fields">
      {fieldsOf(schema).map((field) => {
        const key = keyOfPath(field.path);
        return (
          <Field
            key={key}
            field={field}
            value={givenIn(draft, field.path)}
            problem={problems.find((one) => keyOfPath(one.path) === key)?.message}
            onChange={(value) => onChange({ ...draft, [key]: value })}
          />
        );
      })}
    </div>
  );
}

interface FieldProps {
  readonly field: FieldSpec;
  readonly value: string;
  readonly problem: string | undefined;
  readonly onChange: (value: string) => void;
}

function Field({ field, value, problem, onChange }: FieldProps) {
  const id = useId();
  const typed = (event: Event): void => onChange((event.currentTarget as HTMLInputElement).value);
  const common = {
    id,
    value,
    required: field.required,
    "aria-invalid": problem !== undefined,
    "aria-describedby": `${id}-about`,
  };
  if (field.kind === "several") {
    return <Several field={field} value={value} problem={problem} onChange={onChange} />;
  }
  return (
    <div class="field">
      {field.kind === "boolean" ? (
        <label class="checkbox" for={id}>
          <input
            id={id}
            type="checkbox"
            checked={value === "true"}
            aria-describedby={`${id}-about`}
            onChange={(event) => onChange(String(event.currentTarget.checked))}
          />
          {field.label}
          {!field.required && <span class="muted"> (optional)</span>}
        </label>
      ) : (
        <>
          <label for={id}>
            {field.label}
            {!field.required && <span class="muted"> (optional)</span>}
          </label>
          {field.kind === "choice" ? (
            <select {...common} onChange={typed}>
              <option value="">Choose…</option>
              {field.options.map((option, i) => (
                <option key={i} value={String(i)}>
                  {nameOf(option)}
                </option>
              ))}
            </select>
          ) : ["long-text", "json", "list"].includes(field.kind) || value.includes("\n") ? (
            <textarea
              {...common}
              class={field.kind === "json" ? "mono" : undefined}
              rows={Math.min(10, value.split("\n").length + 2)}
              spellcheck={field.kind !== "json"}
              onInput={typed}
            />
          ) : (
            <input {...common} {...typeOf(field)} onInput={typed} />
          )}
        </>
      )}
      <About id={id} field={field} problem={problem} />
    </div>
  );
}

/** A field with multiple checkboxes. */
function Several({ field, value, problem, onChange }: FieldProps) {
  const id = useId();
  return (
    <fieldset class="field several" aria-describedby={`${id}-about`}>
      <legend>
        {field.label}
        {!field.required && <span class="muted"> (optional)</span>}
      </legend>
      {field.options.map((option, i) => (
        <label class="checkbox" key={i}>
          <input
            type="checkbox"
            checked={isPicked(value, i)}
            onChange={(event) => onChange(pick(value, i, event.currentTarget.checked))}
          />
          {nameOf(option)}
        </label>
      ))}
      <About id={id} field={field} problem={problem} />
    </fieldset>
  );
}

/** The error and the description of a field. */
function About(props: { id: string; field: FieldSpec; problem: string | undefined }) {
  const { id, field, problem } = props;
  const hint = field.kind === "list" ? "One per line." : "";
  return (
    <p id={`${id}-about`} class="muted">
      {problem !== undefined && <span class="problem">{problem} </span>}
      {[field.about, hint].filter(Boolean).join(" ")}
    </p>
  );
}

function nameOf(option: Json): string {
  return typeof option === "string" ? option : JSON.stringify(option);
}

/** The input type, which selects the keyboard and the browser's support. */
function typeOf(field: FieldSpec): { type: "text"; inputMode?: "numeric" } {
  const type = (INPUTS[field.format ?? ""] ?? "text") as "text";
  // Numeric keyboards lack a minus sign and use the local decimal separator.
  const { minimum, exclusiveMinimum } = field.schema;
  const least = Number(minimum ?? exclusiveMinimum ?? -1);
  return field.kind === "integer" && least >= 0 ? { type, inputMode: "numeric" } : { type };
}
