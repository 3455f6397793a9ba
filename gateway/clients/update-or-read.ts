import { isOfKind } from "../../services/platform/domain/domain-error.ts";

interface Update<Answer> {
  /** The fields that it names. */
  readonly paths: readonly string[];
  /** Whether the caller has given it an id. */
  readonly hasOwnId: boolean;
  readonly store: () => Promise<Answer>;
  /** Finds what is to be updated. */
  readonly read: () => Promise<Answer>;
}

/** An update that names no field changes nothing, and is stored only so that the caller's own id cannot be reused. */
export async function updateOrRead<Answer>({ paths, hasOwnId, store, read }: Update<Answer>): Promise<Answer> {
  if (paths.length > 0) return store();
  if (!hasOwnId) return read();
  try {
    return await store();
  } catch (error) {
    // A service of the previous release stores no such update.
    const isRefused =
      isOfKind(error, "invalid_argument") && error.violations.some(({ path }) => path === "update_mask");
    if (!isRefused) throw error;
    return read();
  }
}
