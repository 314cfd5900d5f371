import { Type } from 'typebox';
import { LIMITS } from '../limits.ts';
import { ID_PATTERN } from './id.ts';

/** Wire shapes that several capabilities share. Objects are closed: an unknown field is an error, never ignored. */

export const Id = (description: string) => Type.String({ pattern: ID_PATTERN, description });

export const DateTime = (description: string) => Type.String({ format: 'date-time', description });

/** The shape alone; how many decimals are allowed depends on the asset, and is checked by the rules. */
export const AMOUNT_PATTERN = '^([0-9]{1,20}(\\.[0-9]{1,200})?|\\.[0-9]{1,200})$';
export const Amount = (description: string) =>
  Type.String({ pattern: AMOUNT_PATTERN, description, examples: ['25.5'] });

export const AmountOut = (description: string) => Type.String({ description, examples: ['25.5'] });

export const AssetCode = (description: string) =>
  Type.String({ minLength: 1, maxLength: 12, description, examples: ['USD'] });

export const RefId = Type.String({
  minLength: 1,
  maxLength: LIMITS.refIdLengthMax,
  // Printable: no control, format, private or unassigned characters.
  pattern: '^[^\\p{C}]*$',
  description: 'Your own id for this request. Sent again, the same request is answered, never done twice.',
});

export const Metadata = Type.Record(
  Type.String({ minLength: 1, maxLength: LIMITS.metadataTextMax }),
  Type.String({ maxLength: LIMITS.metadataTextMax }),
  {
    maxProperties: LIMITS.metadataPairsMax,
    propertyNames: { minLength: 1, maxLength: LIMITS.metadataTextMax },
    description: `Up to ${LIMITS.metadataPairsMax} pairs; each key and value at most ${LIMITS.metadataTextMax} characters.`,
  },
);

export const IdParams = Type.Object({ id: Id('Identifier') }, { additionalProperties: false });

export const closed = { additionalProperties: false } as const;
