import type { ChainOptions } from '../rail.ts';
import { type Account, readAccount } from './account.ts';
import { chainOf } from './chain.ts';
import type { UtxoSettings } from './settings.ts';

/**
 * The wallet of a network as the keeper and the scanner see it: one lane, which is the address of the change, and addresses for
 * deposits on branch 0 of the account. Throws if the keys of the signer are those of another account.
 */
export function openWallet(
  { network, chain: name, account: text, replacement }: UtxoSettings,
  account: Account,
  xpubOfSigner: string | undefined,
): Pick<ChainOptions, 'lanes' | 'account' | 'walletAddresses' | 'hasCoins'> {
  const { address, path } = account.change;
  const chain = chainOf(network, name, replacement);
  if (xpubOfSigner !== undefined && readAccount(chain, xpubOfSigner).change.address !== address)
    throw new Error(`the signer has the keys of another account of ${network} than ${text}: ${xpubOfSigner}`);
  return {
    lanes: [address],
    walletAddresses: [{ address, path }],
    hasCoins: true,
    account: {
      xpub: text,
      derive(number) {
        const key = account.keyAt(`0/${number}`);
        return { address: key.address, path: key.path };
      },
    },
  };
}
