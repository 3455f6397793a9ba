import type { ComponentChildren } from "preact";
import { useId } from "preact/hooks";

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
}

export function TextField({
  value,
  change,
  maxLength,
  isRequired = false,
  inputMode = "text",
  ...field
}: TextFieldProps) {
  return (
    <Field {...field}>
      {(ids) => (
        <input
          {...ids}
          type="text"
          inputMode={inputMode}
          autocomplete="off"
          maxLength={maxLength}
          required={isRequired}
          class="input"
          value={value}
          onInput={(event) => change(event.currentTarget.value)}
        />
      )}
    </Field>
  );
}
