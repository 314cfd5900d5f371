import { connect, type TLSSocket } from 'node:tls';
import { createModes } from '../kernel/mode.ts';
import type { Vault } from '../kernel/vault.ts';
import type { Ended } from '../ledger/write-path.ts';
import { LIMITS } from '../limits.ts';
import type { DecidingNode } from './lease-store.ts';
import { createLineWriter, readLines } from './lines.ts';
import { endedFrom } from './replies.ts';
import { clientTls } from './tls.ts';

export type Reply = Ended<string> | 'declined' | 'lost';

/**
 * A connection to the node that decides.
 *
 *              handshake           another node decides
 *   OPENING ──────────────> OPEN ───────────────────────> RETIRED
 *      │                     │                               │
 *      └──── refused ────> CLOSED <── all replies are there ─┘
 *                            ^─────── cut, or silent ────────┘
 *
 * When it closes, every command that waits for its reply is lost: whether it is executed is not known.
 */
export type Link = {
  readonly node: DecidingNode;
  isOpen(): boolean;
  isClosed(): boolean;
  /** Only while it is open. */
  send(text: string): Promise<Reply>;
  waiting(): number;
  /** Takes no more commands, and closes when it has the replies to all that it has sent. */
  retire(): void;
};

/** `host:port`; an IPv6 address stands in brackets. */
function endpointOf(address: string): { host: string; port: number } {
  const colon = address.lastIndexOf(':');
  return { host: address.slice(0, colon).replace(/^\[|\]$/g, ''), port: Number(address.slice(colon + 1)) };
}

/** Asks for signs of life, and calls back when there are none. A node that was busy itself listens first. */
function watchSilence(ping: () => void, silent: () => void): { heard(): void; stop(): void } {
  let heardMs = performance.now();
  let lookedMs = heardMs;
  const timer = setInterval(() => {
    const nowMs = performance.now();
    const isLate = nowMs - lookedMs > 2 * LIMITS.nodeLinkPingMs;
    lookedMs = nowMs;
    if (!isLate && nowMs - heardMs > LIMITS.nodeLinkSilenceMs) silent();
    else ping();
  }, LIMITS.nodeLinkPingMs);
  timer.unref();
  return {
    heard() {
      heardMs = performance.now();
    },
    stop: () => clearInterval(timer),
  };
}

/** Calls back once the link is open, and once it is closed. */
function keepOpen(
  socket: TLSSocket,
  callbacks: {
    opened(write: (line: string) => void): void;
    line(line: string): void;
    closed(reason: string): void;
  },
): void {
  const timer = setTimeout(() => socket.destroy(new Error('no answer')), LIMITS.nodeLinkOpenMs);
  let watch: ReturnType<typeof watchSilence> | undefined;
  let reason = 'closed by the other node';
  socket.setNoDelay(true);
  socket.once('secureConnect', () => {
    clearTimeout(timer);
    const write = createLineWriter(socket);
    const silent = (): void => void socket.destroy(new Error('no sign of life'));
    watch = watchSilence(() => write(''), silent);
    callbacks.opened(write);
  });
  readLines(socket, (line) => {
    watch?.heard();
    if (line !== '') callbacks.line(line);
  });
  socket.on('error', (error) => {
    reason = error.message;
  });
  socket.once('close', () => {
    clearTimeout(timer);
    watch?.stop();
    callbacks.closed(reason);
  });
}

export function openLink(
  node: DecidingNode,
  vault: Vault,
  /** The link was open, and is not any more, though nobody retired it or commands wait. */
  lost: (commands: number, reason: string) => void,
): Link {
  const modes = createModes<{ name: 'OPENING' | 'OPEN' | 'RETIRED' | 'CLOSED' }>(
    'the node link',
    { name: 'OPENING' },
    { OPENING: ['OPEN', 'CLOSED'], OPEN: ['RETIRED', 'CLOSED'], RETIRED: ['CLOSED'], CLOSED: [] },
  );
  const waiting = new Map<number, (reply: Reply) => void>();
  const socket = connect({ ...endpointOf(node.address), ...clientTls(vault) });
  let write: (line: string) => void = () => undefined;
  let number = 0;

  function take(line: string): void {
    const space = line.indexOf(' ');
    const key = Number(line.slice(0, space));
    const reply = waiting.get(key);
    if (reply === undefined) return;
    waiting.delete(key);
    reply(endedFrom(line.slice(space + 1)));
    if (modes.is('RETIRED') && waiting.size === 0) socket.destroy();
  }

  function close(reason: string): void {
    const wasLost = modes.is('OPEN') || waiting.size > 0;
    modes.become({ name: 'CLOSED' });
    const replies = [...waiting.values()];
    waiting.clear();
    if (wasLost) lost(replies.length, reason);
    for (const reply of replies) reply('lost');
  }

  keepOpen(socket, {
    opened(writeLine) {
      write = writeLine;
      modes.become({ name: 'OPEN' });
    },
    line: take,
    closed: close,
  });
  return {
    node,
    isOpen: () => modes.is('OPEN'),
    isClosed: () => modes.is('CLOSED'),
    send(text) {
      number += 1;
      const key = number;
      write(`${key} ${text}`);
      return new Promise((resolve) => {
        waiting.set(key, resolve);
      });
    },
    waiting: () => waiting.size,
    retire() {
      if (modes.is('OPEN')) modes.become({ name: 'RETIRED' });
      if (waiting.size === 0) socket.destroy();
    },
  };
}
