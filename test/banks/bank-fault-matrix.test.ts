import { mkdirSync, readdirSync, readFileSync, renameSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, expect, it } from 'vitest';
import { plainId } from '../../src/banks/ids.ts';
import type { BankCheckpoint } from '../../src/banks/parts.ts';
import { notification, statusReport } from '../../src/banks/sandbox-messages.ts';
import type { Session, Transport } from '../../src/banks/transport.ts';
import { newId } from '../../src/kernel/id.ts';
import type { Notice } from '../../src/rails/rail.ts';
import { IS_LONG } from '../support/rounds.ts';
import { type BankWorld, createBankWorld, OWN_ACCOUNT } from './bank-world.ts';

/**
 * A node is killed at every step, while each of the faults of banks and lines happens: every payment is paid once, every cent is
 * on one account, and what does not fit is listed. FERRY_TEST_LONG: all combinations; otherwise each step and each fault once.
 */
const STEPS: readonly BankCheckpoint[] = [
  'before a file is committed',
  'a file is committed',
  'its bytes are at the bank',
  'its staging is committed',
  'the bank can read it',
  'its upload is committed',
  'a file of the bank is read',
  'its effect is committed',
  'it is archived',
];

let world: BankWorld;
afterEach(() => world.remove());

const at = '2026-11-16T10:00:00Z';
const day = (): string => new Date(world.clock.nowMs()).toISOString().slice(0, 10);
const place = (...names: string[]): string => join(world.directories.root, ...names);
const incoming = (): string[] => readdirSync(place('incoming')).filter((name) => !name.endsWith('.tmp'));
const contentOf = (name: string): string => readFileSync(place('incoming', name), 'utf8');
const drop = (text: string): void => writeFileSync(place('incoming', `${newId()}.xml`), text);
const isOf =
  (message: string) =>
  (name: string): boolean =>
    contentOf(name).includes(`:${message}.`);
const hold = (names: readonly string[]): void => {
  mkdirSync(place('held'), { recursive: true });
  for (const name of names) renameSync(place('incoming', name), place('held', name));
};
function release(): void {
  for (const name of readdirSync(place('held')))
    renameSync(place('held', name), place('incoming', `${newId()}-${name}`));
}

/** A line on which one call breaks once, in the middle or after its work. */
function breaking(method: 'write' | 'rename', how: 'middle' | 'after'): Transport {
  let isBroken = false;
  return {
    name: 'broken',
    async connect() {
      const session: Session = await world.transport.connect();
      return {
        ...session,
        async [method](from: string, to: never) {
          const call: (from: string, to: never) => Promise<void> = session[method];
          if (isBroken) return call(from, to);
          isBroken = true;
          if (how === 'after') await call(from, to);
          else await session.write(from, (to as unknown as Buffer).subarray(0, 100));
          throw new Error('the line is broken');
        },
      };
    },
  };
}

type Fault = {
  /** Of the payments. With .77 they come back. */
  readonly amounts?: readonly string[];
  readonly transport?: () => Transport;
  /** What happens before the bank looks, in each round. */
  before?(): void;
  /** What happens after that, before the service looks. */
  between?(round: number, keys: readonly string[]): Promise<void> | void;
  /** What comes last. */
  after?(keys: readonly string[]): Promise<void> | void;
  /** Kinds of findings that are listed, and no others. */
  readonly listed?: readonly string[];
  /** Returns of each payment. */
  readonly returns?: number;
};

/** The messages of the bank once more, each with another id, so that they are not the same bytes. */
function again(): void {
  for (const name of incoming().filter((one) => !one.startsWith('again'))) {
    const text = contentOf(name).replace(/<MsgId>[^<]*/, `<MsgId>${newId().slice(0, 30)}`);
    writeFileSync(place('incoming', `again-${name}`), text);
  }
}
const orderOf = async () => {
  const messageId = plainId((await world.filesOf()).at(-1)!.id);
  return { messageId, paymentInformationId: `${messageId}-1` };
};
const returnEntry = (key: string, amount: string) =>
  ({
    reference: `BACK-${newId()}`,
    direction: 'CRDT',
    amount,
    bookedOn: day(),
    endToEndId: plainId(key),
    returned: 'AC04',
  }) as const;

let taken: { name: string; bytes: Buffer } | undefined;

const FAULTS: Readonly<Record<string, Fault>> = {
  'the upload is cut in the middle': { transport: () => breaking('write', 'middle') },
  'the upload is done, and its answer is lost': { transport: () => breaking('rename', 'after') },
  'the bank reads the file twice': {
    before() {
      const [name] = readdirSync(place('outgoing')).filter((one) => one.endsWith('.xml'));
      if (name !== undefined) taken = { name, bytes: readFileSync(place('outgoing', name)) };
      else if (taken !== undefined) {
        writeFileSync(place('outgoing', taken.name), taken.bytes);
        taken = undefined;
      }
    },
    listed: ['DUPLICATE'],
  },
  'statuses come out of order': {
    between() {
      const names = incoming().sort();
      for (const [index, name] of names.entries()) utimesSync(place('incoming', name), 1_000, 1_000 - index);
    },
  },
  'every message comes twice': { between: again },
  'statuses come weeks late': {
    between: (round) => {
      hold(incoming());
      if (round === 5) world.pass(21 * 86_400_000);
    },
    after: release,
    listed: ['UNANSWERED'],
  },
  'statuses have unknown ids': {
    async between(round) {
      if (round !== 4) return;
      const statuses = [{ endToEndId: plainId(newId()), code: 'RJCT' }];
      drop(statusReport({ id: newId().slice(0, 30), at, order: await orderOf(), statuses }));
      const order = { messageId: plainId(newId()), paymentInformationId: 'x' };
      drop(statusReport({ id: newId().slice(0, 30), at, order, group: { code: 'RJCT' } }));
    },
    listed: ['UNKNOWN_FILE', 'UNKNOWN_PAYMENT'],
  },
  'statuses have another amount': {
    async between(round, keys) {
      if (round !== 4) return;
      const statuses = [{ endToEndId: plainId(keys[0]!), code: 'RJCT', amount: '999.99' }];
      drop(statusReport({ id: newId().slice(0, 30), at, order: await orderOf(), statuses }));
    },
    listed: ['OTHER_AMOUNT'],
  },
  'the statement comes before the notification': {
    between: () => hold(incoming().filter(isOf('camt.054'))),
    async after() {
      await world.bank.state();
      await turns();
      release();
    },
  },
  'a statement is missing': {
    async after() {
      await world.bank.state();
      await turns();
      await world.bank.deposit({ amount: '2.00', text: 'x', sender: 'A' });
      await world.bank.state();
      for (const name of incoming().filter(isOf('camt.053'))) rmSync(place('incoming', name));
      await world.bank.deposit({ amount: '1.00', text: 'x', sender: 'A' });
    },
    listed: ['STATEMENT_GAP'],
  },
  'a payment comes back before it is completed': {
    amounts: ['7.77'],
    // Everything but the notification of the return, which comes last.
    between: () => hold(incoming().filter((name) => !contentOf(name).includes('RtrInf'))),
    after: release,
    returns: 1,
  },
  'a payment comes back twice': {
    amounts: ['7.77'],
    between(round, keys) {
      if (round !== 6) return;
      const entries = [returnEntry(keys[0]!, '7.77')];
      drop(notification({ id: newId(), at, account: OWN_ACCOUNT, currency: 'USD', entries }));
    },
    returns: 2,
    // The bank of this test has not booked the second one, which is on no statement.
  },
};

const turns = async (): Promise<void> => {
  for (let turn = 0; turn < 2; turn += 1) await world.worker.turn();
};

/** Ferry, the bank, and what happens between them, until the node was killed and another one has gone on. */
async function exchange(fault: Fault, step: BankCheckpoint, keys: readonly string[]): Promise<void> {
  let isKilled = false;
  const transport = fault.transport?.() ?? world.transport;
  const dying = world.node({
    transport,
    async checkpoint(name) {
      if (isKilled || name !== step) return;
      isKilled = true;
      throw new Error('killed');
    },
  });
  let node = dying;
  for (let round = 0; round < 10; round += 1) {
    await node.turn().catch((error: Error) => {
      expect(error.message).toMatch(/^(killed|the line is broken)$/);
      // A node that is killed never comes back.
      if (error.message === 'killed') node = world.node({ transport });
    });
    fault.before?.();
    await world.bank.turn();
    await fault.between?.(round, keys);
  }
  await fault.after?.(keys);
  if (!isKilled) {
    // All messages were held back until now.
    for (let round = 0; round < 3; round += 1) await dying.turn().catch(() => undefined);
  }
  expect(isKilled).toBe(true);
  world.restart();
  await world.settle(3);
  await world.bank.state();
  await world.settle(1);
}

const paidOf = (notices: readonly Notice[], key: string): string[] =>
  notices.flatMap((one) => (one.about === 'payment' && one.key === key ? [one.state.kind] : []));

/** What the service is told about the money, in cents. */
async function reported(notices: readonly Notice[]): Promise<bigint> {
  let sum = 0n;
  for (const notice of notices)
    if (notice.about === 'deposit') sum += notice.deposit.amountUnits;
    else if (notice.about === 'return') sum += notice.arrived.amountUnits;
    else {
      const [row] = await world.database.query<{ units: bigint }>(
        'select units from rail_payments where key = $1',
        [notice.key],
      );
      sum -= row!.units;
    }
  return sum;
}

async function combine(name: string, step: BankCheckpoint, earlier: bigint): Promise<bigint> {
  const fault = FAULTS[name]!;
  const before = (await world.findings()).length;
  const keys: string[] = [];
  for (const amount of fault.amounts ?? ['10', '20.50']) keys.push(await world.submit(amount));
  await exchange(fault, step, keys);
  const notices = await world.collect();
  const { payments, openingUnits } = await world.bank.record();
  for (const key of keys) {
    expect(payments.filter(({ endToEndId }) => endToEndId === plainId(key))).toHaveLength(1);
    expect(await world.ask(key)).toMatchObject({ kind: 'completed' });
    expect(paidOf(notices, key)).toEqual(['completed']);
    const returns = notices.filter((one) => one.about === 'return' && one.key === key);
    expect(returns).toHaveLength(fault.returns ?? 0);
  }
  const listed = (await world.findings()).slice(before);
  expect([...new Set(listed)].sort()).toEqual(fault.listed ?? []);
  // Whatever the bank says that it has, the service was told; returns that this test invents are on top.
  const sum = earlier + (await reported(notices));
  const invented = name === 'a payment comes back twice' ? 777n : 0n;
  expect(sum - invented).toBe(BigInt(openingUnits));
  return sum - invented;
}

it.each(Object.keys(FAULTS).map((name, index) => [name, index] as const))(
  'a node is killed while %s',
  async (name, index) => {
    world = await createBankWorld();
    let sum = 0n;
    const steps = IS_LONG ? STEPS : [STEPS[index % STEPS.length]!];
    for (const step of steps) sum = await combine(name, step, sum);
  },
);
