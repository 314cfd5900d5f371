/** Whoever waits for a customer's feed to grow. In memory only: who waits looks again, and the feed has the truth. */
export type News = {
  /** Resolves when the customer's feed has grown, the time is over, or the signal says so. */
  wait(customerId: string, milliseconds: number, signal: AbortSignal): Promise<void>;
  waiting(customerId: string): number;
  tell(customerIds: readonly string[]): void;
  /** Lets everybody go, now and from now on: the service stops. */
  close(): void;
  isClosed(): boolean;
};

export function createNews(): News {
  const waiters = new Map<string, Set<() => void>>();
  let closed = false;

  function release(customerId: string): void {
    for (const resolve of waiters.get(customerId) ?? []) resolve();
  }

  return {
    wait(customerId, milliseconds, signal) {
      if (closed || signal.aborted || milliseconds <= 0) return Promise.resolve();
      return new Promise((resolve) => {
        const group = waiters.get(customerId) ?? new Set();
        waiters.set(customerId, group);
        const done = (): void => {
          clearTimeout(timer);
          signal.removeEventListener('abort', done);
          group.delete(done);
          if (group.size === 0 && waiters.get(customerId) === group) waiters.delete(customerId);
          resolve();
        };
        const timer = setTimeout(done, milliseconds);
        signal.addEventListener('abort', done);
        group.add(done);
      });
    },
    waiting: (customerId) => waiters.get(customerId)?.size ?? 0,
    tell: (customerIds) => customerIds.forEach(release),
    close() {
      closed = true;
      for (const customerId of waiters.keys()) release(customerId);
    },
    isClosed: () => closed,
  };
}
