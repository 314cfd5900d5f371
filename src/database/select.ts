import type { Page } from '../kernel/paging.ts';
import { plainArray, textArray } from './array.ts';
import type { Parameter, Queryable } from './database.ts';

/** Conditions of a list and their parameters, put together without ever putting a value into the text. */
export type Conditions = {
  /** `?` stands for the value. */
  add(sql: string, value: Parameter): void;
  /** Nothing when the filter is absent. */
  anyOf(column: string, type: 'uuid' | 'text', values: readonly string[] | undefined): void;
};

/**
 * One page of a table, in key order, and one row more to know whether there is a next page. The table must have the
 * columns id and created_at_ns (and updated_at_ns, where the list offers it).
 */
export async function selectPage<Row extends object>(
  database: Queryable,
  source: { columns: string; from: string; alias: string },
  page: Page,
  conditions: (where: Conditions) => void,
): Promise<Row[]> {
  const { alias } = source;
  const parameters: Parameter[] = [];
  const clauses: string[] = [];
  const add = (sql: string, value: Parameter): void => {
    parameters.push(value);
    clauses.push(sql.replace('?', `$${parameters.length}`));
  };
  conditions({
    add,
    anyOf(column, type, values) {
      if (values === undefined) return;
      add(`${column} = any (?::${type}[])`, type === 'uuid' ? plainArray(values) : textArray(values));
    },
  });
  for (const { column, operator, ns } of page.ranges) add(`${alias}.${column}_ns ${operator} ?`, ns);
  const key = `${alias}.${page.orderBy}_ns`;
  const direction = page.descending ? 'desc' : 'asc';
  if (page.after !== undefined) {
    parameters.push(page.after.ns, page.after.id);
    const sign = page.descending ? '<' : '>';
    clauses.push(
      `(${key}, ${alias}.id) ${sign} ($${parameters.length - 1}::bigint, $${parameters.length}::uuid)`,
    );
  }
  parameters.push(page.limit + 1);
  return database.query<Row>(
    `select ${source.columns} from ${source.from}
     ${clauses.length > 0 ? `where ${clauses.join(' and ')}` : ''}
     order by ${key} ${direction}, ${alias}.id ${direction} limit $${parameters.length}`,
    parameters,
  );
}
