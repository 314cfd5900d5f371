import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Config } from '../config/config.ts';
import type { SandboxFile } from './demo.ts';

/** Prints an access token. */
export const tokenCommand = (url: string, id: string, secret: string): string =>
  `curl -s -u ${id}:${secret} -d grant_type=client_credentials ${url}/oauth2/token | sed 's/.*"access_token":"\\([^"]*\\)".*/\\1/'`;

/** For new users: the address, the documentation, the credentials, and a command that can be pasted into a shell. */
export function welcome(config: Config, url: string): string {
  if (config.mode === 'production') return `Ferry listens on ${url}\n`;
  const path = join(config.dataDir, 'sandbox.json');
  const lines = ['', `  Ferry sandbox listens on ${url}`, ''];
  lines.push(`  Console         ${url}/console`);
  if (config.docs) lines.push(`  Guides          ${url}/docs/guides`, `  API reference   ${url}/docs`);
  if (!existsSync(path)) {
    lines.push(
      '',
      `  The demo credentials are in the data directory that this database was first used with; ${path} does not exist.`,
    );
    lines.push('  To create new ones: ferry client create --help', '');
    return lines.join('\n');
  }
  const { customers } = JSON.parse(readFileSync(path, 'utf8')) as SandboxFile;
  const [customer, counterparty] = customers;
  const body = JSON.stringify({
    from_profile_id: customer!.profiles[0]!.id,
    to_profile_id: counterparty!.profiles[0]!.id,
    asset: 'USD',
    amount: '25',
  });
  const token = tokenCommand(url, customer!.client_id, customer!.client_secret);
  lines.push(
    `  Credentials     ${path}`,
    `  client_id       ${customer!.client_id}`,
    `  client_secret   ${customer!.client_secret}`,
    '',
    '  Get a token and move 25 USD to the other demo customer:',
    '',
    `TOKEN=$(${token}) && \\`,
    `curl -s ${url}/v2/transfer/platform -H "Authorization: Bearer $TOKEN" \\`,
    `  -H 'Content-Type: application/json' -d '${body}'`,
    '',
    '  Stop with Ctrl-C.',
    '',
  );
  return lines.join('\n');
}
