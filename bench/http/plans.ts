// What is asked of the service.
import type { RequestPlan } from './job.ts';

export type Workload = 'spread' | 'hot source' | 'hot destination';
export const WORKLOADS: readonly Workload[] = ['spread', 'hot source', 'hot destination'];

const TRANSFER =
  '{"from_profile_id":"{from}","to_profile_id":"{to}","asset":"USD","amount":"0.01","ref_id":"{ref}"}';

/** Platform transfers between any two of the profiles, so many in one request. */
export function bulkPlan(ids: readonly string[], token: string, size: number): RequestPlan {
  return {
    method: 'POST',
    path: '/v2/transfer/platform/bulk',
    token,
    lists: { from: ids, to: ids },
    body: `{"transfers":[${Array<string>(size).fill(TRANSFER).join(',')}]}`,
    size,
  };
}

/** Platform transfers between any two of the profiles, or all from, or all to, the first one. */
export function transferPlan(workload: Workload, ids: readonly string[], token: string): RequestPlan {
  const hot = ids.slice(0, 1);
  const others = ids.slice(1);
  const lists = {
    spread: { from: ids, to: ids },
    'hot source': { from: hot, to: others },
    'hot destination': { from: others, to: hot },
  };
  return {
    method: 'POST',
    path: '/v2/transfer/platform',
    token,
    lists: lists[workload],
    body: TRANSFER,
  };
}

export function fiatWithdrawalPlan(
  profiles: readonly string[],
  fiatAccountId: string,
  token: string,
): RequestPlan {
  return {
    method: 'POST',
    path: '/v2/transfer/fiat-withdrawals',
    token,
    lists: { profile: profiles },
    body: `{"profile_id":"{profile}","fiat_account_id":"${fiatAccountId}","asset":"USD","amount":"1","ref_id":"{ref}"}`,
  };
}

export function cryptoWithdrawalPlan(profiles: readonly string[], token: string): RequestPlan {
  return {
    method: 'POST',
    path: '/v2/transfer/crypto-withdrawals',
    token,
    lists: { profile: profiles },
    body: '{"profile_id":"{profile}","asset":"BTC","crypto_network":"BITCOIN","destination_address":"bc1qar0srrr7xfkvy5l643lydnw9re59gtzzwf5mdq","amount":"0.0001","ref_id":"{ref}"}',
  };
}

type Parties = {
  readonly sources: readonly string[];
  readonly targets: readonly string[];
  readonly token: string;
  readonly targetToken: string;
};

/** Proposed by the one, affirmed by the other; the window is open from the start, so the engine settles it at once. */
export function settlementPlan({ sources, targets, token, targetToken }: Parties): RequestPlan {
  return {
    method: 'POST',
    path: '/v2/settlement/transactions',
    token,
    lists: { source: sources, target: targets },
    body: '{"source_profile_id":"{source}","target_profile_id":"{target}","legs":[{"direction":"DELIVER","asset":"USD","amount":"0.01"},{"direction":"RECEIVE","asset":"BTC","amount":"0.00000001"}],"ref_id":"{ref}"}',
    next: { method: 'PUT', path: '/v2/settlement/transactions/{id}/affirm', token: targetToken },
  };
}

export function transferByIdPlan(ids: readonly string[], token: string): RequestPlan {
  return { method: 'GET', path: '/v2/transfer/transfers/{id}', token, lists: { id: ids } };
}

export function balancesPlan(profiles: readonly string[], token: string): RequestPlan {
  return { method: 'GET', path: '/v2/profiles/{profile}/balances', token, lists: { profile: profiles } };
}

/** Pages of 100, which is also what the service sends to those who do not ask for more or less. */
export function listPlan(cursors: readonly string[], token: string): RequestPlan {
  const path = '/v2/transfer/transfers?limit=100&page_cursor={cursor}';
  return { method: 'GET', path, token, lists: { cursor: cursors } };
}

export function listOfProfilePlan(profiles: readonly string[], token: string): RequestPlan {
  const path = '/v2/transfer/transfers?limit=100&profile_ids={profile}';
  return { method: 'GET', path, token, lists: { profile: profiles } };
}
