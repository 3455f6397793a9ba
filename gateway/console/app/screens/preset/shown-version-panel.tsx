import type { SessionWorkspace } from "../../api/types.ts";
import { presetHref } from "../../shell/preset-hrefs.ts";
import { ErrorPanel } from "../../ui/error-panel.tsx";
import type { ShownVersion } from "./use-shown-version.ts";
import { VersionView } from "./version-view.tsx";

interface ShownVersionPanelProps {
  readonly workspace: SessionWorkspace;
  readonly slug: string;
  readonly query: URLSearchParams;
  readonly shown: ShownVersion;
  readonly served: number;
  /** Undefined if that could not be loaded. */
  readonly newest: number | undefined;
}

/** A version, or why it cannot be shown. */
export function ShownVersionPanel({ workspace, slug, query, shown, served, newest }: ShownVersionPanelProps) {
  const { wanted, content, error, isLoading, reload } = shown;
  const isMissing = error?.status === 404;
  return (
    <div class={`stack ${isLoading ? "is-stale" : ""}`} aria-busy={isLoading}>
      {error ? (
        <ErrorPanel
          error={error}
          title={isMissing ? `There is no v${wanted}` : `v${wanted} could not be loaded`}
          retry={isMissing ? undefined : reload}
          link={[`Show v${served}, which is served`, presetHref(workspace, slug)]}
        >
          {isMissing && newest !== undefined && <p>It has versions 1 to {newest.toLocaleString("en")}.</p>}
        </ErrorPanel>
      ) : (
        content && <VersionView content={content} query={query} workspace={workspace} slug={slug} />
      )}
    </div>
  );
}
