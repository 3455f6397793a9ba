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

const WRITER = 0;
const READER = 1;
const CROWD = 1_000;
const CROWD_FROM = 100;
const sizes = { writerMembers: 10_000, readerMembers: 200, readerPresets: 1_000, crowdPresets: 10 };

/** Fills one side. Ids are the same on both; only the product's keys are used. */
export async function fillFixture(databases: Databases, { withCrowd }: { withCrowd: boolean }): Promise<Fixture> {
  const [writer, reader] = (await fillTenants(databases, WRITER, 2)) as [Tenant, Tenant];
  await fillMembers(databases, writer, 0, sizes.writerMembers);
  await fillMembers(databases, reader, sizes.writerMembers, sizes.readerMembers);
  await fillPresets(databases, { tenant: READER, tenants: 1, each: sizes.readerPresets, firstId: 0 });
  return { writer, reader, crowd: withCrowd ? await fillCrowd(databases) : [], ...sizes };
}

async function fillCrowd(databases: Databases): Promise<Tenant[]> {
  const crowd = await fillTenants(databases, CROWD_FROM, CROWD);
  const firstId = sizes.readerPresets;
  await fillPresets(databases, { tenant: CROWD_FROM, tenants: CROWD, each: sizes.crowdPresets, firstId });
  return crowd;
}
