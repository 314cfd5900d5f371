import { type ChildProcess, execFileSync, spawn, spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { request as httpsRequest } from 'node:https';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startTestService, type TestCustomer, type TestService } from '../support/service.ts';
import { until } from '../support/until.ts';
import { blocksIn, makeCertificate } from './guides.ts';

/** The configurations of docs/proxies.md, in front of a real service. `.ci/run` installs both proxies. */
const folder = mkdtempSync(join(tmpdir(), 'ferry-proxies-'));
let service: TestService;
let customer: TestCustomer;
const started: ChildProcess[] = [];
beforeAll(async () => {
  service = await startTestService();
  customer = await service.createCustomer();
  makeCertificate(folder, 'pay.example');
});
afterAll(async () => {
  for (const child of started) child.kill('SIGTERM');
  await service.stop();
  rmSync(folder, { recursive: true, force: true });
});

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  const { port } = server.address() as { port: number };
  await new Promise((done) => server.close(done));
  return port;
}

type Got = { status: number; text: string };

/** Over TLS, with the name of the certificate. Ends early if `isEnough`. */
function get(
  port: number,
  path: string,
  headersOf?: Record<string, string>,
  isEnough: (text: string) => boolean = () => false,
): Promise<Got> {
  return new Promise((resolve, reject) => {
    const headers = { host: 'pay.example', ...headersOf };
    const options = {
      host: '127.0.0.1',
      port,
      path,
      headers,
      servername: 'pay.example',
      rejectUnauthorized: false,
    };
    const request = httpsRequest(options, (response) => {
      let text = '';
      const end = (): void => resolve({ status: response.statusCode!, text });
      response.on('data', (chunk) => {
        text += chunk;
        if (isEnough(text)) {
          end();
          request.destroy();
        }
      });
      response.on('end', end);
    });
    request.once('error', reject).end();
  });
}

const upstream = (): string => service.url.replace('http://', '');

type Proxy = { readonly program: string; readonly start: (port: number) => ChildProcess };

const PROXIES: Record<string, Proxy> = {
  nginx: {
    program: 'nginx',
    start(port) {
      const [site] = blocksIn('docs/proxies.md', 'nginx');
      const server = site!
        .replace('127.0.0.1:8080', upstream())
        .replace('listen 443 ssl', `listen 127.0.0.1:${port} ssl`)
        .replace('/etc/ssl/pay.example.crt', join(folder, 'cert.pem'))
        .replace('/etc/ssl/pay.example.key', join(folder, 'key.pem'));
      const path = join(folder, 'nginx.conf');
      writeFileSync(
        path,
        `daemon off;\nuser root;\nerror_log ${folder}/error.log;\npid ${folder}/nginx.pid;\nevents {}\nhttp {\naccess_log off;\n${server}\n}\n`,
      );
      execFileSync('nginx', ['-t', '-q', '-c', path, '-p', folder]);
      return spawn('nginx', ['-c', path, '-p', folder]);
    },
  },
  Caddy: {
    program: 'caddy',
    start(port) {
      const [site] = blocksIn('docs/proxies.md', 'caddy');
      const server = site!
        .replace('127.0.0.1:8080', upstream())
        .replace('pay.example {', `pay.example:${port} {\n\ttls ${folder}/cert.pem ${folder}/key.pem`);
      const path = join(folder, 'Caddyfile');
      writeFileSync(path, `{\n\tadmin off\n\tauto_https disable_redirects\n}\n${server}`);
      const env = { ...process.env, HOME: folder, XDG_DATA_HOME: folder, XDG_CONFIG_HOME: folder };
      execFileSync('caddy', ['validate', '--adapter', 'caddyfile', '--config', path], {
        env,
        stdio: 'ignore',
      });
      return spawn('caddy', ['run', '--adapter', 'caddyfile', '--config', path], { env });
    },
  },
};

for (const [name, { program, start }] of Object.entries(PROXIES)) {
  const isHere = spawnSync(program, ['-h']).error === undefined;
  const missing = isHere ? '' : ` (not run: ${program} is not on this machine)`;

  describe.runIf(isHere)(`${name}${missing}`, () => {
    let port: number;
    beforeAll(async () => {
      port = await freePort();
      started.push(start(port));
      await until('the proxy answers', async () => (await get(port, '/openapi.json')).status === 200);
    });

    it('passes requests on, and keeps metrics and health inside', async () => {
      const profile = await service.createProfile(customer, { USD: '7' });
      const balance = await get(port, `/v2/profiles/${profile}/balances/USD`, {
        authorization: customer.authorization,
      });
      expect(balance.status).toBe(200);
      expect(JSON.parse(balance.text)).toMatchObject({ available: '7' });
      for (const path of ['/metrics', '/health/ready', '/health/live'])
        expect({ path, status: (await get(port, path)).status }).toEqual({ path, status: 404 });
    });

    it('passes an event on while the stream is open', async () => {
      const [from, to] = [
        await service.createProfile(customer, { USD: '100' }),
        await service.createProfile(customer),
      ];
      const seen = get(port, '/v2/events/stream', { authorization: customer.authorization }, (text) =>
        text.includes('completed'),
      );
      let isDone = false;
      void seen.then(() => {
        isDone = true;
      });
      // Until the stream is open, events are not for it.
      await until(
        'an event has passed',
        async () => {
          const order = { from_profile_id: from, to_profile_id: to, asset: 'USD', amount: '0.01' };
          await customer.call('POST', '/v2/transfer/platform', order);
          return isDone;
        },
        200,
      );
      expect((await seen).text).toMatch(/^data: /m);
    });
  });
}
