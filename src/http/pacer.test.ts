import type { IncomingMessage, ServerResponse } from 'node:http';
import { describe, expect, it } from 'vitest';
import { until } from '../../test/support/until.ts';
import { LIMITS } from '../limits.ts';
import { createPacer, type Held } from './pacer.ts';

const LOOK_MS = 20;
const LATE_MS = LIMITS.pacedFromLateMs + 1;
const LOOKS = LIMITS.admissionIntervalMs / LOOK_MS;

function reads(count: number) {
  const started: number[] = [];
  const held = Array.from({ length: count }, (_, index): Held & { closed: boolean } => {
    const read = {
      closed: false,
      request: {} as IncomingMessage,
      response: {
        get closed() {
          return read.closed;
        },
      } as ServerResponse,
      handle: () => void started.push(index),
    };
    return read;
  });
  return { started, held };
}

function look(pacer: ReturnType<typeof createPacer>, times: number, lateMs: number): void {
  for (let count = 0; count < times; count += 1) pacer.look(LOOK_MS, lateMs);
}

describe('a pacer', () => {
  it('holds reads once the thread has been late for an interval, until it is on time again', () => {
    const pacer = createPacer(() => true);
    look(pacer, LOOKS - 1, LATE_MS);
    expect(pacer.isBusy()).toBe(false);
    look(pacer, 1, 0);
    look(pacer, LOOKS - 1, LATE_MS);
    expect(pacer.isBusy()).toBe(false);
    look(pacer, 1, LATE_MS);
    expect(pacer.isBusy()).toBe(true);
    look(pacer, LOOKS, 0);
    expect(pacer.isBusy()).toBe(false);
  });

  it('starts all reads in the end, in order, without those whose client has gone', async () => {
    const pacer = createPacer(() => true);
    const { started, held } = reads(300);
    for (const read of held) pacer.hold(read);
    held[7]!.closed = true;
    expect(pacer.isBusy()).toBe(true);
    await until('all are started', () => pacer.waiting() === 0);
    expect(started).toEqual(held.map((_, index) => index).filter((index) => index !== 7));
    expect(pacer.isBusy()).toBe(false);
  });

  it('starts none while there is no room', async () => {
    let hasRoom = false;
    let asked = 0;
    const pacer = createPacer(() => {
      asked += 1;
      return hasRoom;
    });
    const { started, held } = reads(3);
    for (const read of held) pacer.hold(read);
    await until('it has asked a few times', () => asked > 5);
    expect(started).toEqual([]);
    hasRoom = true;
    await until('all are started', () => started.length === 3);
  });

  it('gives back the read that came last, and starts the others when it stops', () => {
    const pacer = createPacer(() => true);
    const { started, held } = reads(3);
    for (const read of held) pacer.hold(read);
    expect(pacer.takeBack()).toBe(held[2]);
    pacer.stop();
    expect(started).toEqual([0, 1]);
    expect(pacer.takeBack()).toBeUndefined();
  });
});
