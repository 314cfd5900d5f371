import type { ChainOptions } from '../rail.ts';
import { COLD_PATH } from '../treasury-driver.ts';
import { type Account, readAccount } from './account.ts';
import { chainOf } from './chain.ts';
import { scriptOf } from './script.ts';
import type { UtxoSettings } from './settings.ts';
import { coldOf } from './treasury.ts';

/** Whether the signer has the keys of the wallet; if not, a clause about it. One without an account has keys that it names. */
export function accountFault(
  { network, chain: name, account: text }: UtxoSettings,
  account: Account,
  xpubOfSigner: string | undefined,
): string | undefined {
  if (xpubOfSigner === undefined) return undefined;
  try {
    // The same account may be written in several ways.
    const { change } = readAccount(chainOf(network, name), xpubOfSigner);
    if (change.address === account.change.address) return undefined;
  } catch (error) {
    return `has the account ${xpubOfSigner}, which ${(error as Error).message}`;
  }
  return `has the keys of another account of ${network}: ${xpubOfSigner}, not ${text}`;
}

/**
 * The wallet of a network as the keeper and the scanner see it: one lane, which is the address of the change, and addresses for
 * deposits on branch 0 of the account. Throws if the keys of the signer are those of another account.
 */
export function openWallet(
  settings: UtxoSettings,
  account: Account,
  xpubOfSigner: string | undefined,
): Pick<ChainOptions, 'lanes' | 'account' | 'walletAddresses' | 'hasCoins' | 'isAddress'> {
  const fault = accountFault(settings, account, xpubOfSigner);
  if (fault !== undefined) throw new Error(`the signer of ${settings.network} ${fault}`);
  const { address, path } = account.change;
  const chain = chainOf(settings.network, settings.chain);
  const cold = coldOf(chain, settings);
  return {
    lanes: [address],
    walletAddresses: [{ address, path }, ...(cold === undefined ? [] : [{ address: cold, path: COLD_PATH }])],
    hasCoins: true,
    isAddress: (one) => scriptOf(chain, one) !== undefined,
    account: {
      xpub: settings.account,
      derive(number) {
        const key = account.keyAt(`0/${number}`);
        return { address: key.address, path: key.path };
      },
    },
  };
}
