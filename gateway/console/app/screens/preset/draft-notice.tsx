import { useState } from "preact/hooks";
import type { SessionWorkspace } from "../../api/types.ts";
import { editHref } from "../../shell/preset-hrefs.ts";
import { draftVersions } from "../edit/draft.ts";

interface DraftNoticeProps {
  readonly workspace: SessionWorkspace;
  readonly slug: string;
}

/** Leads back to what was written in this tab, even if another version is served by now. */
export function DraftNotice({ workspace, slug }: DraftNoticeProps) {
  const [versions] = useState(() => draftVersions(workspace, slug));
  return (
    <>
      {versions.map((version) => (
        <div key={version} class="notice row">
          <p>You have an unsaved draft, based on v{version}.</p>
          <a class="button small" href={editHref(workspace, slug, { from: version })}>
            Continue with it
          </a>
        </div>
      ))}
    </>
  );
}
