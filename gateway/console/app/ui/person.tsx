import { personName, whyNameless } from "../api/people.ts";

export function Person({ id }: { readonly id: string | null }) {
  if (id === null) return <bdi title="By a command on the server">{personName(id)}</bdi>;
  const name = personName(id);
  const why = whyNameless(id);
  // The name too, for it may be cut.
  return <bdi title={why ? `${id}. ${why}.` : `${name} (${id})`}>{name}</bdi>;
}
