import type { Asset, Assets } from '../kernel/asset.ts';
import { type Route, route } from '../kernel/route.ts';
import { AmountOut, AssetCode, closed } from '../kernel/shapes.ts';
import { Type } from '../kernel/type.ts';
import type { Networks } from '../networks/register.ts';
import { ASSETS } from './examples.ts';
import type { FeeSchedule } from './schedule.ts';

export const AssetShape = Type.Object(
  {
    asset: AssetCode('Code'),
    kind: Type.Enum(['FIAT', 'CRYPTO', 'STABLECOIN']),
    decimals: Type.Integer({ description: 'Digits after the decimal point that an amount may have' }),
    rails: Type.Array(
      Type.Object(
        {
          rail: Type.String({ description: 'Kind of fiat account, or crypto network' }),
          withdrawal_fee: Type.Optional(
            AmountOut('Fee of a withdrawal, in the asset. Absent if nothing can be withdrawn over the rail'),
          ),
          deposit_fee: Type.Optional(
            AmountOut('Fee of a deposit, in the asset. Absent if nothing can be deposited over the rail'),
          ),
        },
        closed,
      ),
      { description: 'What carries the asset' },
    ),
  },
  { ...closed, title: 'Asset' },
);

export const AssetList = Type.Object({ items: Type.Array(AssetShape) }, { ...closed, title: 'AssetList' });

type Tables = { readonly assets: Assets; readonly networks: Networks; readonly schedule: FeeSchedule };

/** Withdrawals to fiat accounts are in USD. */
const FIAT_WITHDRAWALS = 'USD';

function railsOf({ code, kind, networks: homes }: Asset, { assets, networks, schedule }: Tables) {
  const rails = kind === 'FIAT' ? networks.fiatKinds : Object.keys(homes);
  return rails.flatMap((rail) => {
    const withdrawal =
      kind !== 'FIAT'
        ? schedule.crypto(code, rail)
        : code === FIAT_WITHDRAWALS && networks.isFiatKind(rail)
          ? schedule.fiat(rail)
          : undefined;
    const deposit = schedule.deposit(rail, code);
    if (withdrawal === undefined && deposit === undefined) return [];
    return [
      {
        rail,
        ...(withdrawal !== undefined && { withdrawal_fee: assets.format(code, withdrawal) }),
        ...(deposit !== undefined && { deposit_fee: assets.format(code, deposit) }),
      },
    ];
  });
}

export function assetsRoute(tables: Tables): Route {
  const items = tables.assets.list.map((asset) => ({
    asset: asset.code,
    kind: asset.kind,
    decimals: asset.decimals,
    rails: railsOf(asset, tables),
  }));
  return route({
    method: 'GET',
    path: '/v2/assets',
    operationId: 'listAssets',
    tag: 'Fees',
    summary: 'List assets, their rails and fees',
    description:
      'The assets of this service, with the precision of their amounts, the rails that carry them, and the fees of the schedule. A crypto withdrawal can have its fee guaranteed before it is created.',
    scope: 'funding:read_profile',
    response: AssetList,
    problems: [],
    answer: ASSETS,
    handle: async () => ({ body: { items } }),
  });
}
