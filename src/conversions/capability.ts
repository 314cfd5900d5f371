import type { Capability } from '../kernel/capability.ts';
import { CONVERSION_EVENTS } from './event-types.ts';
import { CONVERSION_PROBLEMS } from './problem-examples.ts';
import { type ConversionDependencies, conversionRoutes } from './routes.ts';
import { conversionsAmong } from './store.ts';

type Conversions = Capability & {
  /** Those of these ids that are conversions. */
  among(ids: readonly string[]): Promise<readonly string[]>;
};

/** Conversions between USD and the operator's own stablecoin. */
export function createConversions(dependencies: ConversionDependencies): Conversions {
  return {
    name: 'conversions',
    routes: conversionRoutes(dependencies),
    tags: { Conversions: "USD and the operator's own stablecoin, exchanged one to one." },
    problemExamples: CONVERSION_PROBLEMS,
    eventTypes: [{ ...CONVERSION_EVENTS, resource: 'StablecoinConversion' }],
    among: (ids) => conversionsAmong(dependencies.database, ids),
  };
}
