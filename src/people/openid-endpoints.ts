import type { FastifyInstance } from 'fastify';
import { Problem } from '../kernel/problem.ts';
import { LIMITS } from '../limits.ts';
import type { Endpoints } from './endpoint.ts';
import { type OpenId, type OpenIdAnswer, personOfAnswer } from './openid.ts';
import { messagePage, sendPage } from './pages.ts';
import { readCookie } from './place.ts';
import { stepUp } from './session-store.ts';
import { refused, signIn } from './sign-in.ts';

const CALLBACK = '/signin/openid/callback';

/** The session ends or goes on; the browser gets a token only if it goes to a new one. */
async function finish(
  endpoints: Endpoints,
  answer: OpenIdAnswer,
): Promise<{ personId: string; isNew: boolean }> {
  const { database } = endpoints;
  const { id: personId } = await personOfAnswer(database, answer);
  const { stepUp: asked, authenticatedAgoMs } = answer;
  if (asked === undefined) return { personId, isNew: true };
  if (asked.personId !== personId)
    throw refused('You have signed in there as somebody else than the person who is signed in here.');
  if (!(await stepUp(database, { id: asked.sessionId, personId }, authenticatedAgoMs ?? 0)))
    throw refused('The session has ended. Sign in again.');
  return { personId, isNew: false };
}

export function registerOpenId(app: FastifyInstance, endpoints: Endpoints, openId: OpenId): void {
  const { database, place, callers, count, sourceOfRequest } = endpoints;
  const redirectUri = (): string => `${place().url}${CALLBACK}`;
  app.get('/signin/openid', async (request, reply) => {
    count(request);
    const isStepUp = Object.hasOwn(request.query as object, 'step_up');
    const session = isStepUp ? await callers.sessionOf(request.raw) : undefined;
    const asked = session && { sessionId: session.id, personId: session.personId };
    const { url, cookie: pending } = await openId.start(redirectUri(), asked);
    const { cookie, openIdCookie } = place();
    const seconds = LIMITS.openIdSignInMs / 1_000;
    // Lax: the browser sends it when the provider's page leads back here, which is another site.
    reply.header('set-cookie', cookie(openIdCookie, pending, { sameSite: 'Lax', seconds }));
    return reply.redirect(url, 303);
  });
  app.get(CALLBACK, async (request, reply) => {
    count(request);
    const { cookie, openIdCookie, sessionCookie } = place();
    const cookies = [cookie(openIdCookie, '', { sameSite: 'Lax', seconds: 0 })];
    try {
      const query = new URL(request.url, 'http://localhost').searchParams;
      const pending = readCookie(request.headers.cookie, openIdCookie);
      const answer = await openId.finish(redirectUri(), query, pending);
      const { personId, isNew } = await finish(endpoints, answer);
      if (isNew) {
        const { authenticatedAgoMs = LIMITS.sessionMs } = answer;
        const source = sourceOfRequest(request);
        const token = await signIn(database, { personId, method: 'OPENID', source, authenticatedAgoMs });
        cookies.push(cookie(sessionCookie, token, { sameSite: 'Strict' }));
      }
      reply.header('set-cookie', cookies);
      // A page instead of a redirect: a chain of redirects from another site would not send the new Strict cookie.
      return sendPage(reply, messagePage('You are signed in', 'One moment.', '../me'));
    } catch (error) {
      if (!(error instanceof Problem)) throw error;
      reply.header('set-cookie', cookies).code(error.status);
      return sendPage(reply, messagePage('You are not signed in', error.message));
    }
  });
}
