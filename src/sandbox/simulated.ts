import { newId } from '../kernel/id.ts';
import { type Instant, NS_PER_MS } from '../kernel/instant.ts';
import {
  createRails,
  type Notice,
  type OnChain,
  type Payment,
  type PaymentState,
  type Rail,
  type RailName,
  type Rails,
} from '../rails/rail.ts';
import { deriveAddress, deriveTransaction } from './derive.ts';
import { durationMs, isChain, RAIL_FACTS, type RailFacts } from './facts.ts';
import type { JournalEntry, JournalRequest, RailJournal, TimedNotice } from './journal.ts';
import { type Behaviour, behaviourOf } from './steering.ts';

/** What all simulated rails share: one memory, one clock, and how much faster than outside it runs. */
export type World = {
  readonly journal: RailJournal;
  readonly now: () => Instant;
  readonly speed: number;
};

const HOUR_MS = 3_600_000;
const HORIZON_MS = 60_000;
/** Requests that a rail with the behaviour `down` turns away. */
const TURNED_AWAY_MAX = 3;
/** A payment is looked at about so often while it gathers confirmations, however many it needs. */
const LOOKS = 4;
/** What the sandbox's Solana pays for a token account: 165 bytes, exempt from rent. */
export const TOKEN_ACCOUNT_LAMPORTS = 2_039_280n;

const toNs = (ms: number): Instant => BigInt(Math.ceil(ms * 1_000)) * 1_000n;
const toMs = (ns: Instant): number => Number(ns / NS_PER_MS);

/** How long after it was taken on a payment is final; undefined when only the user decides. */
function finalAfterNs(facts: RailFacts, behaviour: Behaviour, speed: number): Instant | undefined {
  if (behaviour === 'pending') return undefined;
  if (behaviour === 'refuse') return 0n;
  return toNs((durationMs(facts) + (behaviour === 'late' ? HOUR_MS : 0)) / speed);
}

function destinationText({ destination }: Payment): string {
  return 'address' in destination ? destination.address : JSON.stringify(destination.instructions);
}

function requestOf(name: RailName, payment: Payment): JournalRequest {
  const { key, asset, amountUnits } = payment;
  const behaviour = behaviourOf(payment);
  return { rail: name, key, asset, amountUnits, destination: destinationText(payment), behaviour };
}

function completed(facts: RailFacts, entry: JournalRequest): Extract<PaymentState, { kind: 'completed' }> {
  const { key, destination } = entry;
  if (!isChain(facts)) return { kind: 'completed', detail: `The ${facts.name} rail has paid.` };
  return {
    kind: 'completed',
    detail: `${facts.name} confirmed the payment ${facts.confirmations} times.`,
    ...deriveTransaction(facts.name, key, destination),
  };
}

const FAILED = { kind: 'failed', reason: 'The rail could not deliver the payment.' } as const;
const REFUSED = { kind: 'failed', reason: 'The rail refused the payment.' } as const;

/** What the rail says about a payment at that time: the same for the same entry and time, on every node. */
function stateOf(facts: RailFacts, entry: JournalEntry, now: Instant, speed: number): PaymentState {
  if (entry.forced === 'completed') return completed(facts, entry);
  if (entry.forced === 'failed') return FAILED;
  if (entry.requests === 0 || entry.acceptedAtNs === null) return { kind: 'not-found' };
  const { behaviour } = entry;
  const elapsedNs = now - entry.acceptedAtNs;
  const finalNs = finalAfterNs(facts, behaviour, speed);
  if (finalNs !== undefined && elapsedNs >= finalNs) {
    if (behaviour === 'refuse') return REFUSED;
    return behaviour === 'fail' ? FAILED : completed(facts, entry);
  }
  if (!isChain(facts) || behaviour === 'late' || finalNs === undefined) {
    const leftNs = (finalNs ?? elapsedNs + toNs(durationMs(facts) / speed)) - elapsedNs;
    return { kind: 'pending', nextAskMs: toMs(leftNs) + 1 };
  }
  return confirming(facts, entry, elapsedNs, speed);
}

function confirming(
  facts: Extract<RailFacts, { blockMs: number }>,
  entry: JournalEntry,
  elapsedNs: Instant,
  speed: number,
): PaymentState {
  const blockNs = toNs(facts.blockMs / speed);
  const have = Number(elapsedNs / blockNs);
  const stepBlocks = Math.ceil(facts.confirmations / LOOKS);
  const nextBlock = Math.min(facts.confirmations, (Math.floor(have / stepBlocks) + 1) * stepBlocks);
  const onChain: OnChain = have === 0 ? {} : deriveTransaction(facts.name, entry.key, entry.destination);
  return {
    kind: 'pending',
    confirmations: { have, need: facts.confirmations },
    nextAskMs: toMs(BigInt(nextBlock) * blockNs - elapsedNs) + 1,
    ...onChain,
  };
}

/** What the rail will say without being asked. */
function plannedNotices(facts: RailFacts, entry: JournalRequest, now: Instant, speed: number): TimedNotice[] {
  const { behaviour, key } = entry;
  const about = { about: 'payment', rail: facts.name, key } as const;
  const finalNs = now + (finalAfterNs(facts, behaviour, speed) ?? 0n);
  const at = (dueAtNs: Instant, state: Extract<Notice, { about: 'payment' }>['state']): TimedNotice => ({
    dueAtNs,
    notice: { id: newId(), ...about, state },
  });
  if (behaviour === 'twice') {
    return [at(finalNs, completed(facts, entry)), at(finalNs, completed(facts, entry))];
  }
  if (behaviour === 'late') return [at(finalNs, completed(facts, entry))];
  if (behaviour !== 'returned') return [];
  return [at(finalNs + toNs(HOUR_MS / speed), { kind: 'failed', reason: 'The payment was returned.' })];
}

/** Never answers, until the caller gives up. */
function silence(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    const giveUp = (): void => reject(signal.reason as Error);
    if (signal.aborted) giveUp();
    else signal.addEventListener('abort', giveUp, { once: true });
  });
}

export function createSimulatedRail(facts: RailFacts, { journal, now, speed }: World): Rail {
  const { name } = facts;
  const chain = isChain(facts) ? facts : undefined;
  return {
    name,
    horizonMs: HORIZON_MS / speed,
    async submit(payment, signal) {
      const request = requestOf(name, payment);
      const { behaviour } = request;
      if (behaviour === 'lost' && (await journal.turnAway(request)) === 1) return silence(signal);
      if (behaviour === 'down' && (await journal.turnAway(request)) <= TURNED_AWAY_MAX) {
        return { kind: 'failed', meaning: 'retry', reason: `The ${name} rail is not available.` };
      }
      const at = now();
      const entry = await journal.arrive(request, at, plannedNotices(facts, request, at, speed));
      if (behaviour === 'timeout' && entry.requests === 1) return silence(signal);
      const state = stateOf(facts, entry, at, speed);
      if (state.kind === 'failed') return { kind: 'failed', meaning: 'final', reason: state.reason };
      return { kind: 'accepted', nextAskMs: state.kind === 'pending' ? state.nextAskMs : 0 };
    },
    async ask(key) {
      const entry = await journal.find(name, key);
      return entry === undefined ? { kind: 'not-found' } : stateOf(facts, entry, now(), speed);
    },
    // The sandbox's rails cost their operator nothing.
    quoteFee: async () => 0n,
    ...(name === 'SOLANA' && { rentOf: (payment: Payment) => solanaRent(payment, journal) }),
    ...(chain !== undefined && { depositAddress: async (id: string) => deriveAddress(chain.name, id) }),
    ...(!isChain(facts) && { depositInstructions: async () => SANDBOX_INSTRUCTIONS[facts.name] }),
  };
}

/** Only tokens need an account of their own, and only the first time, unless the recipient closes it again. */
async function solanaRent(payment: Payment, journal: RailJournal): Promise<bigint> {
  if (payment.asset === 'SOL') return 0n;
  const request = requestOf('SOLANA', payment);
  if (request.behaviour === 'rent') return TOKEN_ACCOUNT_LAMPORTS;
  return (await journal.isKnownDestination(request)) ? 0n : TOKEN_ACCOUNT_LAMPORTS;
}

const SANDBOX_INSTRUCTIONS = {
  wire: {
    wire: {
      account_number: '000987654321',
      routing_details: {
        routing_number_type: 'ABA',
        routing_number: '021000021',
        bank_name: 'Sandbox Bank',
        bank_address: { country: 'US', address1: '1 Pier Street', city: 'New York', province: 'NY' },
      },
      fiat_account_owner_address: { country: 'US', address1: '2 Pier Street', city: 'New York' },
    },
  },
  cubix: { cubix: { account_id: 'FERRY-SANDBOX' } },
  bank_network_2: { bank_network_2: { account_number: '2000987654' } },
  bank_network_3: { bank_network_3: { account_number: '3000987654' } },
  cbit: { cbit: { wallet_address: 'ferry-sandbox-cbit' } },
} as const;

export type SimulatedRails = Rails & {
  /** The user of the sandbox decides a payment, as if the rail had. False: it is final already. */
  decide(
    rail: RailName,
    payment: Payment,
    outcome: 'completed' | 'failed',
  ): Promise<PaymentState | undefined>;
};

/** Every way out there is, simulated. */
export function createSimulatedRails(world: World): SimulatedRails {
  const { journal, now, speed } = world;
  const source = {
    collect: (noticesMax: number) => journal.notices(now(), noticesMax),
    acknowledge: (ids: readonly string[]) => journal.acknowledge(ids),
  };
  return {
    ...createRails(
      RAIL_FACTS.map((facts) => createSimulatedRail(facts, world)),
      [source],
    ),
    async decide(name, payment, outcome) {
      const facts = RAIL_FACTS.find((one) => one.name === name)!;
      const request = requestOf(name, payment);
      const finalNs = finalAfterNs(facts, request.behaviour, speed);
      const at = now();
      // One that never becomes final by itself can be decided whenever it arrived.
      const finalBeforeNs = finalNs === undefined ? 0n : at - finalNs;
      if (!(await journal.force(request, outcome, at, finalBeforeNs))) return undefined;
      return outcome === 'completed' ? completed(facts, request) : FAILED;
    },
  };
}
