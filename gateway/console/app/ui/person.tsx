import { personName } from "../api/people.ts";

export function Person({ id }: { readonly id: string | null }) {
  const name = personName(id);
  // The name too, for it may be cut.
  return <span title={id === null ? "By a command on the server" : `${name} (${id})`}>{name}</span>;
}
