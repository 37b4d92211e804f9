// The mark of a target, within text.

import { markPath } from "./marks";

const SIZE = 11;

export function Mark({ index, colour }: { index: number; colour: string }) {
  return (
    <svg width={SIZE} height={SIZE} aria-hidden="true">
      <path d={markPath(index, SIZE / 2, SIZE / 2, 4)} fill={colour} />
    </svg>
  );
}
