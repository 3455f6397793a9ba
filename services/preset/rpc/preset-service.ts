import type { PresetService } from "../../../proto/gen/setpoint/preset/v1/preset_service_pb.ts";
import type { Implementation } from "../../platform/rpc/service.ts";
import { newVersion } from "../domain/new-version.ts";
import type { VersionWriter } from "../store/version-writer.ts";
import { toPresetMessage } from "./preset-mapper.ts";

/** A call without a deadline of its own does not wait longer than this. */
const deadlineDefaultMs = 15_000;

export function presetService(writer: VersionWriter): Implementation<typeof PresetService> {
  return {
    async createVersion(request, { principal, deadlineMs }) {
      const creation = newVersion(principal, request);
      const preset = await writer.createVersion(creation, deadlineMs ?? Date.now() + deadlineDefaultMs);
      return { preset: toPresetMessage(preset) };
    },
  };
}
