import { newPersonOf } from '../people/visitor.ts';
import { approvalMakers, claimMakers } from './approvals.ts';
import { openItems } from './books.ts';
import type { TestCustomer, TestService } from './service.ts';

/** The records of a customer: one of every kind to which an operation can refer. */
export type Belongings = {
  readonly customer: TestCustomer;
  /**
   * Creates another record and returns its id, by the part of the path before it: `profiles` of `/v2/profiles/{id}`. An
   * operation that needs a record in a certain state has its own, by the id of the operation.
   */
  readonly make: Readonly<Record<string, () => Promise<string>>>;
  /** What to put into a field of a body, by its name. */
  readonly fields: Readonly<Record<string, string>>;
};

const FUNDS = { USD: '1000000', BTC: '1000' };

/** `partner` is the other side of settlements. No record changes by itself: no withdrawal is paid, no window is open. */
export async function createBelongings(
  service: Pick<TestService, 'description' | 'createProfile' | 'database'>,
  customer: TestCustomer,
  partner: TestCustomer,
): Promise<Belongings> {
  const exampleOf = (id: string): any => structuredClone(service.description.operation(id).body!.example);
  const post = async (path: string, body: object): Promise<any> => {
    const answer = await customer.call('POST', path, body);
    if (answer.status !== 200) throw new Error(`POST ${path}: ${JSON.stringify(answer.body)}`);
    return answer.body;
  };
  const profile = await service.createProfile(customer, FUNDS);
  const second = await service.createProfile(customer, FUNDS);
  const partners = await service.createProfile(partner);
  const identity = async (): Promise<string> =>
    (await post('/v2/identity/identities', exampleOf('createIdentity'))).id;
  const account = async (owner: string): Promise<string> =>
    (await post('/v2/identity/accounts', { account: { identity_id: owner } })).id;
  async function held(owner: string): Promise<string> {
    const id = await make.transfers!();
    const holds = [{ kind: 'APPROVAL', policyId: id, rule: 'large', owner }];
    await service.database.query('update withdrawal_work set holds = $2::jsonb where transfer_id = $1', [
      id,
      JSON.stringify(holds),
    ]);
    return id;
  }
  const webhooks: string[] = [];
  const clients: string[] = [];
  const withTwo = new Set<string>();
  let names = 0;
  const make: Belongings['make'] = {
    profiles: () => service.createProfile(customer, FUNDS),
    // One that has no balance.
    deactivateProfile: () => service.createProfile(customer),
    identities: identity,
    accounts: async () => account(await identity()),
    'account-members': async () => {
      const members = [{ identity_id: await identity(), roles: ['FINANCIAL_ADVISOR'] }];
      const added = await post('/v2/identity/account-members', {
        account_id: await account(await identity()),
        members,
      });
      return added.members[0].id;
    },
    matches: async () => {
      const reason = 'A payment and its return, both before the go-live.';
      const body = { item_ids: await openItems(customer), reason };
      return (await post('/v2/operator/reconciliations/matches', body)).id;
    },
    'fiat-accounts': async () => {
      const body = exampleOf('createFiatAccount');
      // Waits for a review, so it stays PENDING.
      body.fiat_network_instructions.wire.fiat_account_owner_address.country = 'Atlantis';
      return (await post('/v2/transfer/fiat-accounts', body)).id;
    },
    transfers: async () => {
      // Stays pending: the service of these tests has no workers.
      const { ref_id: _, ...body } = exampleOf('createCryptoWithdrawal');
      return (await post('/v2/transfer/crypto-withdrawals', { ...body, profile_id: profile })).id;
    },
    'deposit-addresses': async () => {
      const body = { profile_id: profile, crypto_network: 'BITCOIN' };
      return (await post('/v2/transfer/deposit-addresses', body)).id;
    },
    'fiat-deposit-instructions': async () => {
      const body = { profile_id: profile, fiat_network: 'WIRE' };
      return (await post('/v2/transfer/fiat-deposit-instructions', body)).id;
    },
    stablecoins: async () => {
      const { ref_id: _, ...body } = exampleOf('createStablecoinConversion');
      return (await post('/v2/conversion/stablecoins', { ...body, profile_id: profile })).id;
    },
    'crypto-destination-addresses': async () => {
      const target = { profile_id: profile, crypto_network: 'BITCOIN' };
      const { address } = await post('/v2/transfer/deposit-addresses', target);
      const body = { ...exampleOf('createCryptoDestinationAddress'), address };
      return (await post('/v2/transfer/crypto-destination-addresses', body)).id;
    },
    people: () => newPersonOf(customer),
    withdrawals: () => make.transfers!(),
    resolveWithdrawal: async () => {
      const id = await make.transfers!();
      // As if a rail had not answered: the service of these tests has no workers.
      await service.database.query(
        `update withdrawal_work set state = 'UNKNOWN', attempts = 1, intent_at_ns = 1 where transfer_id = $1`,
        [id],
      );
      return id;
    },
    'journal-entries': async () => {
      const body = { ...exampleOf('bookJournalEntry'), profile_id: profile };
      return (await post('/v2/operator/journal-entries', body)).id;
    },
    'suspense-deposits': async () =>
      (await post('/v2/sandbox/fiat-deposits', exampleOf('simulateFiatDeposit'))).suspense_deposit.id,
    events: async () => {
      const resourceId = await make.transfers!();
      for (;;) {
        const { body } = await customer.call('GET', `/v2/events?resource_ids=${resourceId}&wait_seconds=5`);
        if (body.items.length > 0) return body.items[0].id;
      }
    },
    webhooks: async () => {
      // For events that do not happen in these tests, so nothing is sent. The number of endpoints per customer is limited.
      const body = { url: 'http://127.0.0.1:9/', event_types: ['webhook_endpoint.disabled'] };
      webhooks.push((await post('/v2/events/webhooks', body)).id);
      if (webhooks.length > 15) await customer.call('DELETE', `/v2/events/webhooks/${webhooks.shift()}`);
      return webhooks.at(-1)!;
    },
    // Of the last endpoint that was created: in a path it stands before its delivery.
    deliveries: async () => {
      const id = webhooks.at(-1) ?? (await make.webhooks!());
      return (await post(`/v2/events/webhooks/${id}/test`, {})).id;
    },
    // Of the customer, and for the operator.
    policies: async () =>
      (await post('/v2/policies', { ...exampleOf('changeOwnPolicy'), name: `wires ${++names}` })).id,
    getPolicy: async () => (await post('/v2/operator/policies', exampleOf('changePolicy'))).id,
    listPolicyVersions: () => make.getPolicy!(),
    destinations: async () => {
      const body = { destination: `fiat_account/${await make['fiat-accounts']!()}`, label: 'Cold wallet' };
      return (await post('/v2/destinations', body)).id;
    },
    // Held as a policy would: no policy of these tests concerns other withdrawals.
    'held-withdrawals': () => held(customer.id),
    releaseHeldWithdrawal: () => held('operator'),
    refuseHeldWithdrawal: () => held('operator'),
    listWithdrawalNotes: async () => {
      const id = await held('operator');
      const body = exampleOf('releaseHeldWithdrawal');
      await post(`/v2/operator/withdrawals/${id}/release`, body);
      return id;
    },
    clients: async () => {
      const body = { ...exampleOf('createClient'), customer_id: customer.id };
      clients.push((await post('/v2/operator/clients', body)).client_id);
      return clients.at(-1)!;
    },
    // Of the last client that was created: in a path it stands before its credential.
    credentials: async () => {
      const last = clients.at(-1)!;
      // A client has two secrets at most.
      const client = withTwo.has(last) ? await make.clients!() : last;
      withTwo.add(client);
      return (await post(`/v2/operator/clients/${client}/credentials`, {})).credential_ids[0];
    },
    freezes: async () => {
      const subject = await service.createProfile(customer);
      const body = { ...exampleOf('createFreeze'), subject_id: subject };
      return (await post('/v2/operator/freezes', body)).id;
    },
    transactions: async () => {
      const body = {
        source_profile_id: profile,
        target_profile_id: partners,
        legs: [{ direction: 'DELIVER', asset: 'USD', amount: '1' }],
        settlement_window_start: new Date(Date.now() + 86_400_000).toISOString(),
      };
      return (await post('/v2/settlement/transactions', body)).id;
    },
  };
  const { id: clientId } = (await customer.call('GET', '/v2/me')).body;
  Object.assign(make, approvalMakers(service.database, customer.id, profile));
  Object.assign(make, claimMakers(service.database, { customerId: customer.id, clientId }, make));
  const owner = await identity();
  const owned = await account(owner);
  return {
    customer,
    make,
    fields: {
      customer_id: customer.id,
      profile_id: profile,
      from_profile_id: profile,
      source_profile_id: profile,
      to_profile_id: second,
      target_profile_id: second,
      identity_id: owner,
      from_identity_id: owner,
      to_identity_id: owner,
      account_id: owned,
      from_account_id: owned,
      to_account_id: owned,
      // Of its own, because nothing moves once it is frozen.
      subject_id: await service.createProfile(customer),
      fiat_account_id: await make['fiat-accounts']!(),
      owner_person_id: await newPersonOf(customer),
      fee_id: (await post('/v2/transfer/fees/crypto-withdrawal', exampleOf('createCryptoWithdrawalFee'))).id,
    },
  };
}

/** Policies and destinations exactly as the examples have them; `make` varies their names. */
export const asExamples = (
  { description }: Pick<TestService, 'description'>,
  customer: TestCustomer,
): Belongings['make'] => {
  const created = async (path: string, operation: string): Promise<string> =>
    (await customer.call('POST', path, description.operation(operation).body!.example)).body.id;
  return {
    policies: () => created('/v2/policies', 'changeOwnPolicy'),
    destinations: () => created('/v2/destinations', 'listDestinationForWithdrawals'),
  };
};
