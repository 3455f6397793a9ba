import { useLayoutEffect, useRef, useState } from "preact/hooks";
import { type ApiError, asApiError } from "../api/api-error.ts";
import { hasEnded, signIn } from "../api/session.ts";
import { BrandMark } from "../ui/brand-mark.tsx";
import { ErrorPanel } from "../ui/error-panel.tsx";

export function SignIn({ ticketError }: { readonly ticketError: ApiError | undefined }) {
  const [error, setError] = useState(ticketError);
  const [isBusy, setBusy] = useState(false);
  const [isShown, setShown] = useState(false);
  const field = useRef<HTMLInputElement>(null);
  // Before the first paint, because whoever sees the field may paste.
  useLayoutEffect(() => {
    document.title = "Sign in · Setpoint";
    field.current?.focus();
  }, []);

  const submit = async (event: SubmitEvent): Promise<void> => {
    event.preventDefault();
    const key = field.current?.value.trim() ?? "";
    if (isBusy) return;
    if (key === "") {
      field.current?.focus();
      return;
    }
    setBusy(true);
    setError(undefined);
    try {
      await signIn({ key });
    } catch (thrown) {
      setError(asApiError(thrown));
      setBusy(false);
      field.current?.select();
    }
  };

  return (
    <main class="sign-in">
      <form class="panel" onSubmit={submit}>
        <div class="brand">
          <BrandMark />
          Setpoint
        </div>
        <div class="stack-tight">
          <h1>Sign in</h1>
          <p class="muted">
            Use a management key for your whole organization, or an API key for the presets of one workspace.
          </p>
        </div>
        {hasEnded.value && !error && (
          <p class="notice" role="status">
            Your session has ended. Sign in to continue where you were: drafts are kept.
          </p>
        )}
        {error && <ErrorPanel error={error} />}
        <div class="field">
          <label for="key">Key</label>
          <input
            id="key"
            class="input mono"
            ref={field}
            {...(isShown ? ({ type: "text" } as const) : ({ type: "password" } as const))}
            autocomplete="current-password"
            spellcheck={false}
            placeholder="sk-sp-v1-…"
            aria-invalid={error ? "true" : undefined}
            aria-describedby="key-hint"
          />
          <label class="choice small">
            <input type="checkbox" checked={isShown} onChange={(event) => setShown(event.currentTarget.checked)} />
            <span>Show the key</span>
          </label>
        </div>
        <button type="submit" class="button primary" aria-disabled={isBusy ? "true" : undefined}>
          {isBusy ? "Signing in …" : "Sign in"}
        </button>
        <p class="hint" id="key-hint">
          The key is exchanged for a session and not kept in the browser. You are signed out after 12 hours of
          inactivity.
        </p>
      </form>
    </main>
  );
}
