// The canvas that widgets draw on: as wide as its place, sharp on every screen, and focusable.
// Passes on pointing, dragging and keys in CSS pixels.

import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import type { Size } from "./bitmap";
import { CanvasPainter, type Painter } from "./painter";
import type { Theme } from "./theme";

export interface StageProps {
  theme: Theme;
  /** What it is, for people who cannot see it, and the keys that it takes. */
  label: string;
  height: number | ((width: number) => number);
  /** Must be cheap: it is called whenever the component around the stage is rendered. */
  draw(painter: Painter, size: Size): void;
  /** Called when the width is known, and whenever it changes. */
  onWidth?(width: number): void;
  onPoint?(x: number, y: number): void;
  onLeave?(): void;
  onPress?(x: number, y: number): void;
  onDrag?(dx: number, dy: number): void;
  /** Returns whether the key was used, so that it does nothing else. */
  onKey?(event: KeyboardEvent): boolean;
  /** Called when the wheel is turned with the control key; a positive direction zooms out. */
  onZoom?(direction: number, x: number, y: number): void;
  cursor?: string;
  /** What is under the pointer, shown beside it; screen readers get it elsewhere. */
  tip?: string | null;
}

/** A pointer that moves farther than this from where it was pressed is dragging. */
const DRAG_FROM = 4;
const WIDTH_FIRST = 640;

export function Stage(props: StageProps) {
  const canvas = useRef<HTMLCanvasElement>(null);
  const [focused, setFocused] = useState(false);
  const [place, setPlace] = useState<Place | null>(null);
  const width = useWidth(canvas);
  const height = typeof props.height === "number" ? props.height : props.height(width);
  useLayoutEffect(() => paint(canvas.current, { width, height }, props));
  useLayoutEffect(() => props.onWidth?.(width), [width]);
  useZoom(canvas, props);
  const outline = focused ? `2px solid ${props.theme.accent}` : "none";
  // Preact does not add units to lengths.
  const style = {
    display: "block",
    width: "100%",
    height: `${height}px`,
    outline,
    outlineOffset: "-2px",
  };
  return (
    <div style={{ position: "relative", width: "100%" }}>
      <canvas
        ref={canvas}
        role="application"
        aria-label={props.label}
        tabIndex={0}
        style={{ ...style, cursor: props.cursor ?? "default", touchAction: "pan-y" }}
        onFocus={(event) => setFocused(event.currentTarget.matches(":focus-visible"))}
        onBlur={() => setFocused(false)}
        onKeyDown={(event) => {
          setFocused(true);
          if (!event.altKey && !event.metaKey && props.onKey?.(event)) event.preventDefault();
        }}
        {...usePointer(props, setPlace)}
      />
      {props.tip && place && <Tip text={props.tip} place={place} width={width} />}
    </div>
  );
}

interface Place {
  x: number;
  y: number;
}

/** Next to the pointer, on the side with more room. */
function Tip({ text, place, width }: { text: string; place: Place; width: number }) {
  const isLeft = place.x < width / 2;
  const side = isLeft ? { left: `${place.x + 14}px` } : { right: `${width - place.x + 14}px` };
  return (
    <div class="chart-tip" aria-hidden="true" style={{ ...side, top: `${place.y + 14}px` }}>
      {text}
    </div>
  );
}

/** The width of the place that the canvas fills. */
function useWidth(canvas: { current: HTMLCanvasElement | null }): number {
  const [width, setWidth] = useState(WIDTH_FIRST);
  useLayoutEffect(() => {
    const place = canvas.current?.parentElement;
    if (!place) return;
    const measure = () => setWidth(Math.max(1, Math.floor(place.clientWidth)));
    measure();
    const observer = new ResizeObserver(measure);
    observer.observe(place);
    return () => observer.disconnect();
  }, []);
  return width;
}

function paint(canvas: HTMLCanvasElement | null, size: Size, props: StageProps) {
  const context = canvas?.getContext("2d");
  if (!canvas || !context) return;
  const scale = window.devicePixelRatio || 1;
  const [across, down] = [Math.round(size.width * scale), Math.round(size.height * scale)];
  // Setting the size of a canvas clears it, even if it does not change.
  if (canvas.width !== across || canvas.height !== down) {
    canvas.width = across;
    canvas.height = down;
  }
  context.setTransform(scale, 0, 0, scale, 0, 0);
  const painter = new CanvasPainter(context);
  painter.rect(0, 0, size.width, size.height, props.theme.surface);
  props.draw(painter, size);
}

/** Zooms with the wheel. The browser would zoom the page, which only a listener that is not passive
 * can prevent. */
function useZoom(canvas: { current: HTMLCanvasElement | null }, props: StageProps) {
  const latest = useRef(props);
  latest.current = props;
  useEffect(() => {
    const element = canvas.current;
    const onWheel = (event: WheelEvent) => {
      const { onZoom } = latest.current;
      if (!event.ctrlKey || !onZoom) return;
      event.preventDefault();
      onZoom(Math.sign(event.deltaY), event.offsetX, event.offsetY);
    };
    element?.addEventListener("wheel", onWheel, { passive: false });
    return () => element?.removeEventListener("wheel", onWheel);
  }, []);
}

interface Press {
  x: number;
  y: number;
  isDrag: boolean;
}

function usePointer(props: StageProps, setPlace: (place: Place | null) => void) {
  const press = useRef<Press | null>(null);
  return {
    onPointerDown(event: PointerEvent) {
      press.current = { x: event.offsetX, y: event.offsetY, isDrag: false };
      if (props.onDrag) (event.currentTarget as Element).setPointerCapture(event.pointerId);
    },
    onPointerMove(event: PointerEvent) {
      const begun = press.current;
      if (begun && props.onDrag && event.buttons !== 0) {
        const [dx, dy] = [event.offsetX - begun.x, event.offsetY - begun.y];
        if (!begun.isDrag && Math.hypot(dx, dy) < DRAG_FROM) return;
        press.current = { x: event.offsetX, y: event.offsetY, isDrag: true };
        props.onDrag(dx, dy);
        return;
      }
      setPlace({ x: event.offsetX, y: event.offsetY });
      props.onPoint?.(event.offsetX, event.offsetY);
    },
    onPointerUp(event: PointerEvent) {
      if (press.current && !press.current.isDrag) props.onPress?.(event.offsetX, event.offsetY);
      press.current = null;
    },
    onPointerLeave() {
      setPlace(null);
      props.onLeave?.();
    },
  };
}
