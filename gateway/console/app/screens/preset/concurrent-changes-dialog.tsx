import type { PresetChange, SessionWorkspace } from "../../api/types.ts";
import { Dialog } from "../../ui/dialog.tsx";
import { ChangeList } from "./change-list.tsx";

/** How a preset has changed since it was loaded, for somebody who wants another version to be served. */
export interface ConcurrentChanges {
  readonly wanted: number;
  readonly served: number;
  readonly changes: readonly PresetChange[];
  readonly etag: string | undefined;
}

interface ConcurrentChangesDialogProps {
  readonly workspace: SessionWorkspace;
  readonly slug: string;
  readonly concurrentChanges: ConcurrentChanges;
  readonly close: () => void;
  readonly designateAnyway: () => void;
}

export function ConcurrentChangesDialog({
  workspace,
  slug,
  concurrentChanges,
  close,
  designateAnyway,
}: ConcurrentChangesDialogProps) {
  const { wanted, served, changes } = concurrentChanges;
  return (
    <Dialog title="Someone else changed this preset" close={close}>
      <p>
        Your change was not made. <strong>{slug}</strong> serves <strong>v{served}</strong> now. What happened since you
        loaded it:
      </p>
      <ChangeList changes={changes} workspace={workspace} slug={slug} />
      <div class="dialog-actions">
        <button type="button" class="button" onClick={close}>
          Leave it at v{served}
        </button>
        {wanted !== served && (
          <button type="button" class="button primary" onClick={designateAnyway}>
            Serve v{wanted} anyway
          </button>
        )}
      </div>
    </Dialog>
  );
}
