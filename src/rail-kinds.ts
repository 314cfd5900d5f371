import { ISO20022 } from './banks/kind.ts';
import type { RailKind } from './rails/kind.ts';

/** The kinds of rails that the configuration file can name. */
export const RAIL_KINDS: readonly RailKind[] = [ISO20022];
