import { type ColumnDef, tableFeatures, useTable } from '@tanstack/react-table';
import {
  type MouseEvent,
  type ReactNode,
  type SyntheticEvent,
  useCallback,
  useEffect,
  useMemo,
  useRef,
  useState,
} from 'react';
import { useKeys } from '~/app/keys.ts';
import { useGo, useHref, usePreload } from '~/app/navigation.ts';
import { cx } from '~/lib/cx.ts';
import { type Column, DataRow, LINE, shapesOf } from './data-row.tsx';
import { ProblemNotice } from './problem-notice.tsx';
import { Skeleton } from './states.tsx';
import type { Pages } from './use-pages.ts';
import { FIRST_ROW, ROW_PX, useWindow } from './use-window.ts';

export type { Column } from './data-row.tsx';

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

const FEATURES = tableFeatures({});
/** Rows before the end of what is loaded at which the next page is read. */
const AHEAD = 100;

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

/** The clicks of all rows, with what they open. */
function useRowClicks<Row>(
  { pages, rowLink, onOpen }: DataTableProps<Row>,
  setActive: (index: number) => void,
) {
  const go = useGo();
  const preload = usePreload();
  const isPreloaded = useRef(false);
  const indexOf = (target: Element): number =>
    Number(target.closest('[aria-rowindex]')?.getAttribute('aria-rowindex')) - FIRST_ROW;
  /** All rows lead to the same view: its code is loaded when the pointer or the focus is on one of them. */
  const onIntent = ({ target }: SyntheticEvent): void => {
    if (isPreloaded.current || rowLink === undefined || !(target instanceof Element)) return;
    const row = pages.at(indexOf(target));
    if (row === undefined) return;
    isPreloaded.current = true;
    preload(rowLink(row));
  };
  const onClick = (event: MouseEvent): void => {
    if (!(event.target instanceof Element)) return;
    const index = indexOf(event.target);
    const row = pages.at(index);
    if (row === undefined) return;
    setActive(index);
    if (event.target.closest('[data-opens]') === null) return;
    if (rowLink === undefined) onOpen?.(row);
    // With one of these keys, the browser opens the link elsewhere.
    else if (!event.metaKey && !event.ctrlKey && !event.shiftKey && !event.altKey) {
      event.preventDefault();
      go(rowLink(row));
    }
  };
  return { onClick, onFocus: onIntent, onPointerOver: onIntent };
}

/**
 * A list of any length: only the rows in the window are in the document, and the next page is read before the reader gets
 * there. It fills the height that its parent leaves.
 */
export function DataTable<Row>(props: DataTableProps<Row>) {
  const { columns, pages, rowId, rowLink, onOpen, label } = props;
  const scroller = useRef<HTMLDivElement>(null);
  const { count, hasMore, at, loadMore } = pages;
  const { from, to, keyOf, onScroll, show } = useWindow(scroller, count);
  const [active, setActive] = useRowKeys(props, show);
  const clicks = useRowClicks(props, setActive);
  const hrefOf = useHref();
  const shapes = useMemo(() => shapesOf(columns), [columns]);
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
        className="min-w-fit text-sm"
      >
        <div role="rowgroup" className="sticky top-0 z-10 border-b border-line bg-panel">
          <div role="row" aria-rowindex={1} className={cx(LINE, 'h-8')}>
            {table.getHeaderGroups()[0]?.headers.map((header, index) => {
              const { className, style } = shapes[index]!;
              return (
                <div role="columnheader" key={header.id} className={cx(className, 'eyebrow')} style={style}>
                  <table.FlexRender header={header} />
                </div>
              );
            })}
          </div>
        </div>
        <div
          role="rowgroup"
          className="relative"
          style={{ height: (count + (hasMore ? 1 : 0)) * ROW_PX }}
          {...clicks}
        >
          {table.getRowModel().rows.map((row, offset) => {
            const index = from + offset;
            const original = row.original as Row;
            return (
              <DataRow
                key={keyOf(index)}
                row={original}
                index={index}
                shapes={shapes}
                isActive={index === active}
                href={rowLink && hrefOf(rowLink(original))}
                isButton={onOpen !== undefined}
              />
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
