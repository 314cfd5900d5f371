import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';

/** The packages with local nodes. They are optional dependencies: npm has them for some platforms only. */

const ANVIL_VERSION = '1.7.1';
const SURFPOOL_VERSION = '1.5.0';

export type Machine = { readonly platform: string; readonly arch: string };

const anvilPackage = ({ platform, arch }: Machine): string =>
  `@foundry-rs/anvil-${platform}-${arch === 'x64' ? 'amd64' : arch}`;
const surfpoolPackage = ({ platform, arch }: Machine): string =>
  `@solana/surfpool-${platform}-${arch}${platform === 'linux' ? '-gnu' : ''}`;

const require = createRequire(import.meta.url);

function anvilIn(name: string): string | undefined {
  try {
    const program = join(dirname(require.resolve(`${name}/package.json`)), 'bin/anvil');
    return existsSync(program) ? program : undefined;
  } catch {
    return undefined;
  }
}

function isInstalled(name: string): boolean {
  try {
    require.resolve(name);
    return true;
  } catch {
    return false;
  }
}

export type Programs = {
  /** The path of the program. */
  readonly anvil: string | undefined;
  /** The name of the module. */
  readonly surfpool: string | undefined;
  /** A sentence for each that is not installed. */
  readonly missing: readonly string[];
};

export function findPrograms(machine: Machine = process): Programs {
  const [anvilName, surfpoolName] = [anvilPackage(machine), surfpoolPackage(machine)];
  const anvil = anvilIn(anvilName);
  const surfpool = isInstalled(surfpoolName) ? surfpoolName : undefined;
  const sentence = (networks: string, name: string, version: string): string =>
    `There is no local node for ${networks} because ${name} is not installed (this is ${machine.platform}-${machine.arch}). If npm has it for this platform: npm install --no-save ${name}@${version}`;
  return {
    anvil,
    surfpool,
    missing: [
      ...(anvil === undefined ? [sentence('EVM networks', anvilName, ANVIL_VERSION)] : []),
      ...(surfpool === undefined ? [sentence('SOLANA', surfpoolName, SURFPOOL_VERSION)] : []),
    ],
  };
}
