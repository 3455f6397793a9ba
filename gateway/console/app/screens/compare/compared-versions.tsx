import type { ComponentChildren } from "preact";
import { useRef } from "preact/hooks";
import { areNamesLoading } from "../../api/people.ts";
import type { VersionContent } from "../../api/presets.ts";
import { reasonForbidden } from "../../api/session.ts";
import type { One, PresetWithVersion, SessionWorkspace } from "../../api/types.ts";
import type { Loaded } from "../../api/use-loaded.ts";
import { presetHref } from "../../shell/preset-hrefs.ts";
import { ActionButton } from "../../ui/action-button.tsx";
import { Person } from "../../ui/person.tsx";
import { Time } from "../../ui/time.tsx";
import { useLostFocus } from "../../ui/use-lost-focus.ts";
import { ServedBadge } from "../preset/served-badge.tsx";
import { designationLabel, useDesignation } from "../preset/use-designation.tsx";
import { usePresetChanges } from "../preset/use-preset-changes.ts";
import { type KnownVersions, VersionMenu } from "./version-menu.tsx";

interface Side {
  readonly label: string;
  readonly version: number;
  /** The last loaded content, which may still be that of another version. */
  readonly content: VersionContent | undefined;
  /** The address of the comparison with another version on this side. */
  readonly hrefOf: (version: number) => string;
}

interface ComparedVersionsProps {
  readonly workspace: SessionWorkspace;
  readonly slug: string;
  readonly preset: Loaded<One<PresetWithVersion>>;
  readonly known: KnownVersions;
  readonly sides: readonly Side[];
  /** The controls that step through the changes. */
  readonly children: ComponentChildren;
}

/**
 * Shows which versions are compared and who made them, each above its column, and which one is served. The other can be
 * served from here, too, once it is loaded.
 */
export function ComparedVersions({ workspace, slug, preset, known, sides, children }: ComparedVersionsProps) {
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
  useLostFocus(group, served);
  return (
    // biome-ignore lint/a11y/useSemanticElements: it is no part of a form.
    <div class="panel compared-versions" role="group" aria-label="The two versions" ref={group} tabIndex={-1}>
      {sides.map(({ label, version, content, hrefOf }, index) => (
        <div key={label} class="compared-version">
          <VersionMenu label={label} value={version} known={known} hrefOf={hrefOf} />
          <p class="compared-who muted small">
            {content?.version === version && (
              <>
                {version === served && <ServedBadge isOff={data?.status !== "active"} />}
                <span class="compared-by" data-coming={areNamesLoading() ? "" : undefined}>
                  <span class="cut">
                    <Person id={content.creatorId} />
                  </span>
                  <Time at={content.createdAt} />
                </span>
              </>
            )}
          </p>
          {served !== undefined && content?.version === version && version !== served && (
            <ActionButton
              class="small"
              run={() => designate(version, served)}
              reason={reasonForbidden("write")}
              isBusy={isBusy}
            >
              {designationLabel(version, served)}
            </ActionButton>
          )}
          <a
            class="button small compared-open"
            href={presetHref(workspace, slug, { v: version })}
            aria-label={`Open v${version}`}
            title={`Open v${version}`}
          >
            Open
          </a>
          {index === sides.length - 1 && children}
        </div>
      ))}
      {dialog}
    </div>
  );
}
