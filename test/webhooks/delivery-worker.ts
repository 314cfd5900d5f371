import type { DatabaseAddress } from '../../src/database/database.ts';
import { createServerClock } from '../../src/database/server-clock.ts';
import { createDispatcher } from '../../src/webhooks/dispatcher.ts';
import { createSender } from '../../src/webhooks/sender.ts';
import { connectUnlocked } from '../support/vault.ts';

/** A process that only delivers webhooks, and that a test can kill. */
const address = JSON.parse(process.argv[2]!) as DatabaseAddress;
const log = { info: () => undefined, warn: () => undefined } as never;
const database = connectUnlocked(address, 4);
const dispatcher = createDispatcher({
  database,
  clock: await createServerClock(database, () => undefined),
  sender: createSender({ reach: 'anywhere', timeoutMs: 1_000 }),
  log,
  disable: async () => undefined,
  timing: { leaseMs: 2_500, renewMs: 400, attemptMs: 1_200, pollMs: 100, lingerMs: 200 },
});
dispatcher.start();
process.stdout.write('started\n');
// Ends with the process that started it.
process.stdin.on('end', () => process.exit(0)).resume();
setInterval(() => undefined, 1_000);
