import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { signatureFault, signedHeaders } from '../../src/http-rail/signature.ts';
import { cliActor } from '../../src/kernel/actor.ts';
import { changePolicy } from '../../src/policies/change.ts';
import { createScreen, type ScreeningHook } from '../../src/policies/screening.ts';
import type { Rail } from '../../src/rails/rail.ts';
import { listNotes } from '../../src/withdrawals/note-store.ts';
import { createWorld, type Node, type World } from '../support/payouts.ts';

/** A real screening hook, which misbehaves in every way. No withdrawal passes unscreened. */
const SECRET = `whsec_${Buffer.alloc(32, 7).toString('base64')}`;
const OTHER = `whsec_${Buffer.alloc(32, 8).toString('base64')}`;

type Asked = { readonly headers: IncomingMessage['headers']; readonly text: string; readonly body: any };
type Behaviour = (asked: Asked, response: ServerResponse) => void | Promise<void>;

let server: Server;
let url: string;
let behave: Behaviour;
const asked: Asked[] = [];
let world: World;
let node: Node;
let submitted: string[] = [];

const answer = (response: ServerResponse, body: unknown, secret: string = SECRET, status = 200): void => {
  const text = typeof body === 'string' ? body : JSON.stringify(body);
  const headers = signedHeaders([secret], { method: 'POST', target: '/', body: text }, Date.now());
  response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(text);
};
const pass: Behaviour = ({ body }, response) =>
  answer(response, { transfer_id: body.transfer_id, decision: 'PASS' });

beforeAll(async () => {
  server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const text = Buffer.concat(chunks).toString();
      const one = { headers: request.headers, text, body: JSON.parse(text) };
      asked.push(one);
      void behave(one, response);
    });
  });
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/screen`;
  world = await createWorld();
  await changePolicy(world.database, {
    customerId: null,
    name: 'screening',
    enabled: true,
    document: { rules: [{ type: 'screening', name: 'sanctions', hook: 'watch' }] },
    reason: 'test',
    actor: cliActor('tester'),
  });
});
afterAll(async () => {
  server.closeAllConnections();
  server.close();
  await world.drop();
});

const nodeWith = (hook: Partial<ScreeningHook> = {}): Node => {
  const hooks = new Map([['watch', { url, secrets: [SECRET], timeoutMs: 30_000, ...hook }]]);
  const wrapRail = (rail: Rail): Rail => ({
    ...rail,
    submit(payment, signal) {
      submitted.push(payment.key);
      return rail.submit(payment, signal);
    },
  });
  return world.createNode({ screen: createScreen(hooks, () => Date.now()).screen, wrapRail });
};

beforeEach(() => {
  behave = pass;
  asked.length = 0;
  submitted = [];
  node = nodeWith();
});

async function withdraw(): Promise<string> {
  const profile = await world.createProfile({ BTC: '2' });
  const { id } = await world.withdrawCrypto(profile, { asset: 'BTC', crypto_network: 'BITCOIN' });
  return id;
}

/** Lets the worker look several times, each after the longest back-off. */
async function look(times = 4, on: Node = node): Promise<void> {
  for (let time = 0; time < times; time += 1) {
    await on.worker.runDue();
    world.advance(301_000);
  }
}

describe('a screening hook', () => {
  it('is asked with a signature about the payment and its parties, and lets it pass', async () => {
    const id = await withdraw();
    expect((await world.transferOf(id)).secondaryStatus).toEqual({
      name: 'AWAITING_SCREENING',
      detail: 'Waiting for its screening (rule "sanctions").',
    });
    await world.settle(node);
    expect((await world.transferOf(id)).status).toBe('COMPLETED');
    expect(asked).toHaveLength(1);
    const { headers, text, body } = asked[0]!;
    expect(signatureFault([SECRET], (name) => headers[name]?.toString(), text, Date.now())).toBeUndefined();
    expect(body).toMatchObject({
      transfer_id: id,
      rail: 'BITCOIN',
      asset: 'BTC',
      amount: '1',
      originator: { customer_id: world.caller.customerId },
    });
    const notes = await listNotes(world.database, id, 10);
    expect(notes.map(({ kind, notedBy }) => [kind, notedBy])).toEqual([
      ['SCREENING_REQUESTED', 'hook:watch'],
      ['SCREENING_PASSED', 'hook:watch'],
    ]);
  });

  it('refuses: the withdrawal fails, its customer is shown the public reason and operators the private one', async () => {
    behave = ({ body }, response) =>
      answer(response, {
        transfer_id: body.transfer_id,
        decision: 'REFUSE',
        reason: 'The address is sanctioned.',
        public_reason: 'The payment cannot be made.',
      });
    const id = await withdraw();
    await world.settle(node);
    const transfer = await world.transferOf(id);
    expect(transfer).toMatchObject({
      status: 'FAILED',
      secondaryStatus: {
        name: 'REFUSED_BY_SCREENING',
        detail: 'The payment cannot be made. The full total was returned.',
      },
    });
    expect(JSON.stringify(await world.eventsOf(id))).not.toContain('sanctioned');
    expect((await listNotes(world.database, id, 10)).at(-1)).toMatchObject({
      kind: 'SCREENING_REFUSED',
      detail: 'The address is sanctioned.',
    });
    expect((await world.balanceOf(transfer.profileId, 'BTC')).held).toBe('0');
    expect(submitted).toEqual([]);
  });

  const LIES: Readonly<Record<string, Behaviour>> = {
    'signs with another secret': ({ body }, response) =>
      answer(response, { transfer_id: body.transfer_id, decision: 'PASS' }, OTHER),
    'does not sign': ({ body }, response) => {
      response.writeHead(200).end(JSON.stringify({ transfer_id: body.transfer_id, decision: 'PASS' }));
    },
    'passes another withdrawal': (_asked, response) =>
      answer(response, { transfer_id: world.caller.customerId, decision: 'PASS' }),
    'answers with something else': (_asked, response) => answer(response, { ok: true }),
    'answers with no JSON': (_asked, response) => answer(response, 'PASS'),
    'passes with an extra field': ({ body }, response) =>
      answer(response, { transfer_id: body.transfer_id, decision: 'PASS', force: true }),
    'passes with the status of an error': ({ body }, response) =>
      answer(response, { transfer_id: body.transfer_id, decision: 'PASS' }, SECRET, 500),
    redirects: (_asked, response) => void response.writeHead(302, { location: url }).end(),
    'is not sure': ({ body }, response) =>
      answer(response, { transfer_id: body.transfer_id, decision: 'PENDING' }),
    'closes the connection': (_asked, response) => void response.destroy(),
  };
  it.each(Object.entries(LIES))(
    'that %s passes nothing: the withdrawal is held and asked about again',
    async (_, lie) => {
      behave = lie;
      const id = await withdraw();
      await look();
      expect(asked.length).toBeGreaterThan(1);
      expect(submitted).toEqual([]);
      expect(await world.transferOf(id)).toMatchObject({
        status: 'PENDING',
        secondaryStatus: { name: 'AWAITING_SCREENING' },
      });
      behave = pass;
      await world.settle(node);
      expect((await world.transferOf(id)).status).toBe('COMPLETED');
    },
  );

  it('that hangs, or answers after the time limit, passes nothing', async () => {
    const late: Promise<unknown>[] = [];
    behave = (one, response) => {
      late.push(sleep(400).then(() => pass(one, response)));
    };
    node = nodeWith({ timeoutMs: 100 });
    const id = await withdraw();
    await look(2);
    await Promise.all(late);
    await look(1);
    expect(submitted).toEqual([]);
    expect((await world.transferOf(id)).secondaryStatus?.name).toBe('AWAITING_SCREENING');
    behave = pass;
    await world.settle(nodeWith());
    expect((await world.transferOf(id)).status).toBe('COMPLETED');
  });

  it('that is down, or not in the configuration, passes nothing', async () => {
    const id = await withdraw();
    for (const other of [nodeWith({ url: 'http://127.0.0.1:9/screen' }), world.createNode()])
      await look(2, other);
    expect(submitted).toEqual([]);
    expect((await world.transferOf(id)).status).toBe('PENDING');
    await world.settle(node);
    expect((await world.transferOf(id)).status).toBe('COMPLETED');
  });

  it('whose answer a worker could not record is asked again by the next one, and the payment is made once', async () => {
    const id = await withdraw();
    let isDead = false;
    behave = async (one, response) => {
      isDead = true;
      await pass(one, response);
    };
    const never = new Promise<never>(() => undefined);
    const hooks = new Map([['watch', { url, secrets: [SECRET], timeoutMs: 30_000 }]]);
    const { screen } = createScreen(hooks, () => Date.now());
    const dying = world.createNode({
      screen: async (...request) => {
        const result = await screen(...request);
        return isDead ? never : result;
      },
    });
    void dying.worker.runDue();
    await expect.poll(() => isDead).toBe(true);
    world.advance(61_000);
    behave = pass;
    await world.settle(node);
    expect(asked).toHaveLength(2);
    expect(submitted).toEqual([id]);
    expect((await world.transferOf(id)).status).toBe('COMPLETED');
  });
});
