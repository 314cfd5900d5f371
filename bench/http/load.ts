/**
 * The load: a process of its own that keeps connections busy and measures what a client sees. Written on bare sockets,
 * because on a machine with few cores every microsecond that the load takes is one that the service does not get.
 *
 * Runs as a child process: takes a `LoadJob` as a message, answers with `LoadMessage`s.
 */
import { connect } from 'node:net';
import type { LoadJob, LoadMessage, LoadResult, RequestPlan } from './job.ts';

const HEAD_END = Buffer.from('\r\n\r\n');
const LENGTH = Buffer.from('content-length: ');
const OK = Buffer.from('HTTP/1.1 200 ');
/** The largest answer is a page of 100 transfers. */
const ANSWER_BYTES_MAX = 256 * 1024;
const DIGIT_ZERO = 48;

/** Counted over all runs of this process: no ref_id comes twice. */
let sequence = 0;
const SESSION = Date.now().toString(36);

/** `{ref}` is new each time; `{name}` is any value of that list, but not the one before it: a transfer has two ends. */
function filler(template: string, lists: Readonly<Record<string, readonly string[]>>): () => string {
  const parts = template.split(/\{(\w+)\}/);
  return () => {
    let text = parts[0]!;
    let last: string | undefined;
    for (let index = 1; index < parts.length; index += 2) {
      const list = lists[parts[index]!];
      let value: string;
      if (list === undefined) {
        sequence += 1;
        value = `${SESSION}-${String(sequence).padStart(9, '0')}`;
      } else {
        do value = list[Math.floor(Math.random() * list.length)]!;
        while (value === last);
        last = value;
      }
      text += value + parts[index + 1]!;
    }
    return text;
  };
}

/** Requests as they go over the wire. */
function requestWriter({ method, path, body, token, lists = {} }: RequestPlan, host: string): () => string {
  const fillPath = filler(path, lists);
  const head = ` HTTP/1.1\r\nhost: ${host}\r\nauthorization: Bearer ${token}\r\n`;
  if (body === undefined) return () => `${method} ${fillPath()}${head}\r\n`;
  const fillBody = filler(body, lists);
  const jsonHead = `${head}content-type: application/json\r\ncontent-length: `;
  return () => {
    const text = fillBody();
    return `${method} ${fillPath()}${jsonHead}${text.length}\r\n\r\n${text}`;
  };
}

/** How long the answer is, or zero while its head is not there. */
function answerLength(bytes: Buffer): number {
  const headEnd = bytes.indexOf(HEAD_END);
  if (headEnd < 0) return 0;
  const at = bytes.indexOf(LENGTH);
  if (bytes.compare(OK, 0, OK.length, 0, OK.length) !== 0 || at < 0 || at > headEnd) {
    throw new Error(`the service answered ${bytes.toString('utf8', 0, 2_000)}`);
  }
  let length = 0;
  for (let index = at + LENGTH.length; bytes[index]! >= DIGIT_ZERO; index += 1) {
    length = length * 10 + bytes[index]! - DIGIT_ZERO;
  }
  return headEnd + HEAD_END.length + length;
}

type Connection = {
  /** Sends a request; its time counts from `dueMs`. */
  send(dueMs: number): void;
  close(): void;
};

/** One request at a time. Anything but a whole answer of status 200 fails the run. */
function openConnection(
  job: LoadJob,
  write: () => string,
  answered: (connection: Connection, dueMs: number) => void,
  failed: (error: Error) => void,
): Promise<Connection> {
  return new Promise((resolve) => {
    const answer = Buffer.allocUnsafe(ANSWER_BYTES_MAX);
    let filled = 0;
    let expected = 0;
    let dueMs = 0;
    const take = (count: number, chunk: Buffer): void => {
      chunk.copy(answer, filled, 0, count);
      filled += count;
      if (expected === 0) expected = answerLength(answer.subarray(0, filled));
      if (expected === 0 || filled < expected) return;
      filled = 0;
      expected = 0;
      answered(connection, dueMs);
    };
    const socket = connect({
      host: job.host,
      port: job.port,
      noDelay: true,
      onread: {
        buffer: Buffer.allocUnsafe(64 * 1024),
        callback(count, chunk) {
          try {
            take(count, chunk as Buffer);
          } catch (error) {
            failed(error as Error);
          }
          return true;
        },
      },
    });
    const connection: Connection = {
      send(at) {
        dueMs = at;
        socket.write(write(), 'latin1');
      },
      close() {
        socket.removeAllListeners('close');
        socket.destroy();
      },
    };
    socket.once('connect', () => resolve(connection));
    socket.once('error', failed);
    socket.once('close', () => failed(new Error('the service closed a connection')));
  });
}

function percentile(sorted: Float64Array, part: number): number {
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * part))] ?? Number.NaN;
}

function tell(message: LoadMessage): void {
  process.send!(message);
}

/** Sends what is due, every millisecond, whatever the service does; what finds no free connection waits, and its time runs. */
function sendAtRate(idle: Connection[], waiting: number[], ratePerSecond: number): () => void {
  const startedMs = performance.now();
  let sent = 0;
  const timer = setInterval(() => {
    const due = Math.floor(((performance.now() - startedMs) / 1_000) * ratePerSecond);
    for (; sent < due; sent += 1) {
      const dueMs = startedMs + ((sent + 1) / ratePerSecond) * 1_000;
      const connection = idle.pop();
      if (connection === undefined) waiting.push(dueMs);
      else connection.send(dueMs);
    }
  }, 1);
  return () => clearInterval(timer);
}

function run(job: LoadJob): Promise<LoadResult> {
  return new Promise((resolve, reject) => {
    const write = requestWriter(job.plan, `${job.host}:${job.port}`);
    const times: number[] = [];
    const idle: Connection[] = [];
    const waiting: number[] = [];
    let phase: 'warming up' | 'measuring' | 'finishing' = 'warming up';
    let total = 0;
    let open = 0;
    let fromMs = 0;
    let toMs = 0;
    let stopSending = (): void => undefined;

    const finish = (connection: Connection): void => {
      connection.close();
      open -= 1;
      if (open > 0) return;
      const sorted = Float64Array.from(times).sort();
      resolve({
        count: times.length,
        perSecond: (times.length / (toMs - fromMs)) * 1_000,
        p50Ms: percentile(sorted, 0.5),
        p99Ms: percentile(sorted, 0.99),
        p999Ms: percentile(sorted, 0.999),
        total,
      });
    };
    const answered = (connection: Connection, dueMs: number): void => {
      const nowMs = performance.now();
      total += 1;
      if (phase === 'measuring') times.push(nowMs - dueMs);
      if (phase === 'finishing') return finish(connection);
      if (job.ratePerSecond === undefined) return connection.send(nowMs);
      const next = waiting.shift();
      if (next === undefined) idle.push(connection);
      else connection.send(next);
    };

    Promise.all(
      Array.from({ length: job.connections }, () => openConnection(job, write, answered, reject)),
    ).then((connections) => {
      open = connections.length;
      if (job.ratePerSecond === undefined) for (const connection of connections) connection.send(performance.now());
      else {
        idle.push(...connections);
        stopSending = sendAtRate(idle, waiting, job.ratePerSecond);
      }
      setTimeout(() => {
        phase = 'measuring';
        fromMs = performance.now();
        tell({ phase: 'measuring' });
        setTimeout(() => {
          phase = 'finishing';
          toMs = performance.now();
          tell({ phase: 'measured' });
          stopSending();
          for (const connection of idle.splice(0)) finish(connection);
        }, job.measureMs);
      }, job.warmUpMs);
    }, reject);
  });
}

process.on('message', (job: LoadJob) => {
  run(job).then(
    (result) => tell({ result }),
    (error: unknown) => tell({ error: String(error) }),
  );
});
