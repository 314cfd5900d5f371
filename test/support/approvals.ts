import { digestOf } from '../../src/approvals/approval.ts';
import { WAITING } from '../../src/approvals/examples.ts';
import { CLOCK_NS } from '../../src/database/clock.ts';
import type { Database } from '../../src/database/database.ts';
import { newId } from '../../src/kernel/id.ts';

/** Requests that another client of the customer has made, as in the example. */
export function approvalMakers(database: Database, customerId: string, profile: string) {
  const stored = async (level: 'OPERATOR' | 'CUSTOMER'): Promise<string> => {
    const id = newId();
    const maker = { kind: 'client', id: newId(), customerId, name: 'back office' } as const;
    const refId = `goodwill-${parseInt(id.slice(-8), 16)}`;
    const proposal = { ...WAITING.proposal, profile_id: profile, ref_id: refId };
    const facts = { id, customerId, action: WAITING.action, maker, proposal };
    await database.query(
      `insert into approvals (id, customer_id, level, action, proposal, digest, summary, maker, quorum, status, votes, ref_id,
                              created_at_ns, updated_at_ns, expires_at_ns)
       values ($1, $2, $3, $4, $5::jsonb, $6, $7, $8::jsonb, 1, 'PENDING', '[]', $9, ${CLOCK_NS}, ${CLOCK_NS},
               ${CLOCK_NS} + 3600000000000)`,
      [
        id,
        customerId,
        level,
        WAITING.action,
        JSON.stringify(proposal),
        digestOf(facts),
        WAITING.summary,
        JSON.stringify(maker),
        refId,
      ],
    );
    return id;
  };
  const ofOperators = () => stored('OPERATOR');
  return {
    approvals: () => stored('CUSTOMER'),
    getOperatorApproval: ofOperators,
    approveOperatorApproval: ofOperators,
    rejectOperatorApproval: ofOperators,
  };
}

/** Requests that this client of the customer has made, and that were executed. */
export function claimMakers(
  database: Database,
  { customerId, clientId }: { readonly customerId: string; readonly clientId: string },
  make: Readonly<Record<string, () => Promise<string>>>,
) {
  async function executed(level: 'OPERATOR' | 'CUSTOMER'): Promise<string> {
    const id = newId();
    const maker = { kind: 'client', id: clientId, customerId } as const;
    const isOperators = level === 'OPERATOR';
    const made = await make[isOperators ? 'clients' : 'people']!();
    const action = isOperators ? 'client.add_credentials' : 'own_person.link';
    const proposal = isOperators ? { client_id: made } : { person_id: made, removes_passkeys: false };
    const digest = digestOf({ id, customerId, action, maker, proposal });
    const result = { type: isOperators ? 'client' : 'person', id: made };
    await database.query(
      `insert into approvals (id, customer_id, level, action, proposal, digest, summary, maker, quorum, status, votes, result,
                              created_at_ns, updated_at_ns, expires_at_ns)
       values ($1, $2, $3, $4, $5::jsonb, $6, 'As approved.', $7::jsonb, 1, 'EXECUTED', '[]', $8::jsonb, ${CLOCK_NS},
               ${CLOCK_NS}, ${CLOCK_NS} + 3600000000000)`,
      [
        id,
        customerId,
        level,
        action,
        JSON.stringify(proposal),
        digest,
        JSON.stringify(maker),
        JSON.stringify(result),
      ],
    );
    return id;
  }
  return {
    claimOperatorApproval: () => executed('OPERATOR'),
    claimApproval: () => executed('CUSTOMER'),
  };
}
