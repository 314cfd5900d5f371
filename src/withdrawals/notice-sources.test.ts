import { expect, it, vi } from 'vitest';
import { newId } from '../kernel/id.ts';
import { type ArrivedDeposit, createRails, type Notice, type NoticeSource } from '../rails/rail.ts';
import { createNoticeWorker } from './notices.ts';

const DEPOSIT: ArrivedDeposit = {
  rail: 'wire',
  account: 'operator',
  reference: 'first',
  memoId: 'MEMO',
  asset: 'USD',
  amountUnits: 1n,
};

/** Has one notice, until it is acknowledged. */
function sourceOf(notice: Notice): NoticeSource {
  let waiting = [notice];
  return {
    collect: async () => waiting,
    async acknowledge() {
      waiting = [];
    },
  };
}

it.each([
  ['fails', () => Promise.reject(new Error('the bank is unavailable'))],
  ['never answers', () => new Promise<never>(() => undefined)],
])('a source that %s does not delay the notices of the others', async (_title, collect) => {
  const taken: unknown[] = [];
  const notice = (): Notice => ({ id: newId(), about: 'deposit', deposit: DEPOSIT });
  const broken: NoticeSource = { collect, acknowledge: async () => undefined };
  const worker = createNoticeWorker({
    rails: createRails([], [sourceOf(notice()), broken, sourceOf(notice())]),
    deposit: async (arrived: ArrivedDeposit) => taken.push(arrived),
    trouble: () => undefined,
    failed: () => undefined,
  } as unknown as Parameters<typeof createNoticeWorker>[0]);
  await worker.start();
  await vi.waitFor(() => expect(taken).toEqual([DEPOSIT, DEPOSIT]), { timeout: 10_000 });
  void worker.stop();
});
