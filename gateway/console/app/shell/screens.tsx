import type { VNode } from "preact";
import { reasonForbidden } from "../api/session.ts";
import type { SessionWorkspace } from "../api/types.ts";
import { Compare } from "../screens/compare.tsx";
import { Edit } from "../screens/edit.tsx";
import { NewPreset } from "../screens/new-preset.tsx";
import { Preset } from "../screens/preset.tsx";
import { Presets } from "../screens/presets.tsx";
import type { PresetScreenProps } from "../screens/screen-props.ts";
import { Try } from "../screens/try.tsx";
import { NoPermission } from "../ui/no-permission.tsx";
import { Administration, isAdministrationPath } from "./administration.tsx";
import { Page } from "./page.tsx";
import { newPresetPart } from "./preset-hrefs.ts";
import { sectionLabel } from "./sections.ts";

/** The screen for a path below the workspace; undefined if there is none. Another path mounts a new screen. */
export function findScreen(
  parts: readonly string[],
  query: URLSearchParams,
  workspace: SessionWorkspace,
): VNode | undefined {
  const [section, slug, ...rest] = parts;
  const common = { key: `${workspace.id}/${parts.join("/")}`, workspace, query };
  const unread = reasonForbidden("read");
  if (unread && (section === "activity" || (section === "presets" && slug !== newPresetPart))) {
    return (
      <Page key={section} title={sectionLabel(section)}>
        <NoPermission reason={unread} actions={[]} />
      </Page>
    );
  }
  if (isAdministrationPath(parts)) return <Administration {...common} parts={parts} />;
  if (section !== "presets") return undefined;
  if (slug === undefined) return <Presets {...common} />;
  if (slug === newPresetPart) return rest.length === 0 ? <NewPreset {...common} /> : undefined;
  return findPresetScreen({ ...common, slug }, rest);
}

/** The screen for a path below a preset. */
function findPresetScreen(props: PresetScreenProps & { readonly key: string }, parts: readonly string[]) {
  const [part, detail] = parts;
  if (part === undefined) return <Preset {...props} />;
  if (part === "edit" && detail === undefined) return <Edit {...props} />;
  if (part === "try" && detail === undefined) return <Try {...props} />;
  const [, from, to] = (part === "compare" && /^([1-9]\d{0,9})\.\.\.([1-9]\d{0,9})$/.exec(detail ?? "")) || [];
  if (!from || !to) return undefined;
  // One key for all pairs of versions, so that the content stays while other versions are being loaded.
  return <Compare {...props} key={`${props.workspace.id}/${props.slug}/compare`} from={Number(from)} to={Number(to)} />;
}
