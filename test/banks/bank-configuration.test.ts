import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { readRails } from '../../src/config/rails.ts';
import { NETWORKS } from '../../src/networks/register.ts';
import { RAIL_KINDS } from '../../src/rail-kinds.ts';
import { changed } from '../support/fiat-accounts.ts';
import { assets } from '../support/ledger.ts';
import { bankEntry } from './bank-world.ts';

const read = (entry: unknown) =>
  readRails(
    { wire: entry },
    { kinds: RAIL_KINDS, env: { BANK_KEY: 'key' }, assets, networks: NETWORKS, mode: 'production' },
  );
const good = { kind: 'iso20022', ...bankEntry('/srv/bank') };
const HOST_KEY = `SHA256:${'a'.repeat(43)}`;
const sftp = { host: 'bank.example', user: 'ferry', private_key: { env: 'BANK_KEY' }, host_key: HOST_KEY };
const overSftp = changed('/sftp', sftp, changed('/directory', undefined, good));

const onFedwire = { ...good, messages: 'fedwire', input_source: 'B1QDRCQR' };
const onFednow = { ...good, messages: 'fednow' };

it('a bank can send over Fedwire and FedNow', () => {
  expect(read(onFedwire)).toMatchObject([{ name: 'wire', kind: 'iso20022' }]);
  expect(read(onFednow)).toMatchObject([{ name: 'wire', kind: 'iso20022' }]);
});

it('the example of the guide is accepted', () => {
  const guide = readFileSync(new URL('../../docs/banks.md', import.meta.url), 'utf8');
  const { rails } = JSON.parse(/```json\n([\s\S]*?)```/.exec(guide)![1]!) as { rails: { wire: object } };
  const entry = changed('/sftp/private_key', { env: 'BANK_KEY' }, rails.wire);
  expect(read(entry)).toMatchObject([{ name: 'wire', kind: 'iso20022' }]);
});

it.each<[string, unknown, unknown, RegExp]>([
  ['/directory', undefined, good, /^rails\.wire must have either directory or sftp$/],
  ['/sftp', sftp, good, /^rails\.wire must have either directory or sftp$/],
  [
    '/currency',
    'BTC',
    good,
    /^rails\.wire\.currency must be a configured currency of three letters, not "BTC"$/,
  ],
  [
    '/calendar',
    { time_zone: 'Mars', cut_off: '17:00' },
    good,
    /calendar\.time_zone must be a name such as America/,
  ],
  [
    '/calendar',
    { time_zone: 'UTC', cut_off: '25:00' },
    good,
    /calendar\.cut_off must be a time such as 17:00, not "25:00"/,
  ],
  [
    '/calendar',
    { time_zone: 'UTC', cut_off: '17:00', holidays: ['2026-02-30'] },
    good,
    /holidays must be days such as/,
  ],
  [
    '/account/fiat_account_owner_address/city',
    '',
    good,
    /^rails\.wire\.account cannot be used: The city of the owner is missing/,
  ],
  ['/batch/payments_max', 10_001, good, /rails\.wire\.batch\.payments_max/],
  ['/surprise', 1, good, /surprise/],
  ['/messages', 'mt103', good, /rails\.wire\.messages/],
  ['/input_source', undefined, onFedwire, /input_source must be the 8 characters that the Federal Reserve/],
  ['/input_source', 'B1QDRCQR', good, /input_source must be left out, because messages is "pain\.001"$/],
  ['/input_source', 'B1QDRCQR', onFednow, /input_source must be left out, because messages is "fednow"$/],
  [
    '/account/routing_details/routing_number_type',
    'SWIFT',
    onFednow,
    /must have the ABA number of your bank/,
  ],
  ['/initiator_id', 'X', onFedwire, /initiator_id and service_level must be left out/],
  ['/batch', { payments_max: 2 }, onFednow, /batch\.payments_max must be 1, because messages is "fednow"/],
  ['/charge_bearer', 'SHAR', onFednow, /charge_bearer must be SLEV, because messages is "fednow"/],
  [
    '/sftp/host_key',
    'SHA256:x',
    overSftp,
    /host_key must be SHA256: and 43 characters, as printed by: ssh-keyscan bank\.example/,
  ],
  [
    '/sftp/private_key',
    'PRIVATE',
    overSftp,
    /private_key must be \{"env": "NAME"\} or \{"file": "\/path"\}: the secret itself does not/,
  ],
])('%s set to %j is refused with a sentence', (pointer, value, base, message) => {
  let said = 'accepted';
  try {
    read(changed(pointer, value, base as object));
  } catch (error) {
    said = (error as Error).message;
  }
  expect(said).toMatch(message);
  expect(said).not.toContain('PRIVATE');
});
