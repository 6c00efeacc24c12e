import {
  type FormDraft,
  type FieldProblem,
  type FieldSpec,
  fieldsOf,
  type JsonObject,
  keyOfPath,
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

/** A field for each thing that a schema asks for. */
export function Fields({ schema, draft, problems, onChange }: FieldsProps) {
  return (
    <div class="fields">
      {fieldsOf(schema).map((field) => {
        const key = keyOfPath(field.path);
        return (
          <Field
            key={key}
            field={field}
            value={draft[key] ?? ""}
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
  return (
    <div class="field">
      {field.kind === "boolean" ? (
        <label class="tick" for={id}>
          <input
            id={id}
            type="checkbox"
            checked={value === "true"}
            aria-describedby={`${id}-about`}
            onChange={(event) => onChange(String(event.currentTarget.checked))}
          />
          {field.label}
        </label>
      ) : (
        <>
          <label for={id}>
            {field.label}
            {!field.required && <span class="quiet"> (optional)</span>}
          </label>
          {field.kind === "choice" ? (
            <select {...common} onChange={typed}>
              <option value="">choose…</option>
              {field.options.map((option, i) => (
                <option key={i} value={String(i)}>
                  {typeof option === "string" ? option : JSON.stringify(option)}
                </option>
              ))}
            </select>
          ) : field.kind === "long-text" || field.kind === "json" || value.includes("\n") ? (
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
      <p id={`${id}-about`} class={problem === undefined ? "quiet" : "problem"}>
        {problem ?? field.about}
      </p>
    </div>
  );
}

/** Which keyboard a phone shows, and which browser's help there is. */
function typeOf(field: FieldSpec): { type: "text"; inputMode?: "decimal" } {
  const numeric = field.kind === "number" || field.kind === "integer";
  const type = (INPUTS[field.format ?? ""] ?? "text") as "text";
  return numeric ? { type, inputMode: "decimal" } : { type };
}
