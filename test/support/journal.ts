import { expect } from 'vitest';
import { createAssets } from '../../src/kernel/asset.ts';
import { newId } from '../../src/kernel/id.ts';
import { systemBalances } from '../../src/ledger/balances.ts';
import { DEFAULT_ASSETS } from '../../src/networks/default-assets.ts';
import { eventsOf } from './events.ts';
import type { Answer, TestCustomer, TestService } from './service.ts';

const assets = createAssets(DEFAULT_ASSETS);

export const EVIDENCE = { reason: 'Agreed with the bank.', reference: 'CASE-7' };

/** An operator, and the books of the service as the operator sees them. */
export async function createBooks(service: TestService) {
  const { database } = service;
  const operator = await service.createCustomer({
    scopes: ['operator:journal', 'operator:read', 'operator:review', 'funding:read_profile'],
  });

  /** Every account that is not zero: `fees USD`, `available USD of <name>`. */
  async function accounts(names: Readonly<Record<string, string>> = {}): Promise<Record<string, string>> {
    const profiles = await database.query<{
      profile_id: string;
      asset: string;
      available: bigint;
      held: bigint;
    }>('select profile_id, asset, available, held from balances');
    const nameOf = (id: string): string =>
      Object.entries(names).find(([, one]) => one === id)?.[0] ?? `profile ${id}`;
    const all = [
      ...(await systemBalances(database)).map(({ account, asset, balance }) => ({
        name: `${account} ${asset}`,
        asset,
        units: balance,
      })),
      ...profiles.flatMap(({ profile_id: id, asset, available, held }) => [
        { name: `${nameOf(id)} ${asset}`, asset, units: available },
        { name: `${nameOf(id)} held ${asset}`, asset, units: held },
      ]),
    ];
    return Object.fromEntries(
      all
        .filter(({ units }) => units !== 0n)
        .map(({ name, asset, units }) => [name, assets.format(asset, units)])
        .sort(([a], [b]) => (a! < b! ? -1 : 1)),
    );
  }

  const book = (kind: string, fields: object, by: TestCustomer = operator): Promise<Answer> =>
    by.call('POST', '/v2/operator/journal-entries', { kind, ref_id: newId(), ...EVIDENCE, ...fields });

  return {
    operator,
    accounts,
    book,
    /** Fails the test unless it is booked. */
    async booked(kind: string, fields: object): Promise<any> {
      const { status, body } = await book(kind, fields);
      expect({ kind, status, body }).toEqual({ kind, status: 200, body: expect.any(Object) });
      return body;
    },
    end: (verb: 'resolve' | 'cancel', id: string, fields: object = {}): Promise<Answer> =>
      operator.call('POST', `/v2/operator/withdrawals/${id}/${verb}`, {
        ref_id: newId(),
        ...EVIDENCE,
        ...fields,
      }),
    /** Opening balances with references of their own. */
    async fund(profileId: string, amount: string, asset = 'USD', rail = 'wire'): Promise<any> {
      const money = { profile_id: profileId, asset, amount, rail, account: 'own', reference: newId() };
      const { status, body } = await book('OPENING_BALANCE', money);
      expect({ status, body }).toEqual({ status: 200, body: expect.any(Object) });
      return body;
    },
    /** Types of the events of a resource, and what customers are shown. */
    async eventsOf(id: string) {
      return (await eventsOf(database, id)).map(({ type, resource, customer_id }) => ({
        type,
        resource,
        customer_id,
      }));
    },
  };
}

export type Books = Awaited<ReturnType<typeof createBooks>>;
