import type { Preset, SessionWorkspace } from "../../api/types.ts";
import { pageSize } from "../../api/use-list.ts";
import { presetHref } from "../../shell/preset-hrefs.ts";
import { isComposing } from "../../ui/is-composing.ts";
import { type Column, Listing } from "../../ui/listing.tsx";
import { StatusBadge } from "../../ui/status-badge.tsx";
import { Time } from "../../ui/time.tsx";

interface PresetTableProps {
  /** Undefined until the first response. */
  readonly presets: readonly Preset[] | undefined;
  readonly isStale: boolean;
  readonly workspace: SessionWorkspace;
}

const columns: readonly Column[] = [
  { title: "Preset" },
  { title: "Description", class: "column-description only-wide", skeleton: "w-text" },
  { title: "Serves", class: "column-model" },
  { title: "Status", class: "column-status only-wide", skeleton: "w-badge" },
  { title: "Updated", class: "column-time", skeleton: "w-badge" },
];

export function PresetTable({ presets, isStale, workspace }: PresetTableProps) {
  return (
    <div class="panel">
      <Listing
        caption="Presets, most recently updated first"
        columns={columns}
        isStale={isStale}
        class="preset-table"
        skeletonRows={pageSize}
      >
        {presets?.map((preset) => (
          <PresetRow key={preset.id} preset={preset} workspace={workspace} />
        ))}
      </Listing>
    </div>
  );
}

/** Moves the focus among the presets of the list; from elsewhere, to the first one. */
export function stepTo(by: 1 | -1): void {
  const links = [...document.querySelectorAll<HTMLElement>(".preset-table .row-link")];
  const at = links.indexOf(document.activeElement as HTMLElement);
  links[at === -1 ? 0 : at + by]?.focus();
}

/** Handles arrow keys while the focus is in the list or above it. */
export function stepByArrow(event: KeyboardEvent): void {
  const by = ({ ArrowDown: 1, ArrowUp: -1 } as const)[event.key];
  if (!by || isComposing(event)) return;
  event.preventDefault();
  stepTo(by);
}

function PresetRow({ preset, workspace }: { readonly preset: Preset; readonly workspace: SessionWorkspace }) {
  return (
    <tr class="is-link">
      <td>
        <div class="two-lines">
          <a class="row-link cut" href={presetHref(workspace, preset.slug)} title={preset.name} onKeyDown={stepByArrow}>
            {preset.name}
          </a>
          <span class="slug-line muted">
            <span class="mono cut">
              <span class="slug-prefix">@preset/</span>
              {preset.slug}
            </span>
            {preset.serving && (
              <span class="served-here small">
                · <ServedVersion {...preset.serving} />
              </span>
            )}
          </span>
        </div>
      </td>
      <td class="column-description only-wide">
        <div class="clamp muted" title={preset.description ?? undefined}>
          {preset.description}
        </div>
      </td>
      <td class="column-model">{preset.serving && <Serving {...preset.serving} />}</td>
      <td class="column-status only-wide">
        <StatusBadge status={preset.status} />
      </td>
      <td class="column-time muted">
        <Time at={preset.updated_at} />
        {preset.status !== "active" && (
          <div class="only-narrow">
            <StatusBadge status={preset.status} />
          </div>
        )}
      </td>
    </tr>
  );
}

type ServingProps = NonNullable<Preset["serving"]>;

function Serving(serving: ServingProps) {
  const { model } = serving;
  return (
    <div class="two-lines">
      {model !== null && (
        <span class="mono cut" title={model}>
          {model}
        </span>
      )}
      <span class="muted small">
        <ServedVersion {...serving} />
      </span>
    </div>
  );
}

function ServedVersion({ version, newest_version: newest }: ServingProps) {
  return <>{newest === version ? `v${version}` : `v${version}, newest is v${newest}`}</>;
}
