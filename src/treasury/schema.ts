import { Amount, AmountOut, AssetCode, closed, DateTime, Id, LABEL_PATTERN } from '../kernel/shapes.ts';
import { Type } from '../kernel/type.ts';
import { LIMITS } from '../limits.ts';
import { ALARM_REASONS } from './alarms.ts';

const Signed = (description: string) =>
  Type.String({ description: `${description}; may be negative`, examples: ['12.5', '-0.01'] });

const WalletShape = Type.Object(
  {
    asset: AssetCode('Asset'),
    on_chain: Type.Object(
      {
        hot: AmountOut('In the hot wallet'),
        deposit_addresses: AmountOut('At deposit addresses, not swept yet'),
        cold: Type.Optional(AmountOut('In the cold wallet, if there is one')),
        height: Type.Integer({ description: 'The final block at which this was so' }),
        hash: Type.String({ description: 'Its hash' }),
        observed_at: DateTime('When it was observed'),
      },
      closed,
    ),
    ledger: Type.Object(
      {
        hot: Signed('What `clearing:<rail>` says is there'),
        cold: Signed('What `cold:<rail>` says is in the cold wallet'),
        network_fees: Signed('What `network-fees:<rail>` says the network was paid'),
      },
      closed,
    ),
    in_flight: Type.Object(
      {
        arriving: AmountOut('Deposits that are not final yet'),
        leaving: AmountOut('Payments and moves to the cold wallet that have not ended'),
        fees_reserved: AmountOut('The most that the fees of all open transactions can be'),
      },
      closed,
    ),
    difference: Signed('What the chain has more than the ledger, without what is in flight'),
    differs_since: Type.Optional(DateTime('Since when there is a difference')),
    low_mark: Type.Optional(AmountOut('Below it the hot wallet needs a refill')),
    high_mark: Type.Optional(AmountOut('Above it the hot wallet pays the cold one')),
    level: Type.Enum(['BELOW_LOW', 'BETWEEN', 'ABOVE_HIGH', 'UNMARKED'], {
      description: 'Which side of its marks the hot wallet is on',
    }),
    gas_payments: Type.Optional(
      Type.Integer({ description: 'Of the coin: payments whose fee the poorest lane can pay' }),
    ),
  },
  closed,
);

export const TreasuryShape = Type.Object(
  {
    networks: Type.Array(
      Type.Object(
        {
          network: Type.String({ description: 'Network' }),
          cold_address: Type.Optional(Type.String({ description: 'The cold wallet' })),
          wallets: Type.Array(WalletShape),
        },
        closed,
      ),
    ),
    banks: Type.Array(
      Type.Object(
        {
          account: Type.String({ description: '`clearing:<rail>` or `treasury`' }),
          asset: AssetCode('Asset'),
          balance: Signed('The last balance that the bank reported'),
          ledger_balance: Signed('What the ledger had at that time'),
          difference: Signed('What the bank has more'),
          reference: Type.String({ description: 'The statement' }),
          at: DateTime('When the balance was that'),
        },
        closed,
      ),
    ),
    alarms: Type.Array(
      Type.Object(
        {
          rail: Type.String({ description: 'Rail' }),
          asset: Type.Optional(AssetCode('Asset')),
          reason: Type.Enum([...ALARM_REASONS]),
          detail: Type.String({ description: 'A sentence for operators' }),
        },
        closed,
      ),
    ),
  },
  { ...closed, title: 'Treasury' },
);

const Network = Type.String({ minLength: 1, maxLength: 40, description: 'Network', examples: ['ETHEREUM'] });

export const RefillRequest = Type.Object(
  { network: Network, asset: AssetCode('Asset'), amount: Amount('What the hot wallet shall receive') },
  { ...closed, title: 'RefillRequest' },
);

export const RefillShape = Type.Object(
  {
    network: Network,
    asset: AssetCode('Asset'),
    amount: AmountOut('What the hot wallet receives'),
    cold_address: Type.String({ description: 'Whose keys have to sign' }),
    format: Type.Enum(['PSBT', 'EVM_TRANSACTION', 'SOLANA_MESSAGE']),
    content: Type.String({ description: 'The transaction without signatures: base64, of EVM networks hex' }),
    summary: Type.Unsafe<Readonly<Record<string, string>>>(
      Type.Object({}, { additionalProperties: Type.String(), description: 'What the transaction says' }),
    ),
  },
  { ...closed, title: 'Refill' },
);

export const CancelRequest = Type.Object(
  {
    network: Network,
    transfer_id: Type.Optional(Id('The withdrawal whose payment is cancelled')),
    assignment_id: Type.Optional(Id('Instead: a transaction of the treasury')),
    reason: Type.String({
      minLength: 1,
      maxLength: LIMITS.journalTextMax,
      pattern: LABEL_PATTERN,
      description: 'Why; for the log of the service',
    }),
  },
  { ...closed, title: 'CancelPaymentRequest' },
);

export const CancelledShape = Type.Object(
  {
    network: Network,
    transfer_id: Type.Optional(Id('The withdrawal, which fails')),
    assignment_id: Type.Optional(Id('The transaction that is never signed')),
    cancellation_id: Type.Optional(Id('The transaction that uses up its nonce')),
  },
  { ...closed, title: 'CancelledPayment' },
);
