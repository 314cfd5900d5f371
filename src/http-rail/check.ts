import { newId } from '../kernel/id.ts';
import type { RailFinding } from '../rails/kind.ts';
import { type AdapterClient, type Call, createAdapterClient, type Reply } from './client.ts';
import type { HttpRailSettings } from './kind.ts';
import { refusalOf, type Validation } from './outcome.ts';
import { loadValidation, paymentPath } from './rail.ts';
import { HealthShape } from './schema.ts';

/** `ferry rails check` for an adapter: asks, and changes nothing. */

/** Without a database there is only the clock of this machine. */
export const wallClockMs = (): number => Date.now();

const fault = (what: string, found: string): RailFinding => ({ what, found, isFault: true });

function healthFinding(reply: Reply, elapsedMs: number, validation: Validation): RailFinding {
  const what = 'GET /health';
  if (reply.kind !== 'answered') return fault(what, reply.reason);
  if (reply.status !== 200) return fault(what, `the adapter answers ${reply.status}, not 200`);
  const misshapen = validation.fault(HealthShape, reply.body);
  return misshapen === undefined
    ? { what, found: `ok, ${elapsedMs} ms` }
    : fault(what, `the answer must be {"status": "ok"}: ${misshapen}`);
}

function unknownKeyFinding(reply: Reply, validation: Validation): RailFinding {
  const what = 'an unknown payment';
  if (reply.kind !== 'answered') return fault(what, reply.reason);
  if (reply.status === 401)
    return fault(
      what,
      'the adapter refuses the signature: is it the same secret, and are both clocks right?',
    );
  return reply.status === 404 && refusalOf(reply, validation)?.outcome === 'not_found'
    ? { what, found: 'is reported as not found' }
    : fault(what, `the adapter answers ${reply.status}, not 404 with "outcome": "not_found"`);
}

function forgedFinding(reply: Reply): RailFinding {
  const what = 'a wrong signature';
  if (reply.kind !== 'answered') return fault(what, reply.reason);
  return reply.status === 401
    ? { what, found: 'is refused' }
    : fault(what, `the adapter answers ${reply.status}, not 401: anybody who can reach it can make payments`);
}

export async function checkAdapter(
  settings: HttpRailSettings,
  signal: AbortSignal,
): Promise<readonly RailFinding[]> {
  const validation = await loadValidation();
  const options = { ...settings, nowMs: wallClockMs };
  const client = createAdapterClient(options);
  const forger = createAdapterClient({
    ...options,
    secrets: [`whsec_${Buffer.alloc(32, 7).toString('base64')}`],
  });
  const ask: Call = { method: 'GET', path: paymentPath(newId()) };
  const call = (by: AdapterClient, one: Call): Promise<Reply> => by.call(one, signal);
  try {
    const startedMs = performance.now();
    const health = await call(client, { method: 'GET', path: '/health' });
    const elapsedMs = Math.round(performance.now() - startedMs);
    return [
      healthFinding(health, elapsedMs, validation),
      unknownKeyFinding(await call(client, ask), validation),
      forgedFinding(await call(forger, ask)),
    ];
  } finally {
    client.close();
    forger.close();
  }
}
