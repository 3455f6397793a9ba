import { useMemo } from "preact/hooks";
import type { ApiError } from "../../api/api-error.ts";
import { designatedVersion, presetPath, type VersionContent, versionContent } from "../../api/presets.ts";
import type { One, PresetVersion, PresetWithVersion } from "../../api/types.ts";
import { useLoaded } from "../../api/use-loaded.ts";
import { configFaultOf } from "../edit/config-fault.ts";
import { contentOf, type Draft, findDraft } from "../edit/draft.ts";
import type { PresetScreenProps } from "../screen-props.ts";

/** What is tried: a draft, one version of a preset, or whichever version it serves. */
export interface Tried {
  /** The number of the version, if the address names one. */
  readonly pinned: number | undefined;
  /** The version that the draft began with; undefined if no draft is tried. */
  readonly draftFrom: number | undefined;
  /** Undefined also if this tab has no such draft. */
  readonly draft: Draft | undefined;
  /** What is wrong with the draft, so that it cannot be tried. */
  readonly draftFault: string | undefined;
  /** Undefined until it is loaded, and for a draft that cannot be tried. */
  readonly content: VersionContent | undefined;
  /** The status because of which the preset is refused. A draft is tried without its preset. */
  readonly offStatus: string | undefined;
  readonly presetError: ApiError | undefined;
  readonly versionError: ApiError | undefined;
  readonly reload: () => void;
}

export function useTried({ workspace, query, slug }: PresetScreenProps): Tried {
  const pinned = Number(query.get("v")) || undefined;
  const draftFrom = Number(query.get("draft")) || undefined;
  const isDraft = draftFrom !== undefined;
  const draft = useMemo(() => (isDraft ? findDraft(workspace, slug, draftFrom) : undefined), [draftFrom]);
  const draftFault = draft && configFaultOf(draft.config);
  const preset = useLoaded<One<PresetWithVersion>>(isDraft ? undefined : presetPath(workspace, slug));
  const version = useLoaded<One<PresetVersion>>(
    pinned === undefined ? undefined : presetPath(workspace, slug, `/versions/${pinned}`),
  );
  const served = preset.answer && designatedVersion(preset.answer);
  const saved = pinned === undefined ? served : version.answer && versionContent(version.answer);
  const drafted = draft && !draftFault ? contentOf(draft) : undefined;
  const status = isDraft ? undefined : preset.answer?.json.data.status;
  return {
    pinned,
    draftFrom,
    draft,
    draftFault,
    content: isDraft ? drafted : saved,
    offStatus: status === "active" ? undefined : status,
    presetError: preset.error,
    versionError: version.error,
    reload: () => {
      preset.reload();
      version.reload();
    },
  };
}
