import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { plainId, uetrOf } from '../../src/banks/ids.ts';
import type { FedNetwork } from '../../src/banks/orders.ts';
import { statement } from '../../src/banks/sandbox-messages.ts';
import { fedArrival, fedReturn, fedStatus } from '../../src/banks/sandbox-pacs.ts';
import { newId } from '../../src/kernel/id.ts';
import { type BankWorld, createBankWorld, OWN_ACCOUNT } from './bank-world.ts';

const MEMO = 'NZ4TBTPRJKQ5';
const at = '2026-11-16T10:00:00Z';
const day = '2026-11-16';
const SETTINGS = {
  fedwire: { messages: 'fedwire', input_source: 'B1QDRCQR' },
  fednow: { messages: 'fednow' },
};

describe.each(['fedwire', 'fednow'] as const)('over %s', (network: FedNetwork) => {
  let world: BankWorld;
  beforeEach(async () => {
    world = await createBankWorld({ settings: SETTINGS[network] });
    await world.database.query(
      `insert into fiat_deposit_instructions (id, customer_id, profile_id, created_at_ns, kind, memo_id, instructions)
       values ($1, $1, $1, 0, 'wire', $2, '{}')`,
      [newId(), MEMO],
    );
  });
  afterEach(() => world.remove());

  let number = 0;
  const idOf = (): string => {
    number += 1;
    return network === 'fedwire'
      ? `20261116OTHERBNK${String(number).padStart(6, '0')}`
      : `20261116121182904T${number}`;
  };
  const head = (id = idOf()) => ({ network, id, at, own: '021000021' }) as const;
  const drop = (text: string): void =>
    writeFileSync(join(world.directories.root, 'incoming', `${newId()}.xml`), text);
  const take = async (): Promise<void> => {
    await world.worker.turn();
    await world.worker.turn();
  };
  const messageIds = async (): Promise<string[]> =>
    (await world.database.query<{ id: string }>('select message_id as id from bank_files order by id')).map(
      ({ id }) => id,
    );
  /** What the network says about a message of ours. */
  const say = async (key: string, code: string, reason?: string): Promise<void> => {
    const [messageId] = await messageIds();
    const about = { messageId: messageId!, name: 'pacs.008.001.08', uetr: uetrOf(key) };
    drop(fedStatus(head(), about, { endToEndId: plainId(key), code, reason }));
    await take();
  };
  const arrival = { amount: '50.50', day, account: OWN_ACCOUNT, text: `for ${MEMO}`, sender: 'Grace Hopper' };
  const settle = (messageId: string): void =>
    drop(fedStatus(head(), { messageId, name: 'pacs.008.001.08' }, { code: 'ACSC' }));

  it('each payment is a message of its own, is paid once, and has an id that the network prescribes', async () => {
    const keys = [await world.submit('10'), await world.submit('20.50'), await world.submit('3')];
    await world.settle();
    for (const key of keys) expect(await world.ask(key)).toMatchObject({ kind: 'completed' });
    const { payments } = await world.bank.record();
    expect(payments.map(({ endToEndId }) => endToEndId).sort()).toEqual(keys.map(plainId).sort());
    expect(await world.filesOf()).toMatchObject(
      Array.from({ length: 3 }, () => ({ payments: 1, state: 'ACKNOWLEDGED' })),
    );
    const ids = await messageIds();
    expect(new Set(ids).size).toBe(3);
    if (network === 'fedwire')
      expect(ids.map((id) => id.slice(-14))).toEqual(['B1QDRCQR000001', 'B1QDRCQR000002', 'B1QDRCQR000003']);
    else for (const id of ids) expect(id).toMatch(/^\d{8}021000021[0-9a-f]{18}$/);
    expect(await world.findings()).toEqual([]);
  });

  it('a message that the network refuses fails its payment, and is REJECTED', async () => {
    const key = await world.submit('10.66');
    await world.settle();
    expect(await world.ask(key)).toMatchObject({ kind: 'failed' });
    expect(await world.filesOf()).toMatchObject([{ state: 'REJECTED' }]);
    expect(await world.collect()).toMatchObject([{ about: 'payment', key, state: { kind: 'failed' } }]);
  });

  it('a payment that comes back is a return of its withdrawal, once, also in the statement', async () => {
    const key = await world.submit('7.77');
    await world.settle();
    await world.bank.state();
    await world.settle();
    expect(await world.ask(key)).toMatchObject({ kind: 'completed' });
    const notices = await world.collect();
    expect(notices).toMatchObject([
      { about: 'payment', key, state: { kind: 'completed' } },
      { about: 'return', key, arrived: { amountUnits: 777n } },
    ]);
    const rows = await world.database.query<{ effect: string; stated: boolean }>(
      'select effect, statement_id is not null as stated from bank_entries order by effect',
    );
    expect(rows).toEqual([
      { effect: 'PAYMENT', stated: true },
      { effect: 'RETURN', stated: true },
    ]);
    expect(await world.findings()).toEqual([]);
  });

  it('a payment that comes back before any status of it was paid: both are reported', async () => {
    const key = await world.submit('10');
    await world.worker.turn();
    const [messageId] = await messageIds();
    const id = idOf();
    const returned = { endToEndId: plainId(key), uetr: uetrOf(key), amount: '9.00', day, reason: 'AC04' };
    drop(fedReturn(head(id), { ...returned, messageId: messageId!, account: OWN_ACCOUNT, creditor: 'Ada' }));
    await take();
    if (network === 'fednow') {
      // Only an offer yet.
      expect(await world.ask(key)).toMatchObject({ kind: 'pending' });
      settle(id);
      await take();
    }
    expect(await world.ask(key)).toMatchObject({ kind: 'completed' });
    expect(await world.collect()).toMatchObject([
      { about: 'payment', key, state: { kind: 'completed' } },
      { about: 'return', key, arrived: { reference: id, amountUnits: 900n } },
    ]);
  });

  it('a return of an unknown payment arrives, and goes to suspense', async () => {
    const id = idOf();
    const returned = { endToEndId: 'x', uetr: uetrOf(newId()), amount: '9.00', day, reason: 'AC04' };
    drop(fedReturn(head(id), { ...returned, messageId: 'y', account: OWN_ACCOUNT, creditor: 'Ada' }));
    if (network === 'fednow') settle(id);
    await take();
    expect(await world.collect()).toMatchObject([
      { about: 'deposit', deposit: { reference: id, memoId: 'AC04 (from Ada)', amountUnits: 900n } },
    ]);
  });

  it('a deposit is credited by its memo, once, and the statement has the same one', async () => {
    await world.bank.deposit({ amount: '50.50', text: `for ${MEMO.toLowerCase()}`, sender: 'Grace Hopper' });
    await world.settle();
    await world.bank.state();
    await world.settle();
    expect(await world.collect()).toMatchObject([
      { about: 'deposit', deposit: { memoId: MEMO, amountUnits: 5_050n } },
    ]);
    expect(await world.findings()).toEqual([]);
    const rows = await world.database.query('select 1 from bank_entries where statement_id is not null');
    expect(rows).toHaveLength(1);
  });

  it('a deposit counts when it has settled, and not before', async () => {
    const id = idOf();
    drop(fedArrival(head(id), { ...arrival, uetr: uetrOf(id) }));
    await take();
    expect(await world.collect()).toHaveLength(network === 'fednow' ? 0 : 1);
    settle(id);
    await take();
    settle(id);
    await take();
    expect(await world.collect()).toHaveLength(network === 'fednow' ? 1 : 0);
  });

  it('a deposit that the statement has first is credited by it, once', async () => {
    const id = idOf();
    const entry = { reference: 'F1', messageId: id, direction: 'CRDT', bookedOn: day, ...arrival } as const;
    const stated = (name: string, more: object) =>
      statement({
        id: name,
        at,
        day,
        account: OWN_ACCOUNT,
        currency: 'USD',
        opening: { amount: '0.00', direction: 'CRDT' },
        closing: { amount: '50.50', direction: 'CRDT' },
        entries: [{ ...entry, ...more }],
      });
    drop(stated('S1', {}));
    await take();
    expect(await world.collect()).toMatchObject([{ about: 'deposit', deposit: { reference: id } }]);
    drop(fedArrival(head(id), { ...arrival, uetr: uetrOf(id) }));
    await take();
    settle(id);
    await take();
    expect(await world.collect()).toEqual([]);
    // An entry that does not name its message could be any of them.
    drop(stated('S2', { messageId: undefined }));
    await take();
    expect(await world.collect()).toEqual([]);
    expect((await world.findings()).filter((kind) => kind === 'NO_REFERENCE')).toHaveLength(1);
  });

  it('statuses of another payment, with two names that differ, twice, late or in any order do nothing wrong', async () => {
    const key = await world.submit('10');
    await world.worker.turn();
    await say(newId(), 'ACSC');
    expect(await world.ask(key)).toMatchObject({ kind: 'pending' });
    const [messageId] = await messageIds();
    const about = { messageId: messageId!, name: 'pacs.008.001.08', uetr: uetrOf(newId()) };
    drop(fedStatus(head(), about, { endToEndId: plainId(key), code: 'RJCT' }));
    await take();
    expect(await world.ask(key)).toMatchObject({ kind: 'pending' });
    for (const code of ['PDNG', 'ACWP', 'ACSC', 'ACTC', 'ACSC']) await say(key, code);
    expect(await world.ask(key)).toMatchObject({ kind: 'completed' });
    expect(await world.collect()).toHaveLength(1);
    world.pass(30 * 86_400_000);
    await say(key, 'RJCT', 'AC04');
    expect(await world.ask(key)).toMatchObject({ kind: 'completed' });
    expect(await world.findings()).toEqual(['UNKNOWN_PAYMENT', 'UNKNOWN_PAYMENT', 'CONTRADICTION']);
  });

  it('a blocked payment is left as it is, and the operator is told', async () => {
    const key = await world.submit('10');
    await world.worker.turn();
    await say(key, 'BLCK');
    expect(await world.ask(key)).toMatchObject({ kind: 'pending' });
    expect(await world.findings()).toEqual(['BLOCKED']);
  });

  it('a message that the network refuses as a duplicate stays open: the operator asks', async () => {
    const key = await world.submit('10');
    await world.worker.turn();
    const [name] = world.directories.list('outgoing');
    const copy = readFileSync(join(world.directories.root, 'outgoing', name!));
    await say(key, 'RJCT', 'AM05');
    expect(await world.ask(key)).toMatchObject({ kind: 'pending' });
    expect(await world.filesOf()).toMatchObject([{ state: 'ASKED' }]);
    // The bank has taken the first one, and reads it twice.
    await world.bank.turn();
    writeFileSync(join(world.directories.root, 'outgoing', name!), copy);
    await world.settle();
    expect(await world.ask(key)).toMatchObject({ kind: 'completed' });
    expect((await world.bank.record()).payments).toHaveLength(1);
  });

  it('a message with several payments, for another account, or in another currency is set aside', async () => {
    const good = fedArrival(head(), { ...arrival, uetr: uetrOf(newId()) });
    const [, one] = /(<CdtTrfTxInf>.*<\/CdtTrfTxInf>)/.exec(good)!;
    drop(good.replace(one!, one! + one!));
    drop(fedArrival(head(), { ...arrival, account: '111122223333', uetr: uetrOf(newId()) }));
    drop(good.replaceAll('Ccy="USD"', 'Ccy="EUR"'));
    await take();
    const rows = await world.database.query<{ error: string }>('select error from bank_received');
    expect(rows.map(({ error }) => error).sort()).toEqual([
      'IntrBkSttlmAmt must be an amount in USD',
      'a pacs.008 must have one <CdtTrfTxInf>',
      'it is about the account …3333, which is not that of this rail',
    ]);
    expect(await world.collect()).toEqual([]);
  });
});
