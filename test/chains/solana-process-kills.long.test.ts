import { setTimeout as sleep } from 'node:timers/promises';
import { base58 } from '@scure/base';
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { cellsOf, type Fault } from '../support/kill-cells.ts';
import { lamportsOf } from '../support/solana-money.ts';
import type { Relay } from '../support/solana-node.ts';
import { createSolanaProduction, type SolanaProduction } from '../support/solana-production.ts';

/** Processes of the service that are killed with kill -9 while the nodes misbehave: judged by the chain. */

const BEHIND = 100;
/** How long the next process meets the fault. */
const FAULT_MS = 1_500;
const UNITS = 10_000_000n;

let production: SolanaProduction;
let first: Relay;
let second: Relay;
beforeAll(async () => {
  production = await createSolanaProduction({
    relays: async (chain) => {
      [first, second] = [chain.relay, await chain.relayed()];
      return [first, second];
    },
  });
  // The nonce accounts of the lane are created with the first payment.
  const { address } = await production.chain.wallet();
  await production.completed([await production.withdraw('SOL', '0.01', address)]);
});
afterAll(() => production?.remove());

const both = (work: (relay: Relay) => void): void => [first, second].forEach(work);

/** The signature of a transaction as a node is sent it. */
const signatureOf = (wire: string): string => base58.encode(Buffer.from(wire, 'base64').subarray(1, 65));

const isSending = ({ method }: { method: string }): boolean => method === 'sendTransaction';

/** Nodes take transactions and forget them. Of those that they forget they show a status: that of a fork that will be dropped. */
function forget(confirmations: number | undefined): void {
  const forked = new Set<string>();
  both((relay) => {
    relay.intercept((call) => {
      if (!isSending(call)) return undefined;
      const signature = signatureOf(call.params[0] as string);
      forked.add(signature);
      return { result: signature };
    });
    if (confirmations === undefined) return;
    relay.behave(({ method, params }, { result }) => {
      if (method !== 'getSignatureStatuses') return undefined;
      const { value, ...others } = result as { value: readonly unknown[] };
      const status = { slot: 1, confirmations, err: null, confirmationStatus: 'confirmed' };
      const shown = (params[0] as string[]).map(
        (one, index) => value[index] ?? (forked.has(one) ? status : null),
      );
      return { result: { ...others, value: shown } };
    });
  });
}

const FAULTS: Readonly<Record<string, Fault>> = {
  'nothing else happens': {},
  'a fork of one block is dropped': { during: () => forget(1) },
  'a fork of ten blocks is dropped': { during: () => forget(10) },
  'nodes forget the transactions that they take': { during: () => forget(undefined) },
  'priority fees rise': {
    during: () =>
      both((relay) =>
        relay.behave(({ method }) =>
          method === 'getRecentPrioritizationFees'
            ? { result: [{ slot: 1, prioritizationFee: 900_000_000 }] }
            : undefined,
        ),
      ),
  },
  'the nodes are down': { after: async () => both((relay) => relay.setDown(true)) },
  'a node lies that everything is final': {
    after: async () =>
      first.behave(({ method, params }, { result }) => {
        if (method !== 'getSignatureStatuses') return undefined;
        const status = { slot: 1, confirmations: null, err: null, confirmationStatus: 'finalized' };
        return { result: { ...(result as object), value: (params[0] as string[]).map(() => status) } };
      }),
  },
  'a node is a hundred blocks behind': {
    during: () =>
      second.behave(({ method }, { result }) =>
        method === 'getSlot' ? { result: Number(result) - BEHIND } : undefined,
      ),
  },
  'two nodes disagree about what is final': {
    after: async () =>
      second.behave(({ method, params }, { result }) => {
        if (method !== 'getSignatureStatuses') return undefined;
        return { result: { ...(result as object), value: (params[0] as string[]).map(() => null) } };
      }),
  },
  'its bytes are sent again by somebody else': {
    async after(id) {
      const rows = await production.query<{ bytes: string }>(
        `select v.bytes from chain_versions v join chain_assignment_payments p using (assignment_id) where p.key = '${id}'`,
      );
      for (const { bytes } of rows)
        for (let times = 0; times < 3; times += 1)
          await production.chain
            .call('sendTransaction', Buffer.from(bytes, 'hex').toString('base64'), {
              encoding: 'base64',
              skipPreflight: true,
            })
            .catch(() => undefined);
    },
  },
  'the answers to broadcasts are lost': {
    during: () =>
      both((relay) =>
        relay.behave((call) => (isSending(call) ? { error: { code: -32_603, message: 'lost' } } : undefined)),
      ),
  },
};

function honest(): void {
  both((relay) => {
    relay.behave(undefined);
    relay.intercept(undefined);
    relay.setDown(false);
  });
}

beforeEach(async () => {
  honest();
  await production.isRunning();
});

/** With these, nothing is final before they are over: the service does not come to the later checkpoints. */
const NEVER_FINAL = [
  'a fork of one block is dropped',
  'a fork of ten blocks is dropped',
  'nodes forget the transactions that they take',
];

const cells = cellsOf(FAULTS, [
  ['the answers to broadcasts are lost', 'after it is signed, before the signature is committed'],
]).filter(([name, at]) => !(NEVER_FINAL.includes(name) && at.includes('outcome')));

it.each(cells)('pays once if %s, and a process is killed %s', async (name, at) => {
  const { during, after } = FAULTS[name]!;
  const { address: to } = await production.chain.wallet();
  production.willDieAt(at);
  during?.();
  const id = await production.withdraw('SOL', '0.01', to);
  await production.diesAt(at, async () => undefined);
  await after?.(id);
  await production.startNode();
  await sleep(FAULT_MS);
  honest();
  await production.completed([id]);
  expect(await production.timesPaid(id, to)).toBe(1);
  expect(await lamportsOf(production.chain, to)).toBe(UNITS);
  expect(await production.clearing('SOL')).toBe(await production.held());
});

it('has sound books after all of it', () => production.expectSound());
