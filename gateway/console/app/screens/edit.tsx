import { useEffect, useState } from "preact/hooks";
import { designatedVersion, presetPath, type VersionContent, versionContent } from "../api/presets.ts";
import type { One, PresetVersion, PresetWithVersion } from "../api/types.ts";
import { useLoaded } from "../api/use-loaded.ts";
import { indented } from "../json/json-pieces.ts";
import { navigate } from "../shell/location.ts";
import { Page } from "../shell/page.tsx";
import { editHref, presetHref, presetsHref } from "../shell/preset-hrefs.ts";
import { ContentSkeleton } from "../ui/content-skeleton.tsx";
import { type Draft, findDraft } from "./edit/draft.ts";
import { DraftEditor } from "./edit/draft-editor.tsx";
import { NotLoadable } from "./preset/not-loadable.tsx";
import type { PresetScreenProps } from "./screen-props.ts";

/** A new version, based on an existing one. */
export function Edit({ workspace, query, slug }: PresetScreenProps) {
  const from = Number(query.get("from")) || undefined;
  const [kept] = useState(() => (from === undefined ? undefined : findDraft(workspace, slug, from)));
  const [start, setStart] = useState<Draft | undefined>(kept);
  const isLoading = start === undefined;
  const preset = useLoaded<One<PresetWithVersion>>(isLoading ? presetPath(workspace, slug) : undefined);
  const version = useLoaded<One<PresetVersion>>(
    isLoading && from !== undefined ? presetPath(workspace, slug, `/versions/${from}`) : undefined,
  );
  const served = preset.answer && designatedVersion(preset.answer);
  useEffect(() => {
    // Puts the version into the address, so that a reload finds the draft again.
    if (from === undefined && served) navigate(editHref(workspace, slug, { from: served.version }), "replace");
  }, [from, served?.version]);
  useEffect(() => {
    if (start || !preset.answer || !version.answer || !served || preset.isLoading || version.isLoading) return;
    setStart(newDraft(versionContent(version.answer), served, preset.answer.etag));
  }, [preset.answer, version.answer]);

  const error = preset.error ?? version.error;
  return (
    <Page
      title={`Edit ${slug}`}
      heading={from === undefined ? `Edit ${slug}` : `New version from v${from}`}
      crumbs={[
        ["Presets", presetsHref(workspace)],
        [slug, presetHref(workspace, slug)],
      ]}
    >
      <NotLoadable
        workspace={workspace}
        slug={slug}
        version={from}
        presetError={preset.error}
        versionError={version.error}
        retry={() => {
          preset.reload();
          version.reload();
        }}
      />
      {start ? (
        <DraftEditor
          key="editor"
          start={start}
          isKept={kept !== undefined}
          workspace={workspace}
          slug={slug}
          isArchived={preset.answer?.json.data.status === "archived"}
          isReview={query.get("review") === "1"}
          startAnew={() => setStart(undefined)}
        />
      ) : (
        !error && <ContentSkeleton key="skeleton" />
      )}
    </Page>
  );
}

function newDraft(base: VersionContent, ancestor: VersionContent, etag: string | undefined): Draft {
  return { base, ancestor, etag, config: indented(base.config), prompt: base.prompt ?? "" };
}
