// The whole page: filters, the list of sections, and the sections from top to bottom.

import { useEffect, useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";
import { type ThemeName, themes } from "./charts/theme";
import { usePrinted } from "./charts/visible";
import type { Report } from "./data/model";
import { formatRoute, parseRoute, type Route } from "./data/route";
import { known, select } from "./data/selection";
import { Filters } from "./sections/Filters";
import { Fold } from "./sections/Fold";
import { sections } from "./sections/sections";
import { ViewContext } from "./view";

export function App({ report }: { report: Report }) {
  const [route, setRoute] = useState<Route>(() => known(report, parseRoute(location.hash)));
  const main = useRef<HTMLElement>(null);
  // Whether the section is to be scrolled to once the route is shown.
  const arrives = useRef(true);
  const theme = useTheme();
  const selection = useMemo(() => select(report, route), [report, route]);
  useEffect(() => {
    const follow = () =>
      setRoute((before) => {
        const next = known(report, parseRoute(location.hash));
        if (next.section !== before.section) arrives.current = true;
        return next;
      });
    addEventListener("hashchange", follow);
    return () => removeEventListener("hashchange", follow);
  }, [report]);
  useEffect(() => {
    if (arrives.current) document.getElementById(route.section)?.scrollIntoView();
    arrives.current = false;
  }, [route]);
  const go = (change: Partial<Route>) => {
    const next = { ...route, ...change };
    const hash = formatRoute(next);
    if (change.section !== undefined) arrives.current = true;
    if (hash === location.hash) document.getElementById(next.section)?.scrollIntoView();
    else location.hash = hash;
  };
  const isEmpty = report.benchmarks.length > 0 && selection.benchmarks.length === 0;
  const view = useMemo(
    () => ({ report, selection, route, theme: themes[theme.name], go }),
    [report, selection, route, theme.name],
  );
  const shown = sections(view);
  return (
    <ViewContext.Provider value={view}>
      <a
        class="skip"
        href={formatRoute({ ...route, section: shown[0]?.id ?? "summary" })}
        onClick={() => main.current?.focus()}
      >
        Skip to the report
      </a>
      <header class="top">
        <p class="brand">
          fsprism <span>{subjectOf(report)}</span>
        </p>
        <button type="button" class="theme" onClick={theme.toggle}>
          {theme.name === "dark" ? "Light" : "Dark"}
          <span class="hidden"> colours</span>
        </button>
        {report.runs.length > 0 && <Filters />}
      </header>
      <div class="columns">
        <nav class="contents" aria-label="Sections">
          <ol>
            {shown.map(({ id, title, isSub }) => (
              <li key={id} class={isSub ? "sub" : undefined}>
                <a
                  href={formatRoute({ ...route, section: id })}
                  aria-current={route.section === id ? "location" : undefined}
                  onClick={() => document.getElementById(id)?.scrollIntoView()}
                >
                  {title}
                </a>
              </li>
            ))}
          </ol>
        </nav>
        <main ref={main} tabIndex={-1}>
          {isEmpty && (
            <p class="doubt" role="status">
              None of the targets shown was measured on this selection.
            </p>
          )}
          {shown.map(({ id, title, isSub, Body }) => (
            <section key={id} id={id} aria-labelledby={`${id}-title`}>
              {isSub ? <h3 id={`${id}-title`}>{title}</h3> : <h2 id={`${id}-title`}>{title}</h2>}
              <Body />
            </section>
          ))}
          <footer>
            Written by fsprism {report.payload.written_by}. This page contains all its data and
            makes no network requests.
            <Fold title="Third-party licences" class="licences">
              {() => <pre>{licences()}</pre>}
            </Fold>
          </footer>
        </main>
      </div>
    </ViewContext.Provider>
  );
}

/** What the page is about, in a few words. */
function subjectOf({ runs, payload }: Report): string {
  if (payload.compared != null) return "footprints compared";
  return runs.map(({ document }) => document.run.suite).join(", ");
}

/** Light or dark: what the reader chose here, else what the system prefers; paper is light. */
function useTheme(): { name: ThemeName; toggle: () => void } {
  const preferred = matchMedia("(prefers-color-scheme: dark)");
  const [name, setName] = useState<ThemeName>(preferred.matches ? "dark" : "light");
  useEffect(() => {
    const follow = (event: MediaQueryListEvent) => setName(event.matches ? "dark" : "light");
    preferred.addEventListener("change", follow);
    return () => preferred.removeEventListener("change", follow);
  }, []);
  const isPrinted = usePrinted();
  const shown = isPrinted ? "light" : name;
  useLayoutEffect(() => {
    document.documentElement.dataset.theme = shown;
  }, [shown]);
  return { name: shown, toggle: () => setName(name === "dark" ? "light" : "dark") };
}

function licences(): string {
  const template = document.getElementById("licences") as HTMLTemplateElement | null;
  return template?.content.textContent ?? "";
}
