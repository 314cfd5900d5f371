import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Database } from '../../src/database/database.ts';
import { newId } from '../../src/kernel/id.ts';
import type { CryptoNetwork } from '../../src/networks/crypto.ts';
import { NETWORKS } from '../../src/networks/register.ts';
import { type RecordingSigner, type RefusalCode, SignerRefusal } from '../../src/signer/contract.ts';
import { createSigner } from '../../src/signer/decide.ts';
import { type Keys, keysOfSeed } from '../../src/signer/keys.ts';
import { type DecisionLog, openLog } from '../../src/signer/log.ts';
import type { NetworkPolicy, Policy } from '../../src/signer/policy.ts';
import { entropyOf, seedOf } from '../../src/signer/sealed-file.ts';
import { unguarded } from '../support/database.ts';

/** Assignments as the keeper commits them, and a signer on them. */

/** The words that every wallet is tested with. */
export const MNEMONIC = `${'abandon '.repeat(11)}about`;
export const testKeys = (): Keys => keysOfSeed(seedOf(entropyOf(MNEMONIC)));

export type PaymentOrder = { key?: string; asset: string; units: bigint; address: string };
export type AssignmentOrder = {
  network: CryptoNetwork;
  lane: string;
  slot?: string | null;
  purpose?: string;
  payments?: readonly PaymentOrder[];
  coins?: readonly { txHash: string; output: number; units: bigint; path: string }[];
  details?: Record<string, string>;
};
export type Committed = { id: string; keys: string[] };

/** A pending withdrawal that the rail has accepted, unless the key is there already. */
async function withdraw(
  database: Database,
  network: string,
  { key, asset, units, address }: Required<PaymentOrder>,
) {
  const { query } = unguarded(database);
  await query(
    `insert into transfers (id, customer_id, profile_id, type, direction, status, asset, amount_units, fee_units, balance_asset,
                            balance_units, created_at_ns, updated_at_ns, crypto_network, destination_address)
     values ($1, $1, $1, 'CRYPTO_WITHDRAWAL', 'DEBIT', 'PENDING', $2, $3, 0, $2, $3, 1, 1, $4, $5) on conflict do nothing`,
    [key, asset, units, network, address],
  );
  await query(
    `insert into rail_payments (key, rail, asset, units, payment, accepted_at_ns, updated_at_ns)
     values ($1, $2, $3, $4, '"sealed"', 1, 1) on conflict do nothing`,
    [key, network, asset, units],
  );
}

export async function commit(database: Database, order: AssignmentOrder): Promise<Committed> {
  const { network, lane, slot = null, purpose = 'PAYMENTS', payments = [], coins = [], details = {} } = order;
  const id = newId();
  const whole = payments.map((one) => ({ ...one, key: one.key ?? newId() }));
  for (const payment of whole) await withdraw(database, network, payment);
  await database.query(
    `insert into chain_assignments (id, network, lane, purpose, slot, details, fee_asset, assigned_at_ns, updated_at_ns)
     values ($1, $2, $3, $4, $5, $6::jsonb, $7, 1, 1)`,
    [id, network, lane, purpose, slot, JSON.stringify(details), NETWORKS.crypto(network).native.asset],
  );
  for (const [position, { key, asset, units, address }] of whole.entries())
    await database.query(
      `insert into chain_assignment_payments (assignment_id, position, key, asset, units, address)
       values ($1, $2, $3, $4, $5, $6)`,
      [id, position, key, asset, units, address],
    );
  for (const { txHash, output, units, path } of coins)
    await database.query(
      `insert into chain_coins (network, tx_hash, output, units, address, path, assignment_id)
       values ($1, $2, $3, $4, 'ours', $5, $6)`,
      [network, txHash, output, units, path, id],
    );
  return { id, keys: whole.map(({ key }) => key) };
}

export const USDC = '0xA0b86991c6218b36c1d19D4a2e9Eb0cE3606eB48';
export const MINT = 'EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v';
export const COLD = '0x000000000000000000000000000000000000c01d';

const base = {
  chainId: undefined,
  isTest: false,
  lanes: 1,
  depositAddresses: 0,
  feeUnitsPerDay: 10n ** 18n,
  coldAddress: undefined,
  destinations: undefined,
};

const native = (network: CryptoNetwork): NetworkPolicy => ({
  ...base,
  network,
  assets: new Map([[NETWORKS.crypto(network).native.asset, 'native']]),
  feeUnitsMax: 1_000_000n,
});

const large = { unitsPerHour: 10n ** 30n, unitsPerDay: 10n ** 30n, paymentsPerMinute: 1_000 };

export const POLICY: Policy = {
  networks: new Map<CryptoNetwork, NetworkPolicy>([
    [
      'ETHEREUM',
      {
        ...base,
        network: 'ETHEREUM',
        chainId: 1n,
        lanes: 2,
        assets: new Map([
          ['ETH', 'native'],
          ['USDC', USDC],
        ]),
        feeUnitsMax: 10n ** 16n,
        coldAddress: COLD,
      },
    ],
    ['BITCOIN', { ...native('BITCOIN'), coldAddress: 'bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4' }],
    ['LITECOIN', native('LITECOIN')],
    ['BITCOIN_CASH', native('BITCOIN_CASH')],
    [
      'SOLANA',
      {
        ...native('SOLANA'),
        depositAddresses: 2,
        assets: new Map([
          ['SOL', 'native'],
          ['USDC', MINT],
        ]),
        feeUnitsMax: 10_000_000n,
      },
    ],
  ]),
  limits: new Map(['ETH', 'USDC', 'BTC', 'LTC', 'BCH', 'SOL'].map((code) => [code, large])),
};

/** The policy with changes of one network. */
export const withNetwork = (network: CryptoNetwork, changes: Partial<NetworkPolicy>): Policy => ({
  ...POLICY,
  networks: new Map([...POLICY.networks, [network, { ...POLICY.networks.get(network)!, ...changes }]]),
});

export type TestSigner = {
  readonly signer: RecordingSigner;
  readonly log: DecisionLog;
  readonly logPath: string;
  /** Asks with a new id. */
  ask(
    network: CryptoNetwork,
    assignmentId: string,
    unsigned: string,
    requestId?: string,
  ): Promise<readonly string[]>;
  /** The code of the refusal; undefined if it signs. */
  codeFor(
    network: CryptoNetwork,
    assignmentId: string,
    unsigned: string,
    requestId?: string,
  ): Promise<RefusalCode | undefined>;
  close(): Promise<void>;
};

export const makeDirectory = (): string => mkdtempSync(join(tmpdir(), 'ferry-signer-'));

export async function openTestSigner(
  database: Database,
  {
    policy = POLICY,
    directory = makeDirectory(),
    nowMs = () => 1_800_000_000_000,
  }: { policy?: Policy; directory?: string; nowMs?: () => number } = {},
): Promise<TestSigner> {
  const keys = testKeys();
  const logPath = join(directory, 'log.jsonl');
  const log = await openLog(logPath, keys.logKey);
  const signer = await createSigner({ database, networks: NETWORKS, keys, policy, log, nowMs });
  const signal = new AbortController().signal;
  const ask: TestSigner['ask'] = (network, assignmentId, unsigned, requestId = newId()) =>
    signer.sign({ requestId, network, assignmentId, version: 1, unsigned }, signal);
  return {
    signer,
    log,
    logPath,
    ask,
    async codeFor(...order) {
      try {
        await ask(...order);
        return undefined;
      } catch (error) {
        if (error instanceof SignerRefusal) return error.code;
        throw error;
      }
    },
    async close() {
      await log.close();
      await keys.close();
    },
  };
}

export const removeDirectory = (directory: string): void =>
  rmSync(directory, { recursive: true, force: true });
