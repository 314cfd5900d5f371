import { CRYPTO_NETWORK_RECORDS } from '../../networks/crypto.ts';
import type { Assignment, Driver, Outgoing, Unsigned, Version } from '../driver.ts';
import { type Account, readAccount } from './account.ts';
import { type Chain, chainOf } from './chain.ts';
import { checkWallet, holdingsOf } from './check.ts';
import { estimateRate } from './estimate.ts';
import { feeAt, sizeOf, smaller } from './fees.ts';
import { inMempool } from './mempool.ts';
import { createNodes, type Nodes, type View } from './nodes.ts';
import { plan } from './plan.ts';
import { completePsbt, writePsbt } from './psbt.ts';
import { type Rpc, RpcError } from './rpc.ts';
import { createScan } from './scan.ts';
import { scriptOf } from './script.ts';
import { createSearch } from './search.ts';
import { outputsOf, paymentFault } from './select.ts';
import type { UtxoSettings } from './settings.ts';
import { coldOf, utxoTreasury } from './treasury.ts';
import { firstVersion, nextVersion, raised, readDetails, type VersionPlan } from './versions.ts';

/** Bitcoin, Litecoin and Bitcoin Cash. */

type Parts = {
  readonly settings: UtxoSettings;
  readonly chain: Chain;
  readonly account: Account;
  readonly nodes: Nodes;
};

function unsignedOf({ chain, account }: Parts, assignment: Assignment, found: VersionPlan): Unsigned {
  const payments = outputsOf(chain, assignment.payments).map(({ script, units }) => ({ script, units }));
  const change = account.keyAt(readDetails(assignment.details).changePath);
  const hasChange = found.changeUnits > 0n;
  const outputs = hasChange ? [...payments, { script: change.script, units: found.changeUnits }] : payments;
  const bytes = writePsbt(chain, account, { coins: assignment.coins, outputs, ...(hasChange && { change }) });
  return { bytes, feeUnitsMax: found.feeUnits, feeRate: found.rate };
}

/** A later transaction of ours builds on this one: to replace it would make that one impossible. It pays for both instead. */
async function isBuiltUpon(
  { nodes }: Parts,
  view: View,
  { payments }: Assignment,
  { hash }: Version,
  signal: AbortSignal,
): Promise<boolean> {
  const transaction = await inMempool(nodes, view, hash, signal);
  if (transaction === undefined || transaction.outputs.length === payments.length) return false;
  return (await nodes.ask(view, 'gettxout', [hash, payments.length, true], signal)) === null;
}

/** The rate of the next version; undefined if the last one is good enough. Time is that of the chain. */
async function nextRate(
  { nodes, settings, chain }: Parts,
  view: View,
  last: Version,
  now: bigint,
  signal: AbortSignal,
): Promise<bigint | undefined> {
  const { targetBlocks, maxRate } = settings.fees;
  const wanted = raised(last.feeRate);
  if (now >= wanted) return smaller(now, maxRate);
  const hash = await nodes.agreedHash(view, view.height, signal);
  const { time } = (await nodes.ask(view, 'getblockheader', [hash, true], signal)) as { time: number };
  const patienceMs = (targetBlocks + 2) * CRYPTO_NETWORK_RECORDS[chain.network].blockMs;
  if (time * 1000 - last.signedAtMs < patienceMs) return undefined;
  return smaller(wanted, maxRate);
}

async function build(
  parts: Parts,
  assignment: Assignment,
  versions: readonly Version[],
  signal: AbortSignal,
): Promise<Unsigned | undefined> {
  const { settings, chain, nodes } = parts;
  const last = versions.at(-1);
  // Nodes of Bitcoin Cash and Litecoin keep the first of two transactions. One that pays too little is lifted by the next one,
  // which spends its change.
  if (last !== undefined && !chain.hasReplacement) return undefined;
  const view = await nodes.view(signal);
  const now = await estimateRate(nodes, chain, view, settings.fees, signal);
  if (last === undefined) {
    const rate = smaller(now, settings.fees.maxRate);
    const first = firstVersion(chain, assignment, rate, settings.fees);
    return first && unsignedOf(parts, assignment, first);
  }
  const rate = await nextRate(parts, view, last, now, signal);
  if (rate === undefined || (await isBuiltUpon(parts, view, assignment, last, signal))) return undefined;
  const next = nextVersion(chain, assignment, versions, rate, settings.fees);
  return next && unsignedOf(parts, assignment, next);
}

/** Whether the node has the transaction, in its mempool or in a block with an output that is not spent yet. */
async function has(rpc: Rpc, { hash }: Version, signal: AbortSignal): Promise<boolean> {
  for (const [method, params] of [
    ['getrawtransaction', [hash]],
    ['gettxout', [hash, 0, true]],
  ] as const)
    try {
      if ((await rpc.call(method, params, signal)).result !== null) return true;
    } catch (error) {
      if (!(error instanceof RpcError)) throw error;
    }
  return false;
}

async function broadcast({ nodes }: Parts, version: Version, signal: AbortSignal): Promise<void> {
  const { tips } = await nodes.view(signal);
  const answers = await Promise.allSettled(
    tips.map(async ({ rpc }) => {
      try {
        await rpc.call('sendrawtransaction', [version.bytes], signal);
      } catch (error) {
        // Nodes have many reasons for an error although they have the transaction.
        if (!(error instanceof RpcError) || !(await has(rpc, version, signal))) throw error;
      }
    }),
  );
  const rejected = answers.filter((one) => one.status === 'rejected');
  if (rejected.length === answers.length) throw rejected[0]!.reason;
}

export type UtxoDriver = Driver & {
  fault(payment: Outgoing): string | undefined;
  readonly account: Account;
};

export function createUtxoDriver(settings: UtxoSettings): UtxoDriver {
  const chain = chainOf(settings.network, settings.chain, settings.replacement);
  const account = readAccount(chain, settings.account);
  const nodes = createNodes(chain, settings.nodes, settings.agreement);
  const parts: Parts = { settings, chain, account, nodes };
  const estimate = (view: View, signal: AbortSignal): Promise<bigint> =>
    estimateRate(nodes, chain, view, settings.fees, signal);
  return {
    network: settings.network,
    account,
    hasUpkeep: true,
    fault(payment) {
      const reason = paymentFault(chain, payment);
      if (reason !== undefined) return `The payment ${reason}.`;
      // It would come back as change, and the customer would have paid nobody.
      const isOwn = Buffer.from(account.change.script).equals(scriptOf(chain, payment.address)!);
      return isOwn ? `${payment.address} is an address of the service's own wallet.` : undefined;
    },
    plan: (lane, waiting, signal) => plan({ ...parts, estimate }, lane, waiting, signal),
    build: (assignment, versions, signal) => build(parts, assignment, versions, signal),
    complete: (unsigned, signatures) => completePsbt(chain, unsigned.bytes, signatures),
    broadcast: (version, signal) => broadcast(parts, version, signal),
    observe: createSearch(nodes, settings.confirmations).observe,
    async head(signal) {
      const view = await nodes.view(signal);
      return { height: view.height, hash: await nodes.agreedHash(view, view.height, signal) };
    },
    block: createScan(chain, nodes, { hot: account.change.address, cold: coldOf(chain, settings) }),
    treasury: utxoTreasury({ ...parts, estimate }),
    holdings: (addresses, signal) => holdingsOf(chain, nodes, addresses, signal),
    async quote(asset, signal) {
      if (asset !== chain.asset) return undefined;
      const rate = await estimate(await nodes.view(signal), signal);
      return feeAt(rate, sizeOf(chain, 1, [account.change.script, account.change.script]));
    },
    check: (signal) => checkWallet(chain, nodes, account, settings.lowMark, estimate, signal),
  };
}
