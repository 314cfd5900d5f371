import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { createInterface } from 'node:readline';

/** A real node of an EVM network, from npm. It mines only when it is told to, unless a block time is given. */

/** Of anvil's own mnemonic: the first address is the lane of the tests, the second one pays from outside. */
export const MNEMONIC = 'test test test test test test test test test test test junk';
export const LANE = '0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266';
export const OUTSIDER = '0x70997970C51812dc3A010C7d01b50e0d17dc79C8';
export const CHAIN_ID = 31_337;

const BYTECODE = JSON.parse(
  readFileSync(join(import.meta.dirname, '../chains/contracts/contracts.json'), 'utf8'),
) as Record<string, string>;

const BINARIES: Readonly<Record<string, string>> = { 'linux-x64': '@foundry-rs/anvil-linux-amd64' };

function binary(): string {
  const name = BINARIES[`${process.platform}-${process.arch}`];
  if (name === undefined)
    throw new Error(`there is no node for ${process.platform}-${process.arch} among the dependencies`);
  return join(dirname(createRequire(import.meta.url).resolve(`${name}/package.json`)), 'bin/anvil');
}

export type Receipt = {
  readonly status: string;
  readonly blockNumber: string;
  readonly contractAddress: string | null;
};

export type Anvil = {
  readonly url: string;
  readonly process: ChildProcess;
  call<Result>(method: string, params?: readonly unknown[]): Promise<Result>;
  mine(blocks?: number): Promise<void>;
  height(): Promise<number>;
  balance(address: string): Promise<bigint>;
  tokens(contract: string, address: string): Promise<bigint>;
  /** From an account of the node, mined at once. */
  send(transaction: {
    from?: string;
    to?: string;
    value?: bigint;
    data?: string;
    gas?: number;
  }): Promise<{ hash: string; receipt: Receipt }>;
  /** Deploys a contract of the tests from the lane. */
  deploy(name: string, argument?: bigint, from?: string): Promise<string>;
  stop(): Promise<void>;
};

const word = (value: bigint | string): string => BigInt(value).toString(16).padStart(64, '0');
export const hex = (value: bigint | number): string => `0x${value.toString(16)}`;
export const transferCall = (to: string, units: bigint): string => `0xa9059cbb${word(to)}${word(units)}`;
/** `transferThrice(address,address,uint256)` */
export const thriceCall = (other: string, to: string, units: bigint): string =>
  `0xc4131799${word(other)}${word(to)}${word(units)}`;

export async function startAnvil(...args: readonly string[]): Promise<Anvil> {
  const child = spawn(binary(), ['--port', '0', '--no-mining', '--order', 'fees', ...args], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  // A test that fails before it can stop its node leaves none behind.
  const end = (): void => void child.kill('SIGKILL');
  process.once('exit', end);
  child.once('exit', () => process.off('exit', end));
  let url = '';
  for await (const line of createInterface({ input: child.stdout })) {
    const [, port] = /^Listening on 127\.0\.0\.1:(\d+)/.exec(line) ?? [];
    if (port === undefined) continue;
    url = `http://127.0.0.1:${port}`;
    break;
  }
  child.stdout.resume();
  let id = 0;
  async function call<Result>(method: string, params: readonly unknown[] = []): Promise<Result> {
    id += 1;
    const response = await fetch(url, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ jsonrpc: '2.0', id, method, params }),
    });
    const { result, error } = (await response.json()) as { result: Result; error?: { message: string } };
    if (error !== undefined) throw new Error(`${method}: ${error.message}`);
    return result;
  }
  const mine = async (blocks = 1): Promise<void> => void (await call('anvil_mine', [hex(blocks)]));
  const anvil: Anvil = {
    url,
    process: child,
    call,
    mine,
    height: async () => Number(await call<string>('eth_blockNumber')),
    balance: async (address) => BigInt(await call<string>('eth_getBalance', [address, 'latest'])),
    tokens: async (contract, address) =>
      BigInt(
        await call<string>('eth_call', [{ to: contract, data: `0x70a08231${word(address)}` }, 'latest']),
      ),
    async send({ from = OUTSIDER, to, value = 0n, data = '0x', gas = 2_000_000 }) {
      const transaction = { from, ...(to && { to }), value: hex(value), data, gas: hex(gas) };
      const hash = await call<string>('eth_sendTransaction', [transaction]);
      await mine();
      const receipt = await call<Receipt>('eth_getTransactionReceipt', [hash]);
      return { hash, receipt };
    },
    async deploy(name, argument, from = LANE) {
      const data = `${BYTECODE[name]}${argument === undefined ? '' : word(argument)}`;
      const { receipt } = await anvil.send({ from, data });
      return receipt.contractAddress!;
    },
    async stop() {
      const ended = once(child, 'exit');
      child.kill('SIGKILL');
      await ended;
    },
  };
  return anvil;
}
