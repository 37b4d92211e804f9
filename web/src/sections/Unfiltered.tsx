// A note beside things that filters do not change.

import { useView } from "../view";

/** Notes that this is about everything, if something is filtered out. */
export function Unfiltered({ what }: { what: string }) {
  const { route } = useView();
  if (route.targets.length === 0 && route.dimension === null) return null;
  return (
    <p class="note unfiltered">
      {what} is about everything that was measured: filters do not change it.
    </p>
  );
}
