import type { Assets } from '../kernel/asset.ts';
import { type Instant, NS_PER_SECOND } from '../kernel/instant.ts';
import { Problem } from '../kernel/problem.ts';
import type { Hold } from './holds.ts';
import { appliesTo, ownerOf, type Policy, type Rule, type RuleOf, type Subject } from './policy.ts';

/** What policies say about a withdrawal. Pure: the same for a request and for a dry run. */

const HOUR_NS = 3_600n * NS_PER_SECOND;
export const WINDOW_NS = { HOUR: HOUR_NS, DAY: 24n * HOUR_NS, WEEK: 7n * 24n * HOUR_NS } as const;

/** What a velocity rule adds up. Two rules that add up the same share a meter. */
export type Meter = {
  readonly asset: string;
  readonly windowNs: string;
  readonly customerId?: string;
  readonly profileId?: string;
  readonly rails?: readonly string[];
  readonly profileIds?: readonly string[];
  readonly customerIds?: readonly string[];
};

/** Equal meters have equal keys. */
export const meterKey = (meter: Meter): string => JSON.stringify(meter);
export const meterOfKey = (key: string): Meter => JSON.parse(key) as Meter;

type Who = Pick<Subject, 'customerId' | 'profileId' | 'asset'>;

const sorted = (list: readonly string[]): readonly string[] => [...list].sort();

export function meterOf(policy: Policy, rule: RuleOf<'velocity'>, { customerId, profileId }: Who): Meter {
  const { rails, profile_ids: profileIds, customer_ids: customerIds } = policy.document.applies_to ?? {};
  return {
    asset: rule.asset,
    windowNs: WINDOW_NS[rule.window].toString(),
    ...(rule.per === 'CUSTOMER' && { customerId }),
    ...(rule.per === 'PROFILE' && { profileId }),
    ...(rails && { rails: sorted(rails) }),
    ...(rule.per !== 'PROFILE' && profileIds && { profileIds: sorted(profileIds) }),
    ...(rule.per === 'ALL' && customerIds && { customerIds: sorted(customerIds) }),
  };
}

type Named = { readonly policy: Policy; readonly rule: Rule };

function rulesFor(policies: readonly Policy[], who: Who & { readonly rail?: string }): Named[] {
  return policies
    .filter((policy) => appliesTo(policy, who))
    .flatMap((policy) => policy.document.rules.map((rule) => ({ policy, rule })))
    .filter(({ rule }) => !('asset' in rule) || rule.asset === who.asset);
}

/** The velocity rules that can concern the withdrawal. Its rail need not be known yet. */
export function velocityRules(policies: readonly Policy[], who: Who & { readonly rail?: string }) {
  return rulesFor(policies, who).flatMap(({ policy, rule }) =>
    rule.type === 'velocity' ? [{ policy, rule, meter: meterOf(policy, rule, who) }] : [],
  );
}

export const hasDestinationRules = (policies: readonly Policy[], who: Who): boolean =>
  rulesFor(policies, who).some(({ rule }) => rule.type === 'destinations');

/** When the destination was listed or first used. */
export type DestinationFacts = { readonly listed: boolean; readonly createdAtNs: Instant };

export type PolicyFacts = {
  readonly now: Instant;
  /** What the withdrawals of the window have used. */
  used(meter: Meter): bigint;
  readonly destination: DestinationFacts | undefined;
};

export type Evaluation =
  | { readonly refusal: Problem; readonly rule: string }
  | { readonly refusal?: undefined; readonly holds: readonly Hold[]; readonly meters: readonly Meter[] };

function refused({ policy, rule }: Named, sentence: string, meta: Record<string, unknown> = {}): Problem {
  return new Problem('policy-refused', `${sentence} (policy "${policy.name}", rule "${rule.name}").`, {
    policy: policy.name,
    rule: rule.name,
    ...meta,
  });
}

const units = (assets: Assets, asset: string, text: string): bigint => {
  // Zero is no amount, but a threshold.
  if (/^0*\.?0*$/.test(text)) return 0n;
  const parsed = assets.parse(asset, text);
  if (!parsed.ok) throw new Error(`the policy has an amount that ${asset} cannot have: ${text}`);
  return parsed.units;
};

function limitFault(
  named: Named & { rule: RuleOf<'amount_limit'> },
  { asset, units: requested }: Subject,
  assets: Assets,
) {
  const max = units(assets, asset, named.rule.max);
  if (requested <= max) return undefined;
  const [maxText, text] = [max, requested].map((one) => assets.format(asset, one));
  const sentence = `A withdrawal may be at most ${maxText} ${asset}, ${text} ${asset} were requested: withdraw less`;
  return refused(named, sentence, { asset, max: maxText, requested: text });
}

function velocityFault(
  named: Named & { rule: RuleOf<'velocity'> },
  subject: Subject,
  facts: PolicyFacts,
  assets: Assets,
): Problem | undefined {
  const { asset, units: requested } = subject;
  const { rule, policy } = named;
  const max = units(assets, asset, rule.max);
  const used = facts.used(meterOf(policy, rule, subject));
  if (used + requested <= max) return undefined;
  const format = (one: bigint): string => assets.format(asset, one);
  const window = rule.window.toLowerCase();
  const wait = 'withdraw less, or retry when earlier withdrawals have left the window';
  // What all customers together have used is nobody's to know.
  if (rule.per === 'ALL')
    return refused(
      named,
      `All withdrawals of ${asset} of the last ${window} have reached their limit: ${wait}`,
      {
        asset,
        window: rule.window,
        requested: format(requested),
      },
    );
  const left = max > used ? max - used : 0n;
  const sentence = `${format(left)} ${asset} of ${format(max)} ${asset} in the last ${window} are left, ${format(requested)} ${asset} were requested: ${wait}`;
  return refused(named, sentence, {
    asset,
    window: rule.window,
    max: format(max),
    used: format(used),
    requested: format(requested),
  });
}

function holdOf(
  { policy, rule }: Named,
  subject: Subject,
  facts: PolicyFacts,
  assets: Assets,
): Hold | undefined {
  const common = { policyId: policy.id, rule: rule.name, owner: ownerOf(policy) };
  switch (rule.type) {
    case 'approval':
      return subject.units > units(assets, subject.asset, rule.above)
        ? { ...common, kind: 'APPROVAL' }
        : undefined;
    case 'screening':
      return { ...common, kind: 'SCREENING', hook: rule.hook };
    case 'business_hours': {
      const { time_zone, days, from, to } = rule;
      return { ...common, kind: 'BUSINESS_HOURS', hours: { time_zone, days, from, to } };
    }
    case 'destinations': {
      const since = facts.destination?.createdAtNs ?? facts.now;
      const until = since + BigInt(rule.cooling_off_hours) * HOUR_NS;
      return until > facts.now ? { ...common, kind: 'COOLING_OFF', until: until.toString() } : undefined;
    }
    default:
      return undefined;
  }
}

function faultOf(named: Named, subject: Subject, facts: PolicyFacts, assets: Assets): Problem | undefined {
  const { policy, rule } = named;
  switch (rule.type) {
    case 'amount_limit':
      return limitFault({ policy, rule }, subject, assets);
    case 'velocity':
      return velocityFault({ policy, rule }, subject, facts, assets);
    case 'destinations':
      if (!rule.listed_only || facts.destination?.listed === true) return undefined;
      return refused(named, 'The destination is not listed: list it with POST /v2/destinations');
    default:
      return undefined;
  }
}

/** What exceeds a limit is refused; what needs time or somebody's decision is held. */
export function evaluate(
  policies: readonly Policy[],
  subject: Subject,
  facts: PolicyFacts,
  assets: Assets,
): Evaluation {
  const rules = rulesFor(policies, subject);
  for (const named of rules) {
    const refusal = faultOf(named, subject, facts, assets);
    if (refusal !== undefined) return { refusal, rule: named.rule.name };
  }
  const meters = velocityRules(policies, subject).map(({ meter }) => meter);
  return {
    holds: rules.flatMap((named) => holdOf(named, subject, facts, assets) ?? []),
    meters: [...new Map(meters.map((meter) => [meterKey(meter), meter])).values()],
  };
}
