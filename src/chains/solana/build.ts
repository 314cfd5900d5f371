import type { Instruction } from '@solana/kit';
import { LIMITS } from '../../limits.ts';
import type { Assignment, Unsigned, Version } from '../driver.ts';
import { type Chain, readDetails, textPlaces, transfersOf } from './chain.ts';
import { LAMPORTS_PER_SIGNATURE, marketPrice, nextPrice, priorityLamports } from './fees.ts';
import {
  type Content,
  compileMessage,
  type Lifetime,
  nonceAddress,
  nonceCreation,
  transferInstructions,
} from './message.ts';
import { readPrices } from './reads.ts';
import { parseSlot } from './slot.ts';
import { messageOf, readMessage } from './wire.ts';

/**
 * The bytes of a version. All versions of an assignment advance the same nonce from the same value, so at most one of them is ever
 * executed; only the price of their compute units differs.
 */

async function priceFor(
  { nodes, settings }: Chain,
  writes: readonly string[],
  lastPrice: bigint | undefined,
  signal: AbortSignal,
): Promise<bigint | undefined> {
  const recent = await nodes.any((node) => readPrices(node, writes, signal), signal);
  return nextPrice(marketPrice(recent, settings.priority), lastPrice, settings.priority);
}

function unsigned(
  chain: Chain,
  content: Content,
  instructions: readonly Instruction[],
  rentUnits: bigint,
): Unsigned {
  const message = compileMessage(chain.library, content, instructions);
  const fee =
    LAMPORTS_PER_SIGNATURE * BigInt(message[0]!) + priorityLamports(content.computeBudget, content.price);
  return {
    bytes: Buffer.from(message).toString('hex'),
    feeUnitsMax: fee + rentUnits,
    feeRate: content.price,
  };
}

/**
 * Nonce accounts are created with a recent blockhash, since there is no nonce yet. Another version is made only after the blockhash
 * of the last one has expired at finality, and its addresses can be created once: a second creation fails.
 */
async function buildUpkeep(
  chain: Chain,
  { lane, details }: Assignment,
  last: Version | undefined,
  signal: AbortSignal,
): Promise<Unsigned | undefined> {
  const { library, nodes } = chain;
  if (last !== undefined) {
    const { lifetime } = readMessage(messageOf(last.bytes));
    const isValid = await nodes.any(async (node) => {
      const params = [lifetime, { commitment: 'finalized' }];
      return (await node.call<{ value: boolean }>('isBlockhashValid', params, signal)).value;
    }, signal);
    if (isValid) return undefined;
  }
  const blockhash = await nodes.any(async (node) => {
    const params = [{ commitment: 'finalized' }];
    return (await node.call<{ value: { blockhash: string } }>('getLatestBlockhash', params, signal)).value
      .blockhash;
  }, signal);
  const price = (await priceFor(chain, [lane], undefined, signal))!;
  const { computeBudget, rentUnits } = readDetails(details);
  const each = BigInt(details.rentUnitsEach!);
  const creations = [...textPlaces(details.nonces)].map((index) => nonceCreation(library, lane, index, each));
  const content: Content = { lane, lifetime: { kind: 'blockhash', blockhash }, computeBudget, price };
  return unsigned(chain, content, (await Promise.all(creations)).flat(), rentUnits);
}

export async function build(
  chain: Chain,
  assignment: Assignment,
  versions: readonly Version[],
  signal: AbortSignal,
): Promise<Unsigned | undefined> {
  const { lane, purpose, slot } = assignment;
  const last = versions.toSorted((a, b) => a.number - b.number).at(-1);
  if (purpose === 'UPKEEP') return buildUpkeep(chain, assignment, last, signal);
  if (slot === null) throw new Error(`assignment ${assignment.id} has no nonce`);
  const details = readDetails(assignment.details);
  // A cancellation pays nobody: it only advances the nonce.
  const isCancellation = purpose === 'CANCELLATION';
  const transfers = isCancellation ? [] : await transfersOf(chain, assignment, details, signal);
  const writes = [...new Set([lane, ...transfers.map(({ token, destination }) => token?.to ?? destination)])];
  const price = await priceFor(chain, writes, last?.feeRate, signal);
  if (price === undefined) return undefined;
  const { index, value } = parseSlot(slot);
  const account = await nonceAddress(chain.library, lane, index);
  const lifetime: Lifetime = { kind: 'nonce', account, value };
  const computeBudget = isCancellation ? LIMITS.solanaComputeUnitsBase : details.computeBudget;
  const instructions = transfers.flatMap((one) => transferInstructions(chain.library, lane, one));
  return unsigned(
    chain,
    { lane, lifetime, computeBudget, price },
    instructions,
    isCancellation ? 0n : details.rentUnits,
  );
}
