import type { Session, SessionWorkspace } from "../api/types.ts";
import { leave } from "../shell/leave.ts";
import { Page } from "../shell/page.tsx";
import { presetsHref } from "../shell/preset-hrefs.ts";

interface NothingHereProps {
  readonly session: Session;
  readonly workspace?: SessionWorkspace;
}

export function NothingHere({ session, workspace }: NothingHereProps) {
  return (
    <Page title="Nothing here">
      <div class="panel empty">
        {workspace ? (
          <p>
            There is nothing at this address, or it is in a workspace of {session.organization.name} that your key has
            no access to.
          </p>
        ) : (
          <p>Your key no longer has access to any workspace of {session.organization.name}.</p>
        )}
        <div class="row">
          {workspace && (
            <a class="button" href={presetsHref(workspace)}>
              Go to the presets of {workspace.name}
            </a>
          )}
          <button type="button" class="button" onClick={leave}>
            Sign in with another key
          </button>
        </div>
      </div>
    </Page>
  );
}
