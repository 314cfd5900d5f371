import type { Static, TSchema } from 'typebox';
import { DECIMALS_MAX } from '../kernel/amount.ts';
import { PRIVILEGED_NAMES, type PrivilegedName, type Quorum } from '../kernel/privileged.ts';
import { Type } from '../kernel/type.ts';
import { LIMITS } from '../limits.ts';
import type { Networks } from '../networks/register.ts';

/**
 * The shape of the JSON file that FERRY_CONFIG names. Objects are closed: if a typo were ignored, a fee or an issuer would
 * not be set. `expected` completes the sentence "the entry must be …"; without it, the sentence is made from the schema
 * itself, see `validate.ts`.
 */

const closed = { additionalProperties: false } as const;

const Name = Type.String({ minLength: 1, expected: 'a non-empty string' });
const Decimal = Type.String({ expected: 'a decimal string such as "0.5"' });

/** Any keys. A Record would not check the value of a key with a line break, which its pattern does not match. */
function MapOf<Value extends TSchema>(value: Value) {
  return Type.Unsafe<Readonly<Record<string, Static<Value>>>>(
    Type.Object({}, { additionalProperties: value }),
  );
}

const networksOf = ({ cryptoNetworks }: Networks) =>
  Type.Unsafe<Readonly<Record<string, string>>>(
    Type.Object(Object.fromEntries(cryptoNetworks.map((network) => [network, Type.Optional(Name)])), closed),
  );

const assetOf = (networks: Networks) =>
  Type.Object(
    {
      code: Type.String({
        pattern: '^[A-Z][A-Z0-9]{1,11}$',
        expected: '2 to 12 capital letters or digits that start with a letter',
      }),
      decimals: Type.Integer({
        minimum: 0,
        maximum: DECIMALS_MAX,
        expected: `an integer from 0 to ${DECIMALS_MAX}`,
      }),
      kind: Type.Enum(['FIAT', 'CRYPTO', 'STABLECOIN']),
      /** Network name to contract or mint address. Absent: the asset only moves inside the service. */
      networks: Type.Optional(networksOf(networks)),
      operator_minted: Type.Optional(Type.Boolean()),
    },
    closed,
  );

const CryptoFees = MapOf(MapOf(Decimal));

const Fees = Type.Object(
  {
    fiat: Type.Optional(MapOf(Decimal)),
    crypto: Type.Optional(CryptoFees),
    deposits: Type.Optional(
      Type.Object(
        {
          fiat: Type.Optional(
            MapOf(
              Type.Union([Decimal, MapOf(Decimal)], {
                expected: 'a decimal string such as "0.5", or an object with one for each asset',
              }),
            ),
          ),
          crypto: Type.Optional(CryptoFees),
        },
        closed,
      ),
    ),
  },
  closed,
);

const Issuer = Type.Object({ issuer: Name, jwks_url: Name, audience: Name, customer_claim: Name }, closed);

/** A secret is read from the environment or a file, and never stands here. */
const Secret = Type.Union([Type.Object({ env: Name }, closed), Type.Object({ file: Name }, closed)], {
  expected: 'an object with env or file, which names where the secret is',
});

const OpenIdProvider = Type.Object(
  { issuer: Name, client_id: Name, client_secret: Secret, name: Type.Optional(Name) },
  closed,
);

const FourEyesShape = Type.Unsafe<Readonly<Partial<Record<PrivilegedName, Quorum>>>>(
  Type.Object(
    Object.fromEntries(
      PRIVILEGED_NAMES.map((name) => [
        name,
        Type.Optional(
          Type.Object(
            {
              approvals: Type.Integer({
                minimum: 0,
                maximum: LIMITS.approvalQuorumMax,
                expected: `an integer from 0 to ${LIMITS.approvalQuorumMax}`,
              }),
              approvers: Type.Optional(Type.Array(Name)),
            },
            closed,
          ),
        ),
      ]),
    ),
    closed,
  ),
);

/** The names of networks come from the register. */
export const configFileSchema = (networks: Networks) =>
  Type.Object(
    {
      assets: Type.Optional(Type.Array(assetOf(networks))),
      fees: Type.Optional(Fees),
      prices: Type.Optional(MapOf(Decimal)),
      external_issuer: Type.Optional(Issuer),
      openid_provider: Type.Optional(OpenIdProvider),
      /** Each entry is validated by the schema of its kind, see `rails.ts`. */
      rails: Type.Optional(MapOf(Type.Object({ kind: Name }))),
      /** How many approve which privileged action, and who may; for others, one approval. */
      four_eyes: Type.Optional(FourEyesShape),
      /** Hooks that policies can name. The secret is checked when it is read: a message about a wrong one must not contain it. */
      screening: Type.Optional(
        MapOf(
          Type.Object(
            {
              url: Name,
              secret: Type.Unsafe<unknown>({ expected: '{"env": "NAME"} or {"file": "/path"}' }),
              timeout_ms: Type.Optional(
                Type.Integer({
                  minimum: 100,
                  maximum: LIMITS.screeningTimeoutMsMax,
                  expected: `an integer from 100 to ${LIMITS.screeningTimeoutMsMax}`,
                }),
              ),
            },
            closed,
          ),
        ),
      ),
      /** A string, because a JSON number of that size may be rounded. */
      rent_lamports_per_day_max: Type.Optional(
        Type.String({ pattern: '^[0-9]{1,18}$', expected: 'a string of 1 to 18 digits' }),
      ),
    },
    closed,
  );

export type ConfigFileContent = Static<ReturnType<typeof configFileSchema>>;
