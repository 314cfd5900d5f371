import type { TransferFilters } from '../../src/transfers/list-store.ts';
import { COMMON, historyId, OTHERS, RARE } from './history.ts';

type Owner = 'profile' | 'account' | 'identity';
const common = (kind: Owner): string[] => [historyId(kind, COMMON)];
const rare = (kind: Owner): string[] => [historyId(kind, RARE)];
const foreign = (kind: Owner): string[] => [historyId(kind, OTHERS + 1)];

/** Every single filter of the list of transfers, with a common and with a rare value. */
export const transferReads = (rows: number): [string, TransferFilters][] => [
  ['without a filter', {}],
  ['by id', { ids: [historyId('transfer', 4 * (rows / 2) + 1), historyId('transfer', 7)] }],
  ['by ref_id', { ref_ids: ['ref-1', 'ref-777'] }],
  ['by group', { group_ids: [historyId('transfer', 4 * (rows - 3))] }],
  ['by hash', { crypto_tx_hashes: ['hash-1', 'hash-4', 'hash-none'] }],
  ['of a profile with most of them', { profile_ids: common('profile') }],
  ['of a profile with few', { profile_ids: rare('profile') }],
  ["of another customer's profile", { profile_ids: foreign('profile') }],
  ['of an account with many', { account_ids: common('account') }],
  ['of an account with few', { account_ids: rare('account') }],
  ["of another customer's account", { account_ids: foreign('account') }],
  ['of an identity with many', { identity_ids: common('identity') }],
  ['of an identity with few', { identity_ids: rare('identity') }],
  ['of a frequent type inside the service', { type: ['PLATFORM_TRANSFER_DEBIT'] }],
  ['of a rare type inside the service', { type: ['INTERNAL_TRANSFER_CREDIT'] }],
  ['of a frequent type outside', { type: ['CRYPTO_DEPOSIT'] }],
  ['of a rare type outside', { type: ['WIRE_WITHDRAWAL'] }],
  ['of a type that nobody has', { type: ['SEN_DEPOSIT'] }],
  ['of several types', { type: ['CRYPTO_DEPOSIT', 'CUBIX_DEPOSIT', 'PLATFORM_TRANSFER_CREDIT'] }],
  ['that are completed', { statuses: ['COMPLETED'] }],
  ['that failed', { statuses: ['FAILED'] }],
  ['that are pending', { statuses: ['PENDING'] }],
  ['that are pending, of a type', { statuses: ['PENDING'], type: ['CRYPTO_WITHDRAWAL', 'WIRE_WITHDRAWAL'] }],
];
