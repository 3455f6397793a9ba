/** Whom an access token was issued to. An empty id is one that is gone. */
interface Identified {
  readonly keyId: string;
  readonly organizationId: string | undefined;
  readonly workspaceId: string | undefined;
}

/** Who has made a request, in the words of the log. Ids only: they name a key without being one. */
export function loggedCaller({ organizationId, workspaceId, keyId }: Identified) {
  return { organization_id: organizationId || undefined, workspace_id: workspaceId || undefined, key_id: keyId };
}
