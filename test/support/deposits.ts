import type { ArrivalTables } from '../../src/deposits/arrival.ts';
import { creditSuspense } from '../../src/deposits/by-operator.ts';
import { depositAddressCommand, depositInstructionsCommand } from '../../src/deposits/commands.ts';
import { newAddresses, newInstructions } from '../../src/deposits/store.ts';
import type { SuspenseDeposit } from '../../src/deposits/suspense-deposit.ts';
import { workerActor } from '../../src/kernel/actor.ts';
import { newId } from '../../src/kernel/id.ts';
import { Problem } from '../../src/kernel/problem.ts';
import { type Command, read, refuse } from '../../src/ledger/command.ts';
import type { CryptoNetwork } from '../../src/networks/crypto.ts';
import type { FiatNetwork } from '../../src/networks/schema.ts';
import type { ArrivedDeposit } from '../../src/rails/rail.ts';
import type { Transfer } from '../../src/transfers/transfer.ts';
import { deriveAddress } from './networks.ts';
import type { Node, World } from './payouts.ts';

export const METADATA = { user: '42' };

export type OnChain = Extract<ArrivedDeposit, { txHash: string }>;
export type ByBank = Extract<ArrivedDeposit, { reference: string }>;

export function newTxHash(): string {
  return `0x${newId().replaceAll('-', '').repeat(2)}`;
}

/** One ETH, in the first output of a new transaction by default. */
export function onChain(address: string, changes: Partial<OnChain> = {}): OnChain {
  return {
    rail: 'ETHEREUM',
    asset: 'ETH',
    amountUnits: 10n ** 18n,
    address,
    txHash: newTxHash(),
    output: 0,
    ...changes,
  };
}

/** 100 USD over a wire with a new reference by default. */
export function byBank(memoId: string, changes: Partial<ByBank> = {}): ByBank {
  return {
    rail: 'wire',
    account: 'US 021000021 000987654321',
    reference: newId(),
    memoId,
    asset: 'USD',
    amountUnits: 10_000n,
    ...changes,
  };
}

/** Deposit addresses and memos for profiles of the world. */
export function createWays(world: World, node: () => Node) {
  const tables = { ...world.creation, newAddresses, newInstructions };
  return {
    async addressOf(profile: string, network: CryptoNetwork): Promise<string> {
      const id = newId();
      const address = deriveAddress(network, id);
      const request = { profile_id: profile, crypto_network: network, metadata: METADATA };
      await node().writePath.submit(depositAddressCommand(world.caller, request, { id, address }, tables));
      return address;
    },
    async memoOf(profile: string, network: FiatNetwork): Promise<string> {
      const memoId = newId().replaceAll('-', '').slice(-12).toUpperCase();
      const request = { profile_id: profile, fiat_network: network, metadata: METADATA };
      const made = { id: newId(), memoId, instructions: {} };
      await node().writePath.submit(depositInstructionsCommand(world.caller, request, made, tables));
      return memoId;
    },
  };
}

/** The rule for a credit from suspense as a command of its own. Journal entries add their record to it. */
export function creditSuspenseCommand(
  seen: SuspenseDeposit,
  profileId: string,
  tables: ArrivalTables,
): Command<Transfer> {
  const transferId = newId();
  return {
    actor: workerActor('test'),
    balances: [{ profileId, asset: seen.asset }],
    reads: [read(tables.profiles, profileId), read(tables.suspenseDeposits, seen.id)],
    decide(view) {
      const credited = creditSuspense(view, { suspenseId: seen.id, profileId, transferId }, tables);
      if (credited instanceof Problem) return refuse(credited);
      const { transfer, postings, writes } = credited;
      return { accepted: true, causeId: transferId, postings, writes, answer: transfer };
    },
  };
}
