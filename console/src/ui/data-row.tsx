import { type CSSProperties, memo, type ReactNode } from 'react';
import { cx } from '~/lib/cx.ts';
import { FIRST_ROW, ROW_PX } from './use-window.ts';

/** One column of a table. `narrow` columns remain on a phone; the first one has the link. */
export type Column<Row> = {
  readonly id: string;
  readonly header: ReactNode;
  /** Inline content, which is cut at the edge of its cell. */
  readonly cell: (row: Row) => ReactNode;
  /** `8rem`, `minmax(10rem, 1fr)` or `minmax(10rem, max-content)`, as a track of a CSS grid. */
  readonly width: string;
  readonly narrow?: boolean;
  readonly align?: 'right';
};

/** A column as its cells need it, made once for all rows. */
export type Shape<Row> = {
  readonly column: Column<Row>;
  readonly className: string;
  readonly style: CSSProperties;
};

/**
 * Rows are flex boxes. All of them are laid out again when one drags the scroll bar: as grids, that takes twice as long.
 * `overflow: clip`, unlike `hidden`, does not make every cell a box that can be scrolled.
 */
export const LINE = 'flex px-2 sm:px-4';
const CELL =
  'min-w-(--narrow-least) flex-(--narrow) content-center overflow-clip px-2 text-ellipsis whitespace-nowrap sm:min-w-(--wide-least) sm:flex-(--wide)';

/** What a flex item needs to be as wide as the track of a grid: `flex`, and the least width. */
function itemOf(track: string): readonly [flex: string, least: string] {
  const [, least, most] = /^minmax\((.+), (.+)\)$/.exec(track) ?? [];
  if (least === undefined || most === undefined) return [`0 0 ${track}`, '0'];
  return [most === 'max-content' ? '0 1 auto' : `${most.replace('fr', '')} 1 0px`, least];
}

/** The same in every row, each of which has a layout of its own. An amount that is longer than that is still shown whole. */
function narrowTrack<Row>({ width, align }: Column<Row>, isFirst: boolean): string {
  if (!isFirst && align === 'right') return 'minmax(8.5rem, max-content)';
  return !isFirst && /^[\d.]+rem$/.test(width) ? `min(${width}, 30vw)` : 'minmax(0px, 1fr)';
}

export function shapesOf<Row>(columns: readonly Column<Row>[]): readonly Shape<Row>[] {
  const first = columns.find((one) => one.narrow === true);
  return columns.map((column) => {
    const [wide, wideLeast] = itemOf(column.width);
    const [narrow, narrowLeast] = itemOf(narrowTrack(column, column === first));
    return {
      column,
      className: cx(
        CELL,
        column.align === 'right' && 'text-right',
        column.narrow !== true && 'max-sm:hidden',
        column !== columns[0] && '[&_a]:relative [&_a]:z-1 [&_button]:relative [&_button]:z-1',
      ),
      style: {
        '--wide': wide,
        '--wide-least': wideLeast,
        '--narrow': narrow,
        '--narrow-least': narrowLeast,
      } as CSSProperties,
    };
  });
}

type DataRowProps<Row> = {
  readonly row: Row;
  readonly index: number;
  readonly shapes: readonly Shape<Row>[];
  readonly isActive: boolean;
  /** The address that the row leads to. */
  readonly href: string | undefined;
  /** Whether it opens something on the same screen. */
  readonly isButton: boolean;
};

const OPENS = 'after:absolute after:inset-0 hover:underline';

/** The table handles the clicks of all its rows: a row has no state, effect or listener of its own. */
function DataRowOf<Row>({ row, index, shapes, isActive, href, isButton }: DataRowProps<Row>) {
  return (
    <div
      role="row"
      aria-rowindex={index + FIRST_ROW}
      data-active={isActive || undefined}
      className={cx(
        LINE,
        'absolute inset-x-0 top-0 h-10 border-b border-line/60 [contain:strict] hover:bg-hover data-active:bg-accent-soft',
      )}
      style={{ transform: `translateY(${index * ROW_PX}px)` }}
    >
      {shapes.map(({ column, className, style }, place) => {
        const content = column.cell(row);
        return (
          <div role="cell" key={column.id} className={className} style={style}>
            {place > 0 || (href === undefined && !isButton) ? (
              content
            ) : href === undefined ? (
              <button
                type="button"
                data-opens=""
                className={cx(OPENS, 'max-w-full truncate text-left align-bottom')}
              >
                {content}
              </button>
            ) : (
              <a href={href} data-opens="" className={OPENS}>
                {content}
              </a>
            )}
          </div>
        );
      })}
    </div>
  );
}

/** Made again only if it shows another row: not when a page arrives, and not when others scroll in. */
export const DataRow = memo(DataRowOf) as typeof DataRowOf;
