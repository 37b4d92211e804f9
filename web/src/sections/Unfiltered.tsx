// What is said beside things that filters do not change.

import { useView } from "../view";

/** A note that this is about everything, where something is filtered away. */
export function Unfiltered({ what }: { what: string }) {
  const { route } = useView();
  const isFiltered =
    route.targets.length > 0 || route.dimension !== null || route.benchmark !== null;
  if (!isFiltered) return null;
  return (
    <p class="note unfiltered">
      {what} is about everything that was measured: filters do not change it.
    </p>
  );
}
