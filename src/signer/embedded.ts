import type { Database } from '../database/database.ts';
import type { Networks } from '../networks/register.ts';
import type { Signer } from './contract.ts';
import { createSigner } from './decide.ts';
import { createHistory } from './history.ts';
import { keysOfSeed } from './keys.ts';
import type { DecisionLog } from './log.ts';
import type { Policy } from './policy.ts';

/** A log that ends with the process: for money that is not real. */
function memoryLog(): DecisionLog {
  const history = createHistory();
  let lines = 0;
  return {
    history,
    path: 'memory',
    get lines() {
      return lines;
    },
    repairedBytes: 0,
    signed: async () => ({ records: [], next: null }),
    async append(decision) {
      history.add(decision);
      lines += 1;
    },
    close: async () => undefined,
  };
}

/** The signer inside the service, for the sandbox and its local chains. Production runs `ferry signer` instead. */
export function createEmbeddedSigner(parts: {
  readonly database: Database;
  readonly networks: Networks;
  readonly policy: Policy;
  /** 64 bytes, or any other secret of at least 16. */
  readonly seed: Buffer;
}): Promise<Signer> {
  const { database, networks, policy, seed } = parts;
  const nowMs = (): number => performance.timeOrigin + performance.now();
  return createSigner({ database, networks, policy, keys: keysOfSeed(seed), log: memoryLog(), nowMs });
}
