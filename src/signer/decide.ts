import { createHash } from 'node:crypto';
import type { Database } from '../database/database.ts';
import { LIMITS } from '../limits.ts';
import type { Networks } from '../networks/register.ts';
import {
  type DiscardRequest,
  type RecordingSigner,
  type Signer,
  SignerRefusal,
  type SignRequest,
} from './contract.ts';
import { createEvm } from './evm.ts';
import type { Examined, Family, FamilyParts } from './family.ts';
import { type Asked, type Decision, MINUTE_MS } from './history.ts';
import type { Intent } from './intent.ts';
import type { Keys } from './keys.ts';
import type { DecisionLog } from './log.ts';
import type { NetworkPolicy, Policy } from './policy.ts';
import { checkEarlier, checkFees, checkIntent, checkVelocity, refuse } from './rules.ts';
import { createSolana } from './solana.ts';
import { findEarlier, findIntent } from './store.ts';
import { createUtxo } from './utxo.ts';

/**
 * The signer itself, wherever it runs: request → committed assignment → decoded bytes → rules → signature → log → answer. A
 * request whose outcome the caller does not know can be repeated with a new id: it is decided again, and the signature of the
 * same bytes is the same.
 */

export type SignerParts = {
  /** Reads the views of the signer's role. */
  readonly database: Database;
  readonly networks: Networks;
  readonly keys: Keys;
  readonly policy: Policy;
  readonly log: DecisionLog;
  /** The signer's own wall clock: neither the service nor the database can change what its limits are measured with. */
  readonly nowMs: () => number;
};

async function createFamily(parts: FamilyParts): Promise<Family> {
  const { chain } = parts.networks.crypto(parts.policy.network).addresses;
  if (chain === 'EVM') return createEvm(parts);
  return chain === 'Solana' ? createSolana(parts) : createUtxo(parts);
}

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;
const HEX = /^(0x)?([0-9a-f]{2})+$/i;
const REQUEST_ID = /^[\w.:-]{1,64}$/;

function bytesOf({ requestId, assignmentId, version, unsigned }: SignRequest): Buffer {
  if (!REQUEST_ID.test(requestId))
    refuse('unreadable', 'requestId must be 1 to 64 letters, digits, or any of _ . : -');
  if (!UUID.test(assignmentId)) refuse('unreadable', 'assignmentId must be a UUID.');
  if (!Number.isInteger(version) || version < 0) refuse('unreadable', 'version must be a number from 0 on.');
  if (!HEX.test(unsigned)) refuse('unreadable', 'unsigned must be hex.');
  return Buffer.from(unsigned.replace(/^0x/i, ''), 'hex');
}

/** One after the other: each decision counts towards the limits of the next. */
function createTurns() {
  let last: Promise<unknown> = Promise.resolve();
  return <T>(work: () => Promise<T>): Promise<T> => {
    const next = last.then(work, work);
    last = next.catch(() => undefined);
    return next;
  };
}

type Ready = { readonly intent: Intent; readonly examined: Examined; readonly policy: NetworkPolicy };

function signedDecision(base: Asked, { intent, examined }: Ready, hash: string): Decision {
  const { lane, purpose, slot, details, coins, payments } = intent;
  return {
    ...base,
    decision: 'signed',
    lane,
    purpose,
    slot,
    details,
    coins: coins.map(({ txHash, output }) => `${txHash}:${output}`),
    ...(coins.length > 0 && {
      coinFacts: coins.map(({ units, path }) => ({ units: units.toString(), path })),
    }),
    payments:
      purpose === 'PAYMENTS'
        ? payments.map(({ key, asset, units, address }) => ({ key, asset, units: units.toString(), address }))
        : [],
    feeUnitsMax: examined.feeUnitsMax.toString(),
    hash,
  };
}

type Families = ReadonlyMap<string, { readonly family: Family; readonly own: NetworkPolicy }>;

async function createFamilies({ keys, networks, policy }: PublicParts): Promise<Families> {
  const families = new Map<string, { readonly family: Family; readonly own: NetworkPolicy }>();
  for (const [network, own] of policy.networks)
    families.set(network, { own, family: await createFamily({ keys, networks, policy: own }) });
  return families;
}

type PublicParts = Pick<SignerParts, 'keys' | 'networks' | 'policy'>;

/** Only the addresses, before there is a database or a log. */
export async function publicSigner(parts: PublicParts): Promise<Pick<Signer, 'account'>> {
  const families = await createFamilies(parts);
  return { account: async (network) => familyOf(families, network).family.account() };
}

function familyOf(families: Families, network: string) {
  const found = families.get(network);
  return found ?? refuse('not-allowed', `${network} is not a network of this signer.`);
}

export async function createSigner(parts: SignerParts): Promise<RecordingSigner> {
  const { database, networks, policy, keys, log, nowMs } = parts;
  const families = await createFamilies(parts);
  const inTurn = createTurns();
  let refusals = { sinceMs: 0, count: 0 };
  const { history } = log;
  /** Limits are measured with a time that never goes back, not even over a restart. */
  const now = (): number => Math.max(nowMs(), history.lastMs);

  /** What can be checked without the past. */
  async function prepare(request: SignRequest, bytes: Buffer): Promise<Ready> {
    const { family, own } = familyOf(families, request.network);
    const intent = await findIntent(database, request.assignmentId);
    if (intent === undefined || intent.network !== request.network)
      refuse('unknown-assignment', `${request.network} has no assignment ${request.assignmentId}.`);
    checkIntent(networks, intent, own);
    return { intent, policy: own, examined: await family.examine(intent, bytes) };
  }

  async function checkPaid(paid: readonly string[], assignmentId: string | null): Promise<void> {
    for (const key of paid) {
      const earlierId = history.assignmentOf(key);
      if (earlierId !== undefined && earlierId !== assignmentId)
        checkEarlier(
          key,
          earlierId,
          await findEarlier(database, earlierId, key),
          history.hashesOf(earlierId),
        );
    }
  }

  async function checkPast({ intent, examined, policy: own }: Ready, atMs: number): Promise<void> {
    const paid = intent.purpose === 'PAYMENTS' ? intent.payments.map(({ key }) => key) : [];
    const gone = [intent.id, ...paid].find((id) => history.isDiscarded(id));
    if (gone !== undefined) refuse('discarded', `${gone} was discarded: it is never signed.`);
    await checkPaid(paid, intent.id);
    checkFees(own, history, { assignmentId: intent.id, feeUnits: examined.feeUnitsMax, nowMs: atMs });
    checkVelocity(policy, history, intent, atMs);
  }

  /** A caller that repeats what is refused must not fill the disk. */
  async function logRefusal(base: Asked, { code, message }: SignerRefusal): Promise<void> {
    if (base.atMs - refusals.sinceMs >= MINUTE_MS) refusals = { sinceMs: base.atMs, count: 0 };
    refusals.count += 1;
    if (refusals.count <= LIMITS.signerRefusalsLoggedMax)
      await log.append({ ...base, decision: 'refused', code, reason: message });
  }

  async function decide(
    request: SignRequest,
    bytes: Buffer,
    ready: Ready | SignerRefusal,
    signal: AbortSignal,
  ): Promise<readonly string[]> {
    const { requestId, network, assignmentId, version } = request;
    // The caller does not wait any longer: what it gets is unknown to it already.
    signal.throwIfAborted();
    // Before anything is logged: a replay must not fill the log.
    if (history.isKnownRequest(requestId))
      refuse('replayed', `Request ${requestId} was answered before: repeat it with a new id.`);
    const atMs = now();
    const unsigned = createHash('sha256').update(bytes).digest('hex');
    const base = { atMs, requestId, network, assignmentId, version, unsigned };
    try {
      if (ready instanceof SignerRefusal) throw ready;
      await checkPast(ready, atMs);
      const raw = await Promise.all(ready.examined.signs.map((one) => keys.sign(one.key, one.bytes)));
      const { signatures, hash } = await ready.examined.finish(raw);
      await log.append(signedDecision(base, ready, hash));
      return signatures;
    } catch (error) {
      if (error instanceof SignerRefusal) await logRefusal(base, error);
      throw error;
    }
  }

  /** In turn with signatures: what is discarded is not signed, and what was signed is not discarded. */
  async function discard({ requestId, network, assignmentId, keys: paid }: DiscardRequest): Promise<void> {
    if (assignmentId !== null && history.isSigned(assignmentId))
      refuse(
        'already-signed-elsewhere',
        `Assignment ${assignmentId} was signed: the chain decides about it.`,
      );
    await checkPaid(paid, assignmentId);
    const base = {
      atMs: now(),
      requestId,
      network,
      assignmentId: assignmentId ?? '',
      version: 0,
      unsigned: '',
    };
    await log.append({ ...base, decision: 'discarded', keys: paid });
  }

  return {
    async discard(request, signal) {
      familyOf(families, request.network);
      const ids = [...request.keys, ...(request.assignmentId === null ? [] : [request.assignmentId])];
      if (!REQUEST_ID.test(request.requestId) || ids.length === 0 || !ids.every((id) => UUID.test(id)))
        refuse('unreadable', 'assignmentId and keys must be UUIDs.');
      await inTurn(async () => {
        signal.throwIfAborted();
        await discard(request);
      });
    },
    async sign(request, signal) {
      const bytes = bytesOf(request);
      const ready = await prepare(request, bytes).catch((error: unknown) => {
        if (error instanceof SignerRefusal) return error;
        throw error;
      });
      return inTurn(() => decide(request, bytes, ready, signal));
    },
    async account(network) {
      return familyOf(families, network).family.account();
    },
    async signed(network, fromLine) {
      familyOf(families, network);
      return log.signed(network, fromLine);
    },
  };
}
