import { ISO20022 } from './banks/kind.ts';
import { evmKind } from './chains/evm/kind.ts';
import { SOLANA_KIND } from './chains/solana/kind.ts';
import { utxoKind } from './chains/utxo/kind.ts';
import { HTTP_RAIL } from './http-rail/kind.ts';
import type { RailKind } from './rails/kind.ts';

/** The kinds of rails that the configuration file can name. */
export const RAIL_KINDS: readonly RailKind[] = [evmKind, utxoKind, SOLANA_KIND, ISO20022, HTTP_RAIL];
