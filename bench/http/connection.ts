// One connection of the load: a bare socket that knows just enough of HTTP.
import { connect } from 'node:net';
import type { Requests } from './requests.ts';

const HEAD_END = Buffer.from('\r\n\r\n');
const LENGTH = Buffer.from('content-length: ');
const OK = Buffer.from('HTTP/1.1 200 ');
const UNAVAILABLE = Buffer.from('HTTP/1.1 503 ');
const ID = Buffer.from('"id":"');
const ID_LENGTH = 36;
/** The largest answer is a page of 100 transfers. */
const ANSWER_BYTES_MAX = 256 * 1024;
const DIGIT_ZERO = 48;

const startsWith = (bytes: Buffer, start: Buffer): boolean =>
  bytes.compare(start, 0, start.length, 0, start.length) === 0;

/** How long the answer is, or zero while its head is not there. */
function answerLength(bytes: Buffer, mayRefuse: boolean): number {
  const headEnd = bytes.indexOf(HEAD_END);
  if (headEnd < 0) return 0;
  const at = bytes.indexOf(LENGTH);
  const isExpected = startsWith(bytes, OK) || (mayRefuse && startsWith(bytes, UNAVAILABLE));
  if (!isExpected || at < 0 || at > headEnd) {
    throw new Error(`the service answered ${bytes.toString('utf8', 0, 2_000)}`);
  }
  let length = 0;
  for (let index = at + LENGTH.length; bytes[index]! >= DIGIT_ZERO; index += 1) {
    length = length * 10 + bytes[index]! - DIGIT_ZERO;
  }
  return headEnd + HEAD_END.length + length;
}

/** The resource's own id comes before those of its parts. */
function idOf(bytes: Buffer): string {
  const at = bytes.indexOf(ID) + ID.length;
  return bytes.toString('latin1', at, at + ID_LENGTH);
}

export type Connection = {
  /** Sends a request; its time counts from `dueMs`. */
  send(dueMs: number): void;
  close(): void;
};

/** `refusedSentMs`, when it was sent, is given if the service refused the request: only where the job allows that. */
export type Answered = (connection: Connection, dueMs: number, refusedSentMs?: number) => void;

/** One request at a time. Anything but a whole answer of an expected status fails the run. */
export function openConnection(
  address: { readonly host: string; readonly port: number; readonly mayRefuse?: boolean },
  requests: Requests,
  answered: Answered,
  failed: (error: Error) => void,
): Promise<Connection> {
  return new Promise((resolve) => {
    const answer = Buffer.allocUnsafe(ANSWER_BYTES_MAX);
    let filled = 0;
    let expected = 0;
    let dueMs = 0;
    let sentMs = 0;
    let isNext = false;
    const mayRefuse = address.mayRefuse === true;
    const take = (count: number, chunk: Buffer): void => {
      chunk.copy(answer, filled, 0, count);
      filled += count;
      if (expected === 0) expected = answerLength(answer.subarray(0, filled), mayRefuse);
      if (expected === 0 || filled < expected) return;
      filled = 0;
      expected = 0;
      if (mayRefuse && startsWith(answer, UNAVAILABLE)) {
        answered(connection, dueMs, sentMs);
        return;
      }
      if (requests.next !== undefined) {
        isNext = !isNext;
        if (isNext) {
          socket.write(requests.next(idOf(answer)), 'latin1');
          return;
        }
      }
      answered(connection, dueMs);
    };
    const socket = connect({
      host: address.host,
      port: address.port,
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
        if (mayRefuse) sentMs = performance.now();
        socket.write(requests.first(), 'latin1');
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
