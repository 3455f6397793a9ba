import { personName, reasonNameUnknown } from "../api/people.ts";

export function Person({ id }: { readonly id: string | null }) {
  if (id === null) return <bdi title="By a command on the server">{personName(id)}</bdi>;
  const name = personName(id);
  const why = reasonNameUnknown(id);
  // With the name, because it may be truncated on the page.
  return <bdi title={why ? `${id}. ${why}.` : `${name} (${id})`}>{name}</bdi>;
}
