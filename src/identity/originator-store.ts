import { columns } from '../database/columns.ts';
import type { Table } from '../ledger/command.ts';
import { openJson } from '../sealing/columns.ts';
import { institutionPlace, personPlace } from './store.ts';

/** Who pays: the name of the customer, and the identity that a transfer names or that owns the account that it names. */
export type OriginatorNames = { readonly customerName?: string; readonly identity?: object };

type Row = {
  readonly key: string;
  readonly customerName: string | null;
  readonly id: string | null;
  readonly personDetails: object | string | null;
  readonly institutionDetails: object | string | null;
};

/** By customer, identity and account: `customer/identity/account`, where the last two may be empty. */
export const originatorTable: Table<OriginatorNames> = {
  name: 'originators',
  async load(tx, keys) {
    const wanted = keys.map((key) => {
      const [customerId, identityId, accountId] = key.split('/');
      return { key, customerId: customerId!, identityId: identityId || null, accountId: accountId || null };
    });
    const rows = await tx.query<Row>(
      `select wanted.key, c.name as "customerName", i.id, i.person_details as "personDetails",
              i.institution_details as "institutionDetails"
       from unnest($1::text[], $2::uuid[], $3::uuid[], $4::uuid[]) as wanted (key, customer_id, identity_id, account_id)
       left join customer_names c on c.id = wanted.customer_id
       left join accounts a on a.id = wanted.account_id
       left join identities i on i.id = coalesce(wanted.identity_id, a.identity_id)`,
      columns(wanted, { key: 'text', customerId: 'uuid', identityId: 'uuid', accountId: 'uuid' }),
    );
    const vault = tx.vault();
    return new Map(
      rows.map(({ key, customerName, id, ...details }) => {
        const person = id === null ? null : openJson(vault, details.personDetails, personPlace({ id }));
        const institution =
          id === null ? null : openJson(vault, details.institutionDetails, institutionPlace({ id }));
        const identity = {
          ...(person !== null && { person_details: person }),
          ...(institution !== null && { institution_details: institution }),
        };
        return [
          key,
          {
            ...(customerName !== null && { customerName }),
            ...(Object.keys(identity).length > 0 && { identity }),
          },
        ];
      }),
    );
  },
};
