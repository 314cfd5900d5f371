// Loaded into a running service by a test: asks the signer as the keeper does, and prints how many signatures it got.
import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';

const { createSignerClient } = await import('../../src/signer/client.ts');
const { socket, requests } = JSON.parse(readFileSync(process.env.ASKING_SERVICE, 'utf8'));
const signer = createSignerClient({ socket });
// Kept, so that a snapshot of the heap shows that it contains what the service knows.
globalThis.askedFor = requests;
let signatures = 0;
for (const request of requests)
  signatures += (await signer.sign({ ...request, requestId: randomUUID() }, new AbortController().signal))
    .length;
console.log(`the signer returned ${signatures} signatures`);
