import { expect } from 'vitest';
import { newId } from '../../src/kernel/id.ts';
import { FIAT_ACCOUNTS, request as fiatAccount } from './fiat-accounts.ts';
import type { Eye } from './four-eyes.ts';
import type { TestCustomer, TestService } from './service.ts';

/** Every privileged action of operators: how it is requested, and how its effect is read. */

export const evidence = () => ({ ref_id: newId(), reason: 'Agreed with the bank.', reference: newId() });

/** What the actions are about. The service has no workers, so nothing changes by itself. */
export async function createPrivilegedWorld(service: TestService, operator: Eye) {
  const customer: TestCustomer = await service.createCustomer();
  const profile = await service.createProfile(customer, { USD: '1000000', ETH: '1000' });

  async function balance(): Promise<string> {
    const { body } = await customer.call('GET', `/v2/profiles/${profile}/balances/USD`);
    return body.available;
  }

  const transferOf = async (id: string): Promise<{ status: string; secondary_status: object }> => {
    const { body } = await customer.call('GET', `/v2/transfer/transfers/${id}`);
    return { status: body.status, secondary_status: body.secondary_status };
  };

  async function withdrawal(): Promise<string> {
    const { status, body } = await customer.call('POST', '/v2/transfer/crypto-withdrawals', {
      profile_id: profile,
      asset: 'ETH',
      amount: '0.001',
      crypto_network: 'ETHEREUM',
      destination_address: '0xd8dA6BF26964aF9D7eEd9e03E53415D37aA96045',
      ref_id: newId(),
    });
    expect({ status, body }).toMatchObject({ status: 200 });
    return body.id;
  }

  /** As if the rail had not answered. */
  async function unknown(): Promise<string> {
    const id = await withdrawal();
    await service.database.query(
      `update withdrawal_work set state = 'UNKNOWN', attempts = 1, intent_at_ns = 1 where transfer_id = $1`,
      [id],
    );
    return id;
  }

  /** As a policy of that owner holds it. */
  async function held(owner: string): Promise<string> {
    const id = await withdrawal();
    const holds = [{ kind: 'APPROVAL', policyId: newId(), rule: 'large', owner }];
    await service.database.query('update withdrawal_work set holds = $2::jsonb where transfer_id = $1', [
      id,
      JSON.stringify(holds),
    ]);
    return id;
  }

  const holdsOf = (id: string): Promise<unknown[]> =>
    service.database.query('select holds from withdrawal_work where transfer_id = $1', [id]);

  async function suspense(): Promise<string> {
    const { body } = await customer.call('POST', '/v2/sandbox/fiat-deposits', {
      fiat_network: 'WIRE',
      amount: '25',
      memo_id: '7K3JQ0W9XN4T',
      reference: newId(),
    });
    return body.suspense_deposit.id;
  }

  /** Left PENDING by the automatic checks. */
  async function account(): Promise<{ id: string; digest: string }> {
    const address = {
      ...fiatAccount.fiat_network_instructions.wire.routing_details.bank_address,
      country: 'Atlantis',
    };
    const wire = fiatAccount.fiat_network_instructions.wire;
    const { body } = await customer.call('POST', FIAT_ACCOUNTS, {
      ...fiatAccount,
      ref_id: newId(),
      fiat_network_instructions: {
        wire: { ...wire, routing_details: { ...wire.routing_details, bank_address: address } },
      },
    });
    const { digest } = (await operator.call('GET', `/v2/operator/fiat-accounts/${body.id}`)).body;
    return { id: body.id, digest };
  }

  const freezesOf = (subject: string): Promise<unknown[]> =>
    service.database.query(
      'select id, lifted_at_ns is null as "inForce" from freezes where subject_id = $1 order by id',
      [subject],
    );

  /** A freeze that is in force, and its subject. */
  async function frozen(): Promise<{ id: string; subject: string }> {
    const [subject, id] = [await service.createProfile(customer), newId()];
    await service.database.query(
      `insert into freezes (id, scope, subject_id, reason, frozen_by, created_at_ns)
       values ($1, 'PROFILE', $2, 'CASE-1', 'cli:tester', 1)`,
      [id, subject],
    );
    return { id, subject };
  }

  const versionsOf = (name: string): Promise<unknown[]> =>
    service.database.query('select version from policies where name = $1', [name]);

  return {
    service,
    customer,
    profile,
    balance,
    transferOf,
    withdrawal,
    unknown,
    held,
    holdsOf,
    suspense,
    account,
    freezesOf,
    frozen,
    versionsOf,
  };
}

export type PrivilegedWorld = Awaited<ReturnType<typeof createPrivilegedWorld>>;

export type PrivilegedCase = {
  readonly action: string;
  /** Made by the person who owns the maker, with a session. */
  readonly byPerson?: boolean;
  /** The request, and how its effect is read. */
  readonly make: (world: PrivilegedWorld) => Promise<{
    readonly method?: string;
    readonly path: string;
    readonly body?: object;
    readonly effect: () => Promise<unknown>;
  }>;
};

/** Applies to no withdrawal of the tests. */
export const policyRequest = (name: string) => ({
  name,
  enabled: true,
  applies_to: { profile_ids: [newId()] },
  rules: [{ type: 'amount_limit', name: 'one payment', asset: 'USD', max: '250000' }],
  reason: 'Agreed with the bank: CASE-2290.',
});

export const PRIVILEGED_CASES: readonly PrivilegedCase[] = [
  {
    action: 'journal_entry.book',
    make: async ({ profile, balance }) => ({
      path: '/v2/operator/journal-entries',
      body: { kind: 'WRITE_OFF', profile_id: profile, asset: 'USD', amount: '1', ...evidence() },
      effect: balance,
    }),
  },
  {
    action: 'withdrawal.resolve',
    async make({ unknown, transferOf }) {
      const id = await unknown();
      const path = `/v2/operator/withdrawals/${id}/resolve`;
      return { path, body: { outcome: 'NOT_PAID', ...evidence() }, effect: () => transferOf(id) };
    },
  },
  {
    action: 'withdrawal.cancel',
    async make({ withdrawal, transferOf }) {
      const id = await withdrawal();
      const path = `/v2/operator/withdrawals/${id}/cancel`;
      return { path, body: evidence(), effect: () => transferOf(id) };
    },
  },
  {
    action: 'suspense_deposit.credit',
    async make({ suspense, profile, balance }) {
      const path = `/v2/operator/suspense-deposits/${await suspense()}/credit`;
      return { path, body: { profile_id: profile, ...evidence() }, effect: balance };
    },
  },
  ...(['approve', 'reject'] as const).map((verb) => ({
    action: `fiat_account.${verb}`,
    async make({ account, customer }: PrivilegedWorld) {
      const { id, digest } = await account();
      return {
        path: `/v2/operator/fiat-accounts/${id}/${verb}`,
        body: { digest, reason: 'Looked at.' },
        effect: async () => (await customer.call('GET', `${FIAT_ACCOUNTS}/${id}`)).body.status,
      };
    },
  })),
  ...(['release', 'refuse'] as const).map((verb) => ({
    action: `withdrawal.${verb}`,
    async make({ held, holdsOf, transferOf }: PrivilegedWorld) {
      const id = await held('operator');
      return {
        path: `/v2/operator/withdrawals/${id}/${verb}`,
        body: { reason: 'Looked at.' },
        effect: async () => [await transferOf(id), await holdsOf(id)],
      };
    },
  })),
  {
    action: 'policy.change',
    async make({ versionsOf }) {
      const name = `policy ${newId()}`;
      const path = '/v2/operator/policies';
      return { path, body: policyRequest(name), effect: () => versionsOf(name) };
    },
  },
  {
    action: 'freeze.create',
    async make({ service, customer, freezesOf }) {
      const subject = await service.createProfile(customer);
      const body = { scope: 'PROFILE', subject_id: subject, reason: 'CASE-1' };
      return { path: '/v2/operator/freezes', body, effect: () => freezesOf(subject) };
    },
  },
  {
    action: 'freeze.lift',
    async make({ frozen, freezesOf }) {
      const { id, subject } = await frozen();
      const path = `/v2/operator/freezes/${id}/lift`;
      return { path, body: { reason: 'CASE-1 is closed.' }, effect: () => freezesOf(subject) };
    },
  },
];
