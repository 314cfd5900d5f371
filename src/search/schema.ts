import { AmountOut, AssetCode, closed, DateTime, Id, LABEL_PATTERN } from '../kernel/shapes.ts';
import { Type } from '../kernel/type.ts';
import { LIMITS } from '../limits.ts';
import { HIT_TYPES, MATCHES } from './store.ts';

export const SearchQuery = Type.Object(
  {
    text: Type.String({
      minLength: 2,
      maxLength: LIMITS.searchTextMax,
      pattern: LABEL_PATTERN,
      description:
        'An id, a ref_id, a transaction hash, a deposit address, a part of the name of a customer, or an amount, alone or with its asset',
      examples: ['1250.00 USD'],
    }),
  },
  closed,
);

export const SearchShape = Type.Object(
  {
    items: Type.Array(
      Type.Object(
        {
          type: Type.Enum([...HIT_TYPES], { description: 'What it is' }),
          id: Type.String({ description: 'Its id' }),
          matched: Type.Enum([...MATCHES], { description: 'What is equal to the text' }),
          customer_id: Type.Optional(Id('The customer that it belongs to')),
          label: Type.String({ description: 'Its type, name or summary' }),
          status: Type.Optional(Type.String()),
          asset: Type.Optional(AssetCode('Asset')),
          amount: Type.Optional(AmountOut('Amount')),
          created_at: DateTime('When it was created'),
        },
        { ...closed, title: 'SearchHit' },
      ),
      { description: `Newest first, at most ${LIMITS.searchHitsMax}` },
    ),
    complete: Type.Boolean({
      description: `False: there may be more. Amounts are looked for among the latest ${LIMITS.searchTransfersMax} transfers only`,
    }),
  },
  { ...closed, title: 'SearchResult' },
);
