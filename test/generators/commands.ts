import { execFile, execFileSync } from 'node:child_process';
import { cpSync, mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';

/** Runs a program in the folder of a client, and returns what it prints. Fails if the program does. */
export type Run = (program: string, args: readonly string[], where?: string) => Promise<string>;

const OUTPUT_MAX = 64 * 1024 * 1024;
const TIME_MAX_MS = 15 * 60_000;

export const runnerIn =
  (folder: string, env: Readonly<Record<string, string>>): Run =>
  (program, args, where = '.') =>
    new Promise((resolve, reject) => {
      const options = {
        cwd: join(folder, where),
        env: { ...process.env, ...env },
        maxBuffer: OUTPUT_MAX,
        timeout: TIME_MAX_MS,
      };
      execFile(program, [...args], options, (error, stdout, stderr) => {
        if (error === null) resolve(stdout);
        else reject(new Error(`${program} ${args.join(' ')}\n${`${stdout}\n${stderr}`.slice(-3_000)}`));
      });
    });

export function canRun(program: string): boolean {
  try {
    execFileSync('sh', ['-c', `command -v ${program}`], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
}

/** What went wrong, as text. */
export async function attempt(work: () => Promise<void>): Promise<string | undefined> {
  try {
    await work();
    return undefined;
  } catch (error) {
    return (error as Error).message;
  }
}

/** An empty folder of that name. */
export function emptied(folder: string): string {
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  return folder;
}

/** The program that uses the generated client. */
export function addProgram(folder: string, name: string, as: string = name): void {
  cpSync(join(import.meta.dirname, 'programs', name), join(folder, as));
}

/** Each program prints the status of its transfer, and whether the list contains it. */
export function expectSuccess(printed: string): void {
  if (printed.trim() !== 'COMPLETED listed') throw new Error(`the client printed ${JSON.stringify(printed)}`);
}
