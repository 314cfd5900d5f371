import type { Static } from 'typebox';
import type { CancelledShape, CancelRequest, RefillRequest, RefillShape, TreasuryShape } from './schema.ts';

const COLD = '0x3C44CdDdB6a900fa2b585dd299e03d12FA4293BC';

export const TREASURY: Static<typeof TreasuryShape> = {
  networks: [
    {
      network: 'ETHEREUM',
      cold_address: COLD,
      wallets: [
        {
          asset: 'ETH',
          on_chain: {
            hot: '52.5',
            deposit_addresses: '0.75',
            cold: '200',
            height: 23_456_789,
            hash: '0x9b559aef7ea858608c2e554246fe4a24287e7aeeb976848df2b9a2531f4b9171',
            observed_at: '2026-01-15T09:30:00.123456Z',
          },
          ledger: { hot: '53.25', cold: '200', network_fees: '0.0421' },
          in_flight: { arriving: '0', leaving: '1.5', fees_reserved: '0.00126' },
          difference: '0',
          low_mark: '10',
          high_mark: '50',
          level: 'ABOVE_HIGH',
          gas_payments: 41_666,
        },
      ],
    },
  ],
  banks: [
    {
      account: 'clearing:wire',
      asset: 'USD',
      balance: '1250',
      ledger_balance: '0',
      difference: '1250',
      reference: '2026-01-15',
      at: '2026-01-15T09:30:00.123456789Z',
    },
  ],
  alarms: [
    {
      rail: 'ETHEREUM',
      asset: 'ETH',
      reason: 'above-high-mark',
      detail: 'The hot wallet has 52.5 ETH, the high mark is 50.',
    },
  ],
};

export const REFILL_REQUEST: Static<typeof RefillRequest> = {
  network: 'ETHEREUM',
  asset: 'ETH',
  amount: '20',
};

export const REFILL: Static<typeof RefillShape> = {
  ...REFILL_REQUEST,
  cold_address: COLD,
  format: 'EVM_TRANSACTION',
  content:
    '0x02f08201018084773594008504a817c80082520894f39fd6e51aad88f6f4ce6ab8827279cfffb922668901158e460913d0000080c0',
  summary: {
    from: COLD,
    to: '0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266',
    value: '20000000000000000000',
    data: '0x',
    nonce: '0',
    gas: '21000',
    max_fee_per_gas: '20000000000',
    max_priority_fee_per_gas: '2000000000',
    chain_id: '1',
  },
};

export const CANCEL_REQUEST: Static<typeof CancelRequest> = {
  network: 'ETHEREUM',
  transfer_id: '019bc0fd-8ba2-7534-b534-28d9a1f6e3ad',
  reason: 'Above the limit of the signer.',
};

export const CANCELLED: Static<typeof CancelledShape> = {
  network: 'ETHEREUM',
  transfer_id: '019bc0fd-8ba2-7534-b534-28d9a1f6e3ad',
  assignment_id: '019bc0fd-8ba2-7534-b534-28d9a1f6e3ae',
  cancellation_id: '019bc0fd-8ba2-7534-b534-28d9a1f6e3af',
};
