import type { Duplex } from 'node:stream';
import { LIMITS } from '../limits.ts';

/**
 * Messages on a connection: one line each, JSON without line breaks. Those of one turn of the event loop are written at once: a
 * system call and an encrypted record for each would cost more than the messages themselves.
 */
export function createLineWriter(socket: Duplex): (line: string) => void {
  let text = '';
  const flush = (): void => {
    const lines = text;
    text = '';
    if (socket.writable) socket.write(lines);
  };
  return (line) => {
    if (text === '') setImmediate(flush);
    text += line;
    text += '\n';
  };
}

/** Calls back with each line. A line that is too long ends the connection. */
export function readLines(socket: Duplex, taken: (line: string) => void): void {
  let rest = '';
  socket.setEncoding('utf8');
  socket.on('data', (chunk: string) => {
    let from = 0;
    for (let end = chunk.indexOf('\n'); end >= 0; end = chunk.indexOf('\n', from)) {
      taken(rest + chunk.slice(from, end));
      rest = '';
      from = end + 1;
    }
    rest += chunk.slice(from);
    if (rest.length > LIMITS.nodeLinkLineMax)
      socket.destroy(new Error('a line on the node link is too long'));
  });
}
