import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { SCOPE_NAMES } from '../../src/auth/scopes.ts';
import { PRIVILEGED_NAMES } from '../../src/kernel/privileged.ts';
import { approvalMakers } from '../support/approvals.ts';
import { createEye, type Eye } from '../support/four-eyes.ts';
import { until } from '../support/until.ts';
import type { ConsoleService } from './console-service.ts';

/** Four eyes for freezes, and one pair for all else: one service for both. */
export function fourEyesForFreezes(): Record<string, string> {
  const file = join(mkdtempSync(join(tmpdir(), 'ferry-console-')), 'config.json');
  const four_eyes = Object.fromEntries(
    PRIVILEGED_NAMES.map((name) => [name, { approvals: name === 'freeze.create' ? 1 : 0 }]),
  );
  writeFileSync(file, JSON.stringify({ four_eyes }));
  return { FERRY_FOUR_EYES: 'on', FERRY_CONFIG: file };
}

const ADDRESS = 'bc1qar0srrr7xfkvy5l643lydnw9re59gtzzwf5mdq';

export type OperatorWorld = {
  /** With all scopes, of the customer of the demo. */
  readonly client: Eye;
  withdraw(amount: string): Promise<string>;
  depositInSuspense(amount: string): Promise<string>;
  /** A policy that holds what is larger than 1 BTC. */
  holdLarge(): Promise<void>;
};

async function made(client: Eye, path: string, body: object): Promise<any> {
  const answer = await client.call('POST', path, body);
  if (answer.status !== 200) throw new Error(`${path}: ${JSON.stringify(answer.body)}`);
  return answer.body;
}

export async function createOperatorWorld({
  service,
  customerId,
  profileId,
}: ConsoleService): Promise<OperatorWorld> {
  const client = await createEye(service, customerId, { scopes: SCOPE_NAMES });
  let count = 0;
  return {
    client,
    async withdraw(amount) {
      count += 1;
      const { id } = await made(client, '/v2/transfer/crypto-withdrawals', {
        profile_id: profileId,
        destination_address: ADDRESS,
        asset: 'BTC',
        crypto_network: 'BITCOIN',
        amount,
        ref_id: `payout-${count}`,
      });
      return id;
    },
    async depositInSuspense(amount) {
      const { suspense_deposit: deposit } = await made(client, '/v2/sandbox/fiat-deposits', {
        fiat_network: 'WIRE',
        memo_id: 'INVOICE 4711',
        amount,
      });
      return deposit.id;
    },
    holdLarge: () =>
      made(client, '/v2/operator/policies', {
        name: 'large withdrawals',
        enabled: true,
        rules: [{ type: 'approval', name: 'large payments', asset: 'BTC', above: '1' }],
        reason: 'Agreed with risk: CASE-2290.',
      }),
  };
}

/** A ring in which nobody has the money first, and which settles at once; then debts that nobody can pay yet. */
async function fillNetwork({ service }: ConsoleService): Promise<void> {
  const parties = await Promise.all(
    Array.from({ length: 5 }, async () => {
      const customer = await service.createCustomer();
      return { customer, profile: await service.createProfile(customer, { USD: '1500' }) };
    }),
  );
  const dayMs = 86_400_000;
  const owe = async (from: number, to: number, asset: string, amount: string): Promise<void> => {
    const [source, target] = [parties[from]!, parties[to]!];
    const { body } = await source.customer.call('POST', '/v2/settlement/transactions', {
      source_profile_id: source.profile,
      target_profile_id: target.profile,
      settlement_window_start: new Date().toISOString(),
      settlement_window_end: new Date(Date.now() + dayMs).toISOString(),
      legs: [{ direction: 'DELIVER', asset, amount }],
    });
    await target.customer.call('PUT', `/v2/settlement/transactions/${body.id}/affirm`);
  };
  await owe(0, 1, 'USD', '40000');
  await owe(1, 2, 'USD', '40000');
  await owe(2, 0, 'USD', '38500');
  await until('the ring has settled', async () => {
    const [row] = await service.database.query<{ settled: bigint }>(
      `select count(*) as settled from settlement_transactions where status = 'SETTLED'`,
    );
    return row!.settled >= 3n;
  });
  await owe(0, 1, 'BTC', '2.5');
  await owe(1, 3, 'BTC', '1.25');
  await owe(3, 2, 'USD', '91000.25');
  await owe(4, 2, 'USD', '12750');
  await owe(2, 1, 'BTC', '0.4');
}

/** Something of everything, for pictures. */
export async function fillOperatorScreens(world: ConsoleService): Promise<void> {
  const { service, customerId, profileId } = world;
  const { client, holdLarge, withdraw, depositInSuspense } = await createOperatorWorld(world);
  await fillNetwork(world);
  await holdLarge();
  for (const amount of ['0.05', '0.75', '1.5', '0.00420001', '2']) await withdraw(amount);
  for (const amount of ['250', '18400.5', '12']) await depositInSuspense(amount);
  await approvalMakers(service.database, customerId, profileId).getOperatorApproval();
  await made(client, '/v2/operator/journal-entries', {
    kind: 'MANUAL_DEPOSIT',
    ref_id: 'manual-1',
    profile_id: profileId,
    asset: 'USD',
    amount: '1250.75',
    rail: 'wire',
    account: 'sandbox',
    reason: 'The bank reported it by telephone only.',
    reference: 'FT26320-0042',
  });
  const frozen = await service.createProfile({ id: customerId } as never);
  const freeze = { scope: 'PROFILE', subject_id: frozen, reason: 'Court order 2311.' };
  await client.call('POST', '/v2/operator/freezes', freeze);
}
