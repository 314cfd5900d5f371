import { copyFileSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { plainId } from '../../src/banks/ids.ts';
import type { BankCheckpoint } from '../../src/banks/parts.ts';
import { notification, type SandboxStatus, statusReport } from '../../src/banks/sandbox-messages.ts';
import type { Session, Transport } from '../../src/banks/transport.ts';
import { newId } from '../../src/kernel/id.ts';
import { IS_LONG, rounds } from '../support/rounds.ts';
import { type BankWorld, createBankWorld, OWN_ACCOUNT } from './bank-world.ts';

let world: BankWorld;
beforeEach(async () => {
  world = await createBankWorld();
});
afterEach(() => world.remove());

const at = '2026-11-16T10:00:00Z';
const day = '2026-11-16';
const drop = (name: string, text: string): void =>
  writeFileSync(join(world.directories.root, 'incoming', name), text);
const take = async (): Promise<void> => {
  await world.worker.turn();
  await world.worker.turn();
};

/** Every payment once in the record of the bank, completed once, and reported once; one file, sent once. */
async function expectOnce(keys: readonly string[]): Promise<void> {
  const { payments, files } = await world.bank.record();
  expect(payments.map(({ endToEndId, state }) => `${endToEndId} ${state}`).sort()).toEqual(
    keys.map((key) => `${plainId(key)} PAID`).sort(),
  );
  for (const key of keys) expect(await world.ask(key)).toMatchObject({ kind: 'completed' });
  const notices = await world.collect();
  expect(notices.map((one) => (one.about === 'payment' ? one.key : one.about)).sort()).toEqual(
    [...keys].sort(),
  );
  expect(new Set(files).size).toBe((await world.filesOf()).length);
  expect(await world.findings()).toEqual([]);
  expect(world.directories.list('outgoing').filter((name) => !name.endsWith('.tmp'))).toEqual([]);
}

describe('a node that is killed', () => {
  const CHECKPOINTS: BankCheckpoint[] = [
    'before a file is committed',
    'a file is committed',
    'its bytes are at the bank',
    'its staging is committed',
    'the bank can read it',
    'its upload is committed',
    'a file of the bank is read',
    'its effect is committed',
    'it is archived',
  ];

  // In the quick run the next test kills at every place, and bank-fault-matrix.test.ts at each with a fault.
  it.each(CHECKPOINTS.slice(0, rounds(1, CHECKPOINTS.length)))(
    'when %s loses nothing and sends nothing twice',
    async (place) => {
      const keys = [await world.submit('10'), await world.submit('20.50')];
      const dying = world.node({
        checkpoint: async (name) => {
          if (name === place) throw new Error('killed');
        },
      });
      let isKilled = false;
      for (let round = 0; round < 6 && !isKilled; round += 1) {
        isKilled = await dying.turn().then(
          () => false,
          (error: Error) => error.message === 'killed',
        );
        // The bank takes the file between the crash and the restart.
        await world.bank.turn();
      }
      expect(isKilled).toBe(true);
      world.restart();
      await world.settle();
      await expectOnce(keys);
    },
  );

  it.runIf(IS_LONG)('by turns at every place, one node after the other, still pays once', async () => {
    const keys: string[] = [];
    for (let round = 0; round < 3; round += 1)
      for (const place of CHECKPOINTS) {
        keys.push(await world.submit('3'));
        const dying = world.node({
          checkpoint: (name) => (name === place ? Promise.reject(new Error('killed')) : Promise.resolve()),
        });
        for (let turn = 0; turn < 2; turn += 1) await dying.turn().catch(() => undefined);
        await world.bank.turn();
      }
    world.restart();
    await world.settle();
    await expectOnce(keys);
  });
});

describe('a line that breaks', () => {
  /** The directory, with one call that fails once: before, after or in the middle of its work. */
  const breaking = (method: keyof Session, how: 'before' | 'after' | 'middle'): Transport => {
    let isBroken = false;
    return {
      name: 'broken',
      async connect() {
        const session = await world.transport.connect();
        return {
          ...session,
          async [method](...given: never[]) {
            const call = session[method] as (...all: never[]) => Promise<never>;
            if (isBroken) return call(...given);
            isBroken = true;
            if (how === 'after') await call(...given);
            if (how === 'middle')
              await session.write(given[0]!, (given[1] as unknown as Buffer).subarray(0, 100));
            throw new Error('the line is broken');
          },
        };
      },
    };
  };

  it.each([
    ['write', 'before'],
    ['write', 'middle'],
    ['write', 'after'],
    ['rename', 'before'],
    ['rename', 'after'],
    ['exists', 'before'],
    ['list', 'before'],
    ['read', 'before'],
  ] as const)('in a call to %s, %s its work, leads to no second payment', async (method, how) => {
    const keys = [await world.submit('10')];
    const worker = world.node({ transport: breaking(method, how) });
    let failures = 0;
    for (let round = 0; round < 6; round += 1) {
      await worker.turn().catch((error: Error) => {
        expect(error.message).toBe('the line is broken');
        failures += 1;
      });
      await world.bank.turn();
    }
    expect(failures).toBe(1);
    await world.settle();
    await expectOnce(keys);
  });

  it('leaves a file whose rename was lost as it is: it is asked about, and not sent again', async () => {
    await world.submit('10');
    const worker = world.node({
      checkpoint: (name) =>
        name === 'the bank can read it' ? Promise.reject(new Error('killed')) : Promise.resolve(),
    });
    await expect(worker.turn()).rejects.toThrow('killed');
    // The bank takes it, and its answer is lost.
    await world.bank.turn();
    for (const name of world.directories.list('incoming'))
      copyFileSync('/dev/null', join(world.directories.root, 'incoming', name));
    world.restart();
    await world.worker.turn();
    expect(await world.filesOf()).toMatchObject([{ state: 'UPLOADED' }]);
    expect(world.directories.list('outgoing')).toEqual([]);
    world.pass(25 * 3_600_000);
    await take();
    expect(await world.filesOf()).toMatchObject([{ state: 'ASKED' }]);
    expect((await world.bank.record()).payments).toHaveLength(1);
  });
});

describe('two nodes', () => {
  it('never work at the same time: the second one waits for the end of the lease', async () => {
    const [first, second] = [world.node({ leaseMs: 60_000 }), world.node({ leaseMs: 60_000 })];
    expect(await first.turn()).toBe(true);
    expect(await second.turn()).toBe(false);
    await first.stop();
    expect(await second.turn()).toBe(true);
    expect(await first.turn()).toBe(false);
  });

  it('one of which was suspended commits nothing when it wakes up', async () => {
    const keys = [await world.submit('10')];
    const other = world.node();
    const suspended = world.node({
      checkpoint: async (name) => {
        if (name === 'its bytes are at the bank') await other.turn();
      },
    });
    await expect(suspended.turn()).rejects.toThrow('another node exchanges the files');
    await world.settle();
    await expectOnce(keys);
  });
});

describe('a bank that is confused', () => {
  const fileId = async (): Promise<string> => plainId((await world.filesOf())[0]!.id);
  const report = async (
    statuses: SandboxStatus[],
    group?: { code: string; reason?: string },
  ): Promise<string> => {
    const messageId = await fileId();
    return statusReport({
      id: newId().slice(0, 30),
      at,
      order: { messageId, paymentInformationId: `${messageId}-1` },
      statuses,
      ...(group && { group }),
    });
  };

  it('and reads a file twice refuses the copy; the payments of the first one stay as they are', async () => {
    const key = await world.submit('10');
    await world.worker.turn();
    const [name] = world.directories.list('outgoing');
    const copy = readFileSync(join(world.directories.root, 'outgoing', name!));
    await world.bank.turn();
    writeFileSync(join(world.directories.root, 'outgoing', name!), copy);
    await world.bank.turn();
    await world.settle();
    expect(await world.ask(key)).toMatchObject({ kind: 'completed' });
    expect((await world.bank.record()).payments).toHaveLength(1);
    expect(await world.findings()).toEqual(['DUPLICATE']);
  });

  it('and only says that a file is a duplicate ends nothing: an operator asks', async () => {
    const key = await world.submit('10');
    await world.worker.turn();
    drop('dup.xml', await report([], { code: 'RJCT', reason: 'AM05' }));
    await take();
    expect(await world.ask(key)).toMatchObject({ kind: 'pending' });
    expect(await world.filesOf()).toMatchObject([{ state: 'ASKED' }]);
  });

  it('and repeats statuses, late and out of order, changes nothing that has ended', async () => {
    const key = await world.submit('10');
    await world.worker.turn();
    const endToEndId = plainId(key);
    for (const code of ['PDNG', 'ACSC', 'ACSP', 'ACSC', 'ACTC']) {
      drop(`${code}-${newId()}.xml`, await report([{ endToEndId, code }]));
      await take();
    }
    expect(await world.ask(key)).toMatchObject({ kind: 'completed' });
    expect(await world.collect()).toHaveLength(1);
    world.pass(30 * 86_400_000);
    drop('late.xml', await report([{ endToEndId, code: 'RJCT', reason: 'AC04' }]));
    await take();
    // It stays completed; the contradiction is reported to the service, which records it.
    expect(await world.ask(key)).toMatchObject({ kind: 'completed' });
    expect(await world.findings()).toEqual(['CONTRADICTION']);
    expect(await world.collect()).toMatchObject([{ about: 'payment', key, state: { kind: 'failed' } }]);
  });

  it('and reports unknown files, payments and statuses has no effect', async () => {
    const key = await world.submit('10');
    await world.worker.turn();
    drop(
      'a.xml',
      await report([
        { endToEndId: plainId(newId()), code: 'ACSC' },
        { endToEndId: 'nonsense', code: 'RJCT' },
      ]),
    );
    drop('b.xml', await report([{ endToEndId: plainId(key), code: 'WHAT' }]));
    drop(
      'c.xml',
      statusReport({
        id: 'x',
        at,
        order: { messageId: plainId(newId()), paymentInformationId: 'x' },
        group: { code: 'RJCT' },
      }),
    );
    await take();
    expect(await world.ask(key)).toMatchObject({ kind: 'pending' });
    expect((await world.findings()).sort()).toEqual([
      'UNKNOWN_FILE',
      'UNKNOWN_PAYMENT',
      'UNKNOWN_PAYMENT',
      'UNKNOWN_STATUS',
    ]);
    expect(await world.collect()).toEqual([]);
  });

  it('and states another amount ends nothing, in a status or in an entry', async () => {
    const key = await world.submit('10');
    await world.worker.turn();
    drop('a.xml', await report([{ endToEndId: plainId(key), code: 'ACSC', amount: '10.01' }]));
    const entry = {
      reference: 'R1',
      direction: 'DBIT',
      amount: '9.99',
      bookedOn: day,
      endToEndId: plainId(key),
    } as const;
    drop('b.xml', notification({ id: 'n', at, account: OWN_ACCOUNT, currency: 'USD', entries: [entry] }));
    await take();
    expect(await world.ask(key)).toMatchObject({ kind: 'pending' });
    expect(await world.findings()).toEqual(['OTHER_AMOUNT', 'OTHER_AMOUNT']);
  });

  it('and only books a payment, without any status, has paid it', async () => {
    const key = await world.submit('10');
    await world.worker.turn();
    const entry = {
      reference: 'R1',
      direction: 'DBIT',
      amount: '10.00',
      bookedOn: day,
      endToEndId: plainId(key).toUpperCase(),
    } as const;
    const again = { ...entry, reference: 'R2' };
    const unknown = { reference: 'FEE', direction: 'DBIT', amount: '1.00', bookedOn: day } as const;
    drop(
      'b.xml',
      notification({ id: 'n', at, account: OWN_ACCOUNT, currency: 'USD', entries: [entry, again, unknown] }),
    );
    await take();
    expect(await world.ask(key)).toEqual({
      kind: 'completed',
      detail: `Paid: booked by the bank on ${day}.`,
    });
    expect(await world.filesOf()).toMatchObject([{ state: 'ACKNOWLEDGED' }]);
    expect(await world.findings()).toEqual(['PAID_TWICE', 'UNKNOWN_DEBIT']);
  });

  it('and returns a payment before it has reported it: the return is kept until the payment has ended', async () => {
    const key = await world.submit('10');
    await world.worker.turn();
    const back = {
      reference: 'R1',
      direction: 'CRDT',
      amount: '10.00',
      bookedOn: day,
      endToEndId: plainId(key),
      returned: 'AC04',
    } as const;
    drop(
      'a.xml',
      notification({
        id: 'n',
        at,
        account: OWN_ACCOUNT,
        currency: 'USD',
        entries: [back, { ...back, reference: 'R2' }],
      }),
    );
    await take();
    expect(await world.ask(key)).toMatchObject({ kind: 'pending' });
    expect(await world.collect()).toMatchObject([
      { about: 'return', key, arrived: { reference: 'R1' } },
      { about: 'return', key, arrived: { reference: 'R2' } },
    ]);
    await world.settle();
    expect(await world.ask(key)).toMatchObject({ kind: 'completed' });
  });
});
