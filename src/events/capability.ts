import type { Logger } from 'pino';
import type { Database } from '../database/database.ts';
import type { Capability } from '../kernel/capability.ts';
import type { EventFamily } from '../kernel/event-types.ts';
import { answeredNotFound } from '../kernel/problem-examples.ts';
import { repeat } from '../kernel/repeat.ts';
import type { Signal } from '../kernel/signal.ts';
import type { Vault } from '../kernel/vault.ts';
import { LIMITS } from '../limits.ts';
import { feedBacklog } from './backlog-store.ts';
import { createCursors } from './cursor.ts';
import { eraseNext } from './erasure-store.ts';
import { createNews } from './news.ts';
import { olderEvents } from './older-events-store.ts';
import { type EventDependencies, eventRoutes } from './routes.ts';
import { createSequencer } from './sequencer.ts';
import { createEventCatalogue } from './types.ts';

type Dependencies = Pick<EventDependencies, 'batchesOf' | 'example'> & {
  readonly database: Database;
  readonly log: Pick<Logger, 'warn'>;
  readonly vault: Vault;
  /** The event types of all capabilities. */
  readonly eventTypes: readonly EventFamily[];
  /** Something was committed on this node. */
  readonly committed: Signal<unknown>;
  /** Sent when the feeds of these customers have grown. */
  readonly feedGrown: Signal<readonly string[]>;
};

function sealedTypes(families: readonly EventFamily[]): string[] {
  return families.filter(({ isSealed }) => isSealed).flatMap(({ types }) => Object.values(types));
}

/** The event feed: its order, its pages and its stream. */
export function createEvents(dependencies: Dependencies): Capability {
  const { database, log, committed, feedGrown } = dependencies;
  const news = createNews();
  const sequencer = createSequencer({ database, log, grown: feedGrown.send });
  committed.listen(() => sequencer.wake());
  feedGrown.listen(news.tell);
  const eraser = repeat(
    LIMITS.eventEraseIntervalMs,
    async () => ((await eraseNext(database)) ? 'again' : 'wait'),
    (error) => log.warn({ err: error }, 'could not erase personal data in events'),
  );
  const catalogue = createEventCatalogue(dependencies.eventTypes);
  return {
    name: 'events',
    routes: eventRoutes({ ...dependencies, news, catalogue, cursors: createCursors(dependencies.vault) }),
    tags: { Events: 'Every change of state, as an ordered feed.' },
    problemExamples: { 'not-found': (route) => answeredNotFound(route, 'event') },
    workers: [
      { name: 'event order', stage: 'core', start: sequencer.start, stop: sequencer.stop },
      { name: 'erasure in events', stage: 'background', ...eraser },
      // Ends requests that wait for events: they would keep their connections open.
      { name: 'event readers', stage: 'edge', start: () => undefined, stop: news.close },
    ],
    backlogs: [feedBacklog(database)],
    olderRows: [olderEvents(database, sealedTypes(dependencies.eventTypes))],
  };
}
