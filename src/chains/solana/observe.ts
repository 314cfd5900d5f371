import { LIMITS } from '../../limits.ts';
import type { Assignment, Observation, Version } from '../driver.ts';
import { type Chain, readDetails, textPlaces } from './chain.ts';
import { nonceAddress } from './message.ts';
import { reasonOf } from './nodes.ts';
import { readAccount } from './reads.ts';
import type { Node } from './rpc.ts';
import { parseSlot, readNonceAccount } from './slot.ts';
import {
  failureReason,
  networkCost,
  readSignatures,
  readStatuses,
  readTransaction,
  usesNonce,
} from './transactions.ts';

/**
 * What the chain says about an assignment. Ends are decided only by state at finality, and by as many nodes as must agree:
 *
 * - final: a node shows the signature of one of our versions as finalized, and the transaction.
 * - superseded: the nonce has another value at finality, and a finalized transaction that is none of ours has ended the value of the
 *   assignment. A node that is behind shows the old value, and a node without history does not show that transaction: neither can
 *   make us say "superseded".
 */

const undecided = (reason: string): Observation => ({ kind: 'undecided', reason });

/** A transaction has no numbered outputs here: the address says which payment of the transaction it is. */
const indexesOf = ({ payments }: Assignment): string[] => payments.map(({ address }) => address);

type End = Extract<Observation, { kind: 'final' | 'superseded' }>;

/** The version as one node shows it; throws if the node does not show it as finalized. */
async function readEnd(
  chain: Chain,
  node: Node,
  assignment: Assignment,
  hash: string,
  signal: AbortSignal,
): Promise<End> {
  const [status] = await readStatuses(node, [hash], signal);
  if (status?.confirmationStatus !== 'finalized')
    throw new Error(`${node.name} does not show ${hash} as finalized`);
  const transaction = await readTransaction(node, hash, signal);
  if (transaction === null || transaction.meta === null)
    throw new Error(`${node.name} does not have ${hash}`);
  const { err } = transaction.meta;
  return {
    kind: 'final',
    succeeded: err === null,
    feeUnits: networkCost(transaction, assignment, chain.settings.native),
    txHash: hash,
    txIndexes: indexesOf(assignment),
    height: transaction.slot,
    ...(err !== null && { reason: failureReason(err) }),
  };
}

const sameEnd = (a: End, b: End): boolean => {
  if (a.kind === 'superseded' || b.kind === 'superseded') return a.kind === b.kind;
  return a.txHash === b.txHash && a.succeeded === b.succeeded && a.feeUnits === b.feeUnits;
};

/** Undecided until as many nodes as must agree show the same end. */
async function agree(
  chain: Chain,
  read: (node: Node) => Promise<End>,
  signal: AbortSignal,
): Promise<Observation> {
  let ends: readonly End[];
  try {
    ends = await chain.nodes.several(read, signal);
  } catch (error) {
    return undecided(reasonOf(error));
  }
  const [first] = ends;
  if (!ends.every((end) => sameEnd(end, first!)))
    return undecided('The nodes disagree about the transaction.');
  return first!;
}

/** Who has ended the nonce, as one node shows it; throws if the node does not prove it. */
async function readUser(
  chain: Chain,
  node: Node,
  assignment: Assignment,
  versions: readonly Version[],
  signal: AbortSignal,
): Promise<End> {
  const { index, value } = parseSlot(assignment.slot!);
  const account = await nonceAddress(chain.library, assignment.lane, index);
  const state = await readAccount(node, account, 'finalized', signal);
  if (state.value !== undefined && readNonceAccount(state.value.data)?.value === value) {
    throw new Error(`${node.name} still shows the nonce of the assignment`);
  }
  const { seenAt } = readDetails(assignment.details);
  const { found, isComplete } = await readSignatures(node, account, seenAt, signal);
  const hashes = new Set(versions.map(({ hash }) => hash));
  const ours = found.find(({ signature }) => hashes.has(signature));
  if (ours !== undefined) return readEnd(chain, node, assignment, ours.signature, signal);
  if (!isComplete) throw new Error(`${node.name} does not have the history of the nonce account ${account}`);
  // Oldest first: the first that has used the nonce is the one.
  const later = found.filter(({ slot }) => slot > seenAt).toReversed();
  for (const { signature } of later.slice(0, LIMITS.solanaNonceCandidatesMax)) {
    const transaction = await readTransaction(node, signature, signal);
    if (transaction !== null && usesNonce(transaction, account, value))
      return { kind: 'superseded', by: signature };
  }
  throw new Error(`${node.name} does not show what has used the nonce account ${account}`);
}

async function observeNonce(
  chain: Chain,
  assignment: Assignment,
  versions: readonly Version[],
  signal: AbortSignal,
): Promise<Observation> {
  const { index, value } = parseSlot(assignment.slot!);
  const account = await nonceAddress(chain.library, assignment.lane, index);
  const { value: state } = await chain.nodes.any(
    (node) => readAccount(node, account, 'finalized', signal),
    signal,
  );
  const hasMoved = state === undefined || readNonceAccount(state.data)?.value !== value;
  if (!hasMoved) return { kind: 'unseen' };
  return agree(chain, (node) => readUser(chain, node, assignment, versions, signal), signal);
}

/** The creation of nonce accounts is superseded if they exist and no version of ours has created them. */
async function observeUpkeep(
  chain: Chain,
  assignment: Assignment,
  versions: readonly Version[],
  signal: AbortSignal,
): Promise<Observation> {
  const [index] = textPlaces(assignment.details.nonces);
  const account = await nonceAddress(chain.library, assignment.lane, index!);
  const { value: state } = await chain.nodes.any(
    (node) => readAccount(node, account, 'finalized', signal),
    signal,
  );
  if (state === undefined) return { kind: 'unseen' };
  const hashes = new Set(versions.map(({ hash }) => hash));
  return agree(
    chain,
    async (node) => {
      const { found } = await readSignatures(node, account, 0, signal);
      const ours = found.find(({ signature }) => hashes.has(signature));
      if (ours !== undefined) return readEnd(chain, node, assignment, ours.signature, signal);
      if (found.length === 0)
        throw new Error(`${node.name} does not have the history of the nonce account ${account}`);
      return { kind: 'superseded', by: found.at(-1)!.signature };
    },
    signal,
  );
}

export async function observe(
  chain: Chain,
  assignment: Assignment,
  versions: readonly Version[],
  signal: AbortSignal,
): Promise<Observation> {
  const { nodes, settings, used } = chain;
  const hashes = versions.map(({ hash }) => hash);
  const statuses = await nodes.any((node) => readStatuses(node, hashes, signal), signal);
  const place = statuses.findIndex((status) => status !== null && status.confirmationStatus !== 'processed');
  const hash = hashes[place];
  const status = statuses[place];
  const decide = (): Promise<Observation> | Observation => {
    if (hash === undefined || status == null) {
      const other = assignment.purpose === 'UPKEEP' ? observeUpkeep : observeNonce;
      return other(chain, assignment, versions, signal);
    }
    if (status.confirmationStatus === 'finalized') {
      return agree(chain, (node) => readEnd(chain, node, assignment, hash, signal), signal);
    }
    const need = settings.confirmations;
    const have = Math.min(status.confirmations ?? 0, need - 1);
    return { kind: 'mined', have, need, txHash: hash, txIndexes: indexesOf(assignment) };
  };
  const observation = await decide();
  const isEnd = observation.kind === 'final' || observation.kind === 'superseded';
  if (isEnd && assignment.slot !== null) used.add(assignment.slot);
  return observation;
}
