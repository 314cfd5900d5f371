import { Problem } from './problem.ts';

export function tooMany(what: string, max: number, retrySeconds: number): Problem {
  const detail = `You already have ${max} ${what} on this node, which is the maximum.`;
  return new Problem('rate-limited', detail, { max }, retrySeconds);
}

/** Long answers that one customer may have open on one node. */
export type Places = {
  /** Takes a place until the signal; throws a problem if the customer has no more. */
  occupy(customerId: string, signal: AbortSignal): void;
};

export function createPlaces(what: string, max: number, retrySeconds: number): Places {
  const open = new Map<string, number>();
  return {
    occupy(customerId, signal) {
      const count = open.get(customerId) ?? 0;
      if (count >= max) throw tooMany(what, max, retrySeconds);
      // The connection may be closed already, and would not give its place back.
      if (signal.aborted) return;
      open.set(customerId, count + 1);
      signal.addEventListener('abort', () => {
        const left = open.get(customerId)! - 1;
        if (left > 0) open.set(customerId, left);
        else open.delete(customerId);
      });
    },
  };
}
