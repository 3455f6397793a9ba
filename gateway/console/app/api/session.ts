import { signal } from "@preact/signals";
import { ApiError } from "./api-error.ts";
import { onSessionEnd, request } from "./request.ts";
import type { One, Session, SessionWorkspace } from "./types.ts";

/** Who is signed in: undefined until that is known, null if nobody is. */
export const session = signal<Session | null | undefined>(undefined);

/** Whether the last session ended without a sign-out. */
export const hasEnded = signal(false);

onSessionEnd(() => {
  if (!session.value || hasEnded.value) return;
  hasEnded.value = true;
  // What was typed into an open form is kept nowhere else, so the page stays, unseen, until someone has signed in again.
  if (!document.querySelector("dialog[open]")) session.value = null;
});

const path = "/console/session";

/** All tabs share one cookie, so signing in or out in one of them applies to all. */
const otherTabs = new BroadcastChannel("setpoint-session");

export function followOtherTabs(): void {
  otherTabs.onmessage = () => void loadSession().catch(() => {});
}

export async function loadSession(): Promise<void> {
  try {
    const { json } = await request<One<Session>>(path);
    forgetOthers(json.data);
    session.value = json.data;
    hasEnded.value = false;
  } catch (error) {
    if (!(error instanceof ApiError) || error.status !== 401) throw error;
    session.value = null;
  }
}

const personItem = "setpoint-person";

/** Drafts belong to one person. Whoever signs in next in this tab after a session has ended does not see them. */
function forgetOthers({ organization, user_id }: Session): void {
  const person = `${organization.id}/${user_id}`;
  if (sessionStorage.getItem(personItem) !== person) sessionStorage.clear();
  sessionStorage.setItem(personItem, person);
}

/** Signs in with a pasted key, or with the ticket from a link. */
export async function signIn(credential: { readonly key: string } | { readonly ticket: string }): Promise<void> {
  await request(path, { method: "POST", body: credential });
  otherTabs.postMessage(null);
  await loadSession();
}

export async function signOut(): Promise<void> {
  await request(path, { method: "DELETE" });
  otherTabs.postMessage(null);
  sessionStorage.clear();
  session.value = null;
}

/** The API path for the workspace that the page is about. */
export function inWorkspace(path: string, workspace: SessionWorkspace): string {
  // An API key has one workspace and may not name another.
  if (session.value?.key.kind !== "management") return path;
  return `${path}${path.includes("?") ? "&" : "?"}workspace_id=${workspace.id}`;
}

const permissions = { read: "presets:read", write: "presets:write", infer: "inference" } as const;

/** Why the person who is signed in may not do something; undefined if they may. */
export function reasonForbidden(action: keyof typeof permissions | "administer"): string | undefined {
  const key = session.value?.key;
  if (!key) return "Sign in first.";
  if (action === "administer")
    return key.kind === "management" ? undefined : "This needs a management key; you are signed in with an API key.";
  const permission = permissions[action];
  if (key.permissions.includes(permission)) return undefined;
  if (action === "infer" && key.kind === "management")
    return "A management key cannot call models. Sign in with an API key that has the permission inference.";
  return `Your key does not have the permission ${permission}.`;
}
