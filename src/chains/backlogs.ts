import type { Database } from '../database/database.ts';
import type { Backlog } from '../kernel/capability.ts';
import { addressCount } from './address-store.ts';
import { openByLane, unreportedDeposits } from './backlog-store.ts';
import { listStops } from './lease-store.ts';
import { lastBlock } from './scan-store.ts';

/** Without hierarchical keys, the signer has a list of addresses, which can run out. */
function poolBacklogs(database: Database, network: string, poolSize: number | undefined): Backlog[] {
  if (poolSize === undefined) return [];
  return [
    {
      gauges: { ferry_chain_addresses_free: 'Deposit addresses of the signer that were not handed out yet.' },
      labels: ['network'],
      async read() {
        const used = await addressCount(database, network);
        return [{ network, ferry_chain_addresses_free: Math.max(0, poolSize - used) }];
      },
    },
  ];
}

export function chainBacklogs(database: Database, network: string, poolSize?: number): readonly Backlog[] {
  return [
    ...poolBacklogs(database, network, poolSize),
    {
      gauges: { ferry_chain_stopped: 'Lanes and scanners that do not go on, by reason: 1 for each.' },
      labels: ['network', 'task', 'code'],
      async read() {
        const stops = await listStops(database, network);
        return stops.map(({ task, code }) => ({ network, task, code, ferry_chain_stopped: 1 }));
      },
    },
    {
      gauges: {
        ferry_chain_transactions_open: 'Transactions that are not final, by lane.',
        ferry_chain_transactions_oldest_seconds: 'Age of the oldest of them.',
      },
      labels: ['network', 'lane'],
      async read() {
        const rows = await openByLane(database, network);
        return rows.map(({ lane, open, oldestSeconds }) => ({
          network,
          lane,
          ferry_chain_transactions_open: open,
          ferry_chain_transactions_oldest_seconds: oldestSeconds,
        }));
      },
    },
    {
      gauges: {
        ferry_chain_scanned_height: 'The last block that was scanned for deposits.',
        ferry_chain_deposits_unconfirmed: 'Deposits that wait for confirmations.',
      },
      labels: ['network'],
      async read() {
        const [last, waiting] = await Promise.all([
          lastBlock(database, network),
          unreportedDeposits(database, network),
        ]);
        if (last === undefined) return [];
        return [
          { network, ferry_chain_scanned_height: last.height, ferry_chain_deposits_unconfirmed: waiting },
        ];
      },
    },
  ];
}
