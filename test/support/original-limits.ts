import { LIMITS } from '../../src/limits.ts';

/** The limits of the product. A process of the tests loads this once, before the first file changes any. */
export const ORIGINAL_LIMITS = { ...LIMITS };
