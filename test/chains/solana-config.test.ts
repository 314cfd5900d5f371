import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { readSolana, SOLANA_KIND } from '../../src/chains/solana/kind.ts';
import { shapeFault } from '../../src/config/validate.ts';
import { createAssets } from '../../src/kernel/asset.ts';
import { DEFAULT_ASSETS } from '../../src/networks/default-assets.ts';
import { NETWORKS } from '../../src/networks/register.ts';
import type { ReadContext } from '../../src/rails/kind.ts';

const MINT = 'EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v';
const ASSETS = DEFAULT_ASSETS.map((asset) =>
  asset.code === 'PUSD' ? { ...asset, networks: { SOLANA: MINT } } : asset,
);

const context = (assets = ASSETS): ReadContext => ({
  rail: 'SOLANA',
  path: 'rails.SOLANA',
  assets: createAssets(assets),
  networks: NETWORKS,
  mode: 'production',
  secret: (reference) => ('env' in reference ? `https://node.example/${reference.env}` : 'Bearer file'),
});

const nodes = (count: number) =>
  Array.from({ length: count }, (_, index) => ({ url: `https://node${index}.example` }));
const read = (entry: object) => readSolana({ nodes: nodes(1), ...entry }, context());

describe('the configuration of a Solana rail', () => {
  it('needs only nodes: the rest has values for the main network', () => {
    const settings = read({});
    expect(settings).toMatchObject({
      network: 'SOLANA',
      nodes: [{ url: 'https://node0.example', headers: {} }],
      genesisHash: '5eykt4UsFv8P8NJdTREpY1vzqKqZKvdpKuc147dw2N9d',
      nodesAgreeing: 1,
      native: 'SOL',
      nonceAccounts: 8,
    });
    expect(settings.tokens.map(({ asset }) => asset)).toEqual(['USDC', 'PUSD']);
    expect(readSolana({ nodes: nodes(3) }, context()).nodesAgreeing).toBe(2);
  });

  it('reads secrets where it is told to', () => {
    const given = [{ url: { env: 'KEY' }, authorization: { file: 'token' } }];
    expect(read({ nodes: given }).nodes).toEqual([
      { url: 'https://node.example/KEY', headers: { authorization: 'Bearer file' } },
    ]);
  });

  it('reads marks in the coin', () => {
    expect(read({ low_mark: '0.5', high_mark: '20' })).toMatchObject({
      lowMark: 500_000_000n,
      highMark: 20_000_000_000n,
    });
  });

  it.each([
    [{ nodes: [{ url: 'ftp://x' }] }, 'rails.SOLANA.nodes[0].url must be an address with http or https'],
    [{ nodes_agreeing: 2 }, 'rails.SOLANA.nodes_agreeing is 2, but there are only 1 nodes'],
    [
      { cluster: 'moon' },
      'rails.SOLANA.cluster must be one of mainnet-beta, devnet, testnet, or a genesis hash',
    ],
    [{ lanes: ['0x1'] }, 'rails.SOLANA.lanes[0] is not an address on SOLANA'],
    [{ priority_price_min: 10, priority_price_max: 9 }, 'rails.SOLANA.priority_price_min is above'],
    [{ low_mark: '2', high_mark: '1' }, 'rails.SOLANA.low_mark must be below rails.SOLANA.high_mark'],
    [{ low_mark: '-1' }, 'rails.SOLANA.low_mark must be digits'],
  ])('refuses %j', (entry, sentence) => {
    expect(() => read(entry)).toThrow(sentence);
  });

  it('refuses an asset whose mint is a placeholder', () => {
    expect(() => readSolana({ nodes: nodes(1) }, context([...DEFAULT_ASSETS]))).toThrow(
      'the asset PUSD needs the address of its mint on SOLANA, not "sandbox"',
    );
  });

  it('leaves out an asset in the sandbox that is on no chain', () => {
    const sandbox = { ...context([...DEFAULT_ASSETS]), mode: 'sandbox' } as const;
    expect(readSolana({ nodes: nodes(1) }, sandbox).tokens.map(({ asset }) => asset)).toEqual(['USDC']);
  });

  it('looks for blocks once per slot, or as often as it says', () => {
    expect(read({}).scanPauseMs).toBe(400);
    expect(read({ scan_interval_ms: 5_000 }).scanPauseMs).toBe(5_000);
  });

  it.each([
    [{ nodes: [] }, 'rails.SOLANA.nodes'],
    [{ signer: 'elsewhere' }, 'rails.SOLANA.signer'],
    [{ nonce_accounts: 0 }, 'rails.SOLANA.nonce_accounts'],
    [{ wallet: 'x' }, 'rails.SOLANA.wallet'],
  ])('has a schema that names the entry in %j', (entry, place) => {
    expect(
      shapeFault(SOLANA_KIND.schema, { nodes: nodes(1), signer: 'embedded', ...entry }, 'rails.SOLANA'),
    ).toContain(place);
  });

  it('is read without loading the libraries, which only one file loads', () => {
    const folder = join(import.meta.dirname, '../../src/chains/solana');
    const loading = readdirSync(folder)
      .filter((name) => !name.endsWith('.test.ts'))
      .filter((name) => {
        const text = readFileSync(join(folder, name), 'utf8');
        return /^import (?!type )[^;]*'@solana|import\('@solana/m.test(text);
      });
    expect(loading).toEqual(['library.ts']);
  });

  it('serves Solana only', () => {
    expect(NETWORKS.cryptoNetworks.filter((network) => SOLANA_KIND.serves(network, NETWORKS))).toEqual([
      'SOLANA',
    ]);
  });
});
