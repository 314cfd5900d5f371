import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openSigner, readSigner } from '../../src/chains/signer-settings.ts';
import { readConfig } from '../../src/config/config.ts';
import { createAssets } from '../../src/kernel/asset.ts';
import { newId } from '../../src/kernel/id.ts';
import { DEFAULT_ASSETS } from '../../src/networks/default-assets.ts';
import { NETWORKS } from '../../src/networks/register.ts';
import { createConfigFiles, PRODUCTION, refusal } from '../support/config.ts';
import { startTestService, type TestCustomer, type TestService } from '../support/service.ts';
import { lamportsOf, send, signal } from '../support/solana-money.ts';
import { startSolana, type TestChain } from '../support/solana-node.ts';
import { until } from '../support/until.ts';

/** The whole service, with a rail from the configuration, on a node whose blocks come by themselves. */

const files = createConfigFiles();
let chain: TestChain;
let lane: string;
let service: TestService;
let customer: TestCustomer;

const ASSETS = [
  { code: 'USD', decimals: 2, kind: 'FIAT' },
  { code: 'SOL', decimals: 9, kind: 'CRYPTO', networks: { SOLANA: 'native' } },
] as const;
const fileOf = (changes: object = {}) =>
  files.withFile({
    assets: ASSETS,
    rails: {
      SOLANA: {
        kind: 'solana',
        nodes: [{ url: chain.relay.url }],
        cluster: chain.genesisHash,
        signer: 'embedded',
        ...changes,
      },
    },
  });

beforeAll(async () => {
  // As on the main network: a busy machine must keep up with it.
  chain = await startSolana(400);
  const context = {
    rail: 'SOLANA',
    path: '',
    networks: NETWORKS,
    mode: 'sandbox',
    secret: () => '',
  } as const;
  const signer = openSigner(
    readSigner({ signer: 'embedded' }, { ...context, assets: createAssets(DEFAULT_ASSETS) }),
  );
  lane = (await signer.account('SOLANA', signal())).lanes[0]!;
  chain.fund(lane, 100_000_000_000n);
  service = await startTestService({ ...(fileOf() as Record<string, string>), FERRY_WORKERS: 'on' });
  customer = await service.createCustomer();
}, 120_000);
afterAll(async () => {
  await service?.stop();
  await chain?.stop();
  files.remove();
});

describe('a configured Solana rail', () => {
  it('sends a withdrawal of the API over the chain, and shows its transaction', async () => {
    const profileId = await service.createProfile(customer, { SOL: '5' });
    const { address: to } = await chain.wallet();
    const created = await customer.call('POST', '/v2/transfer/crypto-withdrawals', {
      ref_id: newId(),
      profile_id: profileId,
      asset: 'SOL',
      amount: '1',
      crypto_network: 'SOLANA',
      destination_address: to,
    });
    expect(created).toMatchObject({ status: 200 });
    let transfer: any;
    await until('the withdrawal is completed', async () => {
      transfer = (await customer.call('GET', `/v2/transfer/transfers/${created.body.id}`)).body;
      return transfer.status === 'COMPLETED';
    });
    expect(transfer.crypto_tx_index).toBe(to);
    expect(await lamportsOf(chain, to)).toBe(1_000_000_000n);
  });

  it('credits a deposit to an address of the API', async () => {
    const profileId = await service.createProfile(customer);
    let created: any;
    await until('the scanner has started', async () => {
      created = await customer.call('POST', '/v2/transfer/deposit-addresses', {
        ref_id: newId(),
        profile_id: profileId,
        crypto_network: 'SOLANA',
      });
      return created.status === 200;
    });
    const { kit, system } = chain.library;
    const source = await chain.wallet(5_000_000_000n);
    const destination = kit.address(created.body.address);
    await send(chain, source, [
      system.getTransferSolInstruction({ source, destination, amount: 2_000_000_000n }),
    ]);
    await until('the deposit is credited', async () => {
      const { body } = await customer.call('GET', '/v2/transfer/transfers');
      return body.items.some((item: { type: string; amount: string }) => item.type === 'CRYPTO_DEPOSIT');
    });
  });

  it('takes no address from the list for requests that are refused or repeated', async () => {
    const handedOut = async (): Promise<bigint> => {
      const [row] = await service.database.query<{ next: bigint }>(
        `select next_number as next from chain_accounts where network = 'SOLANA'`,
      );
      return row!.next;
    };
    const profileId = await service.createProfile(customer);
    const ask = (refId: string, profile: string) =>
      customer.call('POST', '/v2/transfer/deposit-addresses', {
        ref_id: refId,
        profile_id: profile,
        crypto_network: 'SOLANA',
      });
    const before = await handedOut();
    for (let count = 0; count < 5; count += 1) expect((await ask(newId(), newId())).status).toBe(404);
    expect(await handedOut()).toBe(before);
    const refId = newId();
    // A busy machine may take longer than the service waits for a rail; asking again takes no second address.
    const addresses = new Set<string>();
    await until('five requests were answered', async () => {
      const answers = await Promise.all(Array.from({ length: 5 }, () => ask(refId, profileId)));
      for (const { status, body } of answers) if (status === 200) addresses.add(body.address);
      return answers.every(({ status }) => status === 200);
    });
    expect(addresses.size).toBe(1);
    expect((await ask(refId, await service.createProfile(customer))).status).toBe(409);
    expect(await handedOut()).toBe(before + 1n);
  });

  it('asks its node for little while nothing happens', async () => {
    const slot = (): Promise<number> => chain.call<number>('getSlot', { commitment: 'finalized' });
    const total = (): number => [...chain.relay.calls.values()].reduce((sum, count) => sum + count, 0);
    const [start, callsBefore] = [await slot(), total()];
    let slots = 0;
    await until('some blocks have come', async () => {
      slots = (await slot()) - start;
      return slots >= 20;
    });
    // Each block is read once, with up to three calls to find that it has come, and that there is no other.
    expect((total() - callsBefore) / slots).toBeLessThan(6);
  });

  it('reports what it finds: the signer, the node, and what the lane holds', async () => {
    const { rails } = readConfig(fileOf({ lanes: [lane] }));
    const findings = await rails[0]!.check(signal());
    const texts = findings.map(({ what, found }) => `${what}: ${found}`).join('\n');
    expect(texts).toContain(`signer embedded: answers, and has the keys of ${lane}`);
    expect(texts).toMatch(new RegExp(`wallet ${lane}: \\d+ lamports`));
  });

  it('ends the start with one sentence if an entry is wrong', () => {
    expect(refusal(fileOf({ signer: 'elsewhere' }))).toContain('rails.SOLANA.signer');
    expect(refusal(fileOf({ lanes: ['x'] }))).toContain('rails.SOLANA.lanes[0] is not an address');
    expect(refusal({ ...PRODUCTION, ...fileOf() })).toContain('rails.SOLANA.signer must name the socket');
  });
});
