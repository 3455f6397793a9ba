import type { ComponentChildren, TargetedInputEvent } from "preact";
import { useId } from "preact/hooks";
import { countCharacters } from "./character-count.ts";

/** Connects a control to its label, hint and error. */
interface ControlIds {
  readonly id: string;
  readonly "aria-describedby": string | undefined;
  readonly "aria-invalid": "true" | undefined;
}

interface FieldProps {
  readonly label: string;
  readonly hint?: ComponentChildren;
  readonly fault?: ComponentChildren;
  readonly children: (ids: ControlIds) => ComponentChildren;
}

/** A control with its label, a hint, and what the API says is wrong with it. */
export function Field({ label, hint, fault, children }: FieldProps) {
  const id = useId();
  const noteId = `${id}-note`;
  return (
    <div class="field">
      <label for={id}>{label}</label>
      {children({
        id,
        "aria-describedby": hint || fault ? noteId : undefined,
        "aria-invalid": fault ? "true" : undefined,
      })}
      {(hint || fault) && (
        <span id={noteId} class={fault ? "fault" : "hint"}>
          {fault ?? hint}
        </span>
      )}
    </div>
  );
}

interface TextFieldProps extends Omit<FieldProps, "children"> {
  readonly value: string;
  readonly change: (value: string) => void;
  readonly maxLength: number;
  readonly isRequired?: boolean;
  readonly inputMode?: "text" | "email";
  /** For a text of several lines. */
  readonly rows?: number;
}

/**
 * A text up to a length. The browser's own limit would count UTF-16 units, and cut off a longer text without a word when
 * it is pasted.
 */
export function TextField({ value, change, maxLength, isRequired, inputMode, rows, ...field }: TextFieldProps) {
  const length = countCharacters(value);
  const fault =
    length > maxLength &&
    `At most ${maxLength.toLocaleString("en")} characters fit; these are ${length.toLocaleString("en")}.`;
  const common = {
    class: "input",
    required: isRequired,
    value,
    // Keeps the form from being submitted.
    ref: (control: HTMLInputElement | HTMLTextAreaElement | null) => control?.setCustomValidity(fault || ""),
    onInput: ({ currentTarget }: TargetedInputEvent<HTMLInputElement | HTMLTextAreaElement>) =>
      change(currentTarget.value),
  };
  return (
    <Field {...field} fault={fault || field.fault}>
      {(ids) =>
        rows === undefined ? (
          <input {...ids} {...common} type="text" inputMode={inputMode} autocomplete="off" />
        ) : (
          <textarea {...ids} {...common} rows={rows} />
        )
      }
    </Field>
  );
}
