import type { Signer } from './signer.ts';

/**
 * A signer inside the service, for the sandbox and for tests: it signs whatever the service asks for. In production keys are in a
 * process of their own.
 */

const ACCOUNT_PATH = "m/44'/60'/0'";

type Hex = `0x${string}`;

/** One lane: the first address of the mnemonic, as wallets show it. */
export async function createEvmSigner(mnemonic: string): Promise<Signer> {
  const [{ mnemonicToAccount }, { keccak256 }] = await Promise.all([import('viem/accounts'), import('viem')]);
  const lane = mnemonicToAccount(mnemonic, { path: `${ACCOUNT_PATH}/0/0` });
  const xpub = mnemonicToAccount(mnemonic, { path: ACCOUNT_PATH }).getHdKey().publicExtendedKey;
  return {
    sign: async ({ unsigned }) => [await lane.sign({ hash: keccak256(unsigned as Hex) })],
    account: async () => ({ lanes: [lane.address], xpub }),
  };
}
