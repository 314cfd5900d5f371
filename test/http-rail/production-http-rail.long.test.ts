import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { logOf, runFerry } from '../support/process.ts';
import { rounds } from '../support/rounds.ts';
import { until } from '../support/until.ts';
import { startWireProduction, type WireProduction } from '../support/wire-production.ts';
import { type Adapter, freePort, PYTHON_ADAPTER, SECRET, startPythonAdapter } from './adapters.ts';

/** The service in production, with the example adapter in Python as its bank. */
let wires: WireProduction;
let adapter: Adapter;

/** As the author of the adapter sends it: with the adapter's own command. */
async function notify(notice: object): Promise<any> {
  const own = { ...process.env, ADAPTER_SECRET: SECRET, FERRY_URL: wires.node.url };
  const { stdout } = await promisify(execFile)(
    'python3',
    [PYTHON_ADAPTER, 'notify', JSON.stringify(notice)],
    { env: own },
  );
  return JSON.parse(stdout);
}

beforeAll(async () => {
  const port = await freePort();
  adapter = await startPythonAdapter({ FERRY_URL: `http://127.0.0.1:${port}` });
  const rail = { kind: 'http', url: adapter.url, secret: { env: 'BANK_SECRET' }, horizon_ms: 8_000 };
  wires = await startWireProduction(rail, { BANK_SECRET: SECRET, PORT: String(port) });
});
afterAll(async () => {
  await wires.remove();
  await adapter.remove();
});

it('the operator checks the rail before the start', async () => {
  const { code, stdout } = await runFerry(['rails', 'check'], wires.env);
  expect(stdout).toMatch(
    /^wire +http +ok +GET \/health +ok, \d+ ms\n +ok +an unknown payment +is reported as not found\n +ok +a wrong signature +is refused\n$/,
  );
  expect(code).toBe(0);
});

it('a withdrawal is paid by the adapter, and is COMPLETED by its report', async () => {
  const id = await wires.withdraw('w-1', '100.25');
  await wires.statusOf(id, 'COMPLETED');
  expect(await wires.transferOf(id)).toMatchObject({
    status: 'COMPLETED',
    secondary_status: { name: 'PAID', detail: 'Paid by Example Bank.' },
  });
  expect(adapter.recordOf(id)).toEqual({ accepted: 1, payments: 1 });
  expect(await wires.available()).toBe('9879.75');
});

it('a deposit is credited once, although it is reported five times', async () => {
  const before = Number(await wires.available());
  const { memo_id } = await wires.call(wires.token, 'POST', '/v2/transfer/fiat-deposit-instructions', {
    profile_id: wires.profile,
    fiat_network: 'WIRE',
  });
  const notice = {
    type: 'deposit',
    account: 'own',
    reference: 'IN-1',
    memo_id,
    asset: 'USD',
    amount: '50.5',
  };
  for (let time = 0; time < 5; time += 1) expect(await notify(notice)).toEqual({ recorded: 1 });
  await until('it is credited', async () => Number(await wires.available()) > before);
  expect(await notify(notice)).toEqual({ recorded: 1 });
  await wires.noticesProcessed();
  expect(Number(await wires.available())).toBe(before + 50.5);
  const { items } = await wires.call(wires.token, 'GET', '/v2/transfer/transfers?type=WIRE_DEPOSIT');
  expect(items).toHaveLength(1);
});

it('a return after COMPLETED is credited once, and the withdrawal shows it', async () => {
  const before = Number(await wires.available());
  const id = await wires.withdraw('w-2', '100.25');
  await wires.statusOf(id, 'COMPLETED');
  const notice = {
    type: 'return',
    key: id,
    account: 'own',
    reference: 'BACK-1',
    asset: 'USD',
    amount: '100.25',
  };
  for (let time = 0; time < 3; time += 1) expect(await notify(notice)).toEqual({ recorded: 1 });
  await until('it is shown', async () => (await wires.transferOf(id)).secondary_status.name === 'RETURNED');
  expect(await wires.transferOf(id)).toMatchObject({ status: 'COMPLETED' });
  // The fee of 20 USD was earned.
  expect(Number(await wires.available())).toBe(before - 20);
  const { items } = await wires.call(
    wires.operator,
    'GET',
    '/v2/operator/journal-entries?kinds=WITHDRAWAL_RETURN',
  );
  expect(items).toMatchObject([{ actor: 'rail:wire', amount: '100.25', corrects: { type: 'TRANSFER', id } }]);
});

it('an adapter that reports something wrong is told what', async () => {
  const answer = await notify({ type: 'deposit', account: 'own', reference: 'X', asset: 'USD', amount: 5 });
  expect(answer).toMatchObject({ status: 400, detail: '/notices/0/amount must be a string.' });
});

it('withdrawals are paid once, although Ferry and the adapter are killed again and again', async () => {
  const ids: string[] = [];
  for (let round = 0; round < rounds(2, 6); round += 1) {
    for (let index = 0; index < 3; index += 1)
      ids.push(await wires.withdraw(`k-${round}-${index}`, '100.25'));
    // At once, and therefore at any point between the request and its end.
    if (round % 2 === 0) {
      await wires.kill();
      await wires.start();
    } else await adapter.restart();
  }
  for (const id of ids) await wires.statusOf(id, 'COMPLETED');
  for (const id of ids) expect(adapter.recordOf(id)).toEqual({ accepted: 1, payments: 1 });
  await wires.expectSound();
  expect(logOf(wires.node).filter(({ level }) => level >= 50)).toEqual([]);
});
