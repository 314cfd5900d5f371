/** Where value is: a customer has one or more, each with a balance per asset. */
export type Profile = {
  readonly id: string;
  readonly customerId: string;
  readonly nickname: string;
  readonly type: 'DEFAULT' | 'NORMAL';
  readonly description: string | null;
  readonly accountId: string | null;
  readonly status: 'ACTIVE' | 'DISABLED';
  readonly createdAtNs: bigint;
};
