import type { Arrivals } from '../deposits/arrivals.ts';
import { SUSPENSE_DEPOSIT } from '../deposits/examples.ts';
import { SuspenseDepositShape } from '../deposits/schema.ts';
import { kindOfNetwork } from '../deposits/target.ts';
import { actorOf } from '../kernel/actor.ts';
import type { Assets } from '../kernel/asset.ts';
import { createFields, type Fields } from '../kernel/fields.ts';
import { newId } from '../kernel/id.ts';
import { notFound, Problem } from '../kernel/problem.ts';
import { type Caller, type Route, route } from '../kernel/route.ts';
import { Amount, AssetCode, closed, Id } from '../kernel/shapes.ts';
import { Type } from '../kernel/type.ts';
import { LIMITS } from '../limits.ts';
import type { CryptoNetwork } from '../networks/crypto.ts';
import { NETWORKS, type Networks } from '../networks/register.ts';
import { cryptoNetworkName, fiatNetworkName, withProperties } from '../networks/schema.ts';
import type { ArrivedDeposit } from '../rails/rail.ts';
import { TransferShape, transferShape } from '../transfers/schema.ts';
import { deriveTransaction } from './derive.ts';
import { SUSPENSE_CRYPTO_DEPOSIT } from './examples.ts';

const Reference = (description: string) =>
  Type.Optional(
    Type.String({ minLength: 1, maxLength: LIMITS.cryptoTxHashMax, pattern: '^[!-~]+$', description }),
  );

const CryptoArrival = Type.Object(
  {
    crypto_network: cryptoNetworkName(NETWORKS),
    address: Type.String({
      minLength: 1,
      maxLength: LIMITS.cryptoTxHashMax,
      description: 'Destination address',
    }),
    asset: AssetCode('Asset that arrives'),
    amount: Amount('Amount that arrives'),
    tx_hash: Reference('Transaction hash; generated if absent'),
    tx_index: Reference(
      'Number of the output, without leading zeros; 0 if absent. On networks without numbered outputs: the number of a log, or the paid address, which is the default',
    ),
  },
  { ...closed, title: 'SandboxCryptoArrival' },
);

const FiatArrival = Type.Object(
  {
    fiat_network: fiatNetworkName(NETWORKS),
    memo_id: Type.String({ minLength: 1, maxLength: 140, description: 'The memo of the payment' }),
    amount: Amount('Amount in USD'),
    account: Reference('The account that is paid; "sandbox" if absent'),
    reference: Reference("The bank's reference, unique within the account; generated if absent"),
  },
  { ...closed, title: 'SandboxFiatArrival' },
);

const ArrivalAnswer = Type.Object(
  {
    transfer: Type.Optional(TransferShape),
    suspense_deposit: Type.Optional(SuspenseDepositShape),
    journal_entry_id: Type.Optional(Id('The journal entry with which an operator booked it by hand')),
  },
  {
    ...closed,
    title: 'SandboxArrival',
    description:
      'The transfer that was credited, the deposit that is in suspense, or the journal entry that booked it',
  },
);

type Dependencies = { readonly arrivals: Arrivals; readonly assets: Assets; readonly networks: Networks };

/** If the existing deposit belongs to another customer, the answer says only that it exists. */
function withoutOthers(error: unknown, caller: Caller): unknown {
  if (!(error instanceof Problem) || error.slug !== 'already-exists') return error;
  const { existing, differs } = error.meta as {
    existing: { transfer?: { customer_id: string } };
    differs: unknown;
  };
  if (existing.transfer === undefined || existing.transfer.customer_id === caller.customerId) return error;
  return new Problem('already-exists', error.message, { differs });
}

/** Undefined if it is invalid. */
function readOutput(
  fields: Fields,
  networks: Networks,
  body: { readonly crypto_network: CryptoNetwork; readonly address: string; readonly tx_index?: string },
): number | null | undefined {
  const { crypto_network: network, address, tx_index: text } = body;
  const isNumbered = networks.numbersOutputs(network);
  const { canonicalAddress } = networks;
  if (text === undefined) return isNumbered ? 0 : null;
  const number = /^(0|[1-9][0-9]*)$/.test(text) ? Number(text) : undefined;
  if (number !== undefined && number <= LIMITS.outputNumberMax) return number;
  if (!isNumbered && canonicalAddress(network, text) === canonicalAddress(network, address)) return null;
  const orAddress = isNumbered ? '' : ', or the address';
  fields.fault(
    '/tx_index',
    `must be a number from 0 to ${LIMITS.outputNumberMax} without leading zeros${orAddress}`,
  );
  return undefined;
}

const commonOf = (networks: Networks) =>
  ({
    method: 'POST',
    tag: 'Sandbox',
    scope: 'sandbox:simulate',
    sandboxOnly: true,
    response: withProperties(ArrivalAnswer, { transfer: Type.Optional(transferShape(networks)) }),
    problems: ['exceeds-precision', 'not-found', 'already-exists'],
  }) as const;

/** Only to addresses and memos of the caller, and to those that belong to no customer. */
async function arrive(arrivals: Arrivals, caller: Caller, arrived: ArrivedDeposit, sentTo: string) {
  const owner = await arrivals.ownerOf(arrived);
  if (owner !== undefined && owner.customerId !== caller.customerId)
    throw notFound('deposit address', sentTo);
  return (await arrivals.arrive(arrived, actorOf(caller)).catch((error: unknown) => {
    throw withoutOthers(error, caller);
  })) as never;
}

function cryptoRoute({ arrivals, assets, networks }: Dependencies): Route {
  return route({
    ...commonOf(networks),
    path: '/v2/sandbox/crypto-deposits',
    operationId: 'simulateCryptoDeposit',
    summary: 'Simulate a payment to a deposit address',
    description:
      'The same tx_hash and tx_index are credited once. A payment to an unknown address is kept in suspense.',
    body: withProperties(CryptoArrival, { crypto_network: cryptoNetworkName(networks) }),
    example: {
      crypto_network: 'BITCOIN',
      address: 'bc1qar0srrr7xfkvy5l643lydnw9re59gtzzwf5mdq',
      asset: 'BTC',
      amount: '2',
    },
    answer: { suspense_deposit: SUSPENSE_CRYPTO_DEPOSIT },
    async handle({ caller, body }) {
      const { crypto_network: rail, address, asset } = body;
      const fields = createFields(assets);
      const known = fields.asset('/asset', asset);
      const units = fields.amount('/amount', body.amount, known);
      if (known !== undefined && assets.get(known).networks[rail] === undefined) {
        fields.fault('/crypto_network', `must be a network of ${asset}`);
      }
      const output = readOutput(fields, networks, body);
      fields.check();
      const arrived: ArrivedDeposit = {
        rail,
        address,
        asset,
        amountUnits: units!,
        txHash: body.tx_hash ?? deriveTransaction(networks, rail, newId(), address).txHash,
        output: output!,
      };
      return arrive(arrivals, caller, arrived, address);
    },
  });
}

function fiatRoute({ arrivals, assets, networks }: Dependencies): Route {
  return route({
    ...commonOf(networks),
    path: '/v2/sandbox/fiat-deposits',
    operationId: 'simulateFiatDeposit',
    summary: 'Simulate a bank payment with a memo',
    description:
      'The same reference on the same account is credited once. A payment with an unknown memo is kept in suspense.',
    body: withProperties(FiatArrival, { fiat_network: fiatNetworkName(networks) }),
    example: { fiat_network: 'WIRE', memo_id: '7K3JQ0W9XN4T', amount: '250' },
    answer: { suspense_deposit: SUSPENSE_DEPOSIT },
    async handle({ caller, body }) {
      const fields = createFields(assets);
      const units = fields.amount('/amount', body.amount, 'USD');
      fields.check();
      const arrived: ArrivedDeposit = {
        rail: kindOfNetwork(body.fiat_network),
        memoId: body.memo_id,
        asset: 'USD',
        amountUnits: units!,
        account: body.account ?? 'sandbox',
        reference: body.reference ?? newId(),
      };
      return arrive(arrivals, caller, arrived, body.memo_id);
    },
  });
}

/** Simulates payments from outside the service. */
export function sandboxArrivalRoutes(dependencies: Dependencies): Route[] {
  return [cryptoRoute(dependencies), fiatRoute(dependencies)];
}
