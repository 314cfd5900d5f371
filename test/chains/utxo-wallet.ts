import { createHash } from 'node:crypto';
import { HDKey } from '@scure/bip32';
import type {
  Assignment,
  Block,
  Coin,
  Draft,
  LaneState,
  Outgoing,
  Received,
  Signed,
  Unsigned,
  Version,
} from '../../src/chains/driver.ts';
import { CHANGE_PATH } from '../../src/chains/utxo/account.ts';
import { type Chain, chainOf, type UtxoNetwork } from '../../src/chains/utxo/chain.ts';
import { createUtxoDriver } from '../../src/chains/utxo/create.ts';
import { digests } from '../../src/chains/utxo/psbt.ts';
import { addressOf, keyHashScript, witnessScript } from '../../src/chains/utxo/script.ts';
import type { UtxoSettings } from '../../src/chains/utxo/settings.ts';
import { transactionFrom } from '../../src/chains/utxo/transaction.ts';
import type { TestNode } from './utxo-node.ts';

/** A wallet that remembers what it must in variables: the part of the keeper, the scanner and the signer in these tests. */

export const CONFIRMATIONS = 3;

export const signal = (): AbortSignal => AbortSignal.timeout(120_000);

const VERSIONS = { public: 0x043587cf, private: 0x04358394 };
const key = HDKey.fromMasterSeed(Buffer.from('only tests know this seed of a wallet'), VERSIONS).derive(
  "m/84'/1'/0'",
);

export const settingsOf = (
  network: UtxoNetwork,
  nodes: readonly TestNode[],
  more: Partial<UtxoSettings> = {},
): UtxoSettings => ({
  network,
  chain: 'regtest',
  nodes: nodes.map(({ settings }) => settings),
  agreement: 1,
  account: key.publicExtendedKey,
  confirmations: CONFIRMATIONS,
  fees: {
    minRate: 1_000n,
    maxRate: 100_000n,
    incrementRate: 1_000n,
    fallbackRate: 2_000n,
    consolidationRate: 5_000n,
    targetBlocks: 3,
  },
  ...more,
});

/** Two deposit addresses of the wallet, which miners pay in these tests. */
export function minerAddressesOf(network: UtxoNetwork): readonly [string, string] {
  const nowhere = { url: 'http://127.0.0.1:1/', user: '', password: '' };
  const { account } = createUtxoDriver(settingsOf(network, [{ settings: nowhere } as TestNode]));
  return [account.keyAt('0/0').address, account.keyAt('0/2').address];
}

const digestOf = (text: string): Buffer => createHash('sha256').update(text).digest();

/** An address of somebody else, of one of all kinds that the network has. */
export function strangerOf(chain: Chain, index: number): string {
  const hash = digestOf(`stranger ${index}`);
  const short = hash.subarray(0, 20);
  const p2sh = Uint8Array.of(0xa9, 20, ...short, 0x87);
  const scripts = chain.hasSegwit
    ? [
        keyHashScript(short),
        p2sh,
        witnessScript(0, short),
        witnessScript(0, hash),
        witnessScript(1, key.deriveChild(index).publicKey!.subarray(1)),
      ]
    : [keyHashScript(short), p2sh, Uint8Array.of(0xaa, 32, ...hash, 0x87)];
  return addressOf(chain, scripts[index % scripts.length]!)!;
}

export const sign = (chain: Chain, { bytes }: Unsigned): string[] =>
  digests(chain, bytes).map(({ path, digest }) =>
    Buffer.from(key.derive(`m/${path}`).sign(digest)).toString('hex'),
  );

export function createWallet(
  network: UtxoNetwork,
  nodes: readonly TestNode[],
  more: Partial<UtxoSettings> = {},
) {
  const chain = chainOf(network, 'regtest', more.replacement);
  const driver = createUtxoDriver(settingsOf(network, nodes, more));
  const paths = new Map(
    ['0/0', '0/1', '0/2', CHANGE_PATH].map((path) => [driver.account.keyAt(path).address, path]),
  );
  const blocks: Block[] = [];
  const open: Assignment[] = [];
  /** Change of transactions that are in no block yet. */
  const unconfirmed: Coin[] = [];
  let rewinds = 0;
  let assigned = 0;

  const coinOf = ({ txHash, output, address, units }: Received, height: number): Coin => ({
    txHash,
    output: output!,
    address,
    units,
    path: paths.get(address)!,
    height,
  });

  /** Reads blocks up to the newest one; blocks that are no longer in the chain are taken back. */
  async function scan(): Promise<void> {
    const { height } = await driver.head(signal());
    if (blocks.length > height + 1) rewinds += blocks.splice(height + 1).length;
    while (blocks.length <= height) {
      const block = await driver.block(blocks.length, (address) => paths.has(address), signal());
      const last = blocks.at(-1);
      if (last === undefined || block.parentHash === last.hash) {
        blocks.push(block);
        continue;
      }
      blocks.pop();
      rewinds += 1;
    }
    const last = blocks.at(-1)!;
    const again = await driver.block(last.height, () => false, signal());
    if (again.hash === last.hash) return;
    blocks.pop();
    rewinds += 1;
    await scan();
  }

  function coins(): Coin[] {
    const spent = new Set(blocks.flatMap((block) => block.spent));
    const used = new Set(open.flatMap((one) => one.coins.map(({ txHash, output }) => `${txHash}:${output}`)));
    const mined = blocks.flatMap(({ received, height }) => received.map((one) => coinOf(one, height)));
    const known = new Set(mined.map(({ txHash }) => txHash));
    return [...mined, ...unconfirmed.filter(({ txHash }) => !known.has(txHash))].filter(
      ({ txHash, output }) => !spent.has(`${txHash}:${output}`) && !used.has(`${txHash}:${output}`),
    );
  }

  const lane = (): LaneState => ({
    lane: 'wallet',
    open,
    nextSlot: undefined,
    coins: coins(),
    scanned: blocks.at(-1),
  });

  function assign(draft: Draft): Assignment {
    assigned += 1;
    const assignment = {
      ...draft,
      id: `assignment-${assigned}`,
      lane: 'wallet',
      assignedAtMs: Date.now(),
    };
    open.push(assignment);
    return assignment;
  }

  async function plan(payments: readonly Outgoing[]): Promise<Assignment> {
    // These tests say themselves what the wallet has scanned.
    const found = await driver.plan({ ...lane(), scanned: await driver.head(signal()) }, payments, signal());
    if (found.kind === 'wait') throw new Error(`${found.code}: ${found.reason}`);
    return assign(found.draft);
  }

  /** The next version, signed; `ageMs` is how long ago it seems to have been signed. */
  async function version(
    assignment: Assignment,
    before: readonly Version[] = [],
    ageMs = 0,
  ): Promise<Version | undefined> {
    const unsigned = await driver.build(assignment, before, signal());
    if (unsigned === undefined) return undefined;
    const signed: Signed = await driver.complete(unsigned, sign(chain, unsigned), assignment.lane);
    const { feeUnitsMax, feeRate } = unsigned;
    return { ...signed, feeUnitsMax, feeRate, number: before.length + 1, signedAtMs: Date.now() - ageMs };
  }

  /** The change of a version, as the keeper would offer it to the next assignment. */
  function offerChange({ payments }: Assignment, { hash, bytes }: Version): void {
    const { outputs } = transactionFrom(bytes);
    if (outputs.length === payments.length) return;
    const { address } = driver.account.change;
    const output = payments.length;
    unconfirmed.push({
      txHash: hash,
      output,
      units: outputs[output]!.units,
      address,
      path: CHANGE_PATH,
      height: null,
    });
  }

  return {
    chain,
    driver,
    blocks,
    open,
    scan,
    coins,
    lane,
    assign,
    plan,
    version,
    offerChange,
    rewinds: () => rewinds,
    address: (path: string) => driver.account.keyAt(path).address,
    observe: (assignment: Assignment, versions: readonly Version[]) =>
      driver.observe(assignment, versions, signal()),
    broadcast: (one: Version) => driver.broadcast(one, signal()),
    payments: (values: readonly bigint[], from = 0): Outgoing[] =>
      values.map((units, index) => ({
        key: `payment-${from + index}`,
        asset: chain.asset,
        units,
        address: strangerOf(chain, from + index),
      })),
  };
}

export type TestWallet = ReturnType<typeof createWallet>;

/** Enough blocks that the wallet has coins that it may spend. */
export async function fund(node: TestNode, wallet: TestWallet): Promise<void> {
  await node.mine(110 + CONFIRMATIONS);
  await wallet.scan();
}
