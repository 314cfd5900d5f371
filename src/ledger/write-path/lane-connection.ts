import type { Database } from '../../database/database.ts';
import { createModes } from '../../kernel/mode.ts';
import { LIMITS } from '../../limits.ts';
import { openSession, type Session } from './flight.ts';

type Mode =
  | { readonly name: 'CLOSED' }
  | { readonly name: 'OPENING' }
  | { readonly name: 'OPEN'; readonly session: Session };

/**
 * The connection of the optimistic lane. It is closed when it is idle: others may need it, and an idle connection may be
 * lost unnoticed.
 *
 *             open               connected
 *   CLOSED ─────────> OPENING ──────────────> OPEN
 *     ^  ^               │                     │
 *     │  └── refused ────┘                     │
 *     └────────────────────── idle, or lost ───┘
 */
export function createLaneConnection(database: Database, isIdle: () => boolean) {
  const modes = createModes<Mode>(
    'the optimistic lane',
    { name: 'CLOSED' },
    { CLOSED: ['OPENING'], OPENING: ['OPEN', 'CLOSED'], OPEN: ['CLOSED'] },
  );

  function session(): Session | undefined {
    const mode = modes.now();
    return mode.name === 'OPEN' ? mode.session : undefined;
  }

  function close(): void {
    session()?.connection.release();
    if (modes.is('OPEN')) modes.become({ name: 'CLOSED' });
  }

  function closeIfIdle(): void {
    if (!modes.is('OPEN')) return;
    if (isIdle()) close();
    else setTimeout(closeIfIdle, LIMITS.optimisticIdleMs).unref();
  }

  return {
    session,
    close,
    isClosed: () => modes.is('CLOSED'),
    isOpening: () => modes.is('OPENING'),
    /** False if there is no connection. */
    async open(): Promise<boolean> {
      modes.become({ name: 'OPENING' });
      try {
        modes.become({ name: 'OPEN', session: await openSession(database) });
        setTimeout(closeIfIdle, LIMITS.optimisticIdleMs).unref();
        return true;
      } catch {
        modes.become({ name: 'CLOSED' });
        return false;
      }
    },
  };
}
