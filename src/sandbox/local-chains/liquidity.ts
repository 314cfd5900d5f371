import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { SandboxFile } from '../demo.ts';
import { type ChainPlan, liquidityOf } from './plan.ts';

/** Books what the wallets hold beyond what customers own as the operator's money, so that wallets and ledger are equal. */
export async function bookLiquidity(plan: ChainPlan, dataDir: string): Promise<void> {
  const file = JSON.parse(readFileSync(join(dataDir, 'sandbox.json'), 'utf8')) as SandboxFile;
  const { client_id: id, client_secret: secret } = file.customers[0]!;
  const granted = await fetch(file.token_url, {
    method: 'POST',
    headers: { authorization: `Basic ${btoa(`${id}:${secret}`)}` },
    body: new URLSearchParams({ grant_type: 'client_credentials' }),
  });
  const { access_token: token } = (await granted.json()) as { access_token: string };
  for (const { network, lane, asset, amount } of liquidityOf(plan)) {
    const name = `opening-${network}-${asset}`;
    const response = await fetch(`${file.base_url}/v2/operator/journal-entries`, {
      method: 'POST',
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      body: JSON.stringify({
        kind: 'TREASURY_FUNDING',
        ref_id: name,
        reason: 'What the wallet of the sandbox holds at the start',
        reference: name,
        asset,
        amount,
        rail: network,
        account: lane,
      }),
    });
    if (response.status !== 200) throw new Error(await response.text());
  }
}
