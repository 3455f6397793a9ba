import { useEffect, useState } from "preact/hooks";
import { type ApiError, asApiError } from "../api/api-error.ts";
import { loadNames } from "../api/people.ts";
import { hasEnded, loadSession, session, signIn } from "../api/session.ts";
import { forgetAnswers } from "../api/use-loaded.ts";
import { useRetry } from "../api/use-loading.ts";
import { SignIn } from "../screens/sign-in.tsx";
import { ErrorPanel } from "../ui/error-panel.tsx";
import { useModal } from "../ui/use-modal.ts";
import { Announcer } from "./announcer.tsx";
import { Frame } from "./frame.tsx";
import { Secret } from "./secret.tsx";
import { clearToasts, Toasts } from "./toasts.tsx";

/** The link that `npm start` prints carries a ticket that is good for one sign-in. */
function takeTicket(): string | undefined {
  const ticket = new URLSearchParams(location.hash.slice(1)).get("ticket") ?? undefined;
  // Removed from the address before anything else happens: a used ticket need not stay in the history.
  if (ticket) history.replaceState(null, "", location.pathname + location.search);
  return ticket;
}

/** Covers the form of a session that has ended. Whoever signs in with the same key goes on with it. */
function SignInAgain() {
  const dialog = useModal();
  const [title] = useState(document.title);
  useEffect(
    () => () => {
      document.title = title;
      [...document.querySelectorAll<HTMLElement>("dialog[open] [type=submit]")].at(-1)?.focus();
    },
    [],
  );
  return (
    <dialog class="sign-in-again" ref={dialog} closedby="none" onCancel={(event) => event.preventDefault()}>
      <SignIn ticketError={undefined} />
    </dialog>
  );
}

export function App() {
  const [error, setError] = useState<ApiError>();
  const [ticketError, setTicketError] = useState<ApiError>();
  const load = (): void => {
    setError(undefined);
    loadSession().catch((thrown: unknown) => setError(asApiError(thrown)));
  };
  useEffect(() => {
    const ticket = takeTicket();
    if (!ticket) return load();
    signIn({ ticket }).catch((thrown: unknown) => {
      setTicketError(asApiError(thrown));
      load();
    });
  }, []);

  // The error stays on the page until the console can be opened.
  useRetry(error, () => {
    loadSession().then(
      () => setError(undefined),
      (thrown: unknown) => setError(asApiError(thrown)),
    );
  });

  const userId = session.value?.user_id;
  const keyId = session.value?.key.id;
  // Nothing loaded for one person is shown to another.
  useEffect(() => {
    forgetAnswers();
    clearToasts();
    // Names are optional: without them, ids are shown.
    if (session.value) loadNames().catch(() => {});
  }, [userId, keyId]);

  return (
    <>
      {error ? (
        <main class="sign-in">
          <ErrorPanel error={error} title="The console could not be opened" retry={load} />
        </main>
      ) : session.value === null ? (
        <SignIn ticketError={ticketError} />
      ) : session.value ? (
        <>
          <div class="frame" hidden={hasEnded.value}>
            <Frame key={session.value.key.id} session={session.value} />
          </div>
          {hasEnded.value && <SignInAgain />}
        </>
      ) : (
        <main class="sign-in" aria-busy="true">
          <p class="muted late">Opening the console …</p>
        </main>
      )}
      <Secret />
      <Toasts />
      <Announcer />
    </>
  );
}
