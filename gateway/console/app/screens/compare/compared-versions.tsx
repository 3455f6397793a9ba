import { useEffect, useRef } from "preact/hooks";
import type { VersionContent } from "../../api/presets.ts";
import { reasonNotTo } from "../../api/session.ts";
import type { One, PresetWithVersion, SessionWorkspace } from "../../api/types.ts";
import type { Loaded } from "../../api/use-loaded.ts";
import { presetHref } from "../../shell/preset-hrefs.ts";
import { ActionButton } from "../../ui/action-button.tsx";
import { Person } from "../../ui/person.tsx";
import { Time } from "../../ui/time.tsx";
import { ServedBadge } from "../preset/served-badge.tsx";
import { designationLabel, useDesignation } from "../preset/use-designation.tsx";
import { usePresetChanges } from "../preset/use-preset-changes.ts";

interface ComparedVersionsProps {
  readonly workspace: SessionWorkspace;
  readonly slug: string;
  readonly preset: Loaded<One<PresetWithVersion>>;
  readonly versions: readonly VersionContent[];
}

/** Whose the two versions are, each above its column, and which of them is served: the other can be, once it is read. */
export function ComparedVersions({ workspace, slug, preset, versions }: ComparedVersionsProps) {
  const { changes, revision } = usePresetChanges(workspace, slug, 1, preset.reload);
  const data = preset.answer?.json.data;
  const served = data?.designated_version.version;
  const { designate, isBusy, dialog } = useDesignation({
    workspace,
    slug,
    etag: preset.answer?.etag,
    revision,
    changed: () => {
      preset.reload();
      changes.reload();
    },
  });
  const group = useRef<HTMLDivElement>(null);
  // The button that was pressed is gone then, and whoever uses the keyboard must not begin at the top again.
  useEffect(() => {
    if (document.activeElement === document.body) group.current?.focus({ preventScroll: true });
  }, [served]);
  return (
    // biome-ignore lint/a11y/useSemanticElements: it is no part of a form.
    <div class="panel compared-versions" role="group" aria-label="The two versions" ref={group} tabIndex={-1}>
      {versions.map((content, index) => (
        <div key={index} class="compared-version">
          <p>
            <a class="version-link" href={presetHref(workspace, slug, { v: content.version })}>
              v{content.version}
            </a>{" "}
            {data && content.version === served && <ServedBadge isOff={data.status !== "active"} />}{" "}
            <span class="muted small">
              <Person id={content.creatorId} /> · <Time at={content.createdAt} />
            </span>
          </p>
          {served !== undefined && content.version !== served && (
            <ActionButton
              class="small"
              run={() => designate(content.version, served)}
              reason={reasonNotTo("write")}
              isBusy={isBusy}
            >
              {designationLabel(content.version, served)}
            </ActionButton>
          )}
        </div>
      ))}
      {dialog}
    </div>
  );
}
