import type { Database } from '../database/database.ts';
import { pageOf, readPage } from '../kernel/paging.ts';
import { notFound } from '../kernel/problem.ts';
import { type Route, route } from '../kernel/route.ts';
import { IdParams } from '../kernel/shapes.ts';
import { createOnce } from '../ledger/create.ts';
import type { WritePath } from '../ledger/write-path.ts';
import { type ConversionTables, conversionCommand } from './command.ts';
import { type Conversion, presentConversion } from './conversion.ts';
import { CONVERSION, CONVERSION_REQUEST } from './examples.ts';
import { ConversionList, ConversionQuery, ConversionRequest, ConversionShape } from './schema.ts';
import { findConversion, listConversions, newConversions } from './store.ts';

export type ConversionDependencies = Omit<ConversionTables, 'newConversions'> & {
  readonly database: Database;
  readonly writePath: WritePath;
};

const TAG = 'Conversions';
const READ = 'conversion:read_conversion_stablecoin';

export function conversionRoutes(dependencies: ConversionDependencies): Route[] {
  const { database, writePath, assets } = dependencies;
  const tables: ConversionTables = { ...dependencies, newConversions };
  const present = (conversion: Conversion) => presentConversion(conversion, assets);
  const find = (customerId: string, id: string) => findConversion(database.of(customerId), customerId, id);
  return [
    route({
      method: 'POST',
      path: '/v2/conversion/stablecoins',
      operationId: 'createStablecoinConversion',
      tag: TAG,
      summary: 'Convert between USD and the stablecoin',
      description:
        "Debits one balance of the profile and credits the other, one to one and without a fee, in one transaction. The assets are USD and the operator's own stablecoin, in either direction. Amounts are never rounded: they have at most as many decimals as both assets.",
      scope: 'conversion:write_conversion_stablecoin',
      body: ConversionRequest,
      example: CONVERSION_REQUEST,
      response: ConversionShape,
      problems: ['exceeds-precision', 'insufficient-funds', 'forbidden', 'not-found', 'already-exists'],
      answer: CONVERSION,
      examine: (caller, body) => void conversionCommand(caller, body, tables),
      handle: ({ caller, body }) =>
        createOnce(writePath, {
          command: conversionCommand(caller, body, tables),
          load: (id) => find(caller.customerId, id),
          present,
        }),
    }),
    route({
      method: 'GET',
      path: '/v2/conversion/stablecoins',
      operationId: 'listStablecoinConversions',
      tag: TAG,
      summary: 'List conversions',
      scope: READ,
      query: ConversionQuery,
      response: ConversionList,
      problems: [],
      answer: { items: [CONVERSION] },
      async handle({ caller, query }) {
        const page = readPage(query, 'conversions');
        const rows = await listConversions(database.of(caller.customerId), caller.customerId, query, page);
        return { body: await pageOf(rows, page, present) };
      },
    }),
    route({
      method: 'GET',
      path: '/v2/conversion/stablecoins/{id}',
      operationId: 'getStablecoinConversion',
      tag: TAG,
      summary: 'Get a conversion',
      scope: READ,
      params: IdParams,
      response: ConversionShape,
      problems: ['not-found'],
      answer: CONVERSION,
      async handle({ caller, params }) {
        const conversion = await find(caller.customerId, params.id);
        if (conversion === undefined) throw notFound('conversion', params.id);
        return { body: present(conversion) };
      },
    }),
  ];
}
