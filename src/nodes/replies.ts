import { Problem, type ProblemSlug } from '../kernel/problem.ts';
import type { Outcome } from '../ledger/command.ts';
import type { Ended } from '../ledger/write-path.ts';

/** What the node that decides replies: a letter, and what follows it. The text of a new transfer is sent as it is. */
const DONE = 'd';
const REPLAY = 'r';
const PROBLEM = 'p';
const FAILED = 'f';
/** The node does not decide, or no longer: nothing was executed. */
export const DECLINED = 'n';

type Replay = Pick<Extract<Outcome<string>, { replayed: true }>, 'resourceId' | 'differs'>;
type SentProblem = {
  readonly slug: ProblemSlug;
  readonly detail: string;
  readonly meta: Record<string, unknown>;
  readonly retryAfterSeconds?: number;
};

export function replyOf(ended: Ended<string>): string {
  if ('error' in ended) {
    const { error } = ended;
    if (!(error instanceof Problem)) return FAILED + JSON.stringify(String(error));
    const { slug, message: detail, meta, retryAfterSeconds } = error;
    return PROBLEM + JSON.stringify({ slug, detail, meta, retryAfterSeconds });
  }
  const { outcome } = ended;
  if (!outcome.replayed) return DONE + outcome.answer;
  const { resourceId, differs } = outcome;
  return REPLAY + JSON.stringify({ resourceId, differs } satisfies Replay);
}

export function endedFrom(reply: string): Ended<string> | 'declined' {
  const rest = reply.slice(1);
  switch (reply.charAt(0)) {
    case DONE:
      return { outcome: { replayed: false, answer: rest } };
    case REPLAY:
      return { outcome: { replayed: true, ...(JSON.parse(rest) as Replay) } };
    case PROBLEM: {
      const { slug, detail, meta, retryAfterSeconds } = JSON.parse(rest) as SentProblem;
      return { error: new Problem(slug, detail, meta, retryAfterSeconds) };
    }
    case DECLINED:
      return 'declined';
    default:
      return { error: new Error(`the node that decides failed: ${rest}`) };
  }
}
