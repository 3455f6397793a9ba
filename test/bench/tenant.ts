/** An organization with one workspace, and who may act in it. */
export interface Tenant {
  readonly organizationId: string;
  readonly workspaceId: string;
  readonly apiKeys: readonly string[];
  readonly managementKey: string;
}
