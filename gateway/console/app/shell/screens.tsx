import type { VNode } from "preact";
import { reasonForbidden } from "../api/session.ts";
import type { SessionWorkspace } from "../api/types.ts";
import { Compare } from "../screens/compare.tsx";
import { Preset } from "../screens/preset.tsx";
import { Presets } from "../screens/presets.tsx";
import type { PresetScreenProps } from "../screens/screen-props.ts";
import { NoPermission } from "../ui/no-permission.tsx";
import { Administration, Writing } from "./late-screens.tsx";
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
  if (isAdministrationPath(parts)) {
    return (
      <Administration key={common.key} title={sectionLabel(section)} hasHeading={slug === undefined}>
        {({ AdministrationScreen }) => <AdministrationScreen {...common} parts={parts} />}
      </Administration>
    );
  }
  if (section !== "presets") return undefined;
  if (slug === undefined) return <Presets {...common} />;
  if (slug !== newPresetPart) return findPresetScreen({ ...common, slug }, rest);
  if (rest.length > 0) return undefined;
  return (
    <Writing key={common.key} title="New preset">
      {({ NewPreset }) => <NewPreset {...common} />}
    </Writing>
  );
}

/** Whether a path below the workspace leads to the screens about the organization. */
function isAdministrationPath([section, detail, ...rest]: readonly string[]): boolean {
  if (rest.length > 0) return false;
  if (section === "team") return true;
  return detail === undefined && (section === "activity" || section === "keys");
}

/** The screen for a path below a preset. */
function findPresetScreen(props: PresetScreenProps & { readonly key: string }, parts: readonly string[]) {
  const [part, detail] = parts;
  if (part === undefined) return <Preset {...props} />;
  if (detail === undefined && (part === "edit" || part === "try")) {
    return (
      <Writing key={props.key} title={`${part === "edit" ? "Edit" : "Try"} ${props.slug}`}>
        {({ Edit, Try }) => (part === "edit" ? <Edit {...props} /> : <Try {...props} />)}
      </Writing>
    );
  }
  const [, from, to] = (part === "compare" && /^([1-9]\d{0,9})\.\.\.([1-9]\d{0,9})$/.exec(detail ?? "")) || [];
  if (!from || !to) return undefined;
  // One key for all pairs of versions, so that the content stays while other versions are being loaded.
  return <Compare {...props} key={`${props.workspace.id}/${props.slug}/compare`} from={Number(from)} to={Number(to)} />;
}
