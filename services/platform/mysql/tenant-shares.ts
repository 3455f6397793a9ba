import { TransientMap } from "../process/transient-map.ts";
import type { PoolConnection } from "./connection.ts";

/**
 * Which connections tenants have in use. A quarter of them is left for others than any one: so these find one, however long
 * the statements of that one take.
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
