import { Agent, request } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { NS_PER_MS } from '../src/kernel/instant.ts';
import {
  databaseOf,
  makeDataDir,
  removeDataDir,
  runFerry,
  sandboxOf,
  startFerry,
  tokenFrom,
} from '../test/support/process.ts';

/**
 * `npm run bench:settlement`: what do users of platform transfers notice when the windows of 10,000 affirmed settlement
 * transactions open at one instant, on the very profiles that they use?
 *
 * The service is a process of its own with a database of its own; this process is the load. Transfers arrive at a
 * fixed rate whatever the service does, and their time counts from when they were due. Both p99s are of one run,
 * undisturbed before and after, since only their ratio means something on a shared machine.
 */
const TRANSACTIONS = Number(process.argv[2] ?? 10_000);
const RATE = Number(process.argv[3] ?? 200);
const PROFILES = 20;
const UNDISTURBED_MS = 12_000;
const WINDOW_MS = 60_000;
const PATH = '/v2/settlement/transactions';

type Resource = { readonly id: string };
type Call = (method: string, path: string, body?: object) => Promise<Resource>;

const agent = new Agent({ keepAlive: true, maxSockets: 128 });

function clientOf(url: string, token: string): Call {
  return (method, path, body) =>
    new Promise((resolve, reject) => {
      const text = body === undefined ? '' : JSON.stringify(body);
      const headers = {
        authorization: `Bearer ${token}`,
        ...(body === undefined
          ? {}
          : { 'content-type': 'application/json', 'content-length': Buffer.byteLength(text) }),
      };
      const sent = request(url + path, { method, agent, headers }, (response) => {
        const parts: Buffer[] = [];
        response.on('data', (part: Buffer) => parts.push(part));
        response.on('error', reject);
        response.on('end', () => {
          const answer = Buffer.concat(parts).toString();
          if (response.statusCode === 200) resolve(JSON.parse(answer) as Resource);
          else reject(new Error(`${method} ${path}: ${response.statusCode} ${answer}`));
        });
      });
      sent.on('error', reject);
      sent.end(text);
    });
}

/** So many at once, for as long as there are any. */
async function inParallel(
  count: number,
  atOnce: number,
  work: (index: number) => Promise<void>,
): Promise<void> {
  let next = 0;
  const worker = async (): Promise<void> => {
    while (next < count) {
      next += 1;
      await work(next - 1);
    }
  };
  await Promise.all(Array.from({ length: atOnce }, worker));
}

/** Transfers at a fixed rate; the time of each from when it was due, in milliseconds. */
function startTransfers(call: Call, from: readonly string[], to: readonly string[]) {
  const times: { at: number; ms: number }[] = [];
  const failures: string[] = [];
  const inFlight = new Set<Promise<void>>();
  const started = performance.now();
  let sent = 0;
  const timer = setInterval(() => {
    const due = Math.floor(((performance.now() - started) / 1_000) * RATE);
    for (; sent < due; sent += 1) {
      const at = started + ((sent + 1) / RATE) * 1_000;
      const body = {
        from_profile_id: from[sent % from.length],
        to_profile_id: to[(sent * 7) % to.length],
        asset: 'USD',
        amount: '0.01',
        ref_id: `bench-${sent}`,
      };
      const transfer: Promise<void> = call('POST', '/v2/transfer/platform', body)
        .then(
          () => void times.push({ at, ms: performance.now() - at }),
          (error: unknown) => void failures.push(String(error)),
        )
        .finally(() => inFlight.delete(transfer));
      inFlight.add(transfer);
    }
  }, 1);
  return {
    times,
    failures,
    async stop() {
      clearInterval(timer);
      await Promise.all(inFlight);
    },
  };
}

function percentile(times: readonly number[], part: number): number {
  const sorted = times.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * part))] ?? Number.NaN;
}

const dataDir = makeDataDir();
const ferry = await startFerry({ FERRY_DATA_DIR: dataDir });
const database = databaseOf(dataDir);
try {
  const [one, other] = sandboxOf(dataDir).customers;
  const source = clientOf(ferry.url, await tokenFrom(ferry.url, one!));
  const target = clientOf(ferry.url, await tokenFrom(ferry.url, other!));
  const profilesOf = async (call: Call): Promise<string[]> => {
    const ids: string[] = [];
    for (let index = 0; index < PROFILES / 2; index += 1) {
      const { id } = await call('POST', '/v2/profiles', { nickname: `bench ${index}` });
      await call('POST', `/v2/sandbox/profiles/${id}/deposit`, { asset: 'USD', amount: '1000000' });
      await call('POST', `/v2/sandbox/profiles/${id}/deposit`, {
        asset: 'BTC',
        amount: '1000',
        crypto_network: 'BITCOIN',
      });
      ids.push(id);
    }
    return ids;
  };
  const [sources, targets] = [await profilesOf(source), await profilesOf(target)];

  console.log(`making ${TRANSACTIONS} affirmed transactions between ${PROFILES} profiles …`);
  const later = new Date(Date.now() + 24 * 3_600_000).toISOString();
  await inParallel(TRANSACTIONS, 64, async (index) => {
    const { id } = await source('POST', PATH, {
      source_profile_id: sources[index % sources.length],
      target_profile_id: targets[(index * 3) % targets.length],
      settlement_window_start: later,
      legs: [
        { direction: 'DELIVER', asset: 'USD', amount: '0.01' },
        { direction: 'RECEIVE', asset: 'BTC', amount: '0.00000001' },
      ],
    });
    await target('PUT', `${PATH}/${id}/affirm`);
  });

  const transfers = startTransfers(source, sources, targets);
  await sleep(3_000);
  const from = performance.now();
  const [clock] = await database.query<{ now_ns: bigint }>(
    'select (extract(epoch from clock_timestamp()) * 1000000)::bigint * 1000 as now_ns',
  );
  const opensNs = clock!.now_ns + BigInt(UNDISTURBED_MS) * NS_PER_MS;
  // All windows open at one instant; the rows are otherwise as the interface made them.
  await database.query(
    `update settlement_transactions set window_start_ns = $1::bigint, window_end_ns = $1::bigint + $2::bigint where status = 'AFFIRMED'`,
    [opensNs, BigInt(WINDOW_MS) * NS_PER_MS],
  );
  const updated = performance.now();
  const opens = from + UNDISTURBED_MS;
  await sleep(opens - performance.now());
  const countOf = async (status: string): Promise<number> => {
    const [row] = await database.query<{ count: number }>(
      'select count(*)::integer as count from settlement_transactions where status = $1',
      [status],
    );
    return row!.count;
  };
  while ((await countOf('AFFIRMED')) > 0 && performance.now() < opens + WINDOW_MS) await sleep(250);
  const ended = performance.now();
  await sleep(UNDISTURBED_MS);
  await transfers.stop();

  const [last] = await database.query<{ at_ns: bigint | null; late: number }>(
    `select max(updated_at_ns) as at_ns, (count(*) filter (where updated_at_ns >= window_end_ns))::integer as late
     from settlement_transactions where status = 'SETTLED'`,
  );
  const [stats] = await database.query<{ deadlocks: bigint }>(
    'select deadlocks from pg_stat_database where datname = current_database()',
  );
  const timesIn = (start: number, end: number): number[] =>
    transfers.times.filter(({ at }) => at >= start && at < end).map(({ ms }) => ms);
  // Not what the statement that moved the windows of all rows did to them.
  const before = [...timesIn(updated + 2_000, opens), ...timesIn(ended, Number.POSITIVE_INFINITY)];
  const during = timesIn(opens, ended);
  const settled = await countOf('SETTLED');
  const [undisturbed, disturbed] = [percentile(before, 0.99), percentile(during, 0.99)];
  const seconds = Number(((last!.at_ns ?? opensNs) - opensNs) / NS_PER_MS) / 1_000;
  console.log(
    `transfers undisturbed: ${before.length} at ${RATE}/s, p50 ${percentile(before, 0.5).toFixed(1)} ms, p99 ${undisturbed.toFixed(1)} ms`,
  );
  console.log(
    `transfers disturbed:   ${during.length} at ${RATE}/s, p50 ${percentile(during, 0.5).toFixed(1)} ms, p99 ${disturbed.toFixed(1)} ms`,
  );
  console.log(`ratio of the p99s: ${(disturbed / undisturbed).toFixed(2)} (at most 2)`);
  console.log(
    `settled ${settled} of ${TRANSACTIONS} in ${seconds.toFixed(1)} s, ${Math.round(settled / seconds)}/s; windows missed: ${TRANSACTIONS - settled + last!.late}`,
  );
  console.log(
    `failed transfers: ${transfers.failures.length}${transfers.failures[0] === undefined ? '' : `, first: ${transfers.failures[0]}`}; deadlocks: ${stats!.deadlocks}`,
  );
  const verified = await runFerry(['verify'], { FERRY_DATA_DIR: dataDir });
  console.log(`audit: ${verified.code === 0 ? 'clean' : verified.stdout + verified.stderr}`);
  const good =
    disturbed <= 2 * undisturbed && settled === TRANSACTIONS && last!.late === 0 && stats!.deadlocks === 0n;
  process.exitCode = good && transfers.failures.length === 0 && verified.code === 0 ? 0 : 1;
} finally {
  agent.destroy();
  await database.close();
  await ferry.end('SIGTERM');
  await removeDataDir(dataDir);
}
