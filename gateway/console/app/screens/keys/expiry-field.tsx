import { useState } from "preact/hooks";
import { Field } from "../../ui/field.tsx";

interface ExpiryFieldProps {
  /** ISO 8601; null means never. */
  readonly value: string | null;
  readonly change: (value: string | null) => void;
  readonly fault: string | undefined;
}

const dayMs = 86_400_000;
const spans: readonly (readonly [days: number, label: string])[] = [
  [7, "In 7 days"],
  [30, "In 30 days"],
  [90, "In 90 days"],
  [365, "In a year"],
];

export function ExpiryField({ value, change, fault }: ExpiryFieldProps) {
  const [choice, setChoice] = useState(value === null ? "never" : "date");
  const choose = (to: string): void => {
    setChoice(to);
    // Computed now rather than when it is sent, because a retry must send the same value.
    const days = to === "date" ? 30 : Number(to);
    change(to === "never" ? null : new Date(Date.now() + days * dayMs).toISOString());
  };
  return (
    <div class="stack">
      <Field label="Expires" fault={choice === "date" ? undefined : fault}>
        {(ids) => (
          <select {...ids} class="input" value={choice} onChange={(event) => choose(event.currentTarget.value)}>
            <option value="never">Never</option>
            {spans.map(([days, label]) => (
              <option key={days} value={String(days)}>
                {label}
              </option>
            ))}
            <option value="date">On a date …</option>
          </select>
        )}
      </Field>
      {choice === "date" && (
        <Field label="Date and time" hint="In your time zone." fault={fault}>
          {(ids) => (
            <input
              {...ids}
              class="input"
              type="datetime-local"
              required
              value={value === null ? "" : localTime(value)}
              onInput={(event) => {
                const time = new Date(event.currentTarget.value);
                if (!Number.isNaN(time.getTime())) change(time.toISOString());
              }}
            />
          )}
        </Field>
      )}
    </div>
  );
}

/** In the format of `datetime-local`, which is local time. */
function localTime(iso: string): string {
  const time = new Date(iso);
  return new Date(time.getTime() - time.getTimezoneOffset() * 60_000).toISOString().slice(0, 16);
}
