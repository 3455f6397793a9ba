import { useEffect } from "preact/hooks";
import { Page } from "../shell/page.tsx";
import { editHref, presetHref, presetsHref } from "../shell/preset-hrefs.ts";
import { DroppedFields } from "./edit/dropped-fields.tsx";
import type { PresetScreenProps } from "./screen-props.ts";
import { MessageForm } from "./try/message-form.tsx";
import { TrialResult } from "./try/trial-result.tsx";
import { useTrial } from "./try/use-trial.ts";
import { type Tried, useTried } from "./try/use-tried.ts";

/**
 * Shows the request that a preset produces, and what a model answers to it. Also works for a draft, which no caller
 * gets yet.
 */
export function Try(props: PresetScreenProps) {
  const { workspace, slug } = props;
  const tried = useTried(props);
  const { pinned, draftFrom } = tried;
  const isDraft = draftFrom !== undefined;
  const trial = useTrial({ workspace, slug, pinned, isDraft });
  // The preset may have been disabled or archived since it was loaded.
  const isRefused = !isDraft && trial.error?.status === 409;
  useEffect(() => {
    if (isRefused) tried.reload();
  }, [isRefused]);

  const name = pinned === undefined ? slug : `${slug} v${pinned}`;
  return (
    <Page
      title={isDraft ? `Try a draft of ${slug}` : `Try ${name}`}
      crumbs={[
        ["Presets", presetsHref(workspace)],
        [slug, presetHref(workspace, slug, { v: pinned })],
        ...(isDraft
          ? [[`New version from v${draftFrom}`, editHref(workspace, slug, { from: draftFrom })] as const]
          : []),
      ]}
    >
      {isDraft && <DraftState tried={tried} />}
      <div class="try-columns">
        <MessageForm workspace={workspace} slug={slug} tried={tried} trial={trial} />
        {/* What is known only later comes after the form, which must not move. */}
        <TrialResult workspace={workspace} slug={slug} tried={tried} trial={trial} />
      </div>
    </Page>
  );
}

/** What is to be known of a draft before it is tried. */
function DraftState({ tried: { draft, draftFrom, draftFault } }: { readonly tried: Tried }) {
  if (!draft) {
    return (
      <p class="notice">
        There is no draft from v{draftFrom} in this tab. A draft is kept only in the tab that it was written in.
      </p>
    );
  }
  if (draftFault) return <p class="notice wrap">{draftFault} Go back to editing to correct it.</p>;
  return <DroppedFields draft={draft} />;
}
