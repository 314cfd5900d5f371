import { CommandError } from './command-line.ts';

/** Reads one line without showing it: from the terminal, or from standard input if that is a file or a pipe. */

const [BACKSPACE, DELETE, CTRL_C] = [0x08, 0x7f, 0x03];
const LENGTH_MAX = 1_024;

/** Calls back with the first line, and with what follows it; without a line after Ctrl-C. */
function untilLine(onEnd: (line: Buffer | undefined, rest: Buffer) => void): (chunk: Buffer) => void {
  const bytes: number[] = [];
  return (chunk) => {
    for (const [index, byte] of chunk.entries()) {
      const rest = chunk.subarray(index + 1);
      if (byte === CTRL_C) return onEnd(undefined, rest);
      if (byte === 0x0a || byte === 0x0d) {
        const line = Buffer.from(bytes);
        bytes.fill(0);
        return onEnd(line, rest);
      }
      if (byte === BACKSPACE || byte === DELETE) bytes.pop();
      else if (bytes.length < LENGTH_MAX) bytes.push(byte);
    }
  };
}

export async function askSecret(prompt: string): Promise<Buffer> {
  const { stdin, stderr } = process;
  stderr.write(prompt);
  if (stdin.isTTY) stdin.setRawMode(true);
  try {
    return await new Promise<Buffer>((done, fail) => {
      const ended = (): void => fail(new CommandError('Standard input ended before the secret was entered.'));
      const read = untilLine((line, rest) => {
        stdin.off('data', read).off('end', ended).pause();
        if (rest.length > 0) stdin.unshift(rest);
        if (line === undefined) fail(new CommandError('Interrupted. Nothing was changed.'));
        else done(line);
      });
      stdin.on('data', read);
      stdin.once('end', ended);
    });
  } finally {
    if (stdin.isTTY) stdin.setRawMode(false);
    stdin.pause();
    stderr.write('\n');
  }
}
