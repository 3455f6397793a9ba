import { listedMax } from "../../api/list-all.ts";
import { SearchField } from "../../ui/search-field.tsx";

interface MemberSearchProps {
  readonly q: string;
  readonly go: (text: string, how: "push" | "replace") => void;
  /** Whether there are more members than can be searched. */
  readonly isCutShort: boolean;
}

/** Finds members by the name or the address that they are listed with. */
export function MemberSearch({ q, go, isCutShort }: MemberSearchProps) {
  return (
    <>
      <div class="toolbar">
        <SearchField
          q={q}
          go={go}
          label="Search members by name or e-mail address"
          placeholder="Search by name or e-mail address"
        />
      </div>
      {isCutShort && <p class="muted">Only the first {listedMax.toLocaleString("en")} members are searched.</p>}
    </>
  );
}

interface NobodyMatchesProps {
  readonly q: string;
  /** Where nothing is searched for. */
  readonly allHref: string;
}

/** Shown in place of a list of members that has none for the search. */
export function NobodyMatches({ q, allHref }: NobodyMatchesProps) {
  return (
    <div class="empty">
      <h2>No member matches</h2>
      <p class="wrap">No member has “{q}” in their name or e-mail address.</p>
      <a class="button" href={allHref}>
        Show all members
      </a>
    </div>
  );
}
