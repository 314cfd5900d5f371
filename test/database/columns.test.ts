import fc from 'fast-check';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { binaryColumns } from '../../src/database/binary.ts';
import { columns } from '../../src/database/columns.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';

let test: TestDatabase;
beforeAll(async () => {
  test = await createTestDatabase();
});
afterAll(() => test.drop());

type Row = {
  readonly id: string | null;
  readonly words?: string | undefined;
  readonly facts: Readonly<Record<string, string>> | null;
  readonly amountUnits: bigint | null;
  readonly atNs: bigint | null;
  readonly delayMs: number | null;
  readonly isOpen: boolean | null;
  readonly names: readonly string[];
};

/** What PostgreSQL can store: no NUL character. A lone surrogate would come back as U+FFFD. */
const storable = fc.string({ unit: 'grapheme', maxLength: 40 }).filter((text) => !text.includes('\0'));
const rows: fc.Arbitrary<Row> = fc.record({
  id: fc.option(fc.uuid()),
  words: fc.option(fc.oneof(storable, fc.constantFrom('NULL', '', 'a,b', '{}', '"\\')), { nil: undefined }),
  facts: fc.option(fc.dictionary(storable, storable, { maxKeys: 3 })),
  amountUnits: fc.option(fc.bigInt({ min: -(10n ** 38n), max: 10n ** 38n })),
  atNs: fc.option(fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n })),
  delayMs: fc.option(fc.integer({ min: 0, max: 2 ** 31 - 1 })),
  isOpen: fc.option(fc.boolean()),
  names: fc.array(fc.constantFrom('OWNER', 'VIEWER'), { maxLength: 2 }),
});

it('rows arrive as they were sent, in the order of the statement’s parameters', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(rows, { maxLength: 20 }), async (sent) => {
      const stored = await test.database.query(
        `select * from unnest($1::uuid[], $2::text[], $3::text[], $4::numeric[], $5::bigint[], $6::bigint[],
                              $7::boolean[], $8::text[])
                  as row (id, words, facts, amount_units, at_ns, delay_ms, is_open, names)`,
        columns(sent, {
          id: 'uuid',
          words: 'text',
          facts: 'json',
          amountUnits: 'numeric',
          atNs: 'bigint',
          delayMs: 'bigint',
          isOpen: 'boolean',
          names: (row) => row.names.join('+'),
        }),
      );
      expect(stored).toEqual(
        sent.map((row) => ({
          id: row.id,
          words: row.words ?? null,
          facts: row.facts && JSON.stringify(row.facts),
          amount_units: row.amountUnits,
          at_ns: row.atNs,
          delay_ms: row.delayMs === null ? null : BigInt(row.delayMs),
          is_open: row.isOpen,
          names: row.names.join('+'),
        })),
      );
    }),
    { numRuns: 200 },
  );
});

it('binary columns carry the same rows as text columns', async () => {
  const binary = binaryColumns<Row>([
    ['uuid', (row) => row.id],
    ['text', (row) => row.words],
    ['numeric', (row) => row.amountUnits],
    ['bigint', (row) => row.atNs],
    ['integer', (row) => row.delayMs],
  ]);
  const statement =
    'select * from unnest($1::uuid[], $2::text[], $3::numeric[], $4::bigint[], $5::integer[]) as row (a, b, c, d, e)';
  await fc.assert(
    fc.asyncProperty(fc.array(rows, { maxLength: 20 }), async (sent) => {
      const text = columns(sent, {
        id: 'uuid',
        words: 'text',
        amountUnits: 'numeric',
        atNs: 'bigint',
        delayMs: 'integer',
      });
      const [asBinary, asText] = await Promise.all([
        test.database.query(statement, binary(sent)),
        test.database.query(statement, text),
      ]);
      expect(asBinary).toEqual(asText);
      expect(asBinary.length).toBe(sent.length);
    }),
    { numRuns: 100 },
  );
});

it('a name that the rows do not have, or a type that does not fit the property, does not compile', () => {
  const row: Row[] = [];
  // @ts-expect-error No row has this property: every value would be NULL.
  columns(row, { identity: 'uuid' });
  // @ts-expect-error An amount is a bigint, which no text column takes.
  columns(row, { amountUnits: 'text' });
  // @ts-expect-error A number may have been rounded, so it is never an amount.
  columns(row, { delayMs: 'numeric' });
  expect(columns(row, { id: 'uuid' })).toEqual(['{}']);
});
