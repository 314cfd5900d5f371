import { type ColumnDef, tableFeatures, useTable } from '@tanstack/react-table';
import {
  type CSSProperties,
  type ReactNode,
  type RefObject,
  useCallback,
  useEffect,
  useLayoutEffect,
  useMemo,
  useRef,
  useState,
} from 'react';
import { useKeys } from '~/app/keys.ts';
import { Link } from '~/app/link.tsx';
import { useGo } from '~/app/navigation.ts';
import { cx } from '~/lib/cx.ts';
import { ProblemNotice } from './problem-notice.tsx';
import { Skeleton } from './states.tsx';
import type { Pages } from './use-pages.ts';

/** One line of a table. `narrow` columns remain on a phone; the first one has the link. */
export type Column<Row> = {
  readonly id: string;
  readonly header: ReactNode;
  readonly cell: (row: Row) => ReactNode;
  /** A track of a CSS grid: `8rem`, `minmax(10rem, 1fr)`. */
  readonly width: string;
  readonly narrow?: boolean;
  readonly align?: 'right';
};

export type DataTableProps<Row> = {
  /** What it lists, for screen readers: "Transfers". */
  readonly label: string;
  readonly columns: readonly Column<Row>[];
  readonly pages: Pages<Row>;
  readonly rowId: (row: Row) => string;
  /** Where a row leads, below /console. */
  readonly rowLink?: (row: Row) => string;
  /** Instead of a link: opens a drawer, for example. */
  readonly onOpen?: (row: Row) => void;
  readonly empty: ReactNode;
};

const ROW_PX = 40;
const HEADER_PX = 33;
/** `aria-rowindex` counts from 1, and the header is a row. */
const FIRST_ROW = 2;
/** Rows above and below the visible ones: what a turn of the wheel shows before the next frame. */
const OVERSCAN = 4;
/** The rows in the document change when one has scrolled by so many, not with every row. */
const STEP = 2;
const FEATURES = tableFeatures({});
/** Rows before the end of what is loaded at which the next page is read. */
const AHEAD = 100;

type Tracks = CSSProperties & { '--wide': string; '--narrow': string };

const CELL = 'flex min-w-0 items-center truncate px-2';
const GRID = 'grid grid-cols-(--narrow) px-2 sm:grid-cols-(--wide) sm:px-4';
const classOf = <Row,>({ align, narrow }: Column<Row>): string =>
  cx(CELL, align === 'right' && 'justify-end text-right', narrow !== true && 'max-sm:hidden');

/** The same in every row, each of which is a grid of its own. An amount that is longer than that is still shown whole. */
function narrowTrack<Row>({ width, align }: Column<Row>, index: number): string {
  if (index > 0 && align === 'right') return 'minmax(8.5rem, max-content)';
  return index > 0 && /^[\d.]+rem$/.test(width) ? `min(${width}, 30vw)` : 'minmax(0, 1fr)';
}

function tracksOf<Row>(columns: readonly Column<Row>[]): Tracks {
  const narrow = columns.filter((one) => one.narrow === true);
  return {
    '--wide': columns.map((one) => one.width).join(' '),
    '--narrow': narrow.map(narrowTrack).join(' '),
  };
}

/** j and k, or the arrows, move through the rows; Enter opens one. */
function useRowKeys<Row>(
  { pages, rowLink, onOpen }: DataTableProps<Row>,
  scrollTo: (index: number) => void,
): [number, (index: number) => void] {
  const [active, setActive] = useState(-1);
  const go = useGo();
  const move = (by: number): void => {
    const next = Math.max(0, Math.min(pages.count - 1, active + by));
    if (pages.count === 0) return;
    setActive(next);
    scrollTo(next);
  };
  const open = (): void => {
    const row = pages.at(active);
    if (row === undefined) return;
    if (onOpen !== undefined) onOpen(row);
    else if (rowLink !== undefined) go(rowLink(row));
  };
  useKeys({
    j: ['Next row', () => move(1)],
    k: ['Previous row', () => move(-1)],
    Enter: ['Open the row', open],
    r: ['Read the list again', pages.refresh],
  });
  return [active, setActive];
}

type Window = {
  readonly from: number;
  readonly to: number;
  /** Elements for rows. The row at an index has the element `index % slots`, so scrolling changes texts and creates no elements. */
  readonly slots: number;
  onScroll(): void;
  /** Scrolls as little as possible, and moves the focus to the list: Enter then opens the row, not the button pressed last. */
  show(index: number): void;
};

/** The rows that are in the document. All have the same height, so this is a division, whatever the length of the list. */
function useWindow(scroller: RefObject<HTMLDivElement | null>, count: number): Window {
  const [first, setFirst] = useState(0);
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
    slots: visible + STEP + 2 * OVERSCAN,
    onScroll() {
      const element = scroller.current!;
      const top = Math.floor(element.scrollTop / ROW_PX / STEP) * STEP;
      if (top === first) return;
      setFirst(top);
      const focused =
        element.contains(document.activeElement) && document.activeElement?.closest('[aria-rowindex]');
      if (!focused) return;
      // The element of a row that leaves the window shows another row: the focus must not be on that one.
      const index = Number(focused.getAttribute('aria-rowindex')) - FIRST_ROW;
      const { from, to } = windowAt(top);
      if (index < from || index >= to) element.focus({ preventScroll: true });
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

function Cell<Row>({
  column,
  row,
  first,
  props,
}: {
  column: Column<Row>;
  row: Row;
  first: boolean;
  props: DataTableProps<Row>;
}) {
  const { rowLink, onOpen } = props;
  const content = column.cell(row);
  const linked = 'after:absolute after:inset-0 hover:underline min-w-0 truncate';
  if (!first || (rowLink === undefined && onOpen === undefined)) return content;
  return rowLink === undefined ? (
    <button type="button" className={cx(linked, 'text-left')} onClick={() => onOpen?.(row)}>
      {content}
    </button>
  ) : (
    <Link to={rowLink(row)} className={linked}>
      {content}
    </Link>
  );
}

/**
 * A list of any length: only the rows in the window are in the document, and the next page is read before the reader gets
 * there. It fills the height that its parent leaves.
 */
export function DataTable<Row>(props: DataTableProps<Row>) {
  const { columns, pages, rowId, label } = props;
  const scroller = useRef<HTMLDivElement>(null);
  const { count, hasMore, at, loadMore } = pages;
  const { from, to, slots, onScroll, show } = useWindow(scroller, count);
  const [active, setActive] = useRowKeys(props, show);
  const isNearEnd = to + AHEAD >= count;
  useEffect(() => {
    if (isNearEnd && hasMore && !pages.isLoadingMore) loadMore();
  });
  // The model has the rows in the window only: a model of 100,000 rows would be made again with every page.
  const data = useMemo(
    () => Array.from({ length: to - from }, (_, offset) => at(from + offset)!),
    [at, from, to],
  );
  const definitions = useMemo(
    () =>
      columns.map(
        ({ id, header }) => ({ id, header: () => header }) satisfies ColumnDef<typeof FEATURES, Row & object>,
      ),
    [columns],
  );
  const table = useTable({
    features: FEATURES,
    columns: definitions,
    data,
    getRowId: useCallback((row: Row) => rowId(row), [rowId]),
  });
  return (
    <div
      ref={scroller}
      onScroll={onScroll}
      className="relative min-h-0 flex-1 overflow-auto border-t border-line bg-panel [contain:strict] focus-visible:outline-offset-[-2px]"
      // So that it can be scrolled with the keyboard where its rows have nothing to focus.
      tabIndex={0}
    >
      <div
        role="table"
        aria-label={label}
        // -1: the number is not known yet.
        aria-rowcount={pages.isLoading || hasMore ? -1 : count + 1}
        style={tracksOf(columns)}
        className="min-w-fit text-sm"
      >
        <div role="rowgroup" className="sticky top-0 z-10 border-b border-line bg-panel">
          <div role="row" aria-rowindex={1} className={cx(GRID, 'h-8')}>
            {table.getHeaderGroups()[0]?.headers.map((header, index) => (
              <div role="columnheader" key={header.id} className={cx(classOf(columns[index]!), 'eyebrow')}>
                <table.FlexRender header={header} />
              </div>
            ))}
          </div>
        </div>
        <div role="rowgroup" className="relative" style={{ height: (count + (hasMore ? 1 : 0)) * ROW_PX }}>
          {table.getRowModel().rows.map((row, offset) => {
            const index = from + offset;
            return (
              <div
                role="row"
                key={index % slots}
                aria-rowindex={index + FIRST_ROW}
                data-active={index === active || undefined}
                onClick={() => setActive(index)}
                className={cx(
                  GRID,
                  'absolute inset-x-0 top-0 h-10 [contain:strict] border-b border-line/60 hover:bg-hover data-active:bg-accent-soft',
                )}
                style={{ transform: `translateY(${index * ROW_PX}px)` }}
              >
                {columns.map((column, place) => (
                  <div
                    role="cell"
                    key={column.id}
                    className={cx(
                      classOf(column),
                      place > 0 && '[&_a]:relative [&_a]:z-1 [&_button]:relative [&_button]:z-1',
                    )}
                  >
                    <Cell column={column} row={row.original as Row} first={place === 0} props={props} />
                  </div>
                ))}
              </div>
            );
          })}
        </div>
      </div>
      <Below {...props} />
    </div>
  );
}

function Below<Row>({ pages, empty }: DataTableProps<Row>) {
  if (pages.error !== null && pages.error !== undefined)
    return (
      <div className="p-4">
        <ProblemNotice error={pages.error} retry={pages.refresh} />
      </div>
    );
  if (pages.isLoading)
    return (
      <div role="status" className="flex flex-col gap-4 p-6">
        <span className="sr-only">Loading…</span>
        {[1, 2, 3, 4, 5, 6].map((line) => (
          <Skeleton key={line} className="h-4 w-full" />
        ))}
      </div>
    );
  return pages.count === 0 && !pages.hasMore ? empty : null;
}
