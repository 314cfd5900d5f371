import { mkdirSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';

/** Replaces a database server: closes every connection at once, and counts them. */
export async function refuseConnections({ socketDir, port }: { socketDir: string; port: number }) {
  let attempts = 0;
  const server = createServer((connection) => {
    attempts += 1;
    connection.destroy();
  });
  mkdirSync(socketDir, { recursive: true });
  await new Promise<void>((listening) => server.listen(join(socketDir, `.s.PGSQL.${port}`), listening));
  return {
    attempts: () => attempts,
    async close(): Promise<void> {
      await new Promise((closed) => server.close(closed));
    },
  };
}
