import { useState } from "preact/hooks";
import { useIdempotencyKey } from "../../api/idempotency-key.ts";
import { request } from "../../api/request.ts";
import type { Key } from "../../api/types.ts";
import { showSecret } from "../../shell/secret.tsx";
import { Field } from "../../ui/field.tsx";
import { FormDialog } from "../../ui/form-dialog.tsx";
import { nowMs, Time } from "../../ui/time.tsx";
import { previousSecretUntil } from "./key-state.ts";

interface RotateKeyProps {
  readonly apiKey: Key;
  /** Whether it is the key that one is signed in with. */
  readonly isOwn: boolean;
  readonly close: () => void;
  readonly changed: () => void;
}

const graces: readonly (readonly [seconds: number, label: string])[] = [
  [0, "It stops at once"],
  [900, "15 minutes"],
  [3_600, "1 hour"],
  [86_400, "1 day"],
  [604_800, "7 days"],
];

export function RotateKey({ apiKey, isOwn, close, changed }: RotateKeyProps) {
  const [grace, setGrace] = useState(3_600);
  const previousUntil = previousSecretUntil(apiKey, nowMs());
  const label = graces.find(([seconds]) => seconds === grace)?.[1];
  const idempotencyKeyOf = useIdempotencyKey();
  const submit = async (): Promise<void> => {
    const body = { grace_seconds: grace };
    const { json } = await request<{ readonly key: string }>(`/api/v1/keys/${apiKey.id}/rotate`, {
      method: "POST",
      body,
      headers: idempotencyKeyOf(body),
    });
    close();
    showSecret({
      title: "New secret",
      note: `“${apiKey.name}” has a new secret. ${grace === 0 ? "The old one no longer works." : `The old one works for another ${label}.`}`,
      secret: json.key,
    });
    changed();
  };
  return (
    <FormDialog
      title={`Rotate “${apiKey.name}”`}
      action="Make a new secret"
      close={close}
      submit={submit}
      explain={({ status }) =>
        status === 409 && (
          <p>
            An earlier attempt made a new secret, but it did not arrive here, and it is shown only once.{" "}
            {grace === 0
              ? "Close this and rotate the key again."
              : `Do not rotate it again: that would end the secret that programs use now, which works for another ${label}. Create another key for them, then delete this one.`}
          </p>
        )
      }
    >
      {(faultOf) => (
        <>
          <p>
            The key gets a new secret, which is shown once. Its name, workspace and permissions stay.
            {apiKey.disabled && " It stays disabled."}
          </p>
          <Field
            label="How long the old secret keeps working"
            hint="Allow enough time to give every program the new one."
            fault={faultOf("grace_seconds")}
          >
            {(ids) => (
              <select
                {...ids}
                class="input"
                value={String(grace)}
                onChange={(event) => setGrace(Number(event.currentTarget.value))}
              >
                {graces.map(([seconds, label]) => (
                  <option key={seconds} value={String(seconds)}>
                    {label}
                  </option>
                ))}
              </select>
            )}
          </Field>
          {previousUntil !== undefined && (
            <p>
              The secret before the current one still works, and would end <Time at={previousUntil} />. Rotating ends it
              at once.
            </p>
          )}
          {isOwn && (
            <p class="muted">
              You are signed in with this key. Your session ends with the old secret
              {grace === 0 ? ", which is at once: have a place for the new one ready" : ""}.
            </p>
          )}
        </>
      )}
    </FormDialog>
  );
}
