/** What rails that write payment messages need to know of fiat accounts. */
export { countryCode } from './countries.ts';
export type { Address, FiatAccountOwner, RoutingDetails } from './fiat-account.ts';
