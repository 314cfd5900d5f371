import { HDKey } from '@scure/bip32';
import { describe, expect, it } from 'vitest';
import { readRails } from '../../config/rails.ts';
import { createAssets } from '../../kernel/asset.ts';
import { DEFAULT_ASSETS } from '../../networks/default-assets.ts';
import { NETWORKS } from '../../networks/register.ts';
import { railKind } from '../../rails/kind.ts';
import { type Settings, utxoKind } from './kind.ts';
import type { UtxoSettings } from './settings.ts';

const account = HDKey.fromMasterSeed(Buffer.alloc(32, 4)).derive("m/84'/0'/0'").publicExtendedKey;
const entry = {
  kind: 'utxo',
  nodes: [{ url: 'http://10.0.0.5:8332', user: 'ferry', password: { env: 'NODE_PASSWORD' } }],
  account,
  fees: { max_rate: 100_000, fallback_rate: 10_000 },
  signer: { socket: '/run/ferry/signer.sock' },
};

/** What the configuration makes of an entry. */
function settingsOf(given: unknown, rail = 'BITCOIN'): UtxoSettings {
  let settings: UtxoSettings | undefined;
  const kind = railKind({
    ...utxoKind,
    read: (one, context) => {
      const found = utxoKind.read(one as never, context) as Settings;
      settings = found.utxo;
      return found;
    },
  });
  readRails(
    { [rail]: given },
    {
      kinds: [kind],
      env: { NODE_PASSWORD: 's3cret' },
      assets: createAssets(DEFAULT_ASSETS),
      networks: NETWORKS,
      mode: 'production',
    },
  );
  return settings!;
}

describe('the entry of a rail of the kind utxo', () => {
  it('is complete with nodes, account and fees; the rest follows from the network', () => {
    expect(settingsOf(entry)).toEqual({
      network: 'BITCOIN',
      chain: 'main',
      nodes: [{ url: 'http://10.0.0.5:8332', user: 'ferry', password: 's3cret' }],
      agreement: 1,
      account,
      confirmations: 3,
      fees: {
        minRate: 1_000n,
        maxRate: 100_000n,
        fallbackRate: 10_000n,
        incrementRate: 1_000n,
        consolidationRate: 2_000n,
        targetBlocks: 3,
      },
    });
    expect(settingsOf(entry, 'LITECOIN')).toMatchObject({ network: 'LITECOIN', confirmations: 20 });
    expect(settingsOf({ ...entry, confirmations: 6, agreement: 1, replacement: false })).toMatchObject({
      confirmations: 6,
      replacement: false,
    });
  });

  it('has marks for the wallet, in coins, and the address to which the coins above go', () => {
    const cold = 'bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4';
    expect(settingsOf({ ...entry, low_mark: '0.5', high_mark: '2', cold_address: cold })).toMatchObject({
      lowMark: 50_000_000n,
      highMark: 200_000_000n,
      coldAddress: cold,
    });
  });

  it.each([
    [{ signer: 'embedded' }, 'rails.BITCOIN.signer must name the socket or the url of "ferry signer"'],
    [{ low_mark: '0.000000001' }, 'rails.BITCOIN.low_mark'],
    [{ low_mark: '2', high_mark: '1' }, 'rails.BITCOIN.low_mark must be below high_mark'],
    [{ high_mark: '1' }, 'rails.BITCOIN.high_mark needs cold_address'],
    [{ cold_address: 'nowhere' }, 'rails.BITCOIN.cold_address is not an address on BITCOIN: "nowhere"'],
    [{ account: 'xprv' }, 'rails.BITCOIN.account is no extended public key (xpub, zpub, tpub or vpub)'],
    [{ chain: 'test' }, 'rails.BITCOIN.account is a key of the main chain'],
    [{ chain: 'signet' }, 'rails.BITCOIN.chain must be one of main, test, regtest, not "signet"'],
    [{ nodes: [] }, 'rails.BITCOIN.nodes must be a list of at least one node, not []'],
    [{ agreement: 2 }, 'rails.BITCOIN.agreement is 2, but there are 1 nodes'],
    [
      { fees: { max_rate: 100_000 } },
      'rails.BITCOIN.fees.fallback_rate is missing: it must be an integer from 1 to 100000000',
    ],
    [
      { fees: { max_rate: 5_000, fallback_rate: 6_000 } },
      'rails.BITCOIN.fees.fallback_rate must be between min_rate (1000) and max_rate (5000), not 6000',
    ],
    [
      { fees: { max_rate: 500, fallback_rate: 500 } },
      'rails.BITCOIN.fees.max_rate must be at least min_rate (1000), not 500',
    ],
    [
      { nodes: [{ ...entry.nodes[0], url: 'http://a:b@10.0.0.5' }] },
      'rails.BITCOIN.nodes[0].url must not contain a user or password: use the entries beside it',
    ],
    [
      { nodes: [{ ...entry.nodes[0], url: 'ftp://10.0.0.5' }] },
      'rails.BITCOIN.nodes[0].url must be an http or https address, not "ftp://10.0.0.5"',
    ],
    [
      { nodes: [{ ...entry.nodes[0], password: { env: 'OTHER' } }] },
      'rails.BITCOIN.nodes[0].password.env names OTHER, which is not set in the environment',
    ],
  ])('is refused with one sentence that names what is wrong: %j', (change, sentence) => {
    expect(() => settingsOf({ ...entry, ...change })).toThrow(sentence);
  });

  it('is only for the three networks', () => {
    expect(() => settingsOf(entry, 'ETHEREUM')).toThrow(
      'rails.ETHEREUM.kind must be one of none, not "utxo"',
    );
  });
});
