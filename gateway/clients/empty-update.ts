import { isOfKind } from "../../services/platform/domain/domain-error.ts";

/**
 * Makes an update that names no field: it changes nothing, and is stored only so that its request id cannot be reused.
 * A service of the previous release refuses it, so there the resource is only read.
 */
export async function updateNothing<Updated, Found>(
  update: () => Promise<Updated>,
  read: () => Promise<Found>,
): Promise<Updated | Found> {
  try {
    return await update();
  } catch (error) {
    const isRefused =
      isOfKind(error, "invalid_argument") && error.violations.some(({ path }) => path === "update_mask");
    if (!isRefused) throw error;
    return read();
  }
}
