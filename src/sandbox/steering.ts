import type { Networks } from '../networks/register.ts';
import type { Payment } from '../rails/rail.ts';
import { deriveAddress } from './derive.ts';

/**
 * How a user of the sandbox makes a rail misbehave: by an amount, a memo or an address. A test compares docs/sandbox.md
 * with this table.
 */
export const BEHAVIOURS = {
  refuse: { digits: '66601', does: 'refuses the payment when it is submitted' },
  fail: { digits: '66602', does: 'accepts the payment, and fails it later' },
  lost: { digits: '66603', does: 'times out and never receives the request; the second request is paid' },
  timeout: { digits: '66604', does: 'times out, but receives the request and pays' },
  pending: { digits: '66605', does: 'leaves the payment pending until you complete or fail the transfer' },
  twice: { digits: '66606', does: 'pays, and reports it twice more without being asked' },
  late: { digits: '66607', does: 'pays, and reports it only an hour of simulated time later' },
  returned: { digits: '66608', does: 'pays, and an hour later reports that it failed' },
  down: { digits: '66609', does: 'is unavailable for the first three requests, then pays' },
  rent: { digits: undefined, does: 'on SOLANA: the recipient closes the token account after each payment' },
} as const satisfies Record<string, { digits: string | undefined; does: string }>;

export type Steering = keyof typeof BEHAVIOURS;
export type Behaviour = Steering | 'pay';

export const STEERINGS = Object.keys(BEHAVIOURS) as readonly Steering[];

export const MEMO_PREFIX = 'sandbox:';

/** `"666.01"`, `"0.0066601"` and `"66601000"` have the same digits, so that every asset has such an amount. */
function digitsOf(amount: string): string {
  return amount.replace('.', '').replace(/^0+/, '').replace(/0+$/, '');
}

export type BehaviourOf = (payment: Pick<Payment, 'amount' | 'memo' | 'destination'>) => Behaviour;

/** The memo decides first, then the address, then the amount. */
export function createSteering(networks: Networks): BehaviourOf {
  const byAddress = new Map<string, Steering>(
    networks.cryptoNetworks.flatMap((network) =>
      STEERINGS.map((one) => [deriveAddress(networks, network, one).toLowerCase(), one] as const),
    ),
  );
  return ({ memo, destination, amount }) => {
    if (memo?.startsWith(MEMO_PREFIX)) {
      const name = memo.slice(MEMO_PREFIX.length).trim();
      if (Object.hasOwn(BEHAVIOURS, name)) return name as Steering;
    }
    const addressed = 'address' in destination ? byAddress.get(destination.address.toLowerCase()) : undefined;
    if (addressed !== undefined) return addressed;
    const digits = digitsOf(amount);
    return STEERINGS.find((one) => BEHAVIOURS[one].digits === digits) ?? 'pay';
  };
}
