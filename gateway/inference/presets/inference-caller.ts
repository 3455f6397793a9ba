import type { CallOptions } from "../../../services/platform/rpc/grpc-client.ts";
import type { FetchCaller } from "./shared-fetches.ts";

/** The caller of an inference request, whose permission has been checked. */
export interface InferenceCaller extends FetchCaller {
  readonly principal: {
    readonly keyId: string;
    /** Empty if it was deleted. */
    readonly workspaceId: string;
  };
  call<T>(rpc: (options: CallOptions) => Promise<T>): Promise<T>;
}
