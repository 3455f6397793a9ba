import { type Databases, fillMembers, fillPresets, fillTenants } from "./fill.ts";
import type { Tenant } from "./tenant.ts";

/** What is there before the first request. */
export interface Fixture {
  /** Creates; is a large organization. */
  readonly writer: Tenant;
  readonly writerMembers: number;
  /** Reads; is a small organization. */
  readonly reader: Tenant;
  readonly readerMembers: number;
  readonly readerPresets: number;
  /** Many small tenants, with two keys each; none where nobody asked for them. */
  readonly crowd: readonly Tenant[];
  readonly crowdPresets: number;
}

const writerTenant = 0;
const readerTenant = 1;
const crowdTenants = 1_000;
const crowdFrom = 100;
const sizes = { writerMembers: 10_000, readerMembers: 200, readerPresets: 1_000, crowdPresets: 10 };

/** Fills one side. Ids are the same on both; only the product's keys are used. */
export async function fillFixture(databases: Databases, { withCrowd }: { withCrowd: boolean }): Promise<Fixture> {
  const [writer, reader] = (await fillTenants(databases, writerTenant, 2)) as [Tenant, Tenant];
  await fillMembers(databases, writer, 0, sizes.writerMembers);
  await fillMembers(databases, reader, sizes.writerMembers, sizes.readerMembers);
  await fillPresets(databases, { tenant: readerTenant, tenants: 1, each: sizes.readerPresets, firstId: 0 });
  return { writer, reader, crowd: withCrowd ? await fillCrowd(databases) : [], ...sizes };
}

async function fillCrowd(databases: Databases): Promise<Tenant[]> {
  const crowd = await fillTenants(databases, crowdFrom, crowdTenants);
  const firstId = sizes.readerPresets;
  await fillPresets(databases, { tenant: crowdFrom, tenants: crowdTenants, each: sizes.crowdPresets, firstId });
  return crowd;
}
