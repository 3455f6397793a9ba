import type { CallOptions } from "../../../services/platform/rpc/grpc-client.ts";
import type { Asker } from "./shared-questions.ts";

/** The caller of an inference request, whose permission has been checked. */
export interface InferenceCaller extends Asker {
  readonly principal: {
    readonly keyId: string;
    /** Empty if it was deleted. */
    readonly workspaceId: string;
  };
  call<T>(rpc: (options: CallOptions) => Promise<T>): Promise<T>;
}
