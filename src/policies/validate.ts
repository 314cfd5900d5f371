import type { Static } from 'typebox';
import type { Assets } from '../kernel/asset.ts';
import { createFields, type Fields } from '../kernel/fields.ts';
import type { Networks } from '../networks/register.ts';
import { isTimeZone } from './hours.ts';
import type { Document, Rule } from './policy.ts';
import type { PolicyDocument } from './schema.ts';

export type PolicyContext = {
  readonly assets: Assets;
  readonly networks: Networks;
  /** The names of the screening hooks in the configuration. */
  readonly hooks: readonly string[];
};

function ruleFaults(
  fields: Fields,
  rule: Rule,
  at: string,
  isOperators: boolean,
  context: PolicyContext,
): void {
  if ('asset' in rule) {
    const asset = fields.asset(`${at}/asset`, rule.asset);
    const [name, text] = rule.type === 'approval' ? ['above', rule.above] : ['max', rule.max];
    const isZero = rule.type === 'approval' && /^0*\.?0*$/.test(text);
    const parsed = asset === undefined || isZero ? undefined : context.assets.parse(asset, text);
    if (parsed?.ok === false) fields.fault(`${at}/${name}`, parsed.message);
  }
  if (rule.type === 'velocity' && rule.per === 'ALL' && !isOperators)
    fields.fault(`${at}/per`, 'must be PROFILE or CUSTOMER: ALL is for the operator');
  if (rule.type === 'business_hours') {
    if (!isTimeZone(rule.time_zone))
      fields.fault(`${at}/time_zone`, 'must be the name of a time zone, such as America/New_York');
    if (rule.from >= rule.to) fields.fault(`${at}/to`, 'must be after from');
    if (new Set(rule.days).size < rule.days.length) fields.fault(`${at}/days`, 'must not have a day twice');
  }
  if (rule.type === 'screening' && !context.hooks.includes(rule.hook))
    fields.fault(
      `${at}/hook`,
      `must be a screening hook of the configuration: ${context.hooks.join(', ') || 'there is none'}`,
    );
}

type Asked = Static<typeof PolicyDocument>;

/** The fields of each type of rule, all of them required. */
const FIELDS: { readonly [Type in Rule['type']]: readonly string[] } = {
  amount_limit: ['asset', 'max'],
  velocity: ['asset', 'max', 'window', 'per'],
  destinations: ['listed_only', 'cooling_off_hours'],
  business_hours: ['time_zone', 'days', 'from', 'to'],
  approval: ['asset', 'above'],
  screening: ['hook'],
};

/** Whether the rule has the fields of its type, and no others. */
function isWhole(fields: Fields, rule: Asked['rules'][number], at: string): rule is never {
  const { type, name: _, ...given } = rule;
  const missing = FIELDS[type].filter((name) => !(name in given));
  const extra = Object.keys(given).filter((name) => !FIELDS[type].includes(name));
  for (const name of missing) fields.fault(`${at}/${name}`, `is required in a rule of the type ${type}`);
  for (const name of extra) fields.fault(`${at}/${name}`, `must be absent in a rule of the type ${type}`);
  return missing.length + extra.length === 0;
}

/** Checks what the shape does not, and throws a problem with all errors. */
export function readDocument(
  { applies_to: scope = {}, rules }: Asked,
  isOperators: boolean,
  context: PolicyContext,
): Document {
  const { assets, networks } = context;
  const fields = createFields(assets);
  if (scope.customer_ids !== undefined && !isOperators)
    fields.fault('/applies_to/customer_ids', 'is only for policies of the operator');
  for (const [index, code] of (scope.assets ?? []).entries())
    fields.asset(`/applies_to/assets/${index}`, code);
  const rails: readonly string[] = [...networks.fiatKinds, ...networks.cryptoNetworks];
  for (const [index, rail] of (scope.rails ?? []).entries())
    if (!rails.includes(rail))
      fields.fault(`/applies_to/rails/${index}`, `must be one of ${rails.join(', ')}`);
  const names = new Set<string>();
  for (const [index, rule] of rules.entries()) {
    const at = `/rules/${index}`;
    if (names.has(rule.name)) fields.fault(`${at}/name`, 'must be unique within the policy');
    names.add(rule.name);
    if (isWhole(fields, rule, at)) ruleFaults(fields, rule, at, isOperators, context);
  }
  fields.check();
  return {
    ...(Object.keys(scope).length > 0 && { applies_to: scope }),
    rules: rules as unknown as readonly Rule[],
  };
}
