/** Beside the version that is designated. A preset that is out of use serves nobody. */
export function ServedBadge({ isOff }: { readonly isOff: boolean }) {
  return <span class={isOff ? "badge" : "badge good"}>{isOff ? "Designated" : "Serving"}</span>;
}
