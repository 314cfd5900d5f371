import type { Connection, Database, Parameter, Queryable, Statement } from '../../src/database/database.ts';
import type { Page } from '../../src/kernel/paging.ts';
import { BIG, START_NS, STEP_NS } from './history.ts';

/** The plan of a statement, as EXPLAIN shows it. */
type PlanNode = {
  readonly 'Node Type': string;
  readonly 'Relation Name'?: string;
  /** Of one loop. */
  readonly 'Actual Rows': number;
  readonly 'Actual Loops': number;
  readonly 'Rows Removed by Filter'?: number;
  readonly 'Rows Removed by Index Recheck'?: number;
  readonly 'Shared Hit Blocks': number;
  readonly 'Shared Read Blocks': number;
  readonly Plans?: readonly PlanNode[];
};

type Reading = {
  readonly text: string;
  /** A custom plan for these parameters, or the generic one. */
  readonly kind: 'custom' | 'generic';
  readonly plan: PlanNode;
};

function nodesOf(plan: PlanNode): PlanNode[] {
  return [plan, ...(plan.Plans ?? []).flatMap(nodesOf)];
}

function rowsOf(node: PlanNode): number {
  return node['Actual Rows'] * node['Actual Loops'];
}

/** The rows that a scan read, including those that it filtered out. */
function looksOf(node: PlanNode): number {
  if (!/Scan/.test(node['Node Type']) || /Subquery|Function|CTE/.test(node['Node Type'])) return 0;
  const removed = (node['Rows Removed by Filter'] ?? 0) + (node['Rows Removed by Index Recheck'] ?? 0);
  return rowsOf(node) + removed * node['Actual Loops'];
}

export type Bounds = { readonly rows: number; readonly blocks: number };

export function rowsRead({ plan }: Reading): number {
  return nodesOf(plan).reduce((sum, node) => sum + looksOf(node), 0);
}

export function blocksRead({ plan }: Reading): number {
  return plan['Shared Hit Blocks'] + plan['Shared Read Blocks'];
}

/** The faults of a plan: a sequential scan of a table, or more rows read or sorted than the bounds allow. */
function faultsOf(reading: Reading, large: ReadonlySet<string>, bounds: Bounds): string[] {
  const nodes = nodesOf(reading.plan);
  const scans = nodes.filter(
    (node) => node['Node Type'] === 'Seq Scan' && large.has(node['Relation Name'] ?? ''),
  );
  const sorted = nodes
    .filter((node) => node['Node Type'].endsWith('Sort'))
    .flatMap((node) => (node.Plans ?? []).map(rowsOf));
  const [rows, blocks] = [rowsRead(reading), blocksRead(reading)];
  return [
    ...scans.map((node) => `reads all of ${node['Relation Name']}`),
    ...(rows > bounds.rows ? [`reads ${rows} rows, not ${bounds.rows}`] : []),
    ...(blocks > bounds.blocks ? [`reads ${blocks} blocks, not ${bounds.blocks}`] : []),
    ...sorted.filter((count) => count > bounds.rows).map((count) => `sorts ${count} rows`),
  ];
}

function literal(value: Parameter): string {
  return value === null ? 'null' : `'${String(value).replaceAll("'", "''")}'`;
}

type Explained = { readonly 'QUERY PLAN': readonly [{ readonly Plan: PlanNode }] };
const EXPLAIN = 'explain (analyze, buffers, timing off, format json)';

/**
 * A database that records the plan of each statement. PostgreSQL plans prepared statements for their parameters at
 * first, and later once for all, so both plans are recorded. What a statement writes is rolled back.
 */
export function explaining(connection: Connection): Queryable & { readonly readings: Reading[] } {
  const readings: Reading[] = [];
  async function explain(
    kind: Reading['kind'],
    text: string,
    parameters: readonly Parameter[],
  ): Promise<void> {
    await connection.query('begin');
    try {
      await connection.query(`set local plan_cache_mode = force_${kind}_plan`);
      await connection.script(`prepare explained as ${text}`);
      const values = parameters.length === 0 ? '' : `(${parameters.map(literal).join(', ')})`;
      const [row] = await connection.query<Explained>(`${EXPLAIN} execute explained ${values}`);
      readings.push({ text, kind, plan: row!['QUERY PLAN'][0].Plan });
    } finally {
      await connection.query('rollback');
      await connection.script('deallocate explained');
    }
  }
  return {
    readings,
    vault: connection.vault,
    async query<Row extends object>(
      statement: Statement,
      parameters: readonly Parameter[] = [],
    ): Promise<Row[]> {
      const text = typeof statement === 'string' ? statement : statement.plain;
      await explain('custom', text, parameters);
      await explain('generic', text, parameters);
      return connection.query<Row>(text, parameters);
    },
  };
}

export type Look = (database: Queryable) => Promise<unknown>;

export const PAGE_LIMIT = 100;
/** A few times the rows of a page: branches are merged, and values are read one by one. */
export const SHOWN: Bounds = { rows: 5 * (PAGE_LIMIT + 1), blocks: 10 * (PAGE_LIMIT + 1) };

/** Checks how many rows plans read, on a database with a history. */
export async function createPlanCheck(database: Database): Promise<{
  faultsIn(look: Look, bounds: Bounds): Promise<string[]>;
  stop(): void;
}> {
  const connection = await database.reserve();
  const rows = await connection.query<{ name: string }>(
    `select relname::text as name from pg_class
     where relkind = 'r' and reltuples >= 1000 and relnamespace = 'public'::regnamespace`,
  );
  const large = new Set(rows.map((row) => row.name));
  return {
    async faultsIn(look, bounds) {
      const explained = explaining(connection);
      await look(explained);
      if (explained.readings.length === 0) throw new Error('nothing was read');
      return explained.readings.flatMap((reading) =>
        faultsOf(reading, large, bounds).map((fault) => `${reading.kind} plan ${fault}: ${reading.text}`),
      );
    },
    stop: () => connection.discard(),
  };
}

/** The first page, and one far inside between two times, in both orders, for each time column of the list. */
export function pagesOf(columns: readonly Page['orderBy'][], rows: number): Page[] {
  const nsAt = (share: number): bigint => START_NS + BigInt(Math.floor(rows * share)) * STEP_NS;
  return columns.flatMap((orderBy) =>
    [true, false].flatMap((descending) => {
      const page = { limit: PAGE_LIMIT, orderBy, descending, after: undefined, ranges: [] };
      const ranges = [
        { column: orderBy, operator: '>=', ns: nsAt(0.1) },
        { column: orderBy, operator: '<', ns: nsAt(0.9) },
      ];
      return [page, { ...page, after: { ns: nsAt(0.6), id: BIG }, ranges }];
    }),
  );
}
