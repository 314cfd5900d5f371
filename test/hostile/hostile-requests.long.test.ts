import { describe, expect, it } from 'vitest';
import { BODY_MUTATIONS } from './bodies.ts';
import { campaign } from './campaign.ts';
import { HEADER_MUTATIONS } from './headers.ts';
import { PATH_MUTATIONS } from './paths.ts';
import { QUERY_MUTATIONS } from './queries.ts';
import { run } from './run.ts';
import type { Stage } from './stage.ts';
import { TRANSPORT_KINDS } from './transport.ts';
import { byRequests } from './writes.ts';

/** The same as `npm run hostile`, with a fixed seed and fewer requests, and without the workers afterwards. */
const REQUESTS = 3_600;
/** Any seed will do: what the tests below demand is among the first requests. */
const SEED = 12;

const isForOperators = (scopes: readonly string[]): boolean =>
  scopes.some((one) => one.startsWith('operator:'));

/** A stage whose log always has a row that no request explains: the run must notice. */
const withStrayWrites = (stage: Stage): Stage => ({
  ...stage,
  writes: {
    take: async () => [...(await stage.writes.take()), { table: 'transfers', verb: 'INSERT', row: 'stray' }],
  },
});

describe('thousands of hostile requests', async () => {
  let stray: Awaited<ReturnType<typeof run>> | undefined;
  let operations: readonly { id: string; path: string; scopes: readonly string[] }[] = [];
  let seen: string[] = [];
  const { counters, findings, verified } = await campaign(
    { first: 0, requests: REQUESTS, seed: SEED, connections: 4, withWorkers: false },
    (stage) => {
      operations = stage.description.operations;
    },
    async (stage, world) => {
      await stage.writes.take();
      await stage.database.query(`insert into installation (name, value) values ('hostile', '1')`);
      await stage.database.query(`update installation set value = '2' where name = 'hostile'`);
      await stage.database.query(`delete from installation where name = 'hostile'`);
      await stage.database
        .transaction(async (tx) => {
          await tx.query(`insert into installation (name, value) values ('undone', '1')`);
          throw new Error('undone');
        })
        .catch(() => undefined);
      seen = byRequests(await stage.writes.take()).map(({ table, verb }) => `${verb} ${table}`);
      // The second round through all operations: all of them are refused.
      const options = { first: operations.length, requests: operations.length, seed: SEED, connections: 1 };
      stray = await run(withStrayWrites(stage), world, options);
    },
  );

  it('are refused or accepted as the document says, and those that are refused write nothing', () => {
    expect(findings).toEqual([]);
    expect(verified).toMatch(/^The ledger is sound/);
    expect(counters.sent).toBeGreaterThanOrEqual(REQUESTS);
    expect(counters.compared).toBeGreaterThan(0.7 * REQUESTS);
    expect(counters.refused).toBeGreaterThan(0.6 * REQUESTS);
    expect(counters.accepted).toBeGreaterThan(100);
  });

  it('include every kind of mutation', () => {
    for (const kind of [
      ...Object.keys(BODY_MUTATIONS),
      ...Object.keys(QUERY_MUTATIONS),
      ...Object.keys(PATH_MUTATIONS),
      ...Object.keys(HEADER_MUTATIONS),
      'other method',
      'foreign id',
      'valid',
    ])
      expect(counters.byKind[kind] ?? 0, kind).toBeGreaterThanOrEqual(3);
    expect(TRANSPORT_KINDS.filter((kind) => counters.byKind[kind] === undefined)).toEqual([]);
    expect(counters.byKind['foreign id']).toBeGreaterThan(120);
  });

  it('reach every operation, with every kind of answer that it has', () => {
    expect(operations.length).toBeGreaterThan(50);
    for (const { id, path, scopes } of operations) {
      const statuses = Object.keys(counters.byOperation[id] ?? {});
      const expected = ['200', '400', ...(scopes.length === 0 ? [] : ['401', '403'])];
      if (id === 'getMe') expected.push('401');
      const known = path.startsWith('/.well-known') ? ['200'] : expected;
      expect({ id, statuses }).toEqual({ id, statuses: expect.arrayContaining(known) });
    }
    const named = operations.filter(({ path, scopes }) => path.includes('{id}') && !isForOperators(scopes));
    const found = named.filter(({ id }) => counters.byOperation[id]!['404'] !== undefined);
    expect(named.length).toBeGreaterThan(20);
    expect(found.length).toBeGreaterThan(0.9 * named.length);
  });

  it('are sent in freezes of the whole platform, too, in which nothing moves', () => {
    expect(counters.frozen).toBeGreaterThan(100);
  });

  it('are compared with a log that has every write, and nothing that was rolled back', () => {
    expect(seen).toEqual(['INSERT installation', 'UPDATE installation', 'DELETE installation']);
  });

  it('would not go unnoticed if one of them wrote something', () => {
    expect(stray!.findings.length).toBeGreaterThan(10);
    expect(stray!.findings[0]!.what).toContain('INSERT transfers stray');
  });
});
