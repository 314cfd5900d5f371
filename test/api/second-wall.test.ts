import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  connectDatabase,
  type Database,
  type Parameter,
  type Queryable,
} from '../../src/database/database.ts';
import { OWN_ROWS, OWN_SCHEMA } from '../../src/database/own-rows.ts';
import { listAddresses } from '../../src/deposits/store.ts';
import { findEvent, readFeed } from '../../src/events/feed-store.ts';
import { listFiatAccounts } from '../../src/fiat-accounts/list-store.ts';
import { findFiatAccount } from '../../src/fiat-accounts/store.ts';
import { findAccount, findIdentity, listAccounts, listIdentities } from '../../src/identity/store.ts';
import { newId } from '../../src/kernel/id.ts';
import { type Found, readPage } from '../../src/kernel/paging.ts';
import { balancesAt, balancesOf } from '../../src/ledger/balances.ts';
import { resourcesByRefId } from '../../src/ledger/keys.ts';
import { findProfile, listProfiles } from '../../src/profiles/store.ts';
import { listSettlements } from '../../src/settlement/list-store.ts';
import { findSettlement } from '../../src/settlement/store.ts';
import { listTransfers } from '../../src/transfers/list-store.ts';
import { findTransfer } from '../../src/transfers/store.ts';
import { findDelivery, listDeliveries } from '../../src/webhooks/delivery-store.ts';
import { findAnyEndpoint, findStandings, listEndpoints } from '../../src/webhooks/store.ts';
import { createTestDatabase } from '../support/database.ts';
import { type Belongings, createBelongings, isIdSchema, pathFor } from '../support/openapi.ts';
import { expectProblem, startTestService, type TestCustomer, type TestService } from '../support/service.ts';

/** PostgreSQL's error code for a missing table. */
const NO_TABLE = '42P01';

/** Takes the condition on the customer out of a statement: the first wall. */
function withoutCondition(text: string): string {
  return text
    .replaceAll(/(\w+\.)?(target_)?customer_id = (\$\d+)/g, '($3::uuid is not null)')
    .replaceAll(/(\$\d+) in \(t\.customer_id, t\.target_customer_id\)/g, '($1::uuid is not null)');
}

/** Statements that lost their condition, as if somebody had forgotten it. */
const forgotten = new Set<string>();
function withoutFirstWall(database: Database): Database {
  return {
    ...database,
    of(customerId) {
      const own = database.of(customerId);
      return {
        ...own,
        query(text: string, parameters?: readonly Parameter[]) {
          const changed = withoutCondition(text);
          if (changed !== text) forgotten.add(changed);
          return own.query(changed, parameters);
        },
      } as typeof own;
    },
  };
}

let service: TestService;
let alice: Belongings;
let mallory: TestCustomer;
let carol: TestCustomer;
beforeAll(async () => {
  service = await startTestService({}, undefined, withoutFirstWall);
  carol = await service.createCustomer();
  alice = await createBelongings(service, await service.createCustomer(), carol);
  mallory = await service.createCustomer();
  for (const make of Object.values(alice.make)) await make();
});
afterAll(() => service.stop());

describe('a service whose statements have all lost their condition on the customer', () => {
  it('answers every read of a foreign record with a 404, as before', async () => {
    const reads = service.description.operations.filter(
      (operation) =>
        operation.method === 'GET' &&
        !operation.scopes.includes('operator:review') &&
        operation.parameters.some((one) => one.in === 'path' && isIdSchema(one.schema)),
    );
    expect(reads.length).toBeGreaterThan(8);
    for (const operation of reads) {
      const path = await pathFor(operation, alice);
      expect({ path, status: (await alice.customer.call('GET', path)).status }).toEqual({
        path,
        status: 200,
      });
      expectProblem(await mallory.call('GET', path), 404, 'not-found');
    }
  });

  it('shows empty lists to a customer that owns nothing', async () => {
    const lists = service.description.operations.filter(
      (operation) =>
        operation.method === 'GET' &&
        !operation.scopes.includes('operator:review') &&
        operation.parameters.some((one) => one.name === 'limit') &&
        !operation.parameters.some((one) => one.in === 'path'),
    );
    expect(lists.length).toBeGreaterThan(7);
    const nobody = await service.createCustomer();
    for (const { path } of lists) {
      expect((await alice.customer.call('GET', path)).body.items.length).toBeGreaterThan(0);
      expect({ path, items: (await nobody.call('GET', path)).body.items }).toEqual({ path, items: [] });
    }
  });

  it('really has lost them: on the tables themselves these statements find what is not theirs', async () => {
    expect(forgotten.size).toBeGreaterThan(15);
    const id = await alice.make.transfers!();
    const text = [...forgotten].find((one) => /from transfers t where t\.id = \$1/.test(one))!;
    expect(await service.database.query(text, [id, mallory.id])).toHaveLength(1);
    expect(await service.database.of(mallory.id).query(text, [id, mallory.id])).toEqual([]);
    expect(await service.database.of(alice.customer.id).query(text, [id, mallory.id])).toHaveLength(1);
  });

  it('shows a settlement transaction to both parties, and to nobody else', async () => {
    const id = await alice.make.transactions!();
    const path = `/v2/settlement/transactions/${id}`;
    for (const party of [alice.customer, carol]) expect((await party.call('GET', path)).body.id).toBe(id);
    expectProblem(await mallory.call('GET', path), 404, 'not-found');
    const listed = await carol.call('GET', `/v2/settlement/transactions?ids=${id}`);
    expect(listed.body.items).toHaveLength(1);
  });
});

describe('a read of a store as one customer, with the id of another one', () => {
  const page = readPage({}, 'test');
  const items = async (found: Promise<Found<object>>): Promise<unknown> => {
    const { rows } = await found;
    return rows.length === 0 ? undefined : rows;
  };
  const some = async (rows: Promise<readonly object[]>): Promise<unknown> =>
    (await rows).length === 0 ? undefined : true;

  it('finds nothing, and everything as the customer itself', async () => {
    const { customer, fields, make } = alice;
    const endpoint = { id: await make.webhooks!(), customerId: customer.id };
    const delivery = await make.deliveries!();
    const refId = `ref ${newId()}`;
    await customer.call('POST', '/v2/transfer/internal', {
      from_profile_id: fields.profile_id,
      to_profile_id: fields.to_profile_id,
      asset: 'USD',
      amount: '1',
      ref_id: refId,
    });
    const ids = {
      transfer: await make.transfers!(),
      settlement: await make.transactions!(),
      event: await make.events!(),
    };
    await make['deposit-addresses']!();
    const { id: a } = customer;
    const looks: Record<string, (database: Queryable) => Promise<unknown>> = {
      transfer: (own) => findTransfer(own, a, ids.transfer),
      transfers: (own) => items(listTransfers(own, a, {}, page)),
      profile: (own) => findProfile(own, a, fields.profile_id!),
      profiles: (own) => items(listProfiles(own, a, {}, page)),
      balances: (own) => some(balancesOf(own, fields.profile_id!)),
      'balances at a time': (own) => some(balancesAt(own, fields.profile_id!, 2n ** 62n)),
      identity: (own) => findIdentity(own, a, fields.identity_id!),
      identities: (own) => items(listIdentities(own, a, {}, page)),
      account: (own) => findAccount(own, a, fields.account_id!),
      accounts: (own) => items(listAccounts(own, a, {}, page)),
      'fiat account': (own) => findFiatAccount(own, a, fields.fiat_account_id!),
      'fiat accounts': (own) => items(listFiatAccounts(own, a, {}, page)),
      settlement: (own) => findSettlement(own, a, ids.settlement),
      settlements: (own) => items(listSettlements(own, a, {}, page)),
      addresses: (own) => items(listAddresses(own, a, {}, page)),
      event: (own) => findEvent(own, a, ids.event),
      feed: async (own) => {
        const start = { position: 0n, line: 0 };
        return some(readFeed(own, a, {}, start, { limit: 10, scanMax: 100 }).then(({ events }) => events));
      },
      endpoint: (own) => findAnyEndpoint(own, a, endpoint.id),
      endpoints: (own) => items(listEndpoints(own, a, {}, page)),
      delivery: (own) => findDelivery(own, endpoint, delivery),
      deliveries: (own) => items(listDeliveries(own, endpoint, {}, page)),
      ref_id: (own) => some(resourcesByRefId(own, a, 'transfers', [refId]).then((all) => all.map(Object))),
    };
    await service.database.query('update webhook_progress set failing_since_ms = 1 where endpoint_id = $1', [
      endpoint.id,
    ]);
    looks.standing = async (own) => (await findStandings(own, [endpoint.id])).get(endpoint.id);
    for (const [what, look] of Object.entries(looks)) {
      expect([what, (await look(service.database.of(a))) !== undefined]).toEqual([what, true]);
      expect([what, await look(service.database.of(mallory.id))]).toEqual([what, undefined]);
    }
  });
});

describe('the views of a customer', () => {
  it('exist for every table that belongs to customers, apart from those that no customer reads', async () => {
    const rows = await service.database.query<{ name: string }>(
      `select table_name as name from information_schema.columns
       where table_schema = 'public' and column_name = 'customer_id' order by 1`,
    );
    const withoutView = rows.map(({ name }) => name).filter((name) => !(name in OWN_ROWS));
    expect(withoutView).toEqual(['clients', 'fiat_account_views', 'guaranteed_fees']);
  });

  it('have every column of their tables: a migration that adds one brings the view up to date', async () => {
    const rows = await service.database.query<{ name: string; own: string; all: string }>(
      `select t.name, (select string_agg(attname, ',' order by attname) from pg_attribute
                       where attrelid = ($2 || '.' || t.name)::regclass and attnum > 0 and not attisdropped) as own,
              (select string_agg(attname, ',' order by attname) from pg_attribute
               where attrelid = ('public.' || t.name)::regclass and attnum > 0 and not attisdropped) as all
       from unnest(string_to_array($1, ',')) as t (name)`,
      [Object.keys(OWN_ROWS).join(','), OWN_SCHEMA],
    );
    expect(rows.length).toBe(Object.keys(OWN_ROWS).length);
    expect(rows.filter(({ own, all }) => own !== all)).toEqual([]);
  });

  it.each(Object.keys(OWN_ROWS))('%s: a statement without any condition has only own rows', async (table) => {
    const own = service.database.of(alice.customer.id);
    const foreign =
      {
        balances: 'where profile_id not in (select id from profiles)',
        entries: 'where owner_id not in (select id from profiles)',
        settlement_transactions: `where '${alice.customer.id}' not in (customer_id, target_customer_id)`,
        event_resources: 'where false',
        event_sequence: 'where false',
        event_marks: 'where false',
      }[table] ?? `where customer_id <> '${alice.customer.id}'`;
    expect(await own.query(`select * from ${table} ${foreign}`)).toEqual([]);
    expect(await service.database.of(newId()).query(`select * from ${table} ${foreign}`)).toEqual([]);
  });

  it('are all that a customer can name: other tables do not exist for it', async () => {
    const own = service.database.of(alice.customer.id);
    for (const table of ['customers', 'clients', 'signing_keys', 'client_secrets', 'suspense_deposits']) {
      await expect(own.query(`select * from ${table}`)).rejects.toMatchObject({ code: NO_TABLE });
    }
  });

  it('have no rows without a customer', async () => {
    for (const table of Object.keys(OWN_ROWS).filter((one) => OWN_ROWS[one] !== 'true')) {
      expect(await service.database.query(`select * from ${OWN_SCHEMA}.${table}`)).toEqual([]);
    }
  });
});

describe('the settings of a customer', () => {
  it('end with each statement, also with one that failed, on a connection that others use next', async () => {
    const test = await createTestDatabase();
    const database = connectDatabase(test.servingAddress, 1);
    const [first, second] = [newId(), newId()];
    for (const [index, id] of [first, second].entries()) {
      await test.database.query(
        `insert into profiles (id, customer_id, nickname, type, created_at_ns) values ($1, $1, $2, 'NORMAL', 0)`,
        [id, `profile ${index}`],
      );
    }
    const settings = () =>
      database.query(
        `select current_setting('search_path') as path, coalesce(current_setting('ferry.customer_id', true), '') as id`,
      );
    const before = await settings();
    const idsAs = async (id: string): Promise<string[]> =>
      (await database.of(id).query<{ id: string }>('select id from profiles')).map((row) => row.id);
    for (let round = 0; round < 10; round += 1) {
      expect(await idsAs(first)).toEqual([first]);
      expect(await settings()).toEqual(before);
      await expect(database.of(second).query('select 1 / 0')).rejects.toMatchObject({ code: '22012' });
      expect(await settings()).toEqual(before);
      expect(await idsAs(second)).toEqual([second]);
      expect(await database.query('select id from profiles')).toHaveLength(2);
    }
    const many = await Promise.all(
      Array.from({ length: 50 }, (_, index) => idsAs(index % 2 === 0 ? first : second)),
    );
    expect(many).toEqual(Array.from({ length: 50 }, (_, index) => [index % 2 === 0 ? first : second]));
    await database.close();
    await test.drop();
  });
});
