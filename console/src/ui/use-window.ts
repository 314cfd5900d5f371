import { type RefObject, useLayoutEffect, useState } from 'react';

export const ROW_PX = 40;
const HEADER_PX = 33;
/** `aria-rowindex` counts from 1, and the header is a row. */
export const FIRST_ROW = 2;
/** Rows above and below the visible ones: what a turn of the wheel shows before the next frame. */
const OVERSCAN = 4;
/** The rows in the document change when one has scrolled by so many, not with every row. */
const STEP = 2;
/** Scrolled further than this at once, all elements show other rows. Otherwise few are removed, and few are created. */
const REUSE = 8;

type Window = {
  readonly from: number;
  readonly to: number;
  /** The key of a row's element. The order of elements never changes: to move one costs more than to change its texts. */
  keyOf(index: number): number;
  onScroll(): void;
  /** Scrolls as little as possible, and moves the focus to the list: Enter then opens the row, not the button pressed last. */
  show(index: number): void;
};

/** The index of the row that has the focus, or in which something has it. */
function focusedRow(scroller: HTMLElement): number | undefined {
  const { activeElement } = document;
  const row = scroller.contains(activeElement) ? activeElement?.closest('[aria-rowindex]') : undefined;
  return row ? Number(row.getAttribute('aria-rowindex')) - FIRST_ROW : undefined;
}

/** The rows that are in the document. All have the same height, so this is a division, whatever the length of the list. */
export function useWindow(scroller: RefObject<HTMLDivElement | null>, count: number): Window {
  const [{ first, shift }, setPlace] = useState({ first: 0, shift: 0 });
  const [visible, setVisible] = useState(0);
  useLayoutEffect(() => {
    const element = scroller.current!;
    const observer = new ResizeObserver(() => setVisible(Math.ceil(element.clientHeight / ROW_PX)));
    observer.observe(element);
    return () => observer.disconnect();
  }, [scroller]);
  const windowAt = (top: number) => ({
    from: Math.max(0, Math.min(top, count) - OVERSCAN),
    to: Math.min(count, top + STEP + visible + OVERSCAN),
  });
  return {
    ...windowAt(first),
    keyOf: (index) => index + shift,
    onScroll() {
      const element = scroller.current!;
      const top = Math.floor(element.scrollTop / ROW_PX / STEP) * STEP;
      if (top === first) return;
      const focused = focusedRow(element);
      const { from, to } = windowAt(top);
      const isFocusKept = focused !== undefined && focused >= from && focused < to;
      // The element with the focus is removed, or shows another row: the focus must not be on that one.
      if (focused !== undefined && !isFocusKept) element.focus({ preventScroll: true });
      const isReused = Math.abs(top - first) > REUSE && !isFocusKept;
      setPlace({ first: top, shift: isReused ? shift + first - top : shift });
    },
    show(index) {
      const element = scroller.current!;
      const top = index * ROW_PX;
      const lowest = top + ROW_PX + HEADER_PX - element.clientHeight;
      element.scrollTop = Math.min(top, Math.max(lowest, element.scrollTop));
      element.focus({ preventScroll: true });
    },
  };
}
