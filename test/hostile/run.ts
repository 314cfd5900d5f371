import { setTimeout as sleep } from 'node:timers/promises';
import { type Answer, type Connection, createConnection, exchangeRaw, type Outcome } from './connection.ts';
import { type Counters, count, createCounters } from './counters.ts';
import { isForm, isForOperators, isRead, type Planning } from './drafts.ts';
import {
  isAdmissionRefusal,
  jsonOf,
  judgeAccess,
  judgeLeaks,
  judgeOutcome,
  judgeShape,
  judgeStatus,
  judgeTwins,
} from './oracles.ts';
import { firstMixed, planOf } from './plans.ts';
import { bytesOf, type Plan, type Request, shown } from './requests.ts';
import type { Party, Stage } from './stage.ts';
import type { World } from './world.ts';
import { byRequests, describeWrites, isLater, type Written } from './writes.ts';

export type RunOptions = {
  /** The number of the first request; those before it are left out. */
  readonly first: number;
  readonly requests: number;
  readonly seed: number;
  readonly connections: number;
  progress?(counters: Counters, findings: number): void;
};

export type Finding = {
  readonly number: number;
  readonly what: string;
  readonly request: string;
  readonly answer: string;
};

export type Run = { readonly counters: Counters; readonly findings: readonly Finding[] };

/** Requests between two comparisons of the database. */
const ROUND = 512;
/** The last requests of a round are sent while the whole platform is frozen, once every kind of answer has been seen. */
const FROZEN = 64;
/** Tables whose rows are movements of value. */
const MOVEMENTS = new Set(['entries', 'transfers']);
/**
 * Deposits that arrive are credited in a freeze, operators may book, and what was held may return to its own profile. A held
 * withdrawal that is released stays held until the freeze is lifted, too.
 */
const isExempt = (operation: Plan['operation']): boolean =>
  isForOperators(operation) ||
  operation.path.startsWith('/v2/sandbox/') ||
  operation.id === 'refuseOwnHeldWithdrawal' ||
  operation.id === 'releaseOwnHeldWithdrawal';
/** More would all say the same. */
const FINDINGS_MAX = 50;
const RETRIES_MAX = 20;
const PROGRESS_MS = 2_000;
/** How often a request must write again to be the one that writes, and the pause before each time. */
const REPEATS = 3;
const REPEAT_MS = 10;

type Sender = {
  /** Sends a request, judges its answer and returns it. */
  perform(plan: Plan, connection: Connection): Promise<Answer | undefined>;
  /** Only sends it. */
  repeat(plan: Plan, connection: Connection): Promise<void>;
  found(plan: Plan, what: string, answer?: Answer): void;
};

const answerText = ({ status, body }: Answer): string => `${status} ${shown(body.subarray(0, 800))}`;

function createSender(stage: Stage, planning: Planning, counters: Counters, findings: Finding[]): Sender {
  const { description, world, host } = planning;
  const sentBytes = ({ request, raw }: Plan): Buffer => raw?.bytes ?? bytesOf(request, host);

  function found(plan: Plan, what: string, answer?: Answer): void {
    if (findings.length >= FINDINGS_MAX) return;
    const { number, operation, kind, access } = plan;
    findings.push({
      number,
      what: `${operation.id}, ${kind}, ${access}: ${what}`,
      request: shown(sentBytes(plan)),
      answer: answer === undefined ? 'none' : answerText(answer),
    });
  }

  /** Again for as long as the service asks for it. The token endpoints limit failures, not load. */
  async function exchange(plan: Plan, request: Request, connection: Connection): Promise<Outcome> {
    for (let attempt = 0; ; attempt += 1) {
      const outcome =
        plan.raw === undefined
          ? await connection.exchange(bytesOf(request, host), request.method)
          : await exchangeRaw(stage.address, plan.raw, request.method);
      const isRefused = 'answer' in outcome && isAdmissionRefusal(outcome.answer) && !isForm(plan.operation);
      if (!isRefused || attempt === RETRIES_MAX) return outcome;
      counters.retried += 1;
      await sleep(Number(outcome.answer.headers.get('retry-after')) * 1_000);
    }
  }

  function judge(plan: Plan, outcome: Outcome): Answer | undefined {
    for (const what of judgeOutcome(plan, outcome)) found(plan, what);
    if ('failure' in outcome) return undefined;
    const { answer } = outcome;
    const sent = sentBytes(plan);
    const faults = [
      ...judgeStatus(plan, answer),
      ...judgeAccess(plan, answer),
      ...judgeShape(plan, answer, description),
      ...judgeLeaks(answer, sent, isForOperators(plan.operation) ? {} : world.secrets),
    ];
    for (const what of faults) found(plan, what, answer);
    return answer;
  }

  return {
    found,
    async repeat(plan, connection) {
      await exchange(plan, plan.request, connection);
      if (plan.twin !== undefined) await exchange(plan, plan.twin.request, connection);
    },
    async perform(plan, connection) {
      let sentMs = performance.now();
      const answer = judge(plan, await exchange(plan, plan.request, connection));
      count(counters, plan, answer?.status, performance.now() - sentMs);
      if (plan.twin === undefined || answer === undefined) return answer;
      const { request, id, twinId } = plan.twin;
      const second = { ...plan, request };
      sentMs = performance.now();
      const other = judge(second, await exchange(second, request, connection));
      count(counters, plan, other?.status, performance.now() - sentMs);
      if (other === undefined) return answer;
      for (const what of judgeTwins({ answer, id }, { answer: other, id: twinId })) found(plan, what, answer);
      return answer;
    },
  };
}

/**
 * Sends a round: first, over all connections, what is refused or only reads. Together these must not have written anything.
 * Then, one at a time, what may be accepted: whichever of them is refused must not have written anything either.
 */
async function sendRound(
  plans: readonly Plan[],
  stage: Stage,
  sender: Sender,
  connections: readonly Connection[],
  counters: Counters,
  caller: Party,
  isFrozen: boolean,
): Promise<void> {
  if (isFrozen) counters.frozen += plans.length;
  const harmless = plans.filter(({ expected }) => !expected.mayWrite);
  const others = plans.filter(({ expected }) => expected.mayWrite);
  await stage.writes.take();
  let next = 0;
  await Promise.all(
    connections.map(async (connection) => {
      for (let plan = harmless[next++]; plan !== undefined; plan = harmless[next++])
        await sender.perform(plan, connection);
    }),
  );
  counters.compared += harmless.length;
  const stray = byRequests(await stage.writes.take());
  if (stray.length > 0) await locate(harmless, stray, stage, sender, connections[0]!);
  for (const plan of others) {
    const answer = await sender.perform(plan, connections[0]!);
    counters.compared += 1;
    const isAccepted = answer !== undefined && answer.status < 400;
    if (isAccepted) await tidyUp(plan, answer, caller);
    const written = byRequests(await stage.writes.take());
    const moved = written.filter(({ table }) => MOVEMENTS.has(table));
    if (isFrozen && moved.length > 0 && !isExempt(plan.operation))
      sender.found(plan, `the platform is frozen, but value moved: ${describeWrites(moved)}`, answer);
    if (isAccepted || written.length === 0) continue;
    if (isLater(written) && !(await writesAgain(plan, stage, sender, connections[0]!))) continue;
    sender.found(plan, `it was refused, but something was written: ${describeWrites(written)}`, answer);
  }
}

/** However often it is repeated. */
async function writesAgain(
  plan: Plan,
  stage: Stage,
  sender: Sender,
  connection: Connection,
): Promise<boolean> {
  for (let attempt = 0; attempt < REPEATS; attempt += 1) {
    await sleep(REPEAT_MS);
    await stage.writes.take();
    await sender.repeat(plan, connection);
    if (byRequests(await stage.writes.take()).length === 0) return false;
  }
  return true;
}

/** An endpoint for all events would make every later write grow by its deliveries, and there is room for few endpoints. */
async function tidyUp({ operation }: Plan, answer: Answer, caller: Party): Promise<void> {
  if (operation.id !== 'createWebhook' && operation.id !== 'updateWebhook') return;
  await caller.call('DELETE', `/v2/events/webhooks/${jsonOf(answer).id}`);
}

/** Sends the requests of a round again, one at a time, to find out which of them writes. */
async function locate(
  plans: readonly Plan[],
  written: readonly Written[],
  stage: Stage,
  sender: Sender,
  connection: Connection,
): Promise<void> {
  const what = describeWrites(written);
  let culprits = 0;
  for (const plan of plans) {
    if (isRead(plan.operation) || !(await writesAgain(plan, stage, sender, connection))) continue;
    culprits += 1;
    sender.found(plan, `it must not write anything, but this was written: ${what}`);
  }
  if (culprits > 0 || isLater(written)) return;
  const others = `this and the next ${plans.length - 1} requests, none of which writes if it is repeated`;
  sender.found(plans[0]!, `during ${others}, this was written: ${what}`);
}

/** As an operator would, around these requests. */
async function whileFrozen(operator: Party, work: () => Promise<void>): Promise<void> {
  const succeed = async (path: string, body: object): Promise<any> => {
    const answer = await operator.call('POST', path, { reason: 'A drill.', ...body });
    if (answer.status !== 200) throw new Error(`${path}: ${answer.status} ${JSON.stringify(answer.body)}`);
    return answer.body;
  };
  const { id } = await succeed('/v2/operator/freezes', { scope: 'PLATFORM' });
  try {
    await work();
  } finally {
    await succeed(`/v2/operator/freezes/${id}/lift`, {});
  }
}

export async function run(stage: Stage, world: World, options: RunOptions): Promise<Run> {
  const counters = createCounters();
  const findings: Finding[] = [];
  const { seed, first, requests } = options;
  const planning = { description: stage.description, world, host: new URL(stage.url).host, seed };
  const caller = world.caller.party;
  const mixed = firstMixed(planning);
  const sender = createSender(stage, planning, counters, findings);
  const connections = Array.from({ length: options.connections }, () => createConnection(stage.address));
  const timer = setInterval(() => options.progress?.(counters, findings.length), PROGRESS_MS);
  try {
    const last = first + requests;
    for (let number = first; number < last && counters.sent < requests; ) {
      const plans: Plan[] = [];
      for (; number < last && plans.length < ROUND; number += 1) plans.push(await planOf(number, planning));
      const send = (some: readonly Plan[], isFrozen: boolean): Promise<void> =>
        sendRound(some, stage, sender, connections, counters, caller, isFrozen);
      // All plans are made before: some of them need new records, which nobody can make in a freeze.
      const frozen = plans.filter((plan) => plan.number >= mixed && plan.number % ROUND >= ROUND - FROZEN);
      await send(plans.slice(0, plans.length - frozen.length), false);
      if (frozen.length > 0) await whileFrozen(caller, () => send(frozen, true));
    }
  } finally {
    clearInterval(timer);
    for (const connection of connections) connection.close();
  }
  return { counters, findings };
}
