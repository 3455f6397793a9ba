import type { SessionWorkspace } from "../api/types.ts";

/** What every screen gets: a workspace, and the query of the address. */
export interface ScreenProps {
  readonly workspace: SessionWorkspace;
  readonly query: URLSearchParams;
}

export interface PresetScreenProps extends ScreenProps {
  readonly slug: string;
}
