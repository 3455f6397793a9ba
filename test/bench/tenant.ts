/** The systems that are compared: the product with its yardstick, or with other gateways and what is behind them all. */
export type SideName = "setpoint" | "yardstick" | "nginx" | "portkey" | "upstream";

/** An organization with one workspace, and who may act in it. */
export interface Tenant {
  readonly organizationId: string;
  readonly workspaceId: string;
  readonly apiKeys: readonly string[];
  readonly managementKey: string;
}
