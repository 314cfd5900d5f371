import { ferry } from '~/app/api.ts';
import { type Deciding, OneApproval } from '~/approvals/one-approval.tsx';

const DECIDING: Deciding = {
  list: '/operator/approvals',
  scope: 'operator:approve',
  read: (id) => ferry.getOperatorApproval({ id }),
  approve: (vote) => ferry.approveOperatorApproval(vote),
  reject: (vote) => ferry.rejectOperatorApproval(vote),
  results: {
    transfer: (id) => `/operator/withdrawals/${id}`,
    journal_entry: (id) => `/operator/journal/${id}`,
    policy: (id) => `/operator/policies/${id}`,
    freeze: (id) => `/operator/freezes?open=${id}`,
  },
};

export default function OperatorApproval() {
  return <OneApproval deciding={DECIDING} />;
}
