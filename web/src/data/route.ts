// The address of a view: `#section?target=ext4&dimension=io&benchmark=create`, so that what is seen
// can be sent to somebody who has the file.

/** What is looked at. */
export interface Route {
  /** The section that is scrolled to. */
  section: string;
  /** Labels of the sides that are shown; empty for all. */
  targets: string[];
  /** The dimension that is shown; none for all. */
  dimension: string | null;
  /** The benchmark that is looked at, by its key; none for the first. */
  benchmark: string | null;
}

export const HOME: Route = { section: "summary", targets: [], dimension: null, benchmark: null };

/** The route of an address; what it does not say is as at home. */
export function parseRoute(hash: string): Route {
  const [section = "", query = ""] = hash.replace(/^#/, "").split("?", 2);
  const given = new URLSearchParams(query);
  return {
    section: section === "" ? HOME.section : section,
    targets: given.getAll("target"),
    dimension: given.get("dimension"),
    benchmark: given.get("benchmark"),
  };
}

/** The address of a route. */
export function formatRoute(route: Route): string {
  const query = new URLSearchParams();
  for (const target of route.targets) query.append("target", target);
  if (route.dimension !== null) query.set("dimension", route.dimension);
  if (route.benchmark !== null) query.set("benchmark", route.benchmark);
  const text = query.toString();
  return `#${route.section}${text === "" ? "" : `?${text}`}`;
}
