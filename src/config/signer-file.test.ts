import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { NETWORKS } from '../networks/register.ts';
import { readSignerSettings } from './signer.ts';

const directory = mkdtempSync(join(tmpdir(), 'ferry-signer-file-'));
afterAll(() => rmSync(directory, { recursive: true }));

const env = { URL: 'postgres://signer@db/ferry', PASSPHRASE: 'a passphrase' };
const ETHEREUM = {
  chain_id: 1,
  assets: { ETH: 'native' },
  fee_units_max: '10',
  fee_units_per_day: '100',
};
const BITCOIN = { assets: { BTC: 'native' }, fee_units_max: '10', fee_units_per_day: '100' };
const limit = { units_per_hour: '1', units_per_day: '2', payments_per_minute: 3 };
const GOOD = {
  listen: { socket: '/run/signer.sock' },
  database: { env: 'URL' },
  log: '/var/log.jsonl',
  keys: { kind: 'sealed_file', path: '/keys', passphrase: { env: 'PASSPHRASE' } },
  networks: { ETHEREUM, BITCOIN },
  limits: { ETH: limit, BTC: limit },
};

function read(content: unknown) {
  const path = join(directory, 'signer.json');
  writeFileSync(path, typeof content === 'string' ? content : JSON.stringify(content));
  return readSignerSettings(path, { env, networks: NETWORKS });
}
const ethereum = (changes: object) => ({
  ...GOOD,
  networks: { BITCOIN, ETHEREUM: { ...ETHEREUM, ...changes } },
});

describe('the file of the signer', () => {
  it('is read into settings, with bounds as units', () => {
    const settings = read(
      ethereum({ destinations: ['0x70997970c51812dc3a010c7d01b50e0d17dc79c8'], lanes: 3 }),
    );
    expect(settings.databaseUrl()).toBe(env.URL);
    expect(settings.listen).toEqual({ kind: 'socket', path: '/run/signer.sock', gid: undefined });
    expect(settings.policy.networks.get('ETHEREUM')).toMatchObject({
      chainId: 1n,
      lanes: 3,
      feeUnitsMax: 10n,
      destinations: new Set(['0x70997970C51812dc3A010C7d01b50e0d17dc79C8']),
    });
    expect(settings.policy.limits.get('BTC')).toEqual({
      unitsPerHour: 1n,
      unitsPerDay: 2n,
      paymentsPerMinute: 3,
    });
  });

  it.each([
    [{ ...GOOD, log: undefined }, 'log is missing: it must be a non-empty string'],
    [{ ...GOOD, logs: '/x' }, 'logs is not a known entry: use listen, database, log, keys, networks, limits'],
    [{ ...GOOD, listen: {} }, 'listen.host is missing: it must be a non-empty string'],
    [{ ...GOOD, listen: { socket: 5 } }, 'listen.socket must be a non-empty string, not 5'],
    [
      {
        ...GOOD,
        listen: { host: 'h', port: 1, certificate: '/c', key: '/k', client_ca: '/a', client_names: ['n'] },
      },
      'listen.certificate names /c, which cannot be read (ENOENT)',
    ],
    [
      { ...GOOD, keys: { kind: 'vault' } },
      'keys.kind must be one of sealed_file, pkcs11, aws_kms, not "vault"',
    ],
    [{ ...GOOD, keys: { kind: 'sealed_file' } }, 'keys.path is missing: it must be a non-empty string'],
    [
      { ...GOOD, keys: { kind: 'aws_kms', region: 'r', keys: {}, log_key: { env: 'LOG_KEY' } } },
      'keys.log_key.env names LOG_KEY, which is not set in the environment',
    ],
    [{ ...GOOD, networks: {} }, 'networks must have an entry for at least one network'],
    [{ ...GOOD, networks: { DOGE: ETHEREUM } }, 'networks.DOGE is not a network: use BITCOIN, ETHEREUM,'],
    [
      ethereum({ chain_id: undefined }),
      'networks.ETHEREUM.chain_id is missing: it must be the number of the chain',
    ],
    [
      { ...GOOD, networks: { BITCOIN: { ...BITCOIN, chain_id: 1 } } },
      'networks.BITCOIN.chain_id is only for EVM networks',
    ],
    [
      ethereum({ fee_units_max: 10 }),
      'networks.ETHEREUM.fee_units_max must be a string of 1 to 38 digits: units of the asset, not 10',
    ],
    [
      ethereum({ assets: { ETH: 'native', USDC: '0x1' } }),
      'networks.ETHEREUM.assets.USDC has 1 hexadecimal digits',
    ],
    [ethereum({ assets: {} }), 'networks.ETHEREUM.assets must have one "native" asset, the coin of Ethereum'],
    [ethereum({ cold_address: 'x' }), 'networks.ETHEREUM.cold_address does not begin with 0x'],
    [ethereum({ destinations: ['0x0'] }), 'networks.ETHEREUM.destinations[0] has 1 hexadecimal digits'],
    [ethereum({ deposit_addresses: 5 }), 'networks.ETHEREUM.deposit_addresses is only for SOLANA'],
    [ethereum({ lanes: 0 }), 'networks.ETHEREUM.lanes must be an integer from 1 to 100, not 0'],
    [
      { ...GOOD, limits: { ETH: limit } },
      'limits.BTC is missing: every asset of the networks must have limits',
    ],
    [{ ...GOOD, limits: { ...GOOD.limits, LTC: limit } }, 'limits.LTC is not an asset of any network'],
    [{ ...GOOD, limits: { ...GOOD.limits, ETH: {} } }, 'limits.ETH.units_per_hour is missing'],
  ])('with a wrong entry is refused with a sentence (%#)', (content, sentence) => {
    expect(() => read(content)).toThrow(`FERRY_SIGNER_CONFIG: ${sentence}`);
  });

  it('of the guide is one that the signer accepts', () => {
    const guide = readFileSync(join(import.meta.dirname, '../../docs/signer.md'), 'utf8');
    const [, example] = /```json\n([\s\S]*?)```/.exec(guide)!;
    const { policy, listen } = read(example!);
    expect([...policy.networks.keys()]).toEqual(['ETHEREUM', 'BITCOIN']);
    expect(listen).toMatchObject({ kind: 'socket', gid: 1001 });
  });

  it('must be there, and be JSON; its secrets are never shown', () => {
    expect(() => readSignerSettings(undefined, { env, networks: NETWORKS })).toThrow(
      'FERRY_SIGNER_CONFIG must name the JSON file of the signer: see docs/signer.md.',
    );
    expect(() => read('{')).toThrow('FERRY_SIGNER_CONFIG must name a readable JSON file');
    const wrong = read({ ...GOOD, database: { env: 'PASSPHRASE' } });
    expect(() => wrong.databaseUrl()).toThrow(
      'FERRY_SIGNER_CONFIG: database must refer to a URL that starts with postgres:// or postgresql://.',
    );
  });
});
