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
