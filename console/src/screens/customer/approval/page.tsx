import { ferry } from '~/app/api.ts';
import { type Deciding, OneApproval } from '~/approvals/one-approval.tsx';

const DECIDING: Deciding = {
  list: '/approvals',
  scope: 'control:approve',
  read: (id) => ferry.getApproval({ id }),
  approve: (vote) => ferry.approveApproval(vote),
  reject: (vote) => ferry.rejectApproval(vote),
  results: { transfer: (id) => `/transfers/${id}` },
};

export default function CustomerApproval() {
  return <OneApproval deciding={DECIDING} />;
}
