import { describe, expect, it } from 'vitest';
import { createSignal } from './signal.ts';
import { atMost, startWorkers, stopWorkers, type Worker } from './worker.ts';

function recorded(log: string[], name: string, stage: Worker['stage'], stopsAfter?: Promise<void>): Worker {
  return {
    name,
    stage,
    async start() {
      await Promise.resolve();
      log.push(`${name} starts`);
    },
    async stop() {
      await stopsAfter;
      log.push(`${name} stops`);
    },
  };
}

describe('workers', () => {
  it('start in the order of their stages and stop in the opposite one, however they are listed', async () => {
    const log: string[] = [];
    const workers = [
      recorded(log, 'server', 'edge'),
      recorded(log, 'write path', 'ledger'),
      recorded(log, 'audit', 'background'),
      recorded(log, 'clock', 'core'),
    ];
    await startWorkers(workers);
    expect(log.splice(0)).toEqual(['clock starts', 'write path starts', 'audit starts', 'server starts']);
    await stopWorkers(workers);
    expect(log).toEqual(['server stops', 'audit stops', 'write path stops', 'clock stops']);
  });

  it('of one stage stop concurrently, and the next stage waits for all of them', async () => {
    const log: string[] = [];
    const slow = Promise.withResolvers<void>();
    const workers = [
      recorded(log, 'audit', 'background'),
      recorded(log, 'slow', 'edge', slow.promise),
      recorded(log, 'quick', 'edge'),
    ];
    const stopped = stopWorkers(workers);
    await new Promise(setImmediate);
    expect(log).toEqual(['quick stops']);
    slow.resolve();
    await stopped;
    expect(log).toEqual(['quick stops', 'slow stops', 'audit stops']);
  });

  it('that fail to start abort the start, and later workers are not started', async () => {
    const log: string[] = [];
    const failing: Worker = {
      name: 'failing',
      stage: 'ledger',
      start: () => Promise.reject(new Error('no port')),
      stop: () => undefined,
    };
    await expect(startWorkers([recorded(log, 'server', 'edge'), failing])).rejects.toThrow('no port');
    expect(log).toEqual([]);
  });
});

describe('a bounded wait', () => {
  it('ends with the work, or when the time is up', async () => {
    await atMost(60_000, Promise.resolve());
    await atMost(1, new Promise(() => undefined));
    await expect(atMost(60_000, Promise.reject(new Error('failed')))).rejects.toThrow('failed');
  });
});

describe('a signal', () => {
  it('reaches every listener, in the order in which they were added', () => {
    const signal = createSignal<number>();
    const heard: string[] = [];
    signal.send(0);
    signal.listen((value) => heard.push(`first ${value}`));
    signal.listen((value) => heard.push(`second ${value}`));
    signal.send(1);
    expect(heard).toEqual(['first 1', 'second 1']);
  });
});
