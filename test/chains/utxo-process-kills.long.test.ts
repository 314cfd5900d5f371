import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type CoinProxy, LOST, startCoinProxy } from '../support/coin-proxy.ts';
import { cellsOf, type Fault } from '../support/kill-cells.ts';
import { COIN, createUtxoProduction, kindOf, type UtxoProduction } from '../support/utxo-production.ts';

/** Processes of the service that are killed with kill -9 while the chain and its nodes misbehave: judged by the chain. */

/** A reorganisation of ten blocks is within the policy. */
const CONFIRMATIONS = 12;
const BEHIND = 100;
/** How long the next process meets the fault. */
const FAULT_MS = 1_000;
/** Strangers whom empty blocks pay. */
const EMPTY_BLOCKS_FROM = 1_000_000;

const litecoind = kindOf('LITECOIN');

describe.runIf(litecoind !== undefined)('a service with a wallet of coins', () => {
  let production: UtxoProduction;
  let first: CoinProxy;
  let second: CoinProxy;
  let payees = 0;
  let emptyBlocks = 0;

  beforeAll(async () => {
    production = await createUtxoProduction(litecoind!, {
      confirmations: CONFIRMATIONS,
      async nodes(real) {
        [first, second] = [await startCoinProxy(real), await startCoinProxy(real)];
        return [first.settings, second.settings];
      },
    });
  });
  afterAll(async () => {
    await production?.remove();
    await Promise.all([first?.stop(), second?.stop()]);
  });

  const both = (work: (proxy: CoinProxy) => void): void => [first, second].forEach(work);

  /** The last blocks are replaced by one more, without any payment. */
  async function reorganise(blocks: number): Promise<void> {
    const { chain } = production;
    await chain.mine(blocks);
    const height: number = await chain.rpc('getblockcount');
    await chain.rpc('invalidateblock', await chain.rpc('getblockhash', height - blocks + 1));
    for (let count = 0; count <= blocks; count += 1) {
      emptyBlocks += 1;
      await chain.rpc('generateblock', production.payee(EMPTY_BLOCKS_FROM + emptyBlocks).local, []);
    }
  }

  const bytesOf = async (id: string): Promise<string[]> => {
    const rows = await production.query<{ bytes: string }>(
      `select v.bytes from chain_versions v join chain_assignment_payments p using (assignment_id) where p.key = '${id}'`,
    );
    return rows.map(({ bytes }) => bytes);
  };

  const honest = (): void =>
    both((proxy) => {
      proxy.behave(undefined);
      proxy.setDown(false);
    });

  const FAULTS: Readonly<Record<string, Fault>> = {
    'nothing else happens': {},
    'one block is reorganised away': { after: () => reorganise(1) },
    'ten blocks are reorganised away': { after: () => reorganise(10) },
    'the mempool is wiped': { after: () => production.chain.restart() },
    'fees rise above the bound for a while': {
      after: async () =>
        both((proxy) =>
          proxy.behave(({ method }) => (method === 'estimatesmartfee' ? { feerate: 0.005 } : undefined)),
        ),
    },
    'the nodes are down': { after: async () => both((proxy) => proxy.setDown(true)) },
    'a node lies about what is in its blocks': {
      // The sequence number of an input, the number of outputs, and the first byte of an amount.
      during: () =>
        first.behave(({ method }, result) =>
          method === 'getblock' ? String(result).replace(/(?<=ffffffff0[1-9])../, 'aa') : undefined,
        ),
    },
    'a node is a hundred blocks behind': {
      during: () =>
        second.behave(({ method }, result) =>
          method === 'getblockchaininfo' ? { ...result, blocks: result.blocks - BEHIND } : undefined,
        ),
    },
    'two nodes disagree about the newest blocks': {
      after: async () => {
        const height: number = await production.chain.rpc('getblockcount');
        second.behave(({ method, params }) =>
          method === 'getblockhash' && Number(params[0]) > height - 3 ? 'ab'.repeat(32) : undefined,
        );
      },
    },
    'its bytes are sent again by somebody else': {
      async after(id) {
        for (const bytes of await bytesOf(id))
          for (let times = 0; times < 3; times += 1) {
            await production.chain.rpc('sendrawtransaction', bytes).catch(() => undefined);
            if (times === 1) await production.chain.mine(1);
          }
      },
    },
    'the answers to broadcasts are lost': {
      during: () =>
        both((proxy) => proxy.behave(({ method }) => (method === 'sendrawtransaction' ? LOST : undefined))),
    },
  };

  beforeEach(async () => {
    honest();
    await production.isRunning();
  });

  const cells = cellsOf(FAULTS, [['ten blocks are reorganised away', 'after the broadcast']]);

  it.each(cells)('pays once if %s, and a process is killed %s', async (name, at) => {
    const { during, after, over } = FAULTS[name]!;
    payees += 1;
    const { address, local } = production.payee(payees);
    production.willDieAt(at);
    during?.();
    const id = await production.withdraw(production.asset, '0.1', address);
    await production.diesAt(at, async () => {
      await sleep(300);
      await production.mineSome();
    });
    await after?.(id);
    await production.startNode();
    await sleep(FAULT_MS);
    over?.();
    honest();
    await production.completed([id]);
    expect(await production.paid([local])).toEqual([[COIN / 10n]]);
    await production.expectBooked();
  });

  it('has sound books after all of it', () => production.expectSound());
});
