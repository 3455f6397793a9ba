/** Marks the designated version. A disabled or archived preset serves nobody. */
export function ServedBadge({ isOff }: { readonly isOff: boolean }) {
  return <span class={isOff ? "badge" : "badge good"}>{isOff ? "Designated" : "Serving"}</span>;
}
