import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { type Anvil, hex } from '../support/anvil.ts';
import { createProduction, type Production } from '../support/evm-production.ts';
import { cellsOf } from '../support/kill-cells.ts';
import { type RpcProxy, startProxy } from '../support/rpc-proxy.ts';
import { until } from '../support/until.ts';

/**
 * A service process is killed with SIGKILL at every checkpoint of its keeper, while the chain or its nodes misbehave; another one goes
 * on. Each time there is a withdrawal and a deposit. Judged by the chain: paid once, credited once.
 */

const ETHER = 10n ** 18n;
const MORTAL = join(import.meta.dirname, 'processes/mortal-node.ts');
let production: Production;
let anvil: Anvil;
let first: RpcProxy;
let second: RpcProxy;
let dieAt: string;
let passed: string;
let deposits: string;
let received = 0n;

beforeAll(async () => {
  production = await createProduction({
    coins: 5_000n,
    rail: { confirmations: { depth: 12 }, fees: { max_gwei: '100', bump_after_seconds: 1 } },
    async urls(node) {
      anvil = node;
      [first, second] = [await startProxy(node.url), await startProxy(node.url)];
      return [first.url, second.url];
    },
    command(directory) {
      dieAt = join(directory, 'die-at');
      passed = join(directory, 'passed');
      return { args: [MORTAL], env: { MORTAL_DIE_AT: dieAt, MORTAL_PASSED: passed } };
    },
  });
  const asked = { profile_id: production.profile, crypto_network: production.network };
  await until('the scanner has started', async () => {
    await anvil.mine();
    deposits = (await production.call('POST', '/v2/transfer/deposit-addresses', asked)).address;
    return true;
  });
});
afterAll(async () => {
  await production?.remove();
  await Promise.all([first?.stop(), second?.stop()]);
});

const honest = (): undefined => undefined;
const never = (): Promise<never> => new Promise(() => undefined);

/** `before` the withdrawal is requested, `after` the process was killed; what is set then ends when the next one has seen it. */
type Fault = {
  readonly before?: () => unknown;
  readonly after?: (transferId: string) => unknown;
};

const lies: RpcProxy['answer'] = (method, result) =>
  method === 'eth_getTransactionReceipt' && result !== null
    ? { ...result, status: '0x0', logs: [] }
    : undefined;

/** Another chain from that height on. */
const fork: RpcProxy['answer'] = (method, result) =>
  method === 'eth_getBlockByNumber' && result !== null && BigInt(result.number) > forkedAt
    ? { ...result, hash: `0x${'f'.repeat(63)}1` }
    : undefined;
let forkedAt = 0n;

const FAULTS: Readonly<Record<string, Fault>> = {
  'nothing else happens': {},
  'one block is reorganised away': {
    async after() {
      await anvil.mine();
      await anvil.call('anvil_reorg', [1, []]);
    },
  },
  'ten blocks are reorganised away': {
    async after() {
      await anvil.mine(10);
      await anvil.call('anvil_reorg', [10, []]);
    },
  },
  'the pools of the nodes are wiped': { after: () => anvil.call('anvil_dropAllTransactions') },
  'the base fee rises to twenty times': {
    async after() {
      await anvil.call('anvil_setNextBlockBaseFeePerGas', [hex(20n * 10n ** 9n)]);
      await anvil.mine();
    },
  },
  'both nodes are down': {
    after() {
      for (const one of [first, second]) one.answer = () => Promise.reject(new Error('down'));
    },
  },
  'one node lies about receipts': {
    after() {
      first.answer = lies;
    },
  },
  'one node is a hundred blocks behind': {
    async after() {
      const past = hex(await anvil.height());
      await anvil.mine(100);
      first.answer = async (method, _, params) => {
        if (method === 'eth_getBlockByNumber' && params[0] === 'latest')
          return anvil.call(method, [past, params[1]]);
        if (method === 'eth_getTransactionCount') return anvil.call(method, [params[0], past]);
        return method === 'eth_getTransactionReceipt' ? null : undefined;
      };
    },
  },
  'two nodes disagree about the chain': {
    async after() {
      forkedAt = BigInt(await anvil.height());
      second.answer = fork;
      await anvil.mine(15);
    },
  },
  'its bytes are sent again by somebody else': {
    async after(id) {
      const rows = await production.query<{ bytes: string }>(
        `select v.bytes from chain_versions v join chain_assignment_payments p using (assignment_id) where p.key = '${id}'`,
      );
      for (const { bytes } of rows) {
        await anvil.call('eth_sendRawTransaction', [bytes]).catch(() => undefined);
        await anvil.mine();
        await anvil.call('eth_sendRawTransaction', [bytes]).catch(() => undefined);
      }
    },
  },
  'the nodes accept what they are sent, and never answer': {
    before() {
      for (const one of [first, second])
        one.answer = (method) => (method === 'eth_sendRawTransaction' ? never() : undefined);
    },
  },
};

const nonce = async (): Promise<number> =>
  Number(await anvil.call<string>('eth_getTransactionCount', [production.lane, 'latest']));

async function credited(): Promise<bigint> {
  const [row] = await production.query<{ units: bigint }>(
    `select coalesce(sum(amount_units), 0)::numeric as units from transfers where direction = 'CREDIT' and status = 'COMPLETED'`,
  );
  return row!.units;
}

/** A payment of a stranger, which a reorganisation may take from the chain: the stranger then sends it again. */
async function pay(): Promise<() => Promise<void>> {
  const { hash } = await anvil.send({ to: deposits, value: ETHER });
  const raw = await anvil.call<string>('eth_getRawTransactionByHash', [hash]);
  received += ETHER;
  return async () => {
    if ((await anvil.call('eth_getTransactionReceipt', [hash])) === null)
      await anvil.call('eth_sendRawTransaction', [raw]).catch(() => undefined);
  };
}

/** Blocks that the scanner may be behind. */
const BEHIND_MAX = 20;

/** A block, unless the service is behind: one that is slow would never catch up with blocks that come at a fixed rate. */
async function mineSome(): Promise<void> {
  const [row] = await production.query<{ height: bigint }>(
    'select coalesce(max(height), 0)::bigint as height from chain_blocks',
  );
  if (BigInt(await anvil.height()) - row!.height < BEHIND_MAX) await anvil.mine();
}

async function killedAt(): Promise<void> {
  const { child } = production.running.node;
  await until(
    'the process was killed',
    async () => {
      if (child.signalCode === 'SIGKILL') return true;
      await mineSome();
      return false;
    },
    50,
  );
}

beforeEach(async () => {
  for (const one of [first, second]) one.answer = honest;
  rmSync(dieAt, { force: true });
  await production.isRunning();
});

const cells = cellsOf(FAULTS, [
  ['nothing else happens', 'after the broadcast'],
  ['one block is reorganised away', 'after the broadcast'],
]);

it.each(cells)('if %s, and a service is killed %s: paid once, credited once', async (name, at) => {
  const fault = FAULTS[name]!;
  const before = await nonce();
  await fault.before?.();
  const payAgain = await pay();
  writeFileSync(dieAt, at);
  const { id, to } = await production.withdraw('ETH', '1');
  await killedAt();
  expect(readFileSync(passed, 'utf8')).toContain(`died at ${at}`);
  await fault.after?.(id);
  rmSync(dieAt);
  if (existsSync(passed)) rmSync(passed);
  const calls = first.calls.length + second.calls.length;
  await production.startNode();
  await until(
    'the next process has talked to its nodes',
    () => first.calls.length + second.calls.length > calls + 20,
  );
  for (const one of [first, second]) one.answer = honest;
  await payAgain();
  await production.completed([id]);
  expect(await anvil.balance(to)).toBe(ETHER);
  expect(await nonce()).toBe(before + 1);
  await until(
    'the deposit is credited',
    async () => {
      await payAgain();
      await mineSome();
      return (await credited()) === received;
    },
    100,
  );
  await anvil.mine(13);
  expect(await credited()).toBe(received);
});

it('wallet and ledger are equal to the unit, and the ledger is sound', async () => {
  await production.expectBooked();
  await production.expectSound();
});
