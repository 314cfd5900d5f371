import type { Database } from '../database/database.ts';
import type { Clock } from '../kernel/clock.ts';
import { Problem } from '../kernel/problem.ts';
import { type SignedRoute, signedRoute } from '../kernel/signed-route.ts';
import { appendReports } from '../rails/notice-store.ts';
import { type NoticeContext, readNotices } from './notices.ts';
import { NoticesShape, RecordedShape } from './schema.ts';
import { signatureFault } from './signature.ts';

export const noticesPath = (rail: string): string => `/v2/rails/${rail}/notices`;

/**
 * Where an adapter reports outcomes, deposits and returns. A request is answered once its notices are durable. Replays change
 * nothing: old ones are refused by their timestamp, and what a notice does is done once, however often it is recorded.
 */
export function noticesRoute(
  parts: NoticeContext & {
    readonly secrets: readonly string[];
    readonly database: Database;
    readonly clock: Clock;
  },
): SignedRoute {
  const { rail, secrets, database, clock } = parts;
  return signedRoute({
    path: noticesPath(rail),
    body: NoticesShape,
    response: RecordedShape,
    verify(header, body) {
      const fault = signatureFault(secrets, header, body.toString('utf8'), clock.nowMs());
      if (fault !== undefined) throw new Problem('unauthenticated', fault, { scheme: 'Standard-Webhooks' });
    },
    async handle(body) {
      const reports = readNotices(body, parts);
      await appendReports(database, rail, reports, clock.now());
      return { recorded: reports.length };
    },
  });
}
