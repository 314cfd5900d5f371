import { HDKey } from '@scure/bip32';
import { describe, expect, it } from 'vitest';
import { readRails } from '../../config/rails.ts';
import { createAssets } from '../../kernel/asset.ts';
import { DEFAULT_ASSETS } from '../../networks/default-assets.ts';
import { NETWORKS } from '../../networks/register.ts';
import { railKind } from '../../rails/kind.ts';
import { UTXO_KIND } from './kind.ts';
import type { UtxoSettings } from './settings.ts';

const account = HDKey.fromMasterSeed(Buffer.alloc(32, 4)).derive("m/84'/0'/0'").publicExtendedKey;
const entry = {
  kind: 'utxo',
  nodes: [{ url: 'http://10.0.0.5:8332', user: 'ferry', password: { env: 'NODE_PASSWORD' } }],
  account,
  fees: { max_rate: 100_000, fallback_rate: 10_000 },
};

/** What the configuration makes of an entry. */
function settingsOf(given: unknown, rail = 'BITCOIN'): UtxoSettings {
  let settings: UtxoSettings | undefined;
  const kind = railKind({
    ...UTXO_KIND,
    read: (one, context) => {
      settings = UTXO_KIND.read(one, context);
      return settings;
    },
    open: () => Promise.reject(new Error('not opened here')),
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

  it.each([
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
