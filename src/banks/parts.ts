import type { Logger } from 'pino';
import type { Database } from '../database/database.ts';
import type { Clock } from '../kernel/clock.ts';
import type { Lease } from './lease-store.ts';
import type { BankSettings } from './settings.ts';
import type { Transport } from './transport.ts';

/** Places at which a test can stop a node. */
export type BankCheckpoint =
  | 'before a file is committed'
  | 'a file is committed'
  | 'its bytes are at the bank'
  | 'its staging is committed'
  | 'the bank can read it'
  | 'its upload is committed'
  | 'a file of the bank is read'
  | 'its effect is committed'
  | 'it is archived';

/** What every step of the exchange uses. */
export type BankParts = {
  readonly settings: BankSettings;
  readonly database: Database;
  readonly clock: Clock;
  readonly transport: Transport;
  readonly lease: Lease;
  readonly leaseMs: number;
  readonly log: Pick<Logger, 'info' | 'warn' | 'error'>;
  readonly checkpoint?: (name: BankCheckpoint) => Promise<void>;
};
