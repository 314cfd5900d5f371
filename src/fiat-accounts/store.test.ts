import { afterAll, beforeAll, expect, it } from 'vitest';
import { createTestDatabase, type TestDatabase } from '../../test/support/database.ts';
import { startNode, type TestNode } from '../../test/support/ledger.ts';
import { endUserTable } from '../identity/end-user-store.ts';
import { actorOf } from '../kernel/actor.ts';
import { newId } from '../kernel/id.ts';
import { Problem } from '../kernel/problem.ts';
import type { Caller } from '../kernel/route.ts';
import { NETWORKS } from '../networks/register.ts';
import { withdrawalWakes } from '../withdrawals/store.ts';
import {
  createFiatAccountCommand,
  type FiatAccountTables,
  reviewFiatAccountCommand,
  updateFiatAccountCommand,
} from './commands.ts';
import type { FiatAccount } from './fiat-account.ts';
import { fiatAccountTable, findFiatAccount } from './store.ts';

const tables: FiatAccountTables = {
  networks: NETWORKS,
  endUsers: endUserTable,
  fiatAccounts: fiatAccountTable,
  withdrawalWakes,
  approvesAutomatically: false,
};
const caller: Caller = {
  customerId: newId(),
  clientId: 'test',
  scopes: new Set(),
  integration: 'FIRST_PARTY',
};
const request = {
  fiat_account_owner: { institution_details: { name: 'Analytical Engines Ltd' } },
  fiat_network_instructions: { cubix: { account_id: 'abc123456789' } },
};

let test: TestDatabase;
let nodes: TestNode[];
beforeAll(async () => {
  test = await createTestDatabase();
  nodes = [startNode(test.address), startNode(test.address)];
});
afterAll(async () => {
  await Promise.all(nodes.map((node) => node.stop()));
  await test.drop();
});

async function create(): Promise<FiatAccount> {
  const outcome = await nodes[0]!.path.submit(createFiatAccountCommand(caller, request, tables));
  if (outcome.replayed) throw new Error('not expected');
  return outcome.answer;
}

it('if two nodes review one account at once, the first review counts, and the second is refused', async () => {
  for (let round = 0; round < 30; round += 1) {
    const { id } = await create();
    const verdicts = await Promise.allSettled(
      (['APPROVED', 'REJECTED'] as const).map((status, index) => {
        const scope = { customerId: undefined };
        return nodes[index]!.path.submit(
          reviewFiatAccountCommand(actorOf(caller), id, { status, reason: 'race' }, scope, tables),
        );
      }),
    );
    const refusals = verdicts.filter((verdict) => verdict.status === 'rejected').map(({ reason }) => reason);
    expect(refusals).toHaveLength(1);
    expect(refusals[0]).toBeInstanceOf(Problem);
    const account = await findFiatAccount(test.database, caller.customerId, id);
    expect(refusals[0]).toMatchObject({ slug: 'invalid-state', meta: { status: account!.status } });
  }
});

it('a review is never applied to an account that was changed in the meantime', async () => {
  for (let round = 0; round < 30; round += 1) {
    const { id, updatedAtNs } = await create();
    const wasShown = (account: FiatAccount): boolean => account.updatedAtNs === updatedAtNs;
    const scope = { customerId: undefined, wasShown };
    const review = reviewFiatAccountCommand(
      actorOf(caller),
      id,
      { status: 'APPROVED', reason: 'seen' },
      scope,
      tables,
    );
    const update = updateFiatAccountCommand(caller, id, { metadata: { round: `${round}` } }, tables);
    await Promise.allSettled([
      nodes[round % 2]!.path.submit(review),
      nodes[(round + 1) % 2]!.path.submit(update),
    ]);
    // Whichever came first, the changed account has not been seen, so it is not approved.
    const account = await findFiatAccount(test.database, caller.customerId, id);
    expect(account).toMatchObject({ status: 'PENDING', metadata: { round: `${round}` } });
  }
});

it('an account that is created and changed in one batch is written once, in its last version', async () => {
  const made = createFiatAccountCommand(caller, { ...request, ref_id: 'one batch' }, tables);
  const id = made.key!.resourceId;
  const changed = updateFiatAccountCommand(caller, id, { metadata: { a: '1' } }, tables);
  await Promise.all([nodes[0]!.path.submit(made), nodes[0]!.path.submit(changed)]);
  const account = await findFiatAccount(test.database, caller.customerId, id);
  expect(account!.metadata).toEqual({ a: '1' });
  expect(account!.updatedAtNs).toBeGreaterThan(account!.createdAtNs);
});
