import { presetPath, versionContent } from "../api/presets.ts";
import type { One, PresetVersion } from "../api/types.ts";
import { useLoaded } from "../api/use-loaded.ts";
import { Page } from "../shell/page.tsx";
import { presetHref, presetsHref } from "../shell/preset-hrefs.ts";
import { ContentSkeleton } from "../ui/content-skeleton.tsx";
import { ErrorPanel } from "../ui/error-panel.tsx";
import { draftLike, newDraft } from "./new-preset/new-draft.ts";
import { NewPresetForm } from "./new-preset/new-preset-form.tsx";
import type { ScreenProps } from "./screen-props.ts";

/** A new preset, from scratch or as a copy of a version. */
export function NewPreset({ workspace, query }: ScreenProps) {
  const [slug, version] = [query.get("like"), query.get("v") ?? "1"];
  const { answer, error, reload } = useLoaded<One<PresetVersion>>(
    slug === null ? undefined : presetPath(workspace, slug, `/versions/${encodeURIComponent(version)}`),
  );
  const place = { workspace, like: slug === null ? "" : `${slug}@${version}` };
  const start = slug === null ? newDraft(query.get("slug") ?? "") : answer && draftLike(place, versionContent(answer));
  return (
    <Page
      title={slug === null ? "New preset" : `New preset from ${slug} v${version}`}
      crumbs={[
        ["Presets", presetsHref(workspace)],
        ...(slug === null ? [] : [[slug, presetHref(workspace, slug, { v: version })] as const]),
      ]}
    >
      {error && (
        <ErrorPanel
          error={error}
          title="There is nothing to copy"
          retry={error.status === 400 || error.status === 404 ? undefined : reload}
        />
      )}
      {start ? (
        <NewPresetForm key={place.like} place={place} start={start} />
      ) : (
        !error && <ContentSkeleton key="skeleton" />
      )}
    </Page>
  );
}
