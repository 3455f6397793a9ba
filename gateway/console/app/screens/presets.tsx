import { searchedText } from "../api/searched-text.ts";
import { inWorkspace, reasonForbidden } from "../api/session.ts";
import type { Preset, PresetStatus } from "../api/types.ts";
import { pageIn, pageParameters, useList } from "../api/use-list.ts";
import { navigate } from "../shell/location.ts";
import { Page } from "../shell/page.tsx";
import { newPresetHref, presetsHref } from "../shell/preset-hrefs.ts";
import { useShortcut } from "../shell/use-shortcut.ts";
import { ActionButton } from "../ui/action-button.tsx";
import { ErrorPanel } from "../ui/error-panel.tsx";
import { Icon } from "../ui/icon.tsx";
import { Pager } from "../ui/pager.tsx";
import { SearchField } from "../ui/search-field.tsx";
import { FirstPreset } from "./presets/first-preset.tsx";
import { PresetTable, stepByArrow, stepTo } from "./presets/preset-table.tsx";
import type { ScreenProps } from "./screen-props.ts";

const statusLabels: Readonly<Record<PresetStatus | "", string>> = {
  "": "All",
  active: "Active",
  disabled: "Disabled",
  archived: "Archived",
};
const statuses = Object.entries(statusLabels) as [PresetStatus | "", string][];

export function Presets({ workspace, query }: ScreenProps) {
  const q = query.get("q") ?? "";
  const status = statuses.find(([each]) => each === query.get("status"))?.[0] ?? "";
  const page = pageIn(query);
  const isFiltered = q !== "" || status !== "";
  const parameters = new URLSearchParams({ ...pageParameters(page), include: "serving" });
  if (q) parameters.set("q", searchedText(q));
  if (status) parameters.set("status", status);

  useShortcut("j", () => stepTo(1));
  useShortcut("k", () => stepTo(-1));

  const path = inWorkspace(`/api/v1/presets?${parameters}`, workspace);
  const { items, total, error, isLoading, reload, refresh } = useList<Preset>(path, ["preset", "presets"]);
  const isEmpty = total === 0 && !isFiltered && !isLoading;

  const hrefWith = (change: { q?: string; status?: string; page?: number }): string => {
    const { page: wanted = 1, ...filter } = { q, status, ...change };
    return presetsHref(workspace, { ...filter, page: wanted > 1 ? wanted : undefined });
  };
  return (
    <Page
      title="Presets"
      actions={
        <ActionButton
          class="primary"
          reason={reasonForbidden("write")}
          run={() => navigate(newPresetHref(workspace))}
          title="New preset (c)"
        >
          <Icon name="plus" /> New preset
        </ActionButton>
      }
    >
      {isEmpty ? (
        <FirstPreset workspace={workspace} look={refresh} />
      ) : (
        <>
          <div class="toolbar">
            <SearchField
              q={q}
              go={(text, how) => navigate(hrefWith({ q: text }), how)}
              label="Search presets by name, slug or description"
              placeholder="Search by name, slug or description"
              onKeyDown={stepByArrow}
            />
            <nav class="chips" aria-label="Status">
              {statuses.map(([value, label]) => (
                <a
                  key={value}
                  class="chip"
                  href={hrefWith({ status: value })}
                  aria-current={status === value ? "true" : undefined}
                >
                  {label}
                </a>
              ))}
            </nav>
          </div>
          {error && <ErrorPanel error={error} title="The presets could not be loaded" retry={reload} />}
          {total === 0 && isFiltered ? (
            <div class="panel empty">
              <h2>No preset matches</h2>
              <p class="wrap">
                Nothing in {workspace.name} {q && <>has “{q}” in its name, slug or description</>}
                {q && status && " and "}
                {status && <>is {status}</>}.
              </p>
              <a class="button" href={presetsHref(workspace)}>
                Show all presets
              </a>
            </div>
          ) : (
            (items || !error) && <PresetTable presets={items} isStale={isLoading} workspace={workspace} />
          )}
          {total !== undefined && total > 0 && (
            <Pager page={page} total={total} isStale={isLoading} hrefOf={(to) => hrefWith({ page: to })} />
          )}
        </>
      )}
    </Page>
  );
}
