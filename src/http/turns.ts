import type { Queue } from '../kernel/queue.ts';
import { LIMITS } from '../limits.ts';

/**
 * Starts reads of different customers in turn. The database connections for reads are few: without turns, a customer with
 * two hundred large pages would make every other reader wait for all of them.
 *
 *             a place is free, and it is the customer's turn
 *   WAITING ─────────────────────────────────────────────────> RUNNING ─────> ENDED
 *      └────────────────── disconnected or refused ───────────────────────────>┘
 *
 * The next turn goes to the customer that has received the least so far, in points. One customer never has all places.
 */
export type Turns = {
  /** Reads that wait for their turn. */
  readonly queue: Queue;
  /** If the read has to wait, calls back when it may start, or with an error if it must not be executed. */
  take(customerId: string, points: number, start: (error?: Error) => void): Turn;
  /** Refuses the newest read of the customer that has the most waiting. */
  refuseOne(error: Error): void;
};

export type Turn = {
  /** False once the read may start. */
  isWaiting(): boolean;
  /** Frees the place, or leaves the queue. The second call has no effect. */
  end(): void;
};

type Entry = { readonly points: number; readonly start: (error?: Error) => void };

/** The reads of one customer. */
type Line = {
  readonly customerId: string;
  running: number;
  /** Points of the reads that were started, from the level at which the customer joined. */
  received: number;
  readonly waiting: Entry[];
};

export type TurnLimits = { readonly readsMax: number; readonly customerReadsMax: number };

export function createTurns({ readsMax, customerReadsMax }: TurnLimits = LIMITS): Turns {
  /** Of customers with a read that waits or runs. */
  const lines = new Map<string, Line>();
  let running = 0;
  let waiting = 0;
  let entered = 0;
  /** What the customer had received that got the last turn: others join at this level, not with a claim from the past. */
  let level = 0;

  function lineOf(customerId: string): Line {
    let line = lines.get(customerId);
    if (line === undefined) {
      line = { customerId, running: 0, received: level, waiting: [] };
      lines.set(customerId, line);
    }
    return line;
  }

  function forgetIdle(line: Line): void {
    if (line.running === 0 && line.waiting.length === 0) lines.delete(line.customerId);
  }

  function run(line: Line, points: number): void {
    running += 1;
    line.running += 1;
    level = Math.max(level, line.received);
    line.received += points;
  }

  function nextLine(): Line | undefined {
    let next: Line | undefined;
    for (const line of lines.values()) {
      if (line.waiting.length === 0 || line.running >= customerReadsMax) continue;
      if (next === undefined || line.received < next.received) next = line;
    }
    return next;
  }

  function startWaiting(): void {
    while (waiting > 0 && running < readsMax) {
      const line = nextLine();
      if (line === undefined) return;
      const { points, start } = line.waiting.shift()!;
      waiting -= 1;
      run(line, points);
      start();
    }
  }

  function remove(line: Line, entry: Entry): void {
    const index = line.waiting.indexOf(entry);
    if (index < 0) return;
    line.waiting.splice(index, 1);
    waiting -= 1;
    forgetIdle(line);
  }

  return {
    queue: { waiting: () => waiting, entered: () => entered },
    take(customerId, points, start) {
      const line = lineOf(customerId);
      const hasPlace = running < readsMax && line.running < customerReadsMax && line.waiting.length === 0;
      let state: 'WAITING' | 'RUNNING' | 'ENDED' = hasPlace ? 'RUNNING' : 'WAITING';
      const entry: Entry = {
        points,
        start(error) {
          state = error === undefined ? 'RUNNING' : 'ENDED';
          start(error);
        },
      };
      entered += 1;
      if (hasPlace) run(line, points);
      else {
        line.waiting.push(entry);
        waiting += 1;
      }
      return {
        isWaiting: () => state === 'WAITING',
        end() {
          if (state === 'WAITING') remove(line, entry);
          else if (state === 'RUNNING') {
            running -= 1;
            line.running -= 1;
            forgetIdle(line);
          }
          state = 'ENDED';
          startWaiting();
        },
      };
    },
    refuseOne(error) {
      let longest: Line | undefined;
      for (const line of lines.values())
        if (line.waiting.length > (longest?.waiting.length ?? 0)) longest = line;
      const entry = longest?.waiting.pop();
      if (longest === undefined || entry === undefined) return;
      waiting -= 1;
      forgetIdle(longest);
      entry.start(error);
    },
  };
}
