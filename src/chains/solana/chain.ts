import { LIMITS } from '../../limits.ts';
import type { Assignment, Draft } from '../driver.ts';
import type { Library } from './library.ts';
import { associatedAccount, type Transfer } from './message.ts';
import type { Nodes } from './nodes.ts';
import { readAccount } from './reads.ts';
import type { SolanaSettings, SolanaToken } from './settings.ts';
import { type Mint, readMint } from './tokens.ts';

/** What the parts of the driver share. */
export type Chain = {
  readonly settings: SolanaSettings;
  readonly library: Library;
  readonly nodes: Nodes;
  readonly mints: Mints;
  readonly used: UsedNonces;
  readonly newest: Newest;
};

export type Mints = {
  /** Undefined if there is no mint at the address: other assets must not wait for one that is configured wrongly. */
  find(address: string, signal: AbortSignal): Promise<Mint | undefined>;
  get(address: string, signal: AbortSignal): Promise<Mint>;
};

/** The program, decimals and extensions of a mint never change, so each is read once. */
export function createMints(nodes: Nodes): Mints {
  const known = new Map<string, Mint>();
  async function find(address: string, signal: AbortSignal): Promise<Mint | undefined> {
    const cached = known.get(address);
    if (cached !== undefined) return cached;
    const { value } = await nodes.any((node) => readAccount(node, address, 'finalized', signal), signal);
    const mint = value && readMint(value.owner, value.data);
    if (mint !== undefined) known.set(address, mint);
    return mint;
  }
  return {
    find,
    async get(address, signal) {
      const mint = await find(address, signal);
      if (mint === undefined) throw new Error(`${address} is not the mint of a token`);
      return mint;
    },
  };
}

/** The associated accounts of an owner for all configured tokens that exist. */
export async function tokenAccountsOf(
  { settings, library, mints }: Pick<Chain, 'settings' | 'library' | 'mints'>,
  owner: string,
  signal: AbortSignal,
): Promise<{ readonly asset: string; readonly account: string }[]> {
  const found = settings.tokens.map(async ({ asset, mint }) => {
    const program = (await mints.find(mint, signal))?.program;
    if (program === undefined) return [];
    return [{ asset, account: await associatedAccount(library, owner, { mint, program }) }];
  });
  return (await Promise.all(found)).flat();
}

/**
 * Slots that the chain was seen to have used. A node that is behind still shows the value of a used nonce; an assignment with it
 * could never be executed. The keeper refuses the same slot twice, so this only saves it the attempt.
 */
export type UsedNonces = { add(slot: string): void; has(slot: string): boolean };

export function createUsedNonces(): UsedNonces {
  const slots = new Set<string>();
  return {
    add(slot) {
      slots.add(slot);
      if (slots.size > LIMITS.solanaUsedNoncesMax) slots.delete(slots.values().next().value!);
    },
    has: (slot) => slots.has(slot),
  };
}

/** The newest final slot that any node has shown. */
export type Newest = { check(nodeName: string, slot: number): void };

/** A plan on a node that is far behind would use nonces that are gone. */
export function createNewest(): Newest {
  let newest = 0;
  return {
    check(nodeName, slot) {
      newest = Math.max(newest, slot);
      const behind = newest - slot;
      if (behind > LIMITS.solanaPlanBehindSlotsMax) throw new Error(`${nodeName} is ${behind} slots behind`);
    },
  };
}

/** What a driver needs again for every version, in `details` of the assignment. */
export type PaymentDetails = {
  /** Finalized slot at which the nonce had the value of the assignment: what has used it comes later. */
  readonly seenAt: number;
  readonly computeBudget: number;
  /** Rent for the accounts that it creates, in lamports. */
  readonly rentUnits: bigint;
  /** Places of payments that create the recipient's token account. */
  readonly creates: ReadonlySet<number>;
  /** Places of payments whose address is a token account itself. */
  readonly direct: ReadonlySet<number>;
};

const placesText = (places: ReadonlySet<number>): string => [...places].join(',');

export const textPlaces = (text: string | undefined): ReadonlySet<number> =>
  new Set((text ?? '').split(',').filter(Boolean).map(Number));

export const writeDetails = (details: PaymentDetails): Draft['details'] => ({
  seenAt: String(details.seenAt),
  computeBudget: String(details.computeBudget),
  rentUnits: String(details.rentUnits),
  creates: placesText(details.creates),
  direct: placesText(details.direct),
});

export const readDetails = (details: Draft['details']): PaymentDetails => ({
  seenAt: Number(details.seenAt ?? 0),
  computeBudget: Number(details.computeBudget ?? LIMITS.solanaComputeUnitsMax),
  rentUnits: BigInt(details.rentUnits ?? 0),
  creates: textPlaces(details.creates),
  direct: textPlaces(details.direct),
});

export const findToken = ({ tokens }: SolanaSettings, asset: string): SolanaToken | undefined =>
  tokens.find((token) => token.asset === asset);

/** The code of the asset with that mint; of an unknown one, the mint. */
export const assetOf = ({ tokens }: Pick<SolanaSettings, 'tokens'>, mint: string): string =>
  tokens.find((token) => token.mint === mint)?.asset ?? mint;

type Paying = Pick<Assignment, 'purpose' | 'lane' | 'payments' | 'details'>;

/** Who pays, for each payment: the lane, or in a sweep the deposit addresses that the details name. */
export function sourcesOf({ purpose, lane, payments, details }: Paying): readonly string[] {
  if (purpose !== 'SWEEP') return payments.map(() => lane);
  const sources = (details.sources ?? '').split(',');
  if (sources.length !== payments.length)
    throw new Error('the sweep does not name an address for each payment');
  return sources;
}

export async function transfersOf(
  chain: Chain,
  assignment: Paying,
  { creates, direct }: Pick<PaymentDetails, 'creates' | 'direct'>,
  signal: AbortSignal,
): Promise<Transfer[]> {
  const { settings, library, mints } = chain;
  const sources = sourcesOf(assignment);
  return Promise.all(
    assignment.payments.map(async ({ key, asset, units, address }, place): Promise<Transfer> => {
      const source = sources[place]!;
      // A move between our own wallets has no key.
      const memo = key === '' ? undefined : key;
      const plain = { memo, source, destination: address, units };
      if (asset === settings.native) return plain;
      const configured = findToken(settings, asset);
      if (configured === undefined) throw new Error(`${asset} is not configured on ${settings.network}`);
      const { program, decimals } = await mints.get(configured.mint, signal);
      const token = { mint: configured.mint, program, decimals, creates: creates.has(place) };
      const from = await associatedAccount(library, source, token);
      const to = direct.has(place) ? address : await associatedAccount(library, address, token);
      return { ...plain, token: { ...token, from, to } };
    }),
  );
}
