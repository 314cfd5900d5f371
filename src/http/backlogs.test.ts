import { Registry } from 'prom-client';
import { describe, expect, it } from 'vitest';
import type { Backlog } from '../database/backlog.ts';
import { LIMITS } from '../limits.ts';
import { registerBacklogs } from './backlogs.ts';

const NO_DATABASE = { query: () => Promise.reject(new Error('not asked')) };

function watching(read: Backlog['read'], label?: string) {
  const registry = new Registry();
  const errors: unknown[] = [];
  const backlog = { gauges: { waiting: 'how many' }, read, ...(label === undefined ? {} : { label }) };
  registerBacklogs(registry, NO_DATABASE, [backlog], (error) => errors.push(error));
  const lines = async (): Promise<string[]> =>
    (await registry.metrics()).split('\n').filter((line) => line !== '' && !line.startsWith('#'));
  return { lines, errors };
}

describe('backlogs', () => {
  it('are told with their labels, and those that are gone are not told any more', async () => {
    let rows = [
      { rail: 'a', waiting: 1 },
      { rail: 'b', waiting: 2 },
    ];
    const { lines } = watching(async () => rows, 'rail');
    expect(await lines()).toEqual(['waiting{rail="a"} 1', 'waiting{rail="b"} 2']);
    rows = [{ rail: 'b', waiting: 3 }];
    await new Promise((done) => setTimeout(done, LIMITS.backlogReadIntervalMs));
    expect(await lines()).toEqual(['waiting{rail="b"} 3']);
  });

  it('are read once, however many ask', async () => {
    let reads = 0;
    const { lines } = watching(async () => [{ waiting: ++reads }]);
    expect((await Promise.all([lines(), lines(), lines()])).flat()).toEqual(Array(3).fill('waiting 1'));
    expect(await lines()).toEqual(['waiting 1']);
    expect(reads).toBe(1);
  });

  it('that cannot be read are not told as 0', async () => {
    const { lines, errors } = watching(() => Promise.reject(new Error('away')));
    expect(await lines()).toEqual(['waiting Nan']);
    expect(errors).toHaveLength(1);
    const labelled = watching(() => Promise.reject(new Error('away')), 'rail');
    expect(await labelled.lines()).toEqual([]);
  });

  it('that take too long are not waited for', async () => {
    const { lines } = watching(() => new Promise(() => undefined));
    const started = performance.now();
    expect(await lines()).toEqual(['waiting Nan']);
    expect(performance.now() - started).toBeLessThan(2 * LIMITS.backlogReadMs);
  });
});
