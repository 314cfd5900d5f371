import { UTXO_LIMITS } from '../../limits-utxo.ts';
import { CRYPTO_NETWORK_RECORDS } from '../../networks/crypto.ts';
import type { RailFinding } from '../../rails/kind.ts';
import type { Account } from './account.ts';
import type { Chain } from './chain.ts';
import { unitsOf } from './decimal.ts';
import { messageOf, type Nodes, type View } from './nodes.ts';
import { type Rpc, RpcError } from './rpc.ts';
import { scriptOf } from './script.ts';
import { amountOf } from './select.ts';

/** What the addresses hold, and `ferry rails check`. */

/** A search of all unspent outputs, independent of what was scanned. It takes a node up to minutes. */
export async function holdingsOf(
  chain: Chain,
  nodes: Nodes,
  addresses: readonly string[],
  signal: AbortSignal,
): Promise<ReadonlyMap<string, bigint>> {
  const scripts = addresses.map((address) => {
    const script = scriptOf(chain, address);
    if (script === undefined) throw new Error(`${address} is no address of ${chain.network} (${chain.name})`);
    return `raw(${Buffer.from(script).toString('hex')})`;
  });
  if (scripts.length === 0) return new Map([[chain.asset, 0n]]);
  const view = await nodes.view(signal);
  const answer = (await nodes.ask(view, 'scantxoutset', ['start', scripts], signal, UTXO_LIMITS.scanMs)) as {
    success: boolean;
    total_amount: unknown;
  };
  const units = unitsOf(answer.total_amount, CRYPTO_NETWORK_RECORDS[chain.network].native.decimals);
  if (!answer.success || units === undefined)
    throw new Error('the node did not finish the search of unspent outputs');
  return new Map([[chain.asset, units]]);
}

const CLOCK_SKEW_MAX_MS = 60_000;

async function checkNode(nodes: Nodes, rpc: Rpc, signal: AbortSignal): Promise<RailFinding[]> {
  const what = `node ${rpc.name}`;
  try {
    const { height, hash, isSyncing } = await nodes.tipOf(rpc, signal);
    const { clockMs } = await rpc.call('getblockcount', [], signal);
    const skewMs = clockMs === undefined ? undefined : clockMs - Date.now();
    const isSkewed = skewMs !== undefined && Math.abs(skewMs) > CLOCK_SKEW_MAX_MS;
    return [
      { what, found: `right chain, block ${height} (${hash})` },
      isSyncing ? { what, found: 'still synchronising', isFault: true } : { what, found: 'synchronised' },
      {
        what,
        found: skewMs === undefined ? 'tells no time' : `clock differs by ${Math.round(skewMs / 1000)} s`,
        ...(isSkewed && { isFault: true }),
      },
    ];
  } catch (error) {
    return [{ what, found: messageOf(error), isFault: true }];
  }
}

async function checkBalance(
  chain: Chain,
  nodes: Nodes,
  account: Account,
  lowMark: bigint | undefined,
  signal: AbortSignal,
): Promise<RailFinding> {
  const what = 'wallet';
  const places = Array.from({ length: UTXO_LIMITS.checkedAddressesMax }, (_, index) => index);
  const addresses = [account.change.address, ...places.map((index) => account.keyAt(`0/${index}`).address)];
  try {
    const units = (await holdingsOf(chain, nodes, addresses, signal)).get(chain.asset)!;
    const found = `${amountOf(chain, units)} at the first ${addresses.length} addresses`;
    const isLow = lowMark !== undefined && units < lowMark;
    return isLow
      ? { what, found: `${found}, below the low mark of ${amountOf(chain, lowMark)}`, isFault: true }
      : { what, found };
  } catch (error) {
    // Some nodes cannot search. Payments do not need it.
    const isFault = !(error instanceof RpcError);
    return { what, found: `balance unknown: ${messageOf(error)}`, ...(isFault && { isFault }) };
  }
}

export async function checkWallet(
  chain: Chain,
  nodes: Nodes,
  account: Account,
  lowMark: bigint | undefined,
  estimate: (view: View, signal: AbortSignal) => Promise<bigint>,
  signal: AbortSignal,
): Promise<readonly RailFinding[]> {
  const perNode = await Promise.all(nodes.list.map((rpc) => checkNode(nodes, rpc, signal)));
  const findings: RailFinding[] = [
    { what: 'chain', found: `${chain.network} (${chain.name})` },
    ...perNode.flat(),
    { what: 'change address', found: account.change.address },
  ];
  try {
    const view = await nodes.view(signal);
    await nodes.agreedHash(view, view.height, signal);
    findings.push({ what: 'fee', found: `${await estimate(view, signal)} units per 1,000 vbytes` });
  } catch (error) {
    return [...findings, { what: 'nodes together', found: messageOf(error), isFault: true }];
  }
  return [...findings, await checkBalance(chain, nodes, account, lowMark, signal)];
}
