import { LIMITS } from '../../limits.ts';
import { assetOf, type Chain } from './chain.ts';
import { readAccounts, readTokenAccounts } from './reads.ts';
import type { Node } from './rpc.ts';
import { readTokenAccount, TOKEN_PROGRAMS } from './tokens.ts';

async function forEachOf<Item>(items: readonly Item[], work: (item: Item) => Promise<void>): Promise<void> {
  const rest = items.values();
  const worker = async (): Promise<void> => {
    for (const item of rest) await work(item);
  };
  await Promise.all(Array.from({ length: LIMITS.solanaCallsInFlightMax }, worker));
}

async function holdingsOn(
  { settings }: Chain,
  node: Node,
  addresses: readonly string[],
  signal: AbortSignal,
): Promise<Map<string, bigint>> {
  const held = new Map<string, bigint>();
  const add = (asset: string, units: bigint): void => void held.set(asset, (held.get(asset) ?? 0n) + units);
  const { value: wallets } = await readAccounts(node, addresses, 'finalized', signal);
  for (const wallet of wallets) add(settings.native, wallet?.lamports ?? 0n);
  // By owner, so that tokens at other accounts than the associated one count too: deposits to them are credited.
  const questions = addresses.flatMap((owner) => TOKEN_PROGRAMS.map((program) => ({ owner, program })));
  await forEachOf(questions, async ({ owner, program }) => {
    for (const account of await readTokenAccounts(node, owner, program, signal)) {
      const token = readTokenAccount(account.owner, account.data);
      if (token !== undefined) add(assetOf(settings, token.mint), token.units);
    }
  });
  return held;
}

/** At finality. Rent in nonce accounts and token accounts is not part of it: it was a cost when it was paid. */
export const holdings = (
  chain: Chain,
  addresses: readonly string[],
  signal: AbortSignal,
): Promise<ReadonlyMap<string, bigint>> =>
  chain.nodes.any((node) => holdingsOn(chain, node, addresses, signal), signal);
