import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Rail } from '../../src/rails/rail.ts';
import type { Transfer } from '../../src/transfers/transfer.ts';
import { CHECKPOINTS, type Checkpoint } from '../../src/withdrawals/steps.ts';
import { createWorld, type Node, never, type World } from '../support/payouts.ts';
import { IS_LONG } from '../support/rounds.ts';

/**
 * The fault matrix of a withdrawal. A cell is a step, a fault at that step, what the rail does with the payment, and a
 * rail. After each, the rail was asked to pay exactly once, the ledger balances, and the transfer has the right outcome.
 *
 * A "killed" process executes nothing after that point: what it awaits never resolves.
 * What survives is what it committed and what it sent. Processes that are really killed are in withdrawal-kill.long.test.ts.
 */
let world: World;
beforeAll(async () => {
  world = await createWorld();
});
afterAll(async () => {
  await world.expectSound();
  await world.drop();
});

type Fault = {
  readonly checkpoint?: Checkpoint;
  readonly submit?: CallFault;
  readonly ask?: CallFault;
};
type CallFault =
  | 'killed before it is sent'
  | 'killed when it has arrived, before the answer'
  | 'no answer, it never arrived'
  | 'no answer, though it arrived'
  | 'the connection breaks, though it arrived';

async function faultyCall<Answer>(
  fault: CallFault,
  call: () => Promise<Answer>,
  die: () => void = () => undefined,
): Promise<Answer> {
  if (fault !== 'killed before it is sent' && fault !== 'no answer, it never arrived') await call();
  die();
  if (fault === 'the connection breaks, though it arrived') throw new Error('ECONNRESET');
  if (!fault.startsWith('killed')) throw new Error('no answer within the time for a call');
  return never;
}

/** Every fault happens once, at the first opportunity, so it does not hit the recovery as well. */
function createFaulty(fault: Fault): Node & { died: Promise<void> } {
  const left: { -readonly [name in keyof Fault]?: Fault[name] | undefined } = { ...fault };
  let isDead = false;
  let die: () => void = () => undefined;
  const died = new Promise<void>((resolve) => {
    die = resolve;
  });
  const strike = <Answer>(name: 'submit' | 'ask', call: () => Promise<Answer>): Promise<Answer> => {
    const struck = left[name];
    if (struck === undefined) return call();
    left[name] = undefined;
    if (!struck.startsWith('killed')) return faultyCall(struck, call);
    isDead = true;
    return faultyCall(struck, call, die);
  };
  const node = world.createNode({
    wrapRail: (rail): Rail => ({
      ...rail,
      submit: (payment, signal) => strike('submit', () => rail.submit(payment, signal)),
      ask: (key, signal) => strike('ask', () => rail.ask(key, signal)),
    }),
    checkpoint: async (name) => {
      if (!isDead && left.checkpoint !== name) return;
      isDead = true;
      die();
      await never;
    },
  });
  return { ...node, died };
}

type Ending = { readonly memo?: string; readonly status: 'COMPLETED' | 'FAILED' };
const ENDINGS: Readonly<Record<string, Ending>> = {
  'the rail pays': { status: 'COMPLETED' },
  'the rail refuses': { memo: 'sandbox:refuse', status: 'FAILED' },
  'the rail fails it later': { memo: 'sandbox:fail', status: 'FAILED' },
};

type Kind = {
  readonly profile: Readonly<Record<string, string>>;
  withdraw(profile: string, memo: { memo?: string }): Promise<Transfer>;
  readonly asset: string;
  readonly left: string;
  readonly system: Readonly<Record<string, string>>;
};
const KINDS: Readonly<Record<string, Kind>> = {
  wire: {
    profile: { USD: '120' },
    withdraw: async (profile, memo) => world.withdrawFiat(profile, await world.createAccount('wire'), memo),
    asset: 'USD',
    left: '0',
    system: { 'clearing:wire USD': '100', 'fees USD': '20' },
  },
  BITCOIN: {
    profile: { BTC: '2' },
    withdraw: (profile, memo) =>
      world.withdrawCrypto(profile, { asset: 'BTC', crypto_network: 'BITCOIN', ...memo }),
    asset: 'BTC',
    left: '0.9999',
    system: { 'clearing:bitcoin BTC': '1', 'fees BTC': '0.0001' },
  },
  'ETHEREUM against USD': {
    profile: { USD: '102' },
    withdraw: (profile, memo) =>
      world.withdrawCrypto(profile, {
        asset: 'PUSD',
        crypto_network: 'ETHEREUM',
        balance_asset: 'USD',
        amount: '100',
        ...memo,
      }),
    asset: 'USD',
    left: '0',
    system: {
      'conversion USD': '102',
      'conversion PUSD': '-102',
      'clearing:ethereum PUSD': '100',
      'fees PUSD': '2',
    },
  },
};

/** What must hold after every fault. */
async function expectRight(transfer: Transfer, profile: string, kind: Kind, ending: Ending): Promise<void> {
  const { id, type } = transfer;
  const paid = ending.status === 'COMPLETED';
  expect((await world.transferOf(id)).status).toBe(ending.status);
  expect(await world.paymentsOf(id)).toMatchObject([{ requests: 1, amountUnits: transfer.amountUnits }]);
  expect(await world.balanceOf(profile, kind.asset)).toEqual({
    available: paid ? kind.left : kind.profile[kind.asset],
    held: '0',
  });
  expect(await world.systemOf(id)).toEqual(paid ? kind.system : {});
  expect(await world.eventsOf(id)).toEqual(
    ['pending', ending.status.toLowerCase()].map((one) => `transfer.${type.toLowerCase()}.${one}`),
  );
  expect(await world.database.query('select 1 from withdrawal_work')).toEqual([]);
  expect(await world.database.query('select 1 from rail_contradictions')).toEqual([]);
  // It reads the whole ledger. The quick run does it once, after all cells.
  if (IS_LONG) await world.expectSound();
}

async function runCell(fault: Fault, kind: Kind, ending: Ending): Promise<void> {
  const profile = await world.createProfile(kind.profile);
  const transfer = await kind.withdraw(profile, ending.memo === undefined ? {} : { memo: ending.memo });
  const struck = createFaulty(fault);
  const dies = fault.checkpoint !== undefined || JSON.stringify(fault).includes('killed');
  if (dies) {
    // Until it dies, or has ended the withdrawal without reaching that step (a refused payment is never asked about).
    await Promise.race([struck.died, world.settle(struck)]);
  } else {
    await world.settle(struck);
  }
  // Another process, later, that knows only what is in the database.
  world.advance(61_000);
  await world.settle(world.createNode());
  await expectRight(transfer, profile, kind, ending);
}

const CALL_FAULTS: readonly CallFault[] = [
  'killed before it is sent',
  'killed when it has arrived, before the answer',
  'no answer, it never arrived',
  'no answer, though it arrived',
  'the connection breaks, though it arrived',
];

const FAULTS: readonly (readonly [name: string, fault: Fault])[] = [
  ...CHECKPOINTS.map((checkpoint) => [`killed: ${checkpoint}`, { checkpoint }] as const),
  ...CALL_FAULTS.map((submit) => [`while it submits: ${submit}`, { submit }] as const),
  ...CALL_FAULTS.map((ask) => [`while it asks: ${ask}`, { ask }] as const),
  [
    'while it submits: no answer, though it arrived; then while it asks: no answer, it never arrived',
    { submit: 'no answer, though it arrived', ask: 'no answer, it never arrived' },
  ],
  [
    'while it submits: no answer, it never arrived; then killed: after the rail was asked, before the outcome is committed',
    {
      submit: 'no answer, it never arrived',
      checkpoint: 'after the rail was asked, before the outcome is committed',
    },
  ],
  [
    'while it submits: no answer, though it arrived; then killed: after the answer is committed',
    { submit: 'no answer, though it arrived', checkpoint: 'after the answer is committed' },
  ],
];

/** In the quick run every third: each fault with every ending, on one of the rails. */
const CELLS = Object.keys(KINDS).flatMap((kind, ofKind) =>
  Object.keys(ENDINGS).flatMap((ending, ofEnding) =>
    FAULTS.filter((_, ofFault) => IS_LONG || (ofKind + ofEnding + ofFault) % 3 === 0).map(
      ([name, fault]) => [`${kind}, ${ending}, ${name}`, fault, kind, ending] as const,
    ),
  ),
);

describe('after', () => {
  it.each(CELLS)('%s', async (_name, fault, kind, ending) => {
    await runCell(fault, KINDS[kind]!, ENDINGS[ending]!);
  });
});

describe('the creation', () => {
  const request = { asset: 'BTC', crypto_network: 'BITCOIN' } as const;

  it('killed before it is committed: there is no withdrawal, and the rail is not called', async () => {
    const profile = await world.createProfile({ BTC: '2' });
    // The transaction's connection is cut before the commit.
    const node = world.createNode();
    const stopped = { ...node.writePath, submit: () => never };
    void world.withdrawCrypto(profile, request, stopped);
    await world.settle(world.createNode());
    expect(await world.balanceOf(profile, 'BTC')).toEqual({ available: '2', held: '0' });
    expect(await world.database.query('select 1 from transfers where profile_id = $1', [profile])).toEqual(
      [],
    );
    await world.expectSound();
  });

  it('killed after it is committed, before it is answered: another node pays it', async () => {
    const profile = await world.createProfile({ BTC: '2' });
    const transfer = await world.withdrawCrypto(profile, request);
    await world.settle(world.createNode());
    await expectRight(transfer, profile, KINDS.BITCOIN!, ENDINGS['the rail pays']!);
  });
});
