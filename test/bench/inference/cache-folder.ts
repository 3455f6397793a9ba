import { homedir } from "node:os";
import { join } from "node:path";

/** Where other gateways are kept between runs. */
export function cacheFolder(): string {
  return join(process.env.XDG_CACHE_HOME || join(homedir(), ".cache"), "setpoint-bench");
}
