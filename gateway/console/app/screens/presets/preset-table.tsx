import type { Preset, SessionWorkspace } from "../../api/types.ts";
import { presetHref } from "../../shell/preset-hrefs.ts";
import { isComposing } from "../../ui/is-composing.ts";
import { StatusBadge } from "../../ui/status-badge.tsx";
import { Time } from "../../ui/time.tsx";

interface PresetTableProps {
  /** Undefined until the first response; until then, empty rows of the same height are shown. */
  readonly presets: readonly Preset[] | undefined;
  readonly isStale: boolean;
  readonly workspace: SessionWorkspace;
  readonly rows: number;
}

export function PresetTable({ presets, isStale, workspace, rows }: PresetTableProps) {
  return (
    <div class={`panel ${presets && isStale ? "is-stale" : ""}`} aria-busy={isStale}>
      <table class="table preset-table">
        <caption class="visually-hidden">Presets, most recently updated first</caption>
        <thead>
          <tr>
            <th scope="col">Preset</th>
            <th scope="col" class="column-description only-wide">
              Description
            </th>
            <th scope="col" class="column-model">
              Serves
            </th>
            <th scope="col" class="column-status only-wide">
              Status
            </th>
            <th scope="col" class="column-time">
              Updated
            </th>
          </tr>
        </thead>
        <tbody>
          {presets
            ? presets.map((preset) => <PresetRow key={preset.id} preset={preset} workspace={workspace} />)
            : Array.from({ length: rows }, (_, index) => <SkeletonRow key={index} />)}
        </tbody>
      </table>
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
              <span class="only-wide">@preset/</span>
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

function SkeletonRow() {
  return (
    <tr>
      <td>
        <div class="skeleton w-name" />
      </td>
      <td class="column-description only-wide">
        <div class="skeleton w-text" />
      </td>
      <td class="column-model">
        <div class="skeleton w-name" />
      </td>
      <td class="column-status only-wide">
        <div class="skeleton w-badge" />
      </td>
      <td class="column-time">
        <div class="skeleton w-badge" />
      </td>
    </tr>
  );
}
