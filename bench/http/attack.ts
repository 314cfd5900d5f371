/**
 * A hostile customer: a process of its own whose connections send requests as fast as they are answered, and ignore what the
 * answers ask for. Runs as a child process: takes an `Attack` as a message, attacks until it is ended, and answers `'counts'`
 * with how many answers of each status there were.
 */
import { connect } from 'node:net';

export type Attack = {
  readonly host: string;
  readonly port: number;
  readonly connections: number;
  /** Whole requests; each connection sends them in turn. `{ref}` is new each time. */
  readonly requests: readonly string[];
};

export type Counts = Readonly<Record<string, number>>;

const HEAD_END = '\r\n\r\n';
const RECONNECT_MS = 20;
const counts: Record<string, number> = {};
const session = Date.now().toString(36).padStart(9, '0');
/** Of the values of `{ref}`: requests say how long they are. */
export const REF_LENGTH = 19;
let sequence = 0;

function count(what: string): void {
  counts[what] = (counts[what] ?? 0) + 1;
}

/** Reads answers only as far as needed to know where the next one begins. A stream never ends. */
function createReader(answered: (status: string) => void): (chunk: Buffer) => void {
  let head = '';
  let left = 0;
  return (chunk) => {
    let rest = chunk;
    while (rest.length > 0) {
      if (left > 0) {
        const taken = Math.min(left, rest.length);
        left -= taken;
        rest = rest.subarray(taken);
        if (left === 0) answered(head.slice(9, 12));
        if (left === 0) head = '';
        continue;
      }
      head += rest.toString('latin1');
      const end = head.indexOf(HEAD_END);
      if (end < 0) return;
      rest = Buffer.from(head.slice(end + HEAD_END.length), 'latin1');
      head = head.slice(0, end);
      const length = Number(/content-length: (\d+)/i.exec(head)?.[1] ?? Number.NaN);
      if (Number.isNaN(length)) {
        count('stream');
        left = Number.POSITIVE_INFINITY;
      } else if (length === 0) {
        answered(head.slice(9, 12));
        head = '';
      } else left = length;
    }
  };
}

function attack({ host, port, requests }: Omit<Attack, 'connections'>, index: number): void {
  let next = index;
  const socket = connect({ host, port, noDelay: true });
  const send = (): void => {
    sequence += 1;
    socket.write(
      requests[next % requests.length]!.replace('{ref}', `${session}-${String(sequence).padStart(9, '0')}`),
      'latin1',
    );
    next += 1;
  };
  const read = createReader((status) => {
    count(status);
    send();
  });
  socket.on('connect', send).on('data', read);
  socket.on('error', () => undefined);
  socket.once('close', () => {
    count('closed');
    setTimeout(attack, RECONNECT_MS, { host, port, requests }, index);
  });
}

process.on('message', (message: Attack | 'counts') => {
  if (message === 'counts') {
    process.send!({ ...counts });
    for (const name of Object.keys(counts)) delete counts[name];
    return;
  }
  for (let index = 0; index < message.connections; index += 1) attack(message, index);
});
