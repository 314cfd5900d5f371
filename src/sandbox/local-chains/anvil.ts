import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import type { EvmNodePlan, LocalNode } from './plan.ts';
import { TOKEN_CODE } from './token.ts';

/** A node of an EVM network for development, from npm: https://getfoundry.sh/anvil. Its chain ends with the process. */

/** A block each second, so that a newcomer sees something happen. */
const BLOCK_SECONDS = 1;
/** An account of the node that is no lane: it deploys the tokens. */
const DEPLOYER = '0xa0Ee7A142d267C1f36714E4a8F75612F20a79720';
const DEPLOY_GAS = 2_000_000;

const hex = (value: bigint | number): string => `0x${value.toString(16)}`;
const word = (value: bigint): string => value.toString(16).padStart(64, '0');
const symbolWord = (symbol: string): string => Buffer.from(symbol, 'ascii').toString('hex').padEnd(64, '0');

type Call = <Result>(method: string, params?: readonly unknown[]) => Promise<Result>;

function callerOf(url: string): Call {
  return async <Result>(method: string, params: readonly unknown[] = []) => {
    const response = await fetch(url, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }),
    });
    const { result, error } = (await response.json()) as { result: Result; error?: { message: string } };
    if (error !== undefined) throw new Error(`${method}: ${error.message}`);
    return result;
  };
}

/** Mined at once. */
async function send(call: Call, data: string, to?: string): Promise<{ contractAddress: string }> {
  const transaction = { from: DEPLOYER, data, gas: hex(DEPLOY_GAS), ...(to !== undefined && { to }) };
  const hash = await call<string>('eth_sendTransaction', [transaction]);
  await call('anvil_mine', [hex(1)]);
  return call('eth_getTransactionReceipt', [hash]);
}

async function deploy(call: Call, symbol: string, lane: string, units: bigint): Promise<string> {
  const { contractAddress } = await send(call, `${TOKEN_CODE}${word(units)}${symbolWord(symbol)}`);
  // transfer(address,uint256)
  await send(call, `0xa9059cbb${word(BigInt(lane))}${word(units)}`, contractAddress);
  return contractAddress;
}

export type RunningNode = {
  readonly node: LocalNode;
  readonly ended: Promise<unknown>;
};

/** Is given what ends a node as soon as there is something to end. */
export type OnEnd = (end: () => void) => void;

export async function startAnvil(
  program: string,
  { network, chainId, lane, coins, tokens }: EvmNodePlan,
  onEnd: OnEnd,
): Promise<RunningNode> {
  const options = { port: 0, host: '127.0.0.1', 'chain-id': chainId, 'block-time': BLOCK_SECONDS };
  const args = Object.entries(options).flatMap(([name, value]) => [`--${name}`, `${value}`]);
  const child = spawn(program, args, { stdio: ['ignore', 'pipe', 'inherit'] });
  onEnd(() => void child.kill('SIGKILL'));
  const ended = new Promise((resolve) => {
    child.once('exit', resolve);
    child.once('error', resolve);
  });
  let port: string | undefined;
  for await (const line of createInterface({ input: child.stdout })) {
    port = /^Listening on 127\.0\.0\.1:(\d+)/.exec(line)?.[1];
    if (port !== undefined) break;
  }
  if (port === undefined) throw new Error(`${program} ended before it listened`);
  child.stdout.resume();
  const url = `http://127.0.0.1:${port}`;
  const call = callerOf(url);
  await call('anvil_setBalance', [lane, hex(coins)]);
  const places: Record<string, string> = {};
  for (const [code, units] of Object.entries(tokens)) places[code] = await deploy(call, code, lane, units);
  return { node: { network, url, tokens: places }, ended };
}
