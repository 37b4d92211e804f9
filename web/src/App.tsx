// The whole page: filters, the list of sections, and the sections from top to bottom.

import { useEffect, useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";
import { type ThemeName, themes } from "./charts/theme";
import { usePrinted } from "./charts/visible";
import type { Report } from "./data/model";
import { formatRoute, type Route } from "./data/route";
import { select } from "./data/selection";
import { useCurrent, useNavigation } from "./navigate";
import { Filters } from "./sections/Filters";
import { Fold } from "./sections/Fold";
import { type Section, sections } from "./sections/sections";
import { useView, ViewContext } from "./view";

export function App({ report }: { report: Report }) {
  const { route, go } = useNavigation(report);
  const main = useRef<HTMLElement>(null);
  const theme = useTheme();
  // Going to another section selects nothing else, so what is drawn stays as it is.
  const selection = useMemo(
    () => select(report, route),
    [report, route.targets.join("\n"), route.dimension],
  );
  const isEmpty = report.benchmarks.length > 0 && selection.benchmarks.length === 0;
  const view = useMemo(
    () => ({ report, selection, route, theme: themes[theme.name], go }),
    [report, selection, route, theme.name, go],
  );
  const shown = sections(view);
  return (
    <ViewContext.Provider value={view}>
      <a
        class="skip"
        href={formatRoute({ ...route, section: shown[0]?.id ?? "summary" })}
        onClick={(event) => {
          event.preventDefault();
          main.current?.focus();
        }}
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
        <Contents shown={shown} route={route} go={go} />
        <main ref={main} tabIndex={-1}>
          {isEmpty && (
            <p class="doubt" role="status">
              None of the targets shown was measured on this selection.
            </p>
          )}
          {shown.map((section) => (
            <OneSection key={section.id} section={section} />
          ))}
          <footer>
            Written by fsprism {report.payload.written_by}. This page contains all its data and
            makes no network requests.
            <span class="paper-only"> Folded parts are not printed.</span>
            <Fold title="Third-party licences" class="licences">
              {() => <pre>{licences()}</pre>}
            </Fold>
          </footer>
        </main>
      </div>
    </ViewContext.Provider>
  );
}

/** The list of sections. The one being read is marked and kept in sight. */
function Contents(props: { shown: Section[]; route: Route; go: (change: Partial<Route>) => void }) {
  const { shown, route, go } = props;
  const current = useCurrent(
    shown.map(({ id }) => id),
    route.section,
  );
  const ol = useRef<HTMLOListElement>(null);
  useEffect(() => {
    const own = ol.current;
    const link = own?.querySelector("[aria-current]");
    if (!own || !link) return;
    const [list, item] = [own.getBoundingClientRect(), link.getBoundingClientRect()];
    // The list is vertical, or horizontal if the window is narrow.
    const past = (low: number, high: number, from: number, to: number) =>
      low < from ? low - from : Math.max(0, high - to);
    own.scrollTop += past(item.top, item.bottom, list.top, list.bottom);
    own.scrollLeft += past(item.left, item.right, list.left, list.right);
  }, [current]);
  return (
    <nav class="contents" aria-label="Sections">
      <ol ref={ol}>
        {shown.map(({ id, title }) => (
          <li key={id}>
            <a
              href={formatRoute({ ...route, section: id })}
              aria-current={current === id ? "location" : undefined}
              onClick={(event) => {
                if (event.ctrlKey || event.metaKey || event.shiftKey) return;
                event.preventDefault();
                go({ section: id });
              }}
            >
              {title}
            </a>
          </li>
        ))}
      </ol>
    </nav>
  );
}

/** A section with its heading. Evidence is folded until it is asked for. */
function OneSection({ section }: { section: Section }) {
  const { route } = useView();
  const { id, title, kind, teaser, onPaper, isAsked = false, Body } = section;
  const heading = <h2 id={`${id}-title`}>{title}</h2>;
  return (
    <section id={id} class={kind} aria-labelledby={`${id}-title`}>
      {kind === "evidence" ? (
        <Fold
          class="evidence-fold"
          onPaper={onPaper ?? false}
          open={route.section === id || isAsked}
          again={route}
          title={
            <>
              {heading} <span class="note">{teaser}</span>
            </>
          }
        >
          {() => (
            <div class="evidence-body">
              <Body />
            </div>
          )}
        </Fold>
      ) : (
        <>
          {kind !== "head" && heading}
          <Body />
        </>
      )}
    </section>
  );
}

/** What the page is about, in a few words. */
function subjectOf({ runs, payload }: Report): string {
  if (payload.compared != null) return "footprints compared";
  return runs.map(({ document }) => document.run.suite).join(", ");
}

/** Light or dark: what the reader chose here, or else what the system prefers. Paper is light. */
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
