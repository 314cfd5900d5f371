import type { Capability } from '../kernel/capability.ts';
import { createTransferAccess, type TransferAccess } from './access.ts';
import { transferEvents } from './event.ts';
import { TRANSFER_PROBLEMS } from './problem-examples.ts';
import { type TransferDependencies, transferRoutes } from './routes.ts';
import { olderBeneficiaries } from './store.ts';

/** The Transfer resource, and transfers inside the service. */
export function createTransfers(dependencies: TransferDependencies): Capability & TransferAccess {
  return {
    name: 'transfers',
    routes: transferRoutes(dependencies),
    tags: { Transfers: 'Value that moves between profiles, or out to a bank account or a blockchain.' },
    problemExamples: TRANSFER_PROBLEMS,
    eventTypes: [{ ...transferEvents(dependencies.networks), resource: 'Transfer' }],
    olderRows: [olderBeneficiaries(dependencies.database)],
    ...createTransferAccess(dependencies),
  };
}
