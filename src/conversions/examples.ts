import type { Static } from 'typebox';
import { EXAMPLE_AT, EXAMPLE_IDS } from '../kernel/examples.ts';
import type { ConversionRequest, ConversionShape } from './schema.ts';

export const CONVERSION_REQUEST: Static<typeof ConversionRequest> = {
  profile_id: EXAMPLE_IDS.profile,
  amount: '250',
  source_asset: 'USD',
  target_asset: 'PUSD',
  ref_id: 'conversion-0031',
};

export const CONVERSION: Static<typeof ConversionShape> = {
  ...CONVERSION_REQUEST,
  id: '019bc0fd-8ba2-7c63-9b11-52d0a7e94f08',
  customer_id: EXAMPLE_IDS.customer,
  status: 'SETTLED',
  created_at: EXAMPLE_AT,
};
