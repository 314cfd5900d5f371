import { execFileSync } from 'node:child_process';

/** With the owners of the files: as root, another user runs the server. No server may run on `from`. */
export function copyDataDir(from: string, to: string): void {
  execFileSync('cp', ['-a', `${from}/.`, to]);
}
