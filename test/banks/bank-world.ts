import { mkdirSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { directoryTransport } from '../../src/banks/directory.ts';
import { ISO20022, readBankSettings } from '../../src/banks/kind.ts';
import type { BankCheckpoint } from '../../src/banks/parts.ts';
import { createBankRail } from '../../src/banks/rail.ts';
import { createSandboxBank } from '../../src/banks/sandbox-bank.ts';
import type { BankSettings } from '../../src/banks/settings.ts';
import type { Transport } from '../../src/banks/transport.ts';
import { createBankWorker } from '../../src/banks/worker.ts';
import { newId } from '../../src/kernel/id.ts';
import { NS_PER_MS } from '../../src/kernel/instant.ts';
import { NETWORKS } from '../../src/networks/register.ts';
import type { ReadContext } from '../../src/rails/kind.ts';
import { noticesOf } from '../../src/rails/notice-store.ts';
import type { Notice, Payment } from '../../src/rails/rail.ts';
import { createTestDatabase } from '../support/database.ts';
import { person, wire } from '../support/fiat-accounts.ts';
import { assets } from '../support/ledger.ts';

export const OWN_ACCOUNT = '000987654321';
const address = {
  country: 'US',
  address1: '2 Pier Street',
  city: 'New York',
  province: 'NY',
  zip_code: '10004',
};

/** The entry of the rail in a configuration file. */
export const bankEntry = (directory: string, more: object = {}) => ({
  owner: 'Ferry Operations Inc.',
  account: {
    account_number: OWN_ACCOUNT,
    routing_details: {
      routing_number_type: 'ABA',
      routing_number: '021000021',
      bank_name: 'Sandbox Bank',
      bank_address: address,
    },
    fiat_account_owner_address: address,
  },
  directory,
  outgoing: 'outgoing',
  incoming: 'incoming',
  archive: 'archive',
  batch: { seconds: 0 },
  poll_seconds: 1,
  ...more,
});

export const readContext: ReadContext = {
  rail: 'wire',
  path: 'rails.wire',
  assets,
  networks: NETWORKS,
  mode: 'production',
  secret: () => 'secret',
};

export function settingsFor(directory: string, more: object = {}): BankSettings {
  return readBankSettings(bankEntry(directory, more) as never, readContext);
}

export function paymentFor(key: string, amount: string, more: Partial<Payment> = {}): Payment {
  const parsed = assets.parse('USD', amount);
  if (!parsed.ok) throw new Error(parsed.message);
  return {
    key,
    asset: 'USD',
    amountUnits: parsed.units,
    amount,
    memo: 'Invoice 12',
    destination: { instructions: { wire }, owner: person },
    ...more,
  };
}

export function createDirectories() {
  const root = mkdtempSync(join(tmpdir(), 'ferry-bank-'));
  for (const name of ['outgoing', 'incoming', 'archive']) mkdirSync(join(root, name));
  return {
    root,
    list: (name: string): string[] => readdirSync(join(root, name)).sort(),
    remove: () => rmSync(root, { recursive: true, force: true }),
  };
}

export type WorldOptions = { readonly settings?: object; readonly payMs?: number; readonly slowMs?: number };

/** The rail, its worker, and the sandbox bank, with a clock that a test can move. */
export async function createBankWorld(options: WorldOptions = {}) {
  const test = await createTestDatabase();
  const { database } = test;
  const directories = createDirectories();
  const settings = { ...settingsFor(directories.root, options.settings), pollMs: 0 };
  let offsetMs = 0;
  const nowMs = (): number => Date.now() + offsetMs;
  const clock = { nowMs, now: () => BigInt(nowMs()) * NS_PER_MS };
  const logs: string[] = [];
  const note = (facts: object, what?: string): void =>
    void logs.push(
      `${what}${'finding' in facts ? `: ${String(facts.finding)}` : ''}${'why' in facts ? `: ${String(facts.why)}` : ''}`,
    );
  const log = { info: () => undefined, warn: note, error: note } as never;
  const transport = directoryTransport(directories.root);
  const rail = createBankRail({ settings, database, clock });
  const bank = createSandboxBank({
    transport,
    outgoing: 'outgoing',
    incoming: 'incoming',
    account: OWN_ACCOUNT,
    messages: settings.messages,
    currency: { code: 'USD', decimals: 2 },
    record: join(directories.root, 'record.json'),
    payMs: options.payMs ?? 0,
    slowMs: options.slowMs ?? 3_600_000,
    nowMs,
  });

  /** A node. Its lease ends at once, so that the next one can take over without waiting. */
  const node = (
    more: {
      checkpoint?: (name: BankCheckpoint) => Promise<void>;
      transport?: Transport;
      leaseMs?: number;
    } = {},
  ) =>
    createBankWorker({
      settings,
      database,
      clock,
      transport,
      lease: { rail: 'wire', holder: newId() },
      leaseMs: 0,
      log,
      ...more,
    });
  let worker = node();

  const notices = noticesOf(database, 'wire');
  /** What the service would process, and acknowledge. */
  async function collect(): Promise<Notice[]> {
    const found = await notices.collect(100_000);
    await notices.acknowledge(found.map(({ id }) => id));
    return [...found];
  }

  const world = {
    test,
    database,
    directories,
    settings,
    clock,
    logs,
    transport,
    rail,
    bank,
    node,
    notices,
    collect,
    get worker() {
      return worker;
    },
    /** The node was killed: another one goes on. */
    restart() {
      worker = node();
    },
    pass(ms: number) {
      offsetMs += ms;
    },
    signal: new AbortController().signal,
    async submit(amount: string, more: Partial<Payment> = {}): Promise<string> {
      const key = newId();
      const result = await rail.submit(paymentFor(key, amount, more), world.signal);
      if (result.kind !== 'accepted') throw new Error(result.reason);
      return key;
    },
    ask: (key: string) => rail.ask(key, world.signal),
    /** Ferry and the bank in turns, until nothing is left to exchange: a file is taken when it is seen unchanged twice. */
    async settle(rounds = 4): Promise<void> {
      for (let round = 0; round < rounds; round += 1) {
        await worker.turn();
        await worker.turn();
        await bank.turn();
        await bank.turn();
      }
      await worker.turn();
      await worker.turn();
    },
    findings: async (): Promise<string[]> => {
      const rows = await database.query<{ kind: string }>(
        'select kind from bank_findings order by created_at_ns, id',
      );
      return rows.map(({ kind }) => kind);
    },
    filesOf: () =>
      database.query<{ id: string; name: string; state: string; payments: number }>(
        'select id, name, state, payments from bank_files order by id',
      ),
    async remove() {
      directories.remove();
      await test.drop();
    },
  };
  return world;
}
export type BankWorld = Awaited<ReturnType<typeof createBankWorld>>;
export { ISO20022 };
