import { useEffect, useState } from "preact/hooks";
import { inWorkspace, reasonNotTo } from "../api/session.ts";
import type { Page as ListPage, Preset, PresetStatus, SessionWorkspace } from "../api/types.ts";
import { useLoaded } from "../api/use-loaded.ts";
import { announce } from "../shell/announcer.tsx";
import { hrefTo, navigate, newPresetPart } from "../shell/location.ts";
import { Page } from "../shell/page.tsx";
import { ActionButton } from "../ui/action-button.tsx";
import { ErrorPanel } from "../ui/error-panel.tsx";
import { Icon } from "../ui/icon.tsx";
import { Pager } from "../ui/pager.tsx";
import { useSettled } from "../ui/use-settled.ts";
import { FirstPreset } from "./presets/first-preset.tsx";
import { PresetTable } from "./presets/preset-table.tsx";

export interface ScreenProps {
  readonly workspace: SessionWorkspace;
  readonly query: URLSearchParams;
}

const pageSize = 50;
const statuses: readonly (readonly [PresetStatus | "", string])[] = [
  ["", "All"],
  ["active", "Active"],
  ["disabled", "Disabled"],
  ["archived", "Archived"],
];

export function Presets({ workspace, query }: ScreenProps) {
  const q = query.get("q") ?? "";
  const status = statuses.find(([each]) => each === query.get("status"))?.[0] ?? "";
  const page = Math.max(1, Number.parseInt(query.get("page") ?? "1", 10) || 1);
  const isFiltered = q !== "" || status !== "";
  const parameters = new URLSearchParams({
    limit: String(pageSize),
    offset: String((page - 1) * pageSize),
    include: "serving",
  });
  if (q) parameters.set("q", q);
  if (status) parameters.set("status", status);

  const [isEmpty, setEmpty] = useState(false);
  // The page of somebody who is about to make the first preset fills itself.
  const { answer, error, isLoading, reload } = useLoaded<ListPage<Preset>>(
    inWorkspace(`/api/v1/presets?${parameters}`, workspace),
    isEmpty ? 2_000 : 30_000,
  );
  const total = answer?.json.total_count;
  useEffect(() => setEmpty(total === 0 && !isFiltered), [total, isFiltered]);
  useEffect(() => {
    if (total !== undefined && !isLoading) announce(total === 1 ? "1 preset" : `${total} presets`);
  }, [total, isLoading]);

  const hrefWith = (change: { q?: string; status?: string; page?: number }): string => {
    const { page: wanted = 1, ...filter } = { q, status, ...change };
    return hrefTo([workspace.slug, "presets"], { ...filter, page: wanted > 1 ? wanted : undefined });
  };
  return (
    <Page
      title="Presets"
      actions={
        <ActionButton
          class="primary"
          reason={reasonNotTo("write")}
          run={() => navigate(hrefTo([workspace.slug, "presets", newPresetPart]))}
          title="New preset (c)"
        >
          <Icon name="plus" /> New preset
        </ActionButton>
      }
    >
      {isEmpty ? (
        <FirstPreset />
      ) : (
        <>
          <div class="toolbar">
            <Search q={q} go={(text) => navigate(hrefWith({ q: text }), "replace")} />
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
          {total === 0 ? (
            <div class="panel empty">
              <h2>No preset fits</h2>
              <p class="wrap">
                Nothing in {workspace.name} {q && <>has “{q}” in its name or slug</>}
                {q && status && " and "}
                {status && <>is {status}</>}.
              </p>
              <a class="button" href={hrefTo([workspace.slug, "presets"])}>
                Show all presets
              </a>
            </div>
          ) : (
            (answer || !error) && (
              <PresetTable presets={answer?.json.data} isStale={isLoading} workspace={workspace} rows={pageSize} />
            )
          )}
          {total !== undefined && total > 0 && (
            <Pager
              page={page}
              pageSize={pageSize}
              total={total}
              isStale={isLoading}
              hrefOf={(to) => hrefWith({ page: to })}
            />
          )}
        </>
      )}
    </Page>
  );
}

/** What is typed goes into the address once one pauses. */
function Search({ q, go }: { readonly q: string; readonly go: (text: string) => void }) {
  const [text, setText] = useState(q);
  const settled = useSettled(text, 180);
  // Only what is typed leads on.
  useEffect(() => {
    if (settled.trim() !== q) go(settled.trim());
  }, [settled]);
  // The address was changed by another way, such as Back.
  // What is being typed is not overwritten.
  useEffect(() => {
    if (q !== settled.trim()) setText(q);
  }, [q]);
  return (
    <search class="search">
      <Icon name="search" />
      <input
        id="preset-search"
        class="input"
        type="search"
        maxLength={255}
        aria-label="Search presets by name or slug"
        placeholder="Search by name or slug"
        value={text}
        onInput={(event) => setText(event.currentTarget.value)}
      />
    </search>
  );
}
