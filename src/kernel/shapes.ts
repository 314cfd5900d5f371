import { LIMITS } from '../limits.ts';
import { ID_PATTERN } from './id.ts';
import { Type } from './type.ts';

/** Wire shapes that several capabilities share. Objects are closed: an unknown field is an error, never ignored. */

/** What a pattern requires, as a continuation of "must ". */
const MEANINGS = new Map([[ID_PATTERN, 'be a UUID in lower case']]);

function pattern(text: string, meaning: string): string {
  MEANINGS.set(text, meaning);
  return text;
}

export function patternMeaning(text: string): string {
  return MEANINGS.get(text) ?? `match ${text}`;
}

/*
 * Sets of characters for patterns. As ranges and not as `\p{…}`: clients that are generated from the OpenAPI document use the
 * patterns with regular expressions of their own language, and many of those cannot read such classes.
 */
const CONTROL = '\\x00-\\x1f\\x7f-\\x9f';
const SPACE = ' \u00a0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000';
/**
 * Format characters, such as those that change the direction of text, and characters for private use. Only those of the basic
 * plane: without the flag `u`, ranges of others are not valid. The byte order mark is within a range, between two characters that
 * are not assigned: Go does not compile a source text that contains it, and generators copy patterns into source texts.
 */
const INVISIBLE = [
  '\u00ad\u0600-\u0605\u061c\u06dd\u070f\u0890\u0891\u08e2\u180e\u200b-\u200f\u202a-\u202e\u2060-\u2064\u2066-\u206f',
  '\ue000-\uf8ff\ufefe-\uff00\ufff9-\ufffb',
].join('');

/** Text for people: at least one visible character, no control characters, no leading or trailing space. */
export const LABEL_PATTERN = pattern(
  `^[^${CONTROL}${SPACE}]([^${CONTROL}]*[^${CONTROL}${SPACE}])?$`,
  'be text without control characters, and without leading or trailing space',
);
/** Something before and after one @, without spaces: only a message to it shows whether an address exists. */
export const EMAIL_PATTERN = pattern(
  `^[^${CONTROL}${SPACE}${INVISIBLE}@]{1,64}@[^${CONTROL}${SPACE}${INVISIBLE}@]+$`,
  'be an email address, such as ada@example.com',
);
/** The text before it, but leading and trailing spaces are accepted. */
export const TEXT_PATTERN = pattern(
  `^[${SPACE}]*[^${CONTROL}${SPACE}][^${CONTROL}]*$`,
  'be text without control characters, and with a visible character',
);
export const OPTIONAL_TEXT_PATTERN = pattern(`^[^${CONTROL}]*$`, 'be text without control characters');
export const PRINTABLE_PATTERN = pattern(`^[^${CONTROL}${INVISIBLE}]*$`, 'contain only printable characters');

/** What `Vault.digester` returns: 256 bits in base64url. */
export const DIGEST_PATTERN = pattern('^[A-Za-z0-9_-]{43}$', 'be a digest of 43 characters');

export const Id = (description: string) => Type.String({ pattern: ID_PATTERN, description });

export const DateTime = (description: string) => Type.String({ format: 'date-time', description });

/** Only the shape: the number of decimals depends on the asset, and rules check it. */
export const AMOUNT_PATTERN = pattern(
  '^([0-9]{1,20}(\\.[0-9]{1,200})?|\\.[0-9]{1,200})$',
  'be a decimal string: digits with an optional fraction, no sign, exponent or spaces, at most 20 digits before the point',
);
export const Amount = (description: string) =>
  Type.String({ pattern: AMOUNT_PATTERN, description, examples: ['25.5'] });

export const AmountOut = (description: string) => Type.String({ description, examples: ['25.5'] });

export const AssetCode = (description: string) =>
  Type.String({ minLength: 1, maxLength: 12, description, examples: ['USD'] });

export const RefId = Type.String({
  minLength: 1,
  maxLength: LIMITS.refIdLengthMax,
  pattern: PRINTABLE_PATTERN,
  description: 'Your own id for this request, as idempotency key: a repeated request is not executed twice.',
});

/**
 * Not a Record, whose pattern `^.*$` does not match keys with a line break: their values would not be checked.
 */
export const Metadata = Type.Unsafe<Record<string, string>>({
  type: 'object',
  additionalProperties: { type: 'string', maxLength: LIMITS.metadataTextMax },
  propertyNames: { minLength: 1, maxLength: LIMITS.metadataTextMax },
  maxProperties: LIMITS.metadataPairsMax,
  description: `Up to ${LIMITS.metadataPairsMax} string key–value pairs; each key and value has at most ${LIMITS.metadataTextMax} characters.`,
});

export type ProblemBody = {
  readonly type: string;
  readonly title: string;
  readonly status: number;
  readonly detail: string;
  readonly meta: Readonly<Record<string, unknown>>;
};

export const ProblemShape = Type.Unsafe<ProblemBody>({
  title: 'Problem',
  type: 'object',
  description: 'A problem (RFC 9457). The `type` of each problem is the URL of a page about it.',
  required: ['type', 'title', 'status', 'detail', 'meta'],
  properties: {
    type: { type: 'string', format: 'uri', description: 'URL of a page about this problem' },
    title: { type: 'string' },
    status: { type: 'integer' },
    detail: { type: 'string', description: 'What is wrong, with the values, for people' },
    meta: { type: 'object', description: 'The same values, for programs' },
  },
});

export const IdParams = Type.Object({ id: Id('Identifier') }, { additionalProperties: false });

export const closed = { additionalProperties: false } as const;
