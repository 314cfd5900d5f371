import { Registry } from 'prom-client';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { Backlog } from '../kernel/capability.ts';
import { LIMITS } from '../limits.ts';
import { registerBacklogs } from './backlogs.ts';

function watching(read: Backlog['read'], ...labels: string[]) {
  const registry = new Registry();
  const errors: unknown[] = [];
  const backlog = { gauges: { waiting: 'how many' }, read, ...(labels.length > 0 && { labels }) };
  registerBacklogs(registry, [backlog], (error) => errors.push(error));
  const lines = async (): Promise<string[]> =>
    (await registry.metrics()).split('\n').filter((line) => line !== '' && !line.startsWith('#'));
  return { lines, errors };
}

describe('backlogs', () => {
  // The interval between two reads passes when a test says so, not when the machine is slow.
  beforeEach(() => {
    vi.useFakeTimers({ toFake: ['performance'] });
  });
  afterEach(() => {
    vi.useRealTimers();
  });

  it('are reported with their labels, and no longer once they are gone', async () => {
    let rows = [
      { rail: 'a', waiting: 1 },
      { rail: 'b', waiting: 2 },
    ];
    const { lines } = watching(async () => rows, 'rail');
    expect(await lines()).toEqual(['waiting{rail="a"} 1', 'waiting{rail="b"} 2']);
    rows = [{ rail: 'b', waiting: 3 }];
    vi.advanceTimersByTime(LIMITS.backlogReadIntervalMs);
    expect(await lines()).toEqual(['waiting{rail="b"} 3']);
  });

  it('of several rails with the same gauges are reported together', async () => {
    const registry = new Registry();
    const of = (rail: string): Backlog => ({
      gauges: { waiting: 'how many' },
      labels: ['rail'],
      read: async () => [{ rail, waiting: 1 }],
    });
    registerBacklogs(registry, [of('a'), of('b')], () => undefined);
    expect(await registry.metrics()).toContain('waiting{rail="a"} 1\nwaiting{rail="b"} 1');
  });

  it('are read once for requests that arrive together', async () => {
    let reads = 0;
    const { lines } = watching(async () => [{ waiting: ++reads }]);
    expect((await Promise.all([lines(), lines(), lines()])).flat()).toEqual(Array(3).fill('waiting 1'));
    expect(await lines()).toEqual(['waiting 1']);
    expect(reads).toBe(1);
  });

  it('that cannot be read are omitted, and not reported as 0', async () => {
    const { lines, errors } = watching(() => Promise.reject(new Error('unavailable')));
    expect(await lines()).toEqual(['waiting Nan']);
    expect(errors).toHaveLength(1);
    const labelled = watching(() => Promise.reject(new Error('unavailable')), 'rail');
    expect(await labelled.lines()).toEqual([]);
  });

  it('that take too long are omitted', async () => {
    const { lines } = watching(() => new Promise(() => undefined));
    expect(await lines()).toEqual(['waiting Nan']);
  });
});
