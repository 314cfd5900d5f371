import { runCommand } from './run.ts';

/** The process of the `ferry` command. */
process.exitCode = await runCommand(process.argv.slice(2), {
  env: process.env,
  stdout: (text) => void process.stdout.write(text),
  stderr: (text) => void process.stderr.write(text),
});
