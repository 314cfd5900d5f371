import { createHmac } from 'node:crypto';
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { deriveAddress } from '../support/networks.ts';
import { SECRET } from './adapters.ts';

/** A correct adapter, in memory, that can be broken in one way at a time. */
export type Defect =
  | 'pays twice if two requests come at once'
  | 'pays again for every request'
  | 'accepts another amount under the same key'
  | 'ignores the key in the body'
  | 'answers 200 for unknown keys'
  | 'answers unknown keys without an outcome'
  | 'does not check signatures'
  | 'does not check signatures of questions'
  | 'signs the parsed body'
  | 'does not check timestamps'
  | 'accepts timestamps of the future'
  | 'never ends a payment'
  | 'changes its mind'
  | 'computes with floating-point numbers'
  | 'sends amounts as numbers'
  | 'forgets payments that it rejects'
  | 'pays assets that do not exist'
  | 'gives another deposit address every time'
  | 'gives everybody the same deposit address'
  | 'has no health'
  | 'hangs up instead of refusing'
  | 'forgets everything in a restart';

type Order = { key: string; rail: string; asset: string; amount: string };
type Payment = { order: Order; reference: number; status: string; reason?: string; asked: number };
type Answer = readonly [status: number, body: object];

const KEY = Buffer.from(SECRET.slice('whsec_'.length), 'base64');
const TOLERANCE_S = 300;

function isSigned(headers: IncomingMessage['headers'], payload: string, defect: Defect | undefined): boolean {
  const [id, timestamp, given] = ['id', 'timestamp', 'signature'].map((name) =>
    String(headers[`webhook-${name}`]),
  );
  const behindS = Date.now() / 1_000 - Number(timestamp);
  const isOld = behindS > TOLERANCE_S && defect !== 'does not check timestamps';
  const isEarly = behindS < -TOLERANCE_S && defect !== 'accepts timestamps of the future';
  if (isOld || isEarly) return false;
  const digest = createHmac('sha256', KEY).update(`${id}.${timestamp}.${payload}`).digest('base64');
  return given!.split(' ').includes(`v1,${digest}`);
}

export async function startBreakableAdapter(defect?: Defect) {
  let payments = new Map<string, Payment>();
  const addresses = new Map<string, string>();
  let count = 0;

  function present(payment: Payment): object {
    const { order, reference, status, reason } = payment;
    const { key, asset, amount } = order;
    const shown =
      defect === 'computes with floating-point numbers'
        ? String(Number(amount))
        : defect === 'sends amounts as numbers'
          ? Number(amount)
          : amount;
    const hash = status === 'completed' && { tx_hash: `0x${'ab'.repeat(32)}` };
    return { key, asset, amount: shown, reference: `ref-${reference}`, status, reason, ...hash };
  }

  const inProgress = new Map<string, number>();
  /** Waits for a second request with the key, as long as one that was sent at the same time can take. */
  async function another(key: string): Promise<void> {
    const endMs = performance.now() + 100;
    inProgress.set(key, (inProgress.get(key) ?? 0) + 1);
    for (let turn = 0; turn < 50 || performance.now() < endMs; turn += 1) {
      if (inProgress.get(key)! > 1) return;
      await nextTurn();
    }
    inProgress.delete(key);
  }

  async function put(key: string, order: Order): Promise<Answer> {
    if (order.key !== key && defect !== 'ignores the key in the body') return [409, { outcome: 'conflict' }];
    let known = payments.get(key);
    if (defect === 'pays twice if two requests come at once') await another(key);
    if (known !== undefined && JSON.stringify(known.order) !== JSON.stringify(order)) {
      if (defect !== 'accepts another amount under the same key') return [409, { outcome: 'conflict' }];
      known.order = order;
    }
    if (known === undefined || defect === 'pays again for every request') {
      count += 1;
      const isPayable = ['USD', 'ETH'].includes(order.asset) || defect === 'pays assets that do not exist';
      const end = isPayable ? { status: 'pending' } : { status: 'failed', reason: 'There is no such asset.' };
      known = { order: { ...order, key }, reference: count, asked: 0, ...end };
      if (isPayable || defect !== 'forgets payments that it rejects') payments.set(key, known);
    }
    return [200, present(known)];
  }

  function get(key: string): Answer {
    const payment = payments.get(key);
    if (payment === undefined) {
      if (defect === 'answers 200 for unknown keys') return [200, { status: 'unknown' }];
      return [404, defect === 'answers unknown keys without an outcome' ? {} : { outcome: 'not_found' }];
    }
    payment.asked += 1;
    const isDue = payment.asked > 1 && payment.status === 'pending' && defect !== 'never ends a payment';
    if (isDue) payment.status = 'completed';
    else if (payment.asked > 2 && defect === 'changes its mind')
      Object.assign(payment, { status: 'failed', reason: 'No.' });
    return [200, present(payment)];
  }

  function addressFor(id: string): string {
    if (defect === 'gives everybody the same deposit address') return deriveAddress('ETHEREUM', 'all');
    const found = addresses.get(id);
    if (found !== undefined && defect !== 'gives another deposit address every time') return found;
    const made = deriveAddress('ETHEREUM', `${id} ${addresses.size} ${count++}`);
    addresses.set(id, made);
    return made;
  }

  async function answer(incoming: IncomingMessage, text: string): Promise<Answer | 'hang up'> {
    const { method, url = '' } = incoming;
    const payload =
      text === ''
        ? `${method} ${url}`
        : defect === 'signs the parsed body'
          ? JSON.stringify(JSON.parse(text))
          : text;
    const checks =
      defect !== 'does not check signatures' &&
      !(defect === 'does not check signatures of questions' && method === 'GET');
    if (checks && !isSigned(incoming.headers, payload, defect))
      return defect === 'hangs up instead of refusing' ? 'hang up' : [401, { outcome: 'unauthenticated' }];
    const [, first, second = ''] = url.split(/[/?]/);
    if (first === 'health' && defect !== 'has no health') return [200, { status: 'ok' }];
    if (first === 'payments') return method === 'PUT' ? put(second, JSON.parse(text) as Order) : get(second);
    if (first === 'deposit-addresses') {
      const { id } = JSON.parse(text) as { id: string };
      return [200, { id, address: addressFor(id) }];
    }
    if (first === 'quote') return [200, { asset: 'ETH', fee: '0.001' }];
    return [404, {}];
  }

  const server = createServer((incoming, response) => {
    const chunks: Buffer[] = [];
    incoming.on('data', (chunk: Buffer) => chunks.push(chunk));
    incoming.on('end', () => {
      // The test names this path as the command that restarts the adapter.
      if (incoming.url === '/restart') {
        if (defect === 'forgets everything in a restart') payments = new Map();
        response.end();
        return;
      }
      void answer(incoming, Buffer.concat(chunks).toString('utf8')).then((made) => {
        if (made === 'hang up') incoming.socket.destroy();
        else response.writeHead(made[0], { 'content-type': 'application/json' }).end(JSON.stringify(made[1]));
      });
    });
  });
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    async close() {
      server.closeAllConnections();
      await new Promise((done) => server.close(done));
    },
  };
}
