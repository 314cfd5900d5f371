import { describe, expect, it } from 'vitest';
import { createAssets } from '../kernel/asset.ts';
import { DEFAULT_ASSETS } from '../networks/default-assets.ts';
import { type Transfer, transferText } from './transfer.ts';

const assets = createAssets(DEFAULT_ASSETS);

const platform: Transfer = {
  id: '01981b3f-7c2a-7e14-9d5b-3f6a8c1e2d40',
  customerId: '01981b3f-7c2a-7e14-9d5b-3f6a8c1e2d41',
  profileId: '01981b3f-7c2a-7e14-9d5b-3f6a8c1e2d42',
  type: 'PLATFORM_TRANSFER_DEBIT',
  direction: 'DEBIT',
  status: 'COMPLETED',
  asset: 'USD',
  amountUnits: 2_550n,
  feeUnits: 0n,
  balanceAsset: 'USD',
  balanceUnits: 2_550n,
  createdAtNs: 1_794_721_234_567_890_120n,
  updatedAtNs: 1_794_721_234_567_890_120n,
  groupId: '01981b3f-7c2a-7e14-9d5b-3f6a8c1e2d43',
};

const withdrawal: Transfer = {
  ...platform,
  type: 'CRYPTO_WITHDRAWAL',
  status: 'FAILED',
  asset: 'ETH',
  amountUnits: 10n ** 18n,
  feeUnits: 1n,
  balanceAsset: 'ETH',
  updatedAtNs: 1_794_721_235_000_000_000n,
  identityId: '01981b3f-7c2a-7e14-9d5b-3f6a8c1e2d44',
  accountId: '01981b3f-7c2a-7e14-9d5b-3f6a8c1e2d45',
  refId: 'a "quoted" \\ café 🛥',
  metadata: { 'a "key"': 'line\nbreak', b: '' },
  memo: 'tab\tand \u2028',
  fiatAccountId: '01981b3f-7c2a-7e14-9d5b-3f6a8c1e2d46',
  destinationAddress: '0x"',
  cryptoNetwork: 'ETHEREUM',
  cryptoTxHash: '0xabc',
  cryptoTxIndex: '0',
  notionalValue: '2500.5',
  secondaryStatus: { name: 'REFUSED', detail: 'Said "no".' },
  statusDetails: { max_rent_exceeded: { message: 'm', destination_address: 'd' } },
};

describe('a transfer as users see it', () => {
  it('leaves out absent fields, whether they are null or missing', () => {
    const shown = {
      id: platform.id,
      customer_id: platform.customerId,
      profile_id: platform.profileId,
      amount: '25.5',
      total: '25.5',
      fee: '0',
      asset: 'USD',
      direction: 'DEBIT',
      type: 'PLATFORM_TRANSFER_DEBIT',
      status: 'COMPLETED',
      created_at: '2026-11-15T05:40:34.56789012Z',
      updated_at: '2026-11-15T05:40:34.56789012Z',
      balance_asset: 'USD',
      auto_conversion: {},
      group_id: platform.groupId,
    };
    expect(transferText(platform, assets)).toBe(JSON.stringify(shown));
    const nulls = { identityId: null, refId: null, metadata: null, memo: null, secondaryStatus: null };
    expect(transferText({ ...platform, ...nulls }, assets)).toBe(JSON.stringify(shown));
  });

  it('has all its fields, as valid JSON whatever the texts contain', () => {
    expect(transferText(withdrawal, assets)).toBe(
      JSON.stringify({
        id: withdrawal.id,
        customer_id: withdrawal.customerId,
        profile_id: withdrawal.profileId,
        amount: '1',
        total: '1.000000000000000001',
        fee: '0.000000000000000001',
        asset: 'ETH',
        direction: 'DEBIT',
        type: 'CRYPTO_WITHDRAWAL',
        status: 'FAILED',
        created_at: '2026-11-15T05:40:34.56789012Z',
        updated_at: '2026-11-15T05:40:35Z',
        identity_id: withdrawal.identityId,
        ref_id: withdrawal.refId,
        balance_asset: 'ETH',
        metadata: withdrawal.metadata,
        destination_address: withdrawal.destinationAddress,
        crypto_network: 'ETHEREUM',
        crypto_tx_hash: '0xabc',
        crypto_tx_index: '0',
        account_id: withdrawal.accountId,
        auto_conversion: {},
        group_id: withdrawal.groupId,
        fiat_account_id: withdrawal.fiatAccountId,
        secondary_status: withdrawal.secondaryStatus,
        notional_value: '2500.5',
        memo: withdrawal.memo,
        status_details: withdrawal.statusDetails,
      }),
    );
  });

  it('has a total of the amount less the fee, if it is a deposit', () => {
    const deposit: Transfer = { ...withdrawal, type: 'WIRE_DEPOSIT', direction: 'CREDIT' };
    const shown = JSON.parse(transferText(deposit, assets)) as Record<string, unknown>;
    expect(shown).toMatchObject({ amount: '1', fee: '0.000000000000000001', total: '0.999999999999999999' });
    expect(shown).not.toHaveProperty('auto_conversion');
  });
});
