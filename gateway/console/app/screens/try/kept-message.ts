import type { SessionWorkspace } from "../../api/types.ts";
import { findKept, keep } from "../../shell/tab-storage.ts";

// The message that a preset was last tried with in this tab, so that it can be tried with the same one after the next
// edit.

function nameOf(workspace: SessionWorkspace, slug: string): string {
  return `setpoint-trial/${workspace.id}/${slug}`;
}

export function findMessage(workspace: SessionWorkspace, slug: string): string {
  return findKept<string>(nameOf(workspace, slug)) ?? "";
}

export function keepMessage(workspace: SessionWorkspace, slug: string, message: string): void {
  keep(nameOf(workspace, slug), message);
}
