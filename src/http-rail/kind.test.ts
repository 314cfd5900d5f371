import { afterAll, beforeEach, describe, expect, it } from 'vitest';
import { type ConfigFiles, createConfigFiles, PRODUCTION, refusal } from '../../test/support/config.ts';
import { readConfig } from '../config/config.ts';

const SECRET = `whsec_${Buffer.alloc(32, 1).toString('base64')}`;
const ENV = { BANK_SECRET: SECRET, SHORT: 'whsec_AAAA', PLAIN: 'secret' };
let files: ConfigFiles;
beforeEach(() => {
  files ??= createConfigFiles();
});
afterAll(() => files.remove());

const entry = (change: object = {}) => ({
  kind: 'http',
  url: 'https://bank.example/ferry/',
  secret: { env: 'BANK_SECRET' },
  ...change,
});
const withRail = (change: object, rail = 'wire') => ({
  ...ENV,
  ...files.withFile({ rails: { [rail]: entry(change) } }),
});

describe('an http rail in the configuration', () => {
  it.each(['wire', 'cubix', 'bank_network_2', 'cbit', 'BITCOIN', 'SOLANA'])('can be %s', (rail) => {
    const { rails } = readConfig(withRail({}, rail));
    expect(rails).toMatchObject([{ name: rail, kind: 'http' }]);
  });

  it.each([
    [{ url: 'bank' }, 'rails.wire.url must be a URL that starts with https:// or http://.'],
    [{ url: 'ftp://bank' }, 'rails.wire.url must be a URL that starts with https:// or http://.'],
    [{ url: 'https://a:b@bank' }, 'rails.wire.url must not contain a user name or password.'],
    [{ url: 'https://bank?x=1' }, 'rails.wire.url must be a URL without a query or fragment.'],
    [{ secret: undefined }, 'rails.wire.secret is missing: it must be {"env": "NAME"} or {"file": "/path"}.'],
    [
      { secret: SECRET },
      'rails.wire.secret must be {"env": "NAME"} or {"file": "/path"}: the secret itself does not stand in the file.',
    ],
    [
      { secret: { value: SECRET } },
      'rails.wire.secret must be {"env": "NAME"} or {"file": "/path"}: the secret',
    ],
    [{ secret: { env: 5 } }, 'rails.wire.secret must be {"env": "NAME"} or {"file": "/path"}: the secret'],
    [{ secret: { env: 'NOPE' } }, 'rails.wire.secret.env names NOPE, which is not set in the environment.'],
    [
      { secret: { env: 'SHORT' } },
      'rails.wire.secret must be whsec_ followed by 24 to 64 bytes in base64, as printed by:',
    ],
    [{ secret: { env: 'PLAIN' } }, 'rails.wire.secret must be whsec_ followed by'],
    [{ previous_secret: { env: 'PLAIN' } }, 'rails.wire.previous_secret must be whsec_ followed by'],
    [{ timeout_ms: 10 }, 'rails.wire.timeout_ms must be an integer from 100 to'],
    [{ timeout_ms: 60_000 }, 'rails.wire.timeout_ms must be an integer from 100 to'],
    [{ horizon_ms: 1_000 }, 'rails.wire.horizon_ms must be at least timeout_ms (8000), not 1000'],
    [
      { timeout: 5 },
      'rails.wire.timeout is not a known entry: use url, secret, previous_secret, timeout_ms,',
    ],
    [{ deposits: 'no' }, 'rails.wire.deposits must be true or false, not "no".'],
  ])('%j ends the start with one sentence', (change, sentence) => {
    const text = refusal(withRail(change));
    expect(text).toContain(`FERRY_CONFIG: ${sentence}`.replace(/\.$/, ''));
    for (const secret of [SECRET, ENV.SHORT]) expect(text).not.toContain(secret);
  });

  it('must be encrypted in production, unless the adapter is on this machine', () => {
    const production = (url: string) => ({ ...withRail({ url }), ...PRODUCTION });
    expect(refusal(production('http://bank.example'))).toBe(
      'FERRY_CONFIG: rails.wire.url must start with https:// in production, because payments are sent to it, unless the adapter is on this machine.',
    );
    for (const url of [
      'https://bank.example',
      'http://127.0.0.1:9000',
      'http://localhost:9000',
      'http://[::1]:9000',
    ])
      expect(readConfig(production(url)).rails).toHaveLength(1);
    expect(readConfig(withRail({ url: 'http://bank.example' })).rails).toHaveLength(1);
  });
});
