import type { VNode } from "preact";
import { reasonNotTo } from "../api/session.ts";
import type { SessionWorkspace } from "../api/types.ts";
import { Compare } from "../screens/compare.tsx";
import { Edit } from "../screens/edit.tsx";
import { NewPreset } from "../screens/new-preset.tsx";
import { Preset } from "../screens/preset.tsx";
import { Presets } from "../screens/presets.tsx";
import { Try } from "../screens/try.tsx";
import { NotYours } from "../ui/not-yours.tsx";
import { Administration, isAdministrationPath } from "./administration.tsx";
import { newPresetPart } from "./location.ts";
import { Page } from "./page.tsx";
import { sections } from "./sections.ts";

/** The screen of a path behind the workspace; undefined where there is none. Each is new where its path is another. */
export function findScreen(
  parts: readonly string[],
  query: URLSearchParams,
  workspace: SessionWorkspace,
): VNode | undefined {
  const [section, slug, part, detail] = parts;
  const key = `${workspace.id}/${parts.join("/")}`;
  const common = { key, workspace, query };
  const unread = reasonNotTo("read");
  if (unread && (section === "activity" || (section === "presets" && slug !== newPresetPart))) {
    return (
      <Page key={section} title={sections.find(([path]) => path === section)?.[1] ?? ""}>
        <NotYours reason={unread} actions={[]} />
      </Page>
    );
  }
  if (isAdministrationPath(parts)) return <Administration {...common} parts={parts} />;
  if (section === "presets" && slug === undefined) return <Presets {...common} />;
  if (section === "presets" && slug === newPresetPart && part === undefined) return <NewPreset {...common} />;
  if (section === "presets" && slug !== undefined && part === undefined) return <Preset {...common} slug={slug} />;
  if (section === "presets" && slug !== undefined && part === "edit" && detail === undefined) {
    return <Edit {...common} slug={slug} />;
  }
  if (section === "presets" && slug !== undefined && part === "try" && detail === undefined) {
    return <Try {...common} slug={slug} />;
  }
  if (section === "presets" && slug !== undefined && part === "compare") {
    const [, from, to] = /^([1-9]\d{0,9})\.\.\.([1-9]\d{0,9})$/.exec(detail ?? "") ?? [];
    if (from && to)
      return (
        <Compare {...common} key={`${workspace.id}/${slug}/compare`} slug={slug} from={Number(from)} to={Number(to)} />
      );
  }
  return undefined;
}
