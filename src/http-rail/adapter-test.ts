import type { Assets } from '../kernel/asset.ts';
import { newId } from '../kernel/id.ts';
import type { Networks, RailName } from '../networks/register.ts';
import { type Bench, createBench, NotProvided, Violation } from './bench.ts';
import { wallClockMs } from './check.ts';
import { type ClientOptions, createAdapterClient } from './client.ts';
import { loadValidation } from './rail.ts';
import { FORGERY_RULES, HEALTH_RULE, OPTIONAL_RULES } from './rules-others.ts';
import { PAYMENT_RULES, type Rule } from './rules-payments.ts';

/** The contract of adapters, as a test that their authors run: `ferry rails test`. */

export type AdapterTest = {
  readonly url: string;
  readonly secret: string;
  readonly rail: RailName;
  readonly asset: string;
  readonly amount: string;
  readonly destination: object;
  readonly timeoutMs: number;
  readonly waitMs: number;
  readonly assets: Assets;
  readonly networks: Networks;
  readonly restart?: (() => Promise<void>) | undefined;
};

export type Verdict = {
  readonly rule: string;
  readonly result: 'ok' | 'violated' | 'not provided';
  readonly found: string;
  /** What the author has to do, if the rule is violated. */
  readonly todo?: string;
};

const RULES: readonly Rule[] = [HEALTH_RULE, ...PAYMENT_RULES, ...FORGERY_RULES, ...OPTIONAL_RULES];

const TEN_MINUTES_MS = 600_000;

function clientsOf({ url, secret, timeoutMs }: AdapterTest) {
  const options: ClientOptions = { url, secrets: [secret], timeoutMs, nowMs: wallClockMs };
  const otherSecret = `whsec_${Buffer.from(newId()).toString('base64')}`;
  const withoutSignature = (headers: Record<string, string>) =>
    Object.fromEntries(Object.entries(headers).filter(([name]) => !name.startsWith('webhook-')));
  return {
    client: createAdapterClient(options),
    wrong: {
      secret: createAdapterClient({ ...options, secrets: [otherSecret] }),
      // One blank more is the same JSON, and another body.
      body: createAdapterClient({ ...options, alterBody: (body) => `${body.slice(0, -1)} }` }),
      old: createAdapterClient({ ...options, nowMs: () => wallClockMs() - TEN_MINUTES_MS }),
      early: createAdapterClient({ ...options, nowMs: () => wallClockMs() + TEN_MINUTES_MS }),
      unsigned: createAdapterClient({ ...options, alter: withoutSignature }),
    },
  };
}

async function judge(rule: Rule, bench: Bench): Promise<Verdict> {
  const { name } = rule;
  try {
    return { rule: name, result: 'ok', found: await rule.run(bench) };
  } catch (error) {
    if (error instanceof NotProvided) return { rule: name, result: 'not provided', found: error.message };
    if (error instanceof Violation)
      return { rule: name, result: 'violated', found: error.message, todo: error.todo };
    throw error;
  }
}

/** Runs every rule against a running adapter. Yields each verdict as soon as it is there. */
export async function* testAdapter(test: AdapterTest, signal: AbortSignal): AsyncGenerator<Verdict> {
  const { client, wrong } = clientsOf(test);
  const bench = createBench({ ...test, client, wrong, signal, validation: await loadValidation() });
  try {
    for (const rule of RULES) {
      const verdict = await judge(rule, bench);
      yield verdict;
      // An adapter that cannot be reached at all breaks every rule: one line says why.
      if (verdict.result === 'violated' && verdict.found.startsWith('GET /health gets no answer')) return;
    }
  } finally {
    for (const one of [client, ...Object.values(wrong)]) one.close();
  }
}
