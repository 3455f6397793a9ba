import type { SessionWorkspace } from "../api/types.ts";

/** What every screen is about: a workspace, and what the address says behind the question mark. */
export interface ScreenProps {
  readonly workspace: SessionWorkspace;
  readonly query: URLSearchParams;
}

export interface PresetScreenProps extends ScreenProps {
  readonly slug: string;
}
