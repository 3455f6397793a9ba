import type { SessionWorkspace } from "../../api/types.ts";

// The message that a preset was last tried with in this tab: after the next edit it is tried with the same.

function nameOf(workspace: SessionWorkspace, slug: string): string {
  return `setpoint-message/${workspace.id}/${slug}`;
}

export function findMessage(workspace: SessionWorkspace, slug: string): string {
  return sessionStorage.getItem(nameOf(workspace, slug)) ?? "";
}

export function keepMessage(workspace: SessionWorkspace, slug: string, message: string): void {
  try {
    sessionStorage.setItem(nameOf(workspace, slug), message);
  } catch {
    // Too large for the browser: it lives as long as the page.
  }
}
