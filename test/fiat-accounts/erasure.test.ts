import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { findFiatAccount } from '../../src/fiat-accounts/store.ts';
import { eventsOf } from '../support/events.ts';
import { FIAT_ACCOUNTS, institution, kinds, NUMBER, request, wire } from '../support/fiat-accounts.ts';
import { startTestService, type TestCustomer, type TestService } from '../support/service.ts';
import { until } from '../support/until.ts';

let service: TestService;
let alice: TestCustomer;
beforeAll(async () => {
  service = await startTestService({ FERRY_WORKERS: 'on', FERRY_SANDBOX_SPEED: '100000' });
  alice = await service.createCustomer();
});
afterAll(() => service.stop());

/** Another one than that of the bank, which is kept. */
const ownerAddress = {
  country: 'US',
  address1: 'Zanzibar Lane 17',
  city: 'Anchorage',
  province: 'AK',
  zip_code: '99501',
};
const KINDS = { ...kinds, wire: { ...wire, fiat_account_owner_address: ownerAddress } };
const PERSONAL = [NUMBER, 'Ada', 'Lovelace', 'Analytical', 'Zanzibar', 'Anchorage', '99501'];
const found = (value: unknown): string[] => PERSONAL.filter((one) => JSON.stringify(value).includes(one));

async function createPaid(body: object): Promise<{ id: string; transferId: string }> {
  const { id } = (await alice.call('POST', FIAT_ACCOUNTS, body)).body;
  const profile = await service.createProfile(alice, { USD: '200' });
  const withdrawal = { profile_id: profile, fiat_account_id: id, asset: 'USD', amount: '25' };
  const { body: transfer } = await alice.call('POST', '/v2/transfer/fiat-withdrawals', withdrawal);
  const path = `/v2/transfer/transfers/${transfer.id}`;
  await until('it is paid', async () => (await alice.call('GET', path)).body.status === 'COMPLETED');
  return { id, transferId: transfer.id };
}

describe('deleting a fiat account', () => {
  it.each(Object.entries<object>(KINDS))(
    'of the kind %s erases its number, names and address',
    async (kind, fields) => {
      const owner = kind === 'cubix' ? institution : request.fiat_account_owner;
      const body = {
        fiat_account_owner: owner,
        fiat_network_instructions: { [kind]: fields },
        ref_id: `erased-${kind}`,
      };
      const { id, transferId } = await createPaid(body);
      const deleted = (await alice.call('DELETE', `${FIAT_ACCOUNTS}/${id}`)).body;
      const stored = await findFiatAccount(service.database, alice.id, id);
      expect(found([stored!.fiatAccountOwner, stored!.fiatNetworkInstructions])).toEqual([]);
      await until(
        'its events are erased',
        async () => found(await eventsOf(service.database, id)).length === 0,
      );
      const types = (await eventsOf(service.database, id)).map(({ type }) => type);
      expect(types).toEqual(['fiat_account.pending', 'fiat_account.approved', 'fiat_account.deleted']);
      const work = await service.database.query('select 1 from withdrawal_work where transfer_id = $1', [
        transferId,
      ]);
      expect(work).toEqual([]);
      // The ref_id still belongs to it, and a replay shows what is left: the bank and the last four characters.
      const replay = (await alice.call('POST', FIAT_ACCOUNTS, body)).body;
      expect(replay).toEqual(deleted);
      const [shown] = Object.values<any>(replay.fiat_network_instructions);
      const [number] = Object.values<string>(fields as Record<string, string>);
      expect(Object.values(shown)).toContain(`****${number!.slice(-4)}`);
      const transfer = (await alice.call('GET', `/v2/transfer/transfers/${transferId}`)).body;
      expect(transfer).toMatchObject({ status: 'COMPLETED', fiat_account_id: id });
    },
  );

  it('leaves the events of other resources of the same batches as they are', async () => {
    const kept = (await alice.call('POST', FIAT_ACCOUNTS, request)).body;
    const events = await eventsOf(service.database, kept.id);
    expect(events[0]!.resource.fiat_account_owner).toEqual(request.fiat_account_owner);
    expect(found(events)).toContain('Lovelace');
    expect(found(events)).not.toContain(NUMBER);
  });
});
