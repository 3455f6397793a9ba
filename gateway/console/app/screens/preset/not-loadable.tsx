import type { ApiError } from "../../api/api-error.ts";
import type { SessionWorkspace } from "../../api/types.ts";
import { presetHref } from "../../shell/preset-hrefs.ts";
import { ErrorPanel } from "../../ui/error-panel.tsx";

interface NotLoadableProps {
  readonly workspace: SessionWorkspace;
  readonly slug: string;
  readonly version: number | undefined;
  /** Why the preset or the version could not be loaded. */
  readonly presetError: ApiError | undefined;
  readonly versionError: ApiError | undefined;
  readonly retry: () => void;
}

/** Shown in place of a version that could not be loaded. It offers no retry for what does not exist. */
export function NotLoadable({ workspace, slug, version, presetError, versionError, retry }: NotLoadableProps) {
  if (presetError)
    return presetError.status === 404 ? (
      <ErrorPanel error={presetError} title="There is no such preset" />
    ) : (
      <ErrorPanel error={presetError} title="The preset could not be loaded" retry={retry} />
    );
  if (!versionError) return null;
  if (versionError.status !== 404)
    return <ErrorPanel error={versionError} title="The version could not be loaded" retry={retry} />;
  return (
    <ErrorPanel error={versionError} title={`There is no v${version}`}>
      <p>
        The history of <a href={presetHref(workspace, slug)}>the preset</a> shows which versions there are.
      </p>
    </ErrorPanel>
  );
}
