import { existsSync } from 'node:fs';
import { delimiter, join } from 'node:path';

/** Nodes that npm cannot install. `.ci/run` installs litecoind from Debian, and builds the others, which are Go modules. */
export const UTXO_PROGRAMS = ['litecoind', 'btcd', 'bchd'] as const;

export type UtxoProgram = (typeof UTXO_PROGRAMS)[number];

export const isInstalled = (program: UtxoProgram): boolean =>
  (process.env.PATH ?? '').split(delimiter).some((folder) => existsSync(join(folder, program)));

/** The tests that cannot run on this machine. Says so, because a run without them shows less. */
export function testsWithoutNodes(): string[] {
  if (UTXO_PROGRAMS.some(isInstalled)) return [];
  console.warn(
    `NOT RUN: test/chains/utxo-*.test.ts, because none of ${UTXO_PROGRAMS.join(', ')} is installed.`,
  );
  return ['test/chains/utxo-*.test.ts'];
}
