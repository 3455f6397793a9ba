import type { SessionWorkspace } from "../../api/types.ts";
import { findStored, store } from "../../shell/tab-storage.ts";

// The message that a preset was last tried with in this tab, so that it can be tried with the same one after the next
// edit.

function nameOf(workspace: SessionWorkspace, slug: string): string {
  return `setpoint-trial/${workspace.id}/${slug}`;
}

export function findMessage(workspace: SessionWorkspace, slug: string): string {
  return findStored<string>(nameOf(workspace, slug)) ?? "";
}

export function storeMessage(workspace: SessionWorkspace, slug: string, message: string): void {
  store(nameOf(workspace, slug), message);
}
