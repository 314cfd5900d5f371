import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Database, Parameter, Queryable } from '../../src/database/database.ts';
import { ForeignRow } from '../../src/database/own-rows.ts';
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
import {
  type Belongings,
  createBelongings,
  isIdSchema,
  type Operation,
  pathFor,
} from '../support/openapi.ts';
import {
  type Answer,
  expectProblem,
  startTestService,
  type TestCustomer,
  type TestService,
} from '../support/service.ts';

/** Takes the condition on the customer out of a statement: the first wall. */
function withoutCondition(text: string): string {
  return text
    .replaceAll(/(\w+\.)?(target_)?customer_id = (\$\d+)/g, '($3::uuid is not null)')
    .replaceAll(/(\$\d+) in \(t\.customer_id, t\.target_customer_id\)/g, '($1::uuid is not null)');
}

/** Whether statements lose their condition now, as if somebody had forgotten it; and those that have. */
let isForgotten = false;
const forgotten = new Set<string>();
function withoutFirstWall(database: Database): Database {
  return {
    ...database,
    of(customerId) {
      const own = database.of(customerId);
      return {
        ...own,
        query(text: string, parameters?: readonly Parameter[]) {
          const changed = isForgotten ? withoutCondition(text) : text;
          if (changed !== text) forgotten.add(changed);
          return own.query(changed, parameters);
        },
      } as typeof own;
    },
  };
}

async function whileForgotten<Result>(work: () => Promise<Result>): Promise<Result> {
  isForgotten = true;
  try {
    return await work();
  } finally {
    isForgotten = false;
  }
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

/** An internal error that has nothing of the record. */
function expectRefused(answer: Answer, id: string): void {
  expectProblem(answer, 500, 'internal');
  expect(JSON.stringify(answer.body)).not.toContain(id);
}

describe('a service whose statements have all lost their condition on the customer', () => {
  const forCustomers = (): Operation[] =>
    service.description.operations.filter(
      ({ method, scopes }) =>
        method === 'GET' && scopes.length > 0 && !scopes.some((scope) => scope.startsWith('operator:')),
    );

  it('shows no record to a customer that it does not belong to', async () => {
    const reads = forCustomers().filter(({ parameters }) =>
      parameters.some((one) => one.in === 'path' && isIdSchema(one.schema)),
    );
    expect(reads.length).toBeGreaterThan(8);
    for (const operation of reads) {
      const path = await pathFor(operation, alice);
      expect({ path, status: (await alice.customer.call('GET', path)).status }).toEqual({
        path,
        status: 200,
      });
      expectRefused(await whileForgotten(() => mallory.call('GET', path)), path.split('/').at(-1)!);
    }
  });

  it('shows no list with records of others', async () => {
    const lists = forCustomers().filter(
      ({ parameters }) =>
        parameters.some((one) => one.name === 'limit') && !parameters.some((one) => one.in === 'path'),
    );
    expect(lists.length).toBeGreaterThan(7);
    for (const { path } of lists) {
      const { items } = (await alice.customer.call('GET', path)).body;
      expect(items.length).toBeGreaterThan(0);
      expectRefused(await whileForgotten(() => mallory.call('GET', path)), items[0].id ?? items[0].client_id);
      const own = (await mallory.call('GET', path)).body.items;
      // A customer that has done nothing has a client, and the log has that both were created.
      const isEmpty = !['/v2/audit-log', '/v2/clients'].includes(path);
      const others = own.filter((one: any) => one.customer_id !== mallory.id || isEmpty);
      expect({ path, others }).toEqual({ path, others: [] });
    }
  });

  it('really has lost them: the statements find what is not theirs', async () => {
    expect(forgotten.size).toBeGreaterThan(15);
    const id = await alice.make.transfers!();
    const text = [...forgotten].find((one) => /from transfers t where t\.id = \$1/.test(one))!;
    expect(await service.database.query(text, [id, mallory.id])).toHaveLength(1);
    expect(await service.database.of(alice.customer.id).query(text, [id, mallory.id])).toHaveLength(1);
    await expect(service.database.of(mallory.id).query(text, [id, mallory.id])).rejects.toBeInstanceOf(
      ForeignRow,
    );
  });

  it('shows a settlement transaction to both parties, and to nobody else', async () => {
    const id = await alice.make.transactions!();
    const path = `/v2/settlement/transactions/${id}`;
    await whileForgotten(async () => {
      for (const party of [alice.customer, carol]) expect((await party.call('GET', path)).body.id).toBe(id);
      expectRefused(await mallory.call('GET', path), id);
    });
    const listed = await carol.call('GET', `/v2/settlement/transactions?ids=${id}`);
    expect(listed.body.items).toHaveLength(1);
    expectProblem(await mallory.call('GET', path), 404, 'not-found');
  });
});

it('balances are shown of profiles that were read as those of the customer, and of no others', async () => {
  const [own, others] = [service.database.of(alice.customer.id), service.database.of(mallory.id)];
  const id = alice.fields.profile_id!;
  for (const reads of [own, others]) {
    await expect(balancesOf(reads, id)).rejects.toBeInstanceOf(ForeignRow);
    await expect(balancesAt(reads, id, 2n ** 62n)).rejects.toBeInstanceOf(ForeignRow);
  }
  await findProfile(own, alice.customer.id, id);
  expect(await balancesOf(own, id)).toHaveLength(3);
  expect(await balancesAt(own, id, 2n ** 62n)).toHaveLength(3);
  await expect(findProfile(others, alice.customer.id, id)).rejects.toBeInstanceOf(ForeignRow);
  await expect(balancesOf(others, id)).rejects.toBeInstanceOf(ForeignRow);
});

it('a statement whose rows do not say whose they are is refused', async () => {
  const own = service.database.of(alice.customer.id);
  await expect(own.query('select id from transfers limit 1')).rejects.toBeInstanceOf(ForeignRow);
  await expect(own.query('select null::uuid as "customerId" from transfers limit 1')).rejects.toBeInstanceOf(
    ForeignRow,
  );
  expect(await own.query('select id from transfers where false')).toEqual([]);
});

describe('a read of a store as one customer, with the id of another one', () => {
  const page = readPage({}, 'test');
  const items = async (found: Promise<Found<object>>): Promise<unknown> => {
    const { rows } = await found;
    return rows.length === 0 ? undefined : rows;
  };
  const some = async (rows: Promise<readonly object[]>): Promise<unknown> =>
    (await rows).length === 0 ? undefined : true;

  it('is refused, and finds it as the customer itself', async () => {
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
      await expect(look(service.database.of(mallory.id)), what).rejects.toBeInstanceOf(ForeignRow);
    }
  });
});
