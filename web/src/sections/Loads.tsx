// Which target would be the quickest for a load, in the words of the report.

import type { LoadDoubt } from "../contract";
import { useView, type View } from "../view";
import { Fold } from "./Fold";

const DOUBTS: Record<LoadDoubt, string> = {
  contradicted: "a program contradicts this",
  unconfirmed: "not confirmed by a program",
};

const runsOf = (view: View) => view.report.payload.runs.filter(({ loads }) => loads.length > 0);

export const hasLoads = (view: View): boolean => runsOf(view).length > 0;

export function Loads() {
  const runs = runsOf(useView());
  return (
    <>
      <p class="note">
        Estimated from the times of a load's operations, added up. Operations that get in each
        other's way take longer.
      </p>
      {runs.map(({ name, loads }) => (
        <div key={name}>
          {runs.length > 1 && <h3>{name}</h3>}
          <dl class="loads">
            {loads.map(({ title, answer, doubt }) => (
              <div key={title}>
                <dt>For {title}</dt>
                <dd>
                  {answer}
                  {doubt && <span class="note"> ({DOUBTS[doubt]})</span>}
                </dd>
              </div>
            ))}
          </dl>
          <Fold title="What the loads are, and what they leave out">
            {() =>
              loads.map(({ title, notes }) => (
                <p key={title} class="note">
                  <strong>For {title}</strong>: {notes.join(" ")}
                </p>
              ))
            }
          </Fold>
        </div>
      ))}
    </>
  );
}
