import type { TObject, TProperties } from 'typebox';
import { closed } from '../kernel/shapes.ts';
import { Type } from '../kernel/type.ts';
import type { FiatKind, FiatNetworkInstructions } from './fiat.ts';
import { type AccountField, changedField } from './instructions.ts';
import type { Networks } from './register.ts';

/** Wire shapes whose values or fields are those of the register. */

/** The shape with some properties replaced: by those of a register other than the product's. */
export function withProperties<Shape extends TObject>(
  shape: Shape,
  properties: Partial<Shape['properties']>,
): Shape {
  return { ...shape, properties: { ...shape.properties, ...properties } };
}

export const transferTypeName = ({ transferTypes }: Networks) => Type.Enum([...transferTypes]);

export const cryptoNetworkName = ({ cryptoNetworks }: Networks) =>
  Type.Enum([...cryptoNetworks], { description: 'Crypto network' });

/** In requests and answers about deposits, kinds are written in upper case. */
export type FiatNetwork = Uppercase<FiatKind>;

export const fiatNetworkName = ({ fiatKinds }: Networks) =>
  Type.Enum(
    fiatKinds.map((kind) => kind.toUpperCase() as FiatNetwork),
    { description: 'Bank or network that the money arrives over' },
  );

/** `whole` in requests, and for the operator's own accounts; `masked` in every answer about a customer's account. */
export function instructionsShape(networks: Networks, form: Exclude<keyof AccountField, 'field'>) {
  const kinds = networks.fiatKinds.map((kind) => {
    const { account, details } = networks.fiat(kind).instructions;
    return [
      kind,
      Type.Optional(Type.Object({ [account.field]: account[form], ...details }, closed)),
    ] as const;
  });
  return Type.Unsafe<FiatNetworkInstructions>(
    Type.Object(Object.fromEntries(kinds), { ...closed, description: 'Exactly one kind' }),
  );
}

/** For changes: all fields may be absent, and the account may be masked. */
export function changedInstructionsShape(networks: Networks) {
  const kinds = networks.fiatKinds.map((kind) => {
    const { account, details } = networks.fiat(kind).instructions;
    const fields = Type.Object({ [account.field]: changedField(account), ...details });
    return [kind, Type.Optional(Type.Object(optional(fields.properties), closed))] as const;
  });
  const description = 'Exactly one kind. Without some of its required fields, only the given fields change';
  return Type.Unsafe<FiatNetworkInstructions>(
    Type.Object(Object.fromEntries(kinds), { ...closed, description }),
  );
}

const optional = (properties: TProperties): TProperties =>
  Object.fromEntries(Object.entries(properties).map(([name, shape]) => [name, Type.Optional(shape)]));
