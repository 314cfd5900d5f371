import { newId } from '../kernel/id.ts';
import { type Instant, NS_PER_MS } from '../kernel/instant.ts';
import type { Networks } from '../networks/register.ts';
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
import { type ChainFacts, durationMs, isChain, type RailFacts, railFacts } from './facts.ts';
import type { JournalEntry, JournalRequest, RailJournal, TimedNotice } from './journal.ts';
import { type Behaviour, type BehaviourOf, createSteering } from './steering.ts';

/** What all simulated rails share. */
export type World = {
  readonly networks: Networks;
  readonly journal: RailJournal;
  readonly now: () => Instant;
  /** How much faster than outside the sandbox time passes. */
  readonly speed: number;
  /** Rails that are not simulated. */
  readonly real?: ReadonlySet<string>;
};

const HOUR_MS = 3_600_000;
const HORIZON_MS = 60_000;
/** Requests that a rail with the behaviour `down` does not accept. */
const TURNED_AWAY_MAX = 3;
/** How often the service asks about a payment while it gathers confirmations, however many it needs. */
const ASKS_MAX = 4;

const toNs = (ms: number): Instant => BigInt(Math.ceil(ms * 1_000)) * 1_000n;
const toMs = (ns: Instant): number => Number(ns / NS_PER_MS);

/** Time from accepting a payment until it is final; undefined when only the user decides. */
function finalAfterNs(facts: RailFacts, behaviour: Behaviour, speed: number): Instant | undefined {
  if (behaviour === 'pending') return undefined;
  if (behaviour === 'refuse') return 0n;
  return toNs((durationMs(facts) + (behaviour === 'late' ? HOUR_MS : 0)) / speed);
}

type RequestOf = (rail: RailName, payment: Payment) => JournalRequest;

function destinationText({ destination }: Payment): string {
  return 'address' in destination ? destination.address : JSON.stringify(destination.instructions);
}

function createRequestOf(behaviourOf: BehaviourOf): RequestOf {
  return (rail, payment) => {
    const { key, asset, amountUnits } = payment;
    const behaviour = behaviourOf(payment);
    return { rail, key, asset, amountUnits, destination: destinationText(payment), behaviour };
  };
}

function completed(facts: RailFacts, entry: JournalRequest): Extract<PaymentState, { kind: 'completed' }> {
  const { key, destination } = entry;
  if (!isChain(facts)) return { kind: 'completed', detail: `Paid by the ${facts.name} rail.` };
  return {
    kind: 'completed',
    detail: `${facts.confirmations} confirmations on ${facts.name}.`,
    ...facts.transactionFor(key, destination),
  };
}

const FAILED = { kind: 'failed', reason: 'The rail could not deliver the payment.' } as const;
const REFUSED = { kind: 'failed', reason: 'The rail rejected the payment.' } as const;

/** The state of a payment at that time. Every node computes the same state from the same entry. */
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

function confirming(facts: ChainFacts, entry: JournalEntry, elapsedNs: Instant, speed: number): PaymentState {
  const blockNs = toNs(facts.blockMs / speed);
  const have = Number(elapsedNs / blockNs);
  const stepBlocks = Math.ceil(facts.confirmations / ASKS_MAX);
  const nextBlock = Math.min(facts.confirmations, (Math.floor(have / stepBlocks) + 1) * stepBlocks);
  const onChain: OnChain = have === 0 ? {} : facts.transactionFor(entry.key, entry.destination);
  return {
    kind: 'pending',
    confirmations: { have, need: facts.confirmations },
    nextAskMs: toMs(BigInt(nextBlock) * blockNs - elapsedNs) + 1,
    ...onChain,
  };
}

/** What the rail will report without being asked. */
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

/** No answer until the caller aborts. */
function silence(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    const giveUp = (): void => reject(signal.reason as Error);
    if (signal.aborted) giveUp();
    else signal.addEventListener('abort', giveUp, { once: true });
  });
}

/** What only a crypto network or only a bank offers. */
function specialties(facts: RailFacts, journal: RailJournal, requestOf: RequestOf): Partial<Rail> {
  if (!isChain(facts)) return { depositInstructions: async () => facts.instructions };
  const { name, nativeAsset, tokenAccountRentUnits } = facts;
  const depositAddress = async (id: string) => facts.addressFor(id);
  if (tokenAccountRentUnits === undefined) return { depositAddress };
  return {
    depositAddress,
    /** Only tokens need an account, and only for the first payment, unless the recipient closes the account again. */
    async rentOf(payment) {
      if (payment.asset === nativeAsset) return 0n;
      const request = requestOf(name, payment);
      if (request.behaviour === 'rent') return tokenAccountRentUnits;
      return (await journal.isKnownDestination(request)) ? 0n : tokenAccountRentUnits;
    },
  };
}

function createSimulatedRail(facts: RailFacts, { journal, now, speed }: World, requestOf: RequestOf): Rail {
  const { name } = facts;
  return {
    name,
    horizonMs: HORIZON_MS / speed,
    async submit(payment, signal) {
      const request = requestOf(name, payment);
      const { behaviour } = request;
      if (behaviour === 'lost' && (await journal.turnAway(request)) === 1) return silence(signal);
      if (behaviour === 'down' && (await journal.turnAway(request)) <= TURNED_AWAY_MAX) {
        return { kind: 'failed', meaning: 'retry', reason: `The ${name} rail is unavailable.` };
      }
      const at = now();
      const entry = await journal.receive(request, at, plannedNotices(facts, request, at, speed));
      if (behaviour === 'timeout' && entry.requests === 1) return silence(signal);
      const state = stateOf(facts, entry, at, speed);
      if (state.kind === 'failed') return { kind: 'failed', meaning: 'final', reason: state.reason };
      return { kind: 'accepted', nextAskMs: state.kind === 'pending' ? state.nextAskMs : 0 };
    },
    async ask(key) {
      const entry = await journal.find(name, key);
      return entry === undefined ? { kind: 'not-found' } : stateOf(facts, entry, now(), speed);
    },
    // Sending costs nothing in the sandbox.
    quoteFee: async () => 0n,
    ...specialties(facts, journal, requestOf),
  };
}

export type SimulatedRails = Rails & {
  /**
   * The user of the sandbox decides a payment in place of a simulated rail. Undefined: the payment was final before.
   */
  decide(
    rail: RailName,
    payment: Payment,
    outcome: 'completed' | 'failed',
  ): Promise<PaymentState | undefined>;
};

/** A simulated rail for every network of the register. */
export function createSimulatedRails(world: World): SimulatedRails {
  const { networks, journal, now, speed } = world;
  const requestOf = createRequestOf(createSteering(networks));
  const every = railFacts(networks).filter(({ name }) => world.real?.has(name) !== true);
  const source = {
    collect: (noticesMax: number) => journal.notices(now(), noticesMax),
    acknowledge: (ids: readonly string[]) => journal.acknowledge(ids),
  };
  return {
    ...createRails(
      every.map((facts) => createSimulatedRail(facts, world, requestOf)),
      [source],
    ),
    async decide(name, payment, outcome) {
      const facts = every.find((one) => one.name === name)!;
      const request = requestOf(name, payment);
      const finalNs = finalAfterNs(facts, request.behaviour, speed);
      const at = now();
      // A payment that never becomes final by itself can be decided at any time.
      const finalBeforeNs = finalNs === undefined ? 0n : at - finalNs;
      if (!(await journal.force(request, outcome, at, finalBeforeNs))) return undefined;
      return outcome === 'completed' ? completed(facts, request) : FAILED;
    },
  };
}
