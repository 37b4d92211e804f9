// The address of a view: `#section?target=ext4&dimension=io&benchmark=create`, so that what is
// shown can be sent to somebody who has the file.

/** What is being looked at. */
export interface Route {
  /** The section to scroll to. */
  section: string;
  /** Labels of the sides to show; empty for all. */
  targets: string[];
  /** The dimension to show; null for all. */
  dimension: string | null;
  /** The key of the benchmark or curve being looked at; null for the first. */
  benchmark: string | null;
  /** What is being looked at of cache lines. */
  footprint: FootprintRoute;
}

/** What is being looked at of cache lines. Where it is null, the first that exists is meant. */
export interface FootprintRoute {
  /** The label of what was traced. */
  traced: string | null;
  operation: string | null;
  /** The label of what it is compared with; null for nothing. */
  against: string | null;
  /** What frames of flame graphs stand for. */
  frames: string | null;
  /** How flame graphs are weighted. */
  weight: string | null;
}

const FOOTPRINT_KEYS = ["traced", "operation", "against", "frames", "weight"] as const;

const FOOTPRINT: FootprintRoute = {
  traced: null,
  operation: null,
  against: null,
  frames: null,
  weight: null,
};

export const HOME: Route = {
  section: "summary",
  targets: [],
  dimension: null,
  benchmark: null,
  footprint: FOOTPRINT,
};

/** The route of an address. What the address does not say is as on the home view. */
export function parseRoute(hash: string): Route {
  const [section = "", query = ""] = hash.replace(/^#/, "").split("?", 2);
  const given = new URLSearchParams(query);
  const footprint = { ...FOOTPRINT };
  for (const key of FOOTPRINT_KEYS) footprint[key] = given.get(key);
  return {
    section: section === "" ? HOME.section : section,
    targets: given.getAll("target"),
    dimension: given.get("dimension"),
    benchmark: given.get("benchmark"),
    footprint,
  };
}

/** The address of a route. */
export function formatRoute(route: Route): string {
  const query = new URLSearchParams();
  for (const target of route.targets) query.append("target", target);
  if (route.dimension !== null) query.set("dimension", route.dimension);
  if (route.benchmark !== null) query.set("benchmark", route.benchmark);
  for (const key of FOOTPRINT_KEYS) {
    const value = route.footprint[key];
    if (value !== null) query.set(key, value);
  }
  const text = query.toString();
  return `#${route.section}${text === "" ? "" : `?${text}`}`;
}
