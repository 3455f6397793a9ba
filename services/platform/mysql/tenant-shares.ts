import { TransientMap } from "../memory/transient-map.ts";
import type { PoolConnection } from "./connection.ts";

/**
 * How many connections each tenant uses. No tenant may use more than three quarters of them, so that others find one
 * however long its statements take.
 */
export class TenantShares {
  readonly #countMax: number;
  readonly #tenants = new TransientMap<PoolConnection, string>();
  readonly #counts = new TransientMap<string, number>();

  constructor(poolSize: number) {
    this.#countMax = Math.max(1, Math.floor(0.75 * poolSize));
  }

  isUsedUp(tenant: string): boolean {
    return this.#countOf(tenant) >= this.#countMax;
  }

  take(connection: PoolConnection, tenant: string | undefined): void {
    if (tenant === undefined) return;
    this.#tenants.set(connection, tenant);
    this.#counts.set(tenant, this.#countOf(tenant) + 1);
  }

  giveBack(connection: PoolConnection): void {
    const tenant = this.#tenants.get(connection);
    if (tenant === undefined) return;
    this.#tenants.delete(connection);
    const left = this.#countOf(tenant) - 1;
    if (left > 0) this.#counts.set(tenant, left);
    else this.#counts.delete(tenant);
  }

  #countOf(tenant: string): number {
    return this.#counts.get(tenant) ?? 0;
  }
}
