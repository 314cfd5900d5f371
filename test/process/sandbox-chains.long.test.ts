import { execFile, spawn } from 'node:child_process';
import { chmodSync, existsSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createAssets } from '../../src/kernel/asset.ts';
import { DEFAULT_ASSETS } from '../../src/networks/default-assets.ts';
import { pathWithCurl } from '../support/curl.ts';
import {
  makeDataDir,
  nodeEnvironment,
  removeDataDir,
  runHere,
  sandboxOf,
  tokenFrom,
} from '../support/process.ts';
import { until } from '../support/until.ts';

/** `ferry sandbox --chains`, as a newcomer runs it: what it prints is pasted into a shell. */

const run = promisify(execFile);
const FERRY = resolve(import.meta.dirname, '../../bin/ferry.js');
const dataDir = makeDataDir();
// If root runs the tests, another user runs the server, and has to reach the directory below.
chmodSync(dataDir, 0o711);
const chainsDir = join(dataDir, 'chains');

function start(env: Record<string, string> = {}) {
  const child = spawn(process.execPath, [FERRY, 'sandbox', '--chains'], {
    env: nodeEnvironment({ FERRY_DATA_DIR: dataDir, ...env }),
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let text = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => (text += chunk));
  const ended = new Promise<number | NodeJS.Signals | null>((done) =>
    child.once('exit', (code, signal) => done(code ?? signal)),
  );
  const ready = until(
    'it prints how to stop it, or has ended',
    () => /Stop with Ctrl-C/.test(text) || child.exitCode !== null,
  );
  return { child, output: () => text, ended, ready };
}

/** The commands in what it printed: they begin at the left, the text around them does not. */
const commandsIn = (output: string): string[] =>
  output
    .slice(output.indexOf('Withdraw '))
    .split('\n\n')
    .filter((part) => /^[A-Z]+=|^curl /.test(part));

const urlIn = (output: string, network: string): string =>
  new RegExp(`^ +${network} +(http://\\S+)$`, 'm').exec(output)![1]!;

async function rpc(url: string, method: string, params: readonly unknown[]): Promise<any> {
  const response = await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }),
  });
  return ((await response.json()) as { result: unknown }).result;
}

let sandbox: ReturnType<typeof start>;
let call: (method: string, path: string, body?: object) => Promise<any>;
let profile: string;
let deposits: string | undefined;
const ASSETS = createAssets(DEFAULT_ASSETS);

beforeAll(async () => {
  sandbox = start();
  await sandbox.ready;
  expect(sandbox.output()).toContain('Stop with Ctrl-C');
  const [customer] = sandboxOf(chainsDir).customers;
  const { base_url: url } = sandboxOf(chainsDir);
  profile = customer!.profiles[0]!.id;
  const token = await tokenFrom(url, customer!);
  call = async (method, path, body) => {
    const response = await fetch(url + path, {
      method,
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      ...(body && { body: JSON.stringify(body) }),
    });
    return response.json();
  };
});
afterAll(async () => {
  if (sandbox?.child.exitCode === null) sandbox.child.kill('SIGKILL');
  await removeDataDir(chainsDir);
  await removeDataDir(dataDir);
});

/** What the ledger says that the wallet of the network holds. */
async function owned(rail: string, asset: string): Promise<bigint | undefined> {
  const { assets } = await call('GET', '/v2/operator/trial-balance');
  const { accounts } = assets.find((one: any) => one.asset === asset);
  const { balance } = accounts.find((one: any) => one.account === `clearing:${rail.toLowerCase()}`);
  const parsed = ASSETS.parse(asset, balance.replace('-', ''));
  return parsed.ok ? parsed.units : undefined;
}

async function completed(id: string): Promise<any> {
  let transfer: any;
  await until(
    `transfer ${id} is completed`,
    async () => {
      transfer = await call('GET', `/v2/transfer/transfers/${id}`);
      return transfer.status === 'COMPLETED';
    },
    200,
  );
  return transfer;
}

describe('ferry sandbox --chains', () => {
  it('says at once what it does, and which networks are simulated', () => {
    const [first] = sandbox.output().split('\n');
    expect(first).toBe('Starting the sandbox with local chains.');
    expect(sandbox.output()).toContain('BITCOIN, BITCOIN_CASH, LITECOIN: npm has no node for them');
  });

  it('prints commands that withdraw, and show the payment on the chain', async () => {
    const commands = commandsIn(sandbox.output());
    expect(commands).toHaveLength(3);
    const script = ['set -eu', ...commands.flatMap((one) => [one, 'echo; echo --'])].join('\n');
    const { stdout } = await run('bash', ['-c', script], { env: { PATH: pathWithCurl() } });
    const [transfer, receipt, balance] = stdout
      .split('\n--\n')
      .slice(0, 3)
      .map((text) => JSON.parse(text));
    expect(transfer).toMatchObject({ type: 'CRYPTO_WITHDRAWAL', status: 'PENDING', amount: '1.5' });
    expect(receipt.result).toMatchObject({ status: '0x1', to: transfer.destination_address });
    expect(balance.result).toBe('0x14d1120d7b160000');
    expect((await completed(transfer.id)).crypto_tx_hash).toBe(receipt.result.transactionHash);
  });

  it('pays tokens on another EVM network, and coins on SOLANA', async () => {
    const contract = JSON.parse(readFileSync(join(chainsDir, 'ferry.json'), 'utf8')).assets.find(
      ({ code }: { code: string }) => code === 'USDC',
    ).networks.BASE;
    const to = `0x${'ab'.repeat(20)}`;
    const lamports = '7EcDhSYGxXyscszYEp35KHN8vvw3svAuLKTzXwCFLtV';
    const withdraw = (asset: string, network: string, address: string) =>
      call('POST', '/v2/transfer/crypto-withdrawals', {
        profile_id: profile,
        asset,
        amount: '2',
        crypto_network: network,
        destination_address: address,
      });
    const tokens = await withdraw('USDC', 'BASE', to);
    const coins = await withdraw('SOL', 'SOLANA', lamports);
    await completed(tokens.id);
    await completed(coins.id);
    const data = `0x70a08231${to.slice(2).padStart(64, '0')}`;
    const held = await rpc(urlIn(sandbox.output(), 'BASE'), 'eth_call', [{ to: contract, data }, 'latest']);
    expect(BigInt(held)).toBe(2_000_000n);
    const { value } = await rpc(urlIn(sandbox.output(), 'SOLANA'), 'getBalance', [lamports]);
    expect(value).toBe(2_000_000_000);
  });

  it('credits what is paid on the chain to a deposit address', async () => {
    await until('the scanner has started', async () => {
      const answer = await call('POST', '/v2/transfer/deposit-addresses', {
        profile_id: profile,
        crypto_network: 'ARBITRUM_ONE',
      });
      deposits = answer.address;
      return deposits !== undefined;
    });
    const from = '0x70997970C51812dc3A010C7d01b50e0d17dc79C8';
    const node = urlIn(sandbox.output(), 'ARBITRUM_ONE');
    await rpc(node, 'eth_sendTransaction', [{ from, to: deposits, value: '0xde0b6b3a7640000' }]);
    await until(
      'the deposit is credited',
      async () => {
        const { items } = await call('GET', '/v2/transfer/transfers');
        return items.some((one: any) => one.type === 'CRYPTO_DEPOSIT' && one.crypto_tx_hash !== undefined);
      },
      200,
    );
  });

  it('has wallets that hold what the ledger says, to the unit', async () => {
    const { items } = await call('GET', '/v2/operator/journal-entries?limit=100');
    const coins = items.filter((one: any) => ['ETH', 'POL', 'SOL'].includes(one.asset));
    expect(coins).toHaveLength(6);
    for (const { rail, asset, account } of coins) {
      const node = urlIn(sandbox.output(), rail);
      const addresses = rail === 'ARBITRUM_ONE' ? [account, deposits] : [account];
      const held = async (address: string): Promise<bigint> =>
        rail === 'SOLANA'
          ? BigInt((await rpc(node, 'getBalance', [address])).value)
          : BigInt(await rpc(node, 'eth_getBalance', [address, 'latest']));
      let onChain = 0n;
      for (const address of addresses) onChain += await held(address);
      // It shows what was committed a moment ago.
      await expect.poll(() => owned(rail, asset)).toBe(onChain);
    }
  });

  it('refuses a second one in the same directory', async () => {
    const second = await runHere(['sandbox', '--chains'], { FERRY_DATA_DIR: dataDir });
    expect(second.code).toBe(1);
    expect(second.stderr).toContain(`runs already, as process ${sandbox.child.pid} in ${chainsDir}`);
  });

  it('ends its nodes when it is killed, and starts again in the same directory', async () => {
    const nodes = ['ETHEREUM', 'SOLANA'].map((network) => urlIn(sandbox.output(), network));
    sandbox.child.kill('SIGKILL');
    for (const url of nodes)
      await until('the node has ended', () =>
        fetch(url).then(
          () => false,
          () => true,
        ),
      );
    sandbox = start();
    await sandbox.ready;
    expect(sandbox.output()).toContain('Stop with Ctrl-C');
  });

  it('ends its nodes and removes its data when it is stopped', async () => {
    const nodes = ['ETHEREUM', 'SOLANA'].map((network) => urlIn(sandbox.output(), network));
    sandbox.child.kill('SIGINT');
    expect(await sandbox.ended).toBe(0);
    for (const url of nodes) await expect(fetch(url)).rejects.toThrow();
    expect(existsSync(chainsDir)).toBe(false);
  });
});
