import type { CallOptions } from "../../../services/platform/rpc/grpc-client.ts";
import type { Asker } from "./shared-questions.ts";

/** Who makes an inference request, and may: that is checked before. */
export interface InferenceCaller extends Asker {
  readonly principal: {
    readonly keyId: string;
    /** Empty if it is gone. */
    readonly workspaceId: string;
  };
  call<T>(rpc: (options: CallOptions) => Promise<T>): Promise<T>;
}
