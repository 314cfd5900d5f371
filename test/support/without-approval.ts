import type { Declare } from '../../src/approvals/action.ts';

/** For worlds in which no privileged action needs approval. */
export const withoutApproval: Declare = () => async () => undefined;
