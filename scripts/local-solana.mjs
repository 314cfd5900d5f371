import { startSolana } from '../test/support/solana-node.ts';

/**
 * A Solana chain of your own on port 8899, for trying out: the runtime that npm installs for the tests (Linux on x64). It is empty
 * after every start. `npx -c 'node scripts/local-solana.mjs <address> …'` gives coins to the addresses.
 */
const PORT = 8899;
const SLOT_MS = 400;
const LAMPORTS = 1_000_000_000_000n;

const chain = await startSolana(SLOT_MS, PORT);
for (const address of process.argv.slice(2)) chain.fund(address, LAMPORTS);
console.log(`Solana on ${chain.relay.url}, genesis hash ${chain.genesisHash}`);
