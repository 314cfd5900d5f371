/**
 * `npm run bench:neighbours`: what a customer notices of a hostile one. The victim sends transfers and reads balances at a
 * moderate rate, while 0, 8, 64 and 200 connections of another customer send requests as fast as they are answered, whatever
 * the answers say: pages of a thousand rows, transfers, event streams, and token requests. Prints the victim's p50 and p99, and
 * exits with 1 if a target is missed (`-- --seconds 5` for a shorter measurement of each step).
 */
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { LIMITS } from '../src/limits.ts';
import { sandboxOf } from '../test/support/process.ts';
import { formatTable } from './figures.ts';
import { type Attack, type Counts, REF_LENGTH } from './http/attack.ts';
import type { Load, Measurement } from './http/measure.ts';
import { balancesPlan, transferPlan } from './http/plans.ts';
import { runOnStage } from './http/run.ts';
import {
  COUNTERPARTY_IDS,
  FERRY,
  PROFILE_IDS,
  type Service,
  type Stage,
  startService,
  untilAudited,
} from './http/stage.ts';
import { judge, type Target } from './http/targets.ts';

const HOSTILE = [0, 8, 64, 200];
const VICTIM = { connections: 8, ratePerSecond: 40, warmUpMs: 2_000, mayRefuse: true };
/** So that the pages of the hostile customer have a thousand rows. */
const HOSTILE_TRANSFERS_MS = 3_000;
/** The budgets of a customer are full again. */
const REST_MS = 2_000 * LIMITS.rateSeconds;
/** Hostile writes make batches larger, and a transfer waits for the batch before its own. */
const TIMES_UNDISTURBED = { reads: 3, writes: 5, streams: 3, tokens: 3 };
const LOGIN_INTERVAL_MS = 200;

const { values: options } = parseArgs({ options: { seconds: { type: 'string', default: '10' } } });

type Kind = keyof typeof TIMES_UNDISTURBED;
type Credentials = { readonly client_id: string; readonly client_secret: string };

const post = (path: string, headers: string, body: string): string => {
  const length = Buffer.byteLength(body.replace('{ref}', '-'.repeat(REF_LENGTH)));
  return `POST ${path} HTTP/1.1\r\nhost: x\r\n${headers}content-length: ${length}\r\n\r\n${body}`;
};

function tokenRequest({ client_id, client_secret }: Credentials): string {
  const basic = Buffer.from(`${client_id}:${client_secret}`).toString('base64');
  const headers = `authorization: Basic ${basic}\r\ncontent-type: application/x-www-form-urlencoded\r\n`;
  return post('/oauth2/token', headers, 'grant_type=client_credentials');
}

/** What the hostile customer sends. */
function attacksOf(token: string, own: Credentials): Readonly<Record<Kind, readonly string[]>> {
  const bearer = `authorization: Bearer ${token}\r\n`;
  const get = (path: string): string => `GET ${path} HTTP/1.1\r\nhost: x\r\n${bearer}\r\n`;
  const [from, to] = COUNTERPARTY_IDS;
  const transfer = `{"from_profile_id":"${from}","to_profile_id":"${to}","asset":"USD","amount":"0.01","ref_id":"{ref}"}`;
  return {
    reads: [get('/v2/transfer/transfers?limit=1000'), get('/v2/events?limit=1000')],
    writes: [post('/v2/transfer/internal', `${bearer}content-type: application/json\r\n`, transfer)],
    streams: [get('/v2/events/stream')],
    tokens: [
      tokenRequest(own),
      tokenRequest({ ...own, client_secret: 'wrong' }),
      tokenRequest({ client_id: 'unknown', client_secret: 'wrong' }),
    ],
  };
}

const ATTACK = fileURLToPath(new URL('http/attack.ts', import.meta.url));
const running = new Set<ChildProcess>();

function startAttack(attack: Attack): { counts(): Promise<Counts>; stop(): Promise<void> } {
  const child = fork(ATTACK);
  running.add(child);
  child.send(attack);
  return {
    async counts() {
      child.send('counts');
      const [counts] = (await once(child, 'message')) as [Counts];
      return counts;
    },
    async stop() {
      running.delete(child);
      child.kill();
      await once(child, 'exit');
    },
  };
}

/** The victim gets a token now and then; NaN if one login failed. */
function startLogins(service: Service, credentials: Credentials): () => Promise<number> {
  const ended = new AbortController();
  const times: number[] = [];
  let failed = 0;
  const basic = Buffer.from(`${credentials.client_id}:${credentials.client_secret}`).toString('base64');
  const logins = (async () => {
    while (!ended.signal.aborted) {
      const startedMs = performance.now();
      const { ok } = await fetch(`${service.url}/oauth2/token`, {
        method: 'POST',
        headers: { authorization: `Basic ${basic}` },
        body: new URLSearchParams({ grant_type: 'client_credentials' }),
      });
      if (ok) times.push(performance.now() - startedMs);
      else failed += 1;
      await sleep(LOGIN_INTERVAL_MS);
    }
  })();
  return async () => {
    ended.abort();
    await logins;
    return failed > 0 ? Number.NaN : times.sort((a, b) => a - b)[Math.floor(times.length / 2)]!;
  };
}

type Victim = { readonly transfers: Measurement; readonly balances: Measurement; readonly loginMs: number };
type Step = Victim & { readonly kind: Kind; readonly hostile: number; readonly counts: Counts };

type Loads = { readonly transfers: Load; readonly balances: Load };

async function measureVictim(service: Service, loads: Loads, credentials: Credentials): Promise<Victim> {
  const job = { ...VICTIM, measureMs: Number(options.seconds) * 1_000 };
  const logins = startLogins(service, credentials);
  const [transfers, balances] = await Promise.all([
    loads.transfers.run(service, { ...job, plan: transferPlan('spread', PROFILE_IDS, service.token) }),
    loads.balances.run(service, { ...job, plan: balancesPlan(PROFILE_IDS, service.token) }),
  ]);
  return { transfers, balances, loginMs: await logins() };
}

const ms = (value: number): string => value.toFixed(1);

function row({ kind, hostile, transfers, balances, loginMs, counts }: Step): string[] {
  const answers = Object.entries(counts).map(([status, count]) => `${status}: ${count}`);
  return [
    kind,
    answers.join(', '),
    String(hostile),
    ...[transfers, balances].flatMap(({ p50Ms, p99Ms }) => [ms(p50Ms), ms(p99Ms)]),
    ms(loginMs),
    String(transfers.refused!.count + balances.refused!.count),
  ];
}

const HEAD = [
  'attack',
  'answers to it',
  'connections',
  'transfer p50',
  'p99',
  'balance p50',
  'p99',
  'login p50',
  'refused',
];

function targetsOf(steps: readonly Step[]): Target[] {
  const targets: Target[] = [];
  for (const kind of new Set(steps.map((step) => step.kind))) {
    const own = steps.filter((step) => step.kind === kind);
    const undisturbed = own.find(({ hostile }) => hostile === 0)!;
    for (const { hostile, transfers, balances, loginMs } of own.filter((step) => step.hostile > 0)) {
      const what = `${hostile} hostile ${kind}`;
      targets.push(
        {
          what: `victim's transfer p50 with ${what} ÷ undisturbed`,
          value: transfers.p50Ms / undisturbed.transfers.p50Ms,
          bound: { atMost: TIMES_UNDISTURBED[kind] },
          digits: 2,
        },
        {
          what: `victim's requests refused with ${what}`,
          value: transfers.refused!.count + balances.refused!.count + (Number.isNaN(loginMs) ? 1 : 0),
          bound: { atMost: 0 },
          digits: 0,
        },
      );
    }
  }
  return targets;
}

async function measure(stage: Stage, loads: Loads): Promise<boolean> {
  const service = await startService(stage, FERRY, { NODE_OPTIONS: '' });
  await untilAudited(service);
  const [victim, hostile] = sandboxOf(stage.directory).customers;
  const attacks = attacksOf(service.counterpartyToken, hostile!);
  const filling = startAttack({ ...service, connections: 8, requests: attacks.writes });
  await measureVictim(service, loads, victim!);
  await sleep(HOSTILE_TRANSFERS_MS);
  await filling.stop();

  const steps: Step[] = [];
  for (const [kind, requests] of Object.entries(attacks) as [Kind, readonly string[]][]) {
    for (const connections of HOSTILE) {
      await sleep(REST_MS);
      const attack = startAttack({ ...service, connections, requests });
      const measured = await measureVictim(service, loads, victim!);
      steps.push({ kind, hostile: connections, ...measured, counts: await attack.counts() });
      await attack.stop();
      console.log(`${kind}, ${connections} connections: transfer p50 ${ms(measured.transfers.p50Ms)} ms`);
    }
  }
  await service.stop();
  console.log(`\n${formatTable([HEAD, ...steps.map(row)])}\n\nAll times in milliseconds.\n`);
  return judge(targetsOf(steps));
}

await runOnStage(
  2,
  (stage, [transfers, balances]) => measure(stage, { transfers: transfers!, balances: balances! }),
  () => {
    for (const child of running) child.kill();
  },
);
