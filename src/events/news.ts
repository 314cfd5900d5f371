import { createWakeUp } from '../kernel/wake-up.ts';

/** Requests that wait until a customer's feed grows. In memory only: each reads the feed again when it is woken. */
export type News = {
  /** Resolves when the customer's feed has grown, the time is over, or the signal is aborted. */
  wait(customerId: string, milliseconds: number, signal: AbortSignal): Promise<void>;
  waiting(customerId: string): number;
  tell(customerIds: readonly string[]): void;
  /** The service stops: ends every wait, and any later one at once. */
  close(): void;
  isClosed(): boolean;
};

export function createNews(): News {
  const waiters = new Map<string, Set<() => void>>();
  let isClosed = false;

  function release(customerId: string): void {
    for (const wake of waiters.get(customerId) ?? []) wake();
  }

  return {
    async wait(customerId, milliseconds, signal) {
      if (isClosed || signal.aborted || milliseconds <= 0) return;
      const { sleep, wake } = createWakeUp();
      const group = waiters.get(customerId) ?? new Set();
      waiters.set(customerId, group);
      group.add(wake);
      signal.addEventListener('abort', wake);
      await sleep(milliseconds);
      signal.removeEventListener('abort', wake);
      group.delete(wake);
      if (group.size === 0 && waiters.get(customerId) === group) waiters.delete(customerId);
    },
    waiting: (customerId) => waiters.get(customerId)?.size ?? 0,
    tell: (customerIds) => customerIds.forEach(release),
    close() {
      isClosed = true;
      for (const customerId of waiters.keys()) release(customerId);
    },
    isClosed: () => isClosed,
  };
}
