import { setTimeout as sleep } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { newId } from '../../src/kernel/id.ts';
import { unguarded } from '../support/database.ts';
import { createWorld, type LegText } from './settlement-world.ts';

/** Transactions that the engine cannot try at the moment. */
const DELIVER: LegText = 'deliver 10 USD';

it('a balance that another session keeps locked does not delay other transactions for long, and is tried again', async () => {
  const other = await createWorld();
  const [a, b, c, d] = [
    await other.profile({ USD: 1_000n }),
    await other.profile(),
    await other.profile({ USD: 1_000n }),
    await other.profile(),
  ];
  const holder = await other.database.reserve();
  await holder.query('set idle_in_transaction_session_timeout = 0');
  await holder.query('begin');
  await holder.query(`select from balances where profile_id = $1 for update`, [a]);
  const held = await other.agree(a, b, [DELIVER]);
  await sleep(50);
  const free = await other.agree(c, d, [DELIVER]);
  await other.until('SETTLED', [free]);
  expect(await other.statuses([held])).toEqual(['AFFIRMED']);
  await expect.poll(() => other.node.failures.join()).toContain(held.id);
  await holder.query('rollback');
  holder.release();
  await other.until('SETTLED', [held]);
  other.node.troubles.length = 0;
  await other.end();
});

it('a transaction in an asset that is no longer configured delays no others, and neither does its end', async () => {
  const other = await createWorld();
  const [a, b] = [await other.profile({ USD: 5_000n }), await other.profile()];
  const gone = await other.propose(a, b, [DELIVER]);
  const over = await other.propose(a, b, [DELIVER]);
  await unguarded(other.database).query(
    `update settlement_transactions set legs = jsonb_set(legs, '{0,asset}', '"GONE"'), status = 'AFFIRMED',
       window_start_ns = created_at_ns - 200000000000, window_end_ns = window_end_ns - case when id = $2 then 86500000000000 else 0 end
     where id = any (array[$1, $2]::uuid[])`,
    [gone.id, over.id],
  );
  await sleep(300);
  const good = await other.agree(a, b, [DELIVER]);
  const ends = await other.propose(a, b, [DELIVER], { endMs: 100 });
  await other.until('SETTLED', [good]);
  await other.until('EXPIRED', [ends]);
  expect(await other.statuses([gone, over])).toEqual(['AFFIRMED', 'AFFIRMED']);
  other.node.troubles.length = 0;
  await other.end();
});

it('an unknown id delays no others', async () => {
  const other = await createWorld();
  const [source, target] = [await other.profile({ USD: 1_000n }), await other.profile()];
  const one = await other.propose(source, target, [DELIVER]);
  other.node.worker.affirmed({ ...one, id: newId() });
  await other.affirm(one);
  await other.until('SETTLED', [one]);
  await other.end();
});
