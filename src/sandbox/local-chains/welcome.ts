import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Config } from '../../config/config.ts';
import { NETWORKS } from '../../networks/register.ts';
import type { SandboxFile } from '../demo.ts';
import { tokenCommand } from '../welcome.ts';
import type { LocalNode } from './plan.ts';

/** What `ferry sandbox --chains` prints when it is ready: commands with real ids, to be pasted into another shell. */

const NETWORK = 'ETHEREUM';
const AMOUNT = '1.5';

const rpc = (method: string, params: readonly unknown[]): string =>
  JSON.stringify({ jsonrpc: '2.0', id: 1, method, params });

function list(nodes: readonly LocalNode[]): string[] {
  const simulated = NETWORKS.cryptoNetworks.filter((name) => nodes.every(({ network }) => network !== name));
  const order = NETWORKS.cryptoNetworks.flatMap((name) => nodes.filter(({ network }) => network === name));
  return [
    '  Local nodes',
    ...order.map(({ network, url }) => `  ${network.padEnd(15)} ${url}`),
    '',
    `  Simulated       ${simulated.join(', ')}: npm has no node for them`,
  ];
}

type Customer = SandboxFile['customers'][number];

function withdrawal(url: string, customer: Customer, node: string): string[] {
  const { client_id: id, client_secret: secret, profiles } = customer;
  // Nobody has its key, and it holds nothing yet.
  const payee = `0x${randomBytes(20).toString('hex')}`;
  const body = {
    profile_id: profiles[0]!.id,
    asset: 'ETH',
    crypto_network: NETWORK,
    amount: AMOUNT,
    destination_address: payee,
  };
  const json = `-H 'Content-Type: application/json'`;
  const bearer = '-H "Authorization: Bearer $TOKEN"';
  return [
    `  Withdraw ${AMOUNT} ETH from a demo profile to a new address:`,
    '',
    `TOKEN=$(${tokenCommand(url, id, secret)}) && \\`,
    `TRANSFER=$(curl -s ${url}/v2/transfer/crypto-withdrawals ${bearer} ${json} \\`,
    `  -d '${JSON.stringify(body)}') && echo "$TRANSFER"`,
    '',
    '  Wait until it is on the chain, and ask the node for the receipt of its transaction:',
    '',
    `ID=$(echo "$TRANSFER" | sed 's/^{"id":"\\([^"]*\\)".*/\\1/')`,
    `until HASH=$(curl -s ${url}/v2/transfer/transfers/$ID ${bearer} |`,
    `  sed -n 's/.*"crypto_tx_hash":"\\(0x[0-9a-f]*\\)".*/\\1/p') && [ -n "$HASH" ]; do sleep 1; done; \\`,
    `curl -s ${node} ${json} -d '${rpc('eth_getTransactionReceipt', ['HASH']).replace('HASH', "'$HASH'")}'`,
    '',
    `  What the address holds on the chain, in wei (${AMOUNT} ETH is 0x14d1120d7b160000):`,
    '',
    `curl -s ${node} ${json} -d '${rpc('eth_getBalance', [payee, 'latest'])}'`,
    '',
  ];
}

export function chainsWelcome(
  { dataDir, docs }: Pick<Config, 'dataDir' | 'docs'>,
  nodes: readonly LocalNode[],
): string {
  const path = join(dataDir, 'sandbox.json');
  const { base_url: url, customers } = JSON.parse(readFileSync(path, 'utf8')) as SandboxFile;
  const ethereum = nodes.find(({ network }) => network === NETWORK);
  return [
    '',
    `  Ferry sandbox listens on ${url}`,
    '',
    `  Console         ${url}/console`,
    ...(docs ? [`  Guides          ${url}/docs/guides`, `  API reference   ${url}/docs`] : []),
    `  Credentials     ${path}`,
    `  Configuration   ${join(dataDir, 'ferry.json')}`,
    '',
    ...list(nodes),
    '',
    ...(ethereum === undefined ? [] : withdrawal(url, customers[0]!, ethereum.url)),
    '  Stop with Ctrl-C. The chains and the database end with it; the next start begins with new ones.',
    '',
  ].join('\n');
}
