import { areNamesLoading } from "../api/people.ts";
import { Person } from "./person.tsx";
import { Time } from "./time.tsx";

interface ByLineProps {
  readonly id: string | null;
  readonly at: string;
}

/**
 * Who did something, and when. The line is shown once the name is known, so that nothing moves when the name arrives.
 */
export function ByLine({ id, at }: ByLineProps) {
  return (
    <span class="by-line muted small" data-coming={areNamesLoading() ? "" : undefined}>
      <span class="cut">
        <Person id={id} />
      </span>{" "}
      <span>
        · <Time at={at} />
      </span>
    </span>
  );
}
