import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { appendTo, type BinaryColumn, type BinaryValue, binaryArray } from '../../src/database/binary.ts';
import { newId } from '../../src/kernel/id.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';

/** The values as the server decoded them. */
let test: TestDatabase;

type Row = {
  readonly id: string | null;
  readonly words: string | null;
  readonly facts: string | null;
  readonly amount: bigint | null;
  readonly at: bigint | null;
  readonly count: number | null;
  readonly line: number | null;
};
type Rest = { readonly load: Buffer | null; readonly names: readonly string[] | null };

/** Values of the types that arrays support too. */
type ElementType = Parameters<typeof binaryArray>[0];
type Column = BinaryColumn<Row> & { readonly type: ElementType; value(row: Row): BinaryValue };
const COLUMNS: readonly Column[] = [
  { name: 'id', type: 'uuid', value: (row) => row.id },
  { name: 'words', type: 'text', value: (row) => row.words },
  { name: 'facts', type: 'jsonb', value: (row) => row.facts },
  { name: 'amount', type: 'numeric', value: (row) => row.amount },
  { name: 'at', type: 'bigint', value: (row) => row.at },
  { name: 'count', type: 'integer', value: (row) => row.count },
  { name: 'line', type: 'smallint', value: (row) => row.line },
];

beforeAll(async () => {
  test = await createTestDatabase();
  await test.database.query(
    'create table things (place serial, id uuid, words text, facts jsonb, amount numeric, at bigint, count integer, line smallint, load bytea, names text[])',
  );
});
afterAll(() => test.drop());

/** Text that PostgreSQL can store: no NUL character, no lone surrogate. */
const storable = fc.string({ unit: 'grapheme', maxLength: 80 }).filter((text) => !text.includes('\0'));
const LARGEST = 10n ** 38n - 1n;
const rows: fc.Arbitrary<Row> = fc.record({
  id: fc.option(fc.uuid()),
  words: fc.option(
    fc.oneof(
      storable,
      fc.string({ maxLength: 40 }).filter((text) => !text.includes('\0')),
    ),
  ),
  facts: fc.option(fc.dictionary(storable, storable, { maxKeys: 3 }).map((facts) => JSON.stringify(facts))),
  amount: fc.option(
    fc.oneof(
      fc.bigInt({ min: -LARGEST, max: LARGEST }),
      fc.bigInt({ min: -20_000n, max: 20_000n }),
      fc.bigInt({ min: 0n, max: 30n }).map((zeros) => 10n ** zeros),
    ),
  ),
  at: fc.option(fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n })),
  count: fc.option(fc.integer({ min: -(2 ** 31), max: 2 ** 31 - 1 })),
  line: fc.option(fc.integer({ min: -(2 ** 15), max: 2 ** 15 - 1 })),
});

describe('rows', () => {
  const append = appendTo('things', COLUMNS);

  it('arrive as they were sent, whatever they contain', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(rows, { maxLength: 20 }), async (sent) => {
        await test.database.query('truncate things restart identity');
        await test.database.transaction((tx) => append(tx, sent));
        const stored = await test.database.query(
          'select id, words, facts, amount, at, count, line from things order by place',
        );
        expect(stored).toEqual(sent.map((row) => ({ ...row, facts: row.facts && JSON.parse(row.facts) })));
      }),
      { numRuns: 200 },
    );
  });

  it('may be many and large', async () => {
    await test.database.query('truncate things restart identity');
    const words = 'ä'.repeat(5_000);
    const blank = { id: null, facts: null, amount: null, at: null, line: null };
    const sent = Array.from({ length: 500 }, (_, count): Row => ({ ...blank, words, count }));
    await test.database.transaction((tx) => append(tx, sent));
    const [stored] = await test.database.query(
      'select count(*)::integer as rows, min(length(words)) as shortest, sum(count)::integer as sum from things',
    );
    expect(stored).toEqual({ rows: 500, shortest: 5_000, sum: (499 * 500) / 2 });
  });

  it('that the table rejects fail together with their transaction, and the connection stays usable', async () => {
    await test.database.query('truncate things restart identity');
    const bad = { id: null, words: 'zero \0', facts: null, amount: null, at: null, count: 1, line: null };
    const outcome = test.database.transaction(async (tx) => {
      // All are sent before the first answer, as in the write path.
      await Promise.all([append(tx, [{ ...bad, words: 'fine' }]), append(tx, [bad]), tx.query('select 1')]);
    });
    await expect(outcome).rejects.toMatchObject({ code: '22021' });
    expect(await test.database.query('select from things')).toEqual([]);
    await test.database.transaction((tx) => append(tx, [{ ...bad, words: 'fine' }]));
    expect(await test.database.query('select words from things')).toEqual([{ words: 'fine' }]);
  });

  it.each([
    ['a text that is not a UUID', { id: 'not-a-uuid' }],
    ['a UUID with a character that is not a hexadecimal digit', { id: newId().replace(/.$/, 'ü') }],
    ['a number out of range', { line: 40_000 }],
    ['an instant out of range', { at: 2n ** 63n }],
    ['an amount of a hundred digits', { amount: 10n ** 100n - 1n }],
    ['an amount that is a number', { amount: 5 as unknown as bigint }],
  ])('%s is refused before it is sent', async (_, fault) => {
    const row = { id: null, words: null, facts: null, amount: null, at: null, count: null, line: null };
    const outcome = test.database.transaction(async (tx) => append(tx, [{ ...row, ...fault }]));
    await expect(outcome).rejects.toThrow(/UUID|range|digits|BigInt/);
    expect(await test.database.query('select 1 as one')).toEqual([{ one: 1 }]);
  });
});

describe('bytes and lists of texts', () => {
  const append = appendTo<Rest>('things', [
    { name: 'load', type: 'bytea', value: (row) => row.load },
    { name: 'names', type: 'text[]', value: (row) => row.names },
  ]);
  const loads = fc
    .oneof(fc.uint8Array({ maxLength: 300 }), fc.constant(new Uint8Array(300_000)))
    .map((bytes) => Buffer.from(bytes));

  it('arrive as they were sent', async () => {
    const rest = fc.record({
      load: fc.option(loads),
      names: fc.option(fc.array(storable, { maxLength: 20 })),
    });
    await fc.assert(
      fc.asyncProperty(fc.array(rest, { maxLength: 5 }), async (sent) => {
        await test.database.query('truncate things restart identity');
        await test.database.transaction((tx) => append(tx, sent));
        const stored = await test.database.query<Rest>('select load, names from things order by place');
        // As text: comparing long lists of numbers takes seconds.
        const readable = ({ load, names }: Rest) => [load?.toString('base64'), names];
        expect(stored.map(readable)).toEqual(sent.map(readable));
      }),
      { numRuns: 50 },
    );
  });
});

describe('arrays', () => {
  it('arrive as they were sent', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(rows, { maxLength: 20 }), async (sent) => {
        const stored = await test.database.query(
          `select * from unnest($1::uuid[], $2::text[], $3::jsonb[], $4::numeric[], $5::bigint[], $6::integer[],
                                $7::smallint[]) as row (id, words, facts, amount, at, count, line)`,
          COLUMNS.map((column) => binaryArray(column.type, sent.map(column.value))),
        );
        expect(stored).toEqual(sent.map((row) => ({ ...row, facts: row.facts && JSON.parse(row.facts) })));
      }),
      { numRuns: 200 },
    );
  });
});
