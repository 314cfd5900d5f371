import type { Assets } from '../kernel/asset.ts';
import type { Fields } from '../kernel/fields.ts';
import type { CryptoNetwork } from '../networks/crypto.ts';
import type { Networks } from '../networks/register.ts';

export type Destination = {
  readonly asset: string;
  readonly crypto_network: CryptoNetwork;
  readonly destination_address: string;
};

export type DestinationRules = { readonly assets: Assets; readonly networks: Networks };

/**
 * Checks the asset, that the asset is on the network, and the address. Returns the code of the asset if it is known.
 * Error messages never repeat the address, because it may be a private key that was entered by mistake.
 */
export function readDestination(
  fields: Fields,
  request: Destination,
  { assets, networks: register }: DestinationRules,
): string | undefined {
  const { crypto_network: network, destination_address: address } = request;
  const fault = register.addressFault(network, address);
  if (fault !== undefined) fields.fault('/destination_address', fault);
  const code = fields.asset('/asset', request.asset);
  if (code === undefined) return undefined;
  const { networks } = assets.get(code);
  const names = Object.keys(networks);
  if (names.length === 0) {
    fields.fault('/asset', `is not on any crypto network, ${code} is withdrawn to a fiat account`);
  } else if (networks[network] === undefined) {
    fields.fault('/crypto_network', `must be a network of ${code}: ${names.join(', ')}`);
  } else if (networks[network].toLowerCase() === address.toLowerCase()) {
    // A common mistake that loses tokens: nobody can send them from there.
    fields.fault('/destination_address', `is the contract of ${code} itself`);
  }
  return code;
}
