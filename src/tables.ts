import { guaranteedFeeTable } from './fees/store.ts';
import { fiatAccountTable, heldFiatAccounts } from './fiat-accounts/store.ts';
import { frozenTransfers, heldFreezes } from './freezes/store.ts';
import { endUserTable } from './identity/end-user-store.ts';
import { originatorTable } from './identity/originator-store.ts';
import { destinationTable } from './policies/destination-store.ts';
import { meters, newUses, policyEpochs, releasedUses } from './policies/store.ts';
import { heldProfiles, profileTable } from './profiles/store.ts';
import { changedTransfers, newTransfers } from './transfers/store.ts';
import { withdrawalWakes } from './withdrawals/store.ts';

/**
 * Tables that commands of other capabilities read or write, in the transaction of the command. Their SQL stays in the
 * store of the owner: capabilities get these values as dependencies, and never import each other's stores.
 */
export const SHARED_TABLES = {
  profiles: profileTable,
  heldProfiles,
  endUsers: endUserTable,
  originators: originatorTable,
  fiatAccounts: fiatAccountTable,
  heldFiatAccounts,
  guaranteedFees: guaranteedFeeTable,
  frozenTransfers,
  heldFreezes,
  policyEpochs,
  policyMeters: meters,
  policyDestinations: destinationTable,
  newUses,
  releasedUses,
  newTransfers,
  changedTransfers,
  withdrawalWakes,
} as const;
