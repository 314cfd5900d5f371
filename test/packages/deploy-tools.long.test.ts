import { execFileSync, type SpawnSyncReturns, spawnSync } from 'node:child_process';
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parseAllDocuments } from 'yaml';
import { ROOT } from './installed.ts';

/** The tools of those who run it. `.ci/run` installs them; elsewhere the titles say what is missing. */
const DEPLOY = join(ROOT, 'deploy');
const has = (program: string, ...args: string[]): boolean => spawnSync(program, args).error === undefined;
const note = (isHere: boolean, program: string): string =>
  isHere ? '' : ` (not run: ${program} is not on this machine)`;

const folder = mkdtempSync(join(tmpdir(), 'ferry-deploy-'));
afterAll(() => rmSync(folder, { recursive: true }));

const hasSystemd = has('systemd-analyze', '--version');
describe.runIf(hasSystemd)(`the systemd unit${note(hasSystemd, 'systemd-analyze')}`, () => {
  it('is valid for systemd', () => {
    // The unit names a command that is installed on its machine; here it is another one.
    const unit = readFileSync(join(DEPLOY, 'systemd/ferry.service'), 'utf8').replaceAll(
      '/usr/local/bin/ferry',
      '/bin/true',
    );
    const path = join(folder, 'ferry.service');
    writeFileSync(path, unit);
    const { status, stderr } = spawnSync('systemd-analyze', ['verify', '--man=no', path], {
      encoding: 'utf8',
    });
    // Units of the machine itself may have faults, too.
    expect(stderr.split('\n').filter((line) => line.includes(path))).toEqual([]);
    expect(status).toBe(0);
  });

  it('exposes the machine to the service by less than 1.5 of 10', () => {
    const args = ['security', '--offline=true', '--threshold=15', join(DEPLOY, 'systemd/ferry.service')];
    const printed = execFileSync('systemd-analyze', args, { encoding: 'utf8' });
    console.log(printed.trim().split('\n').at(-1));
    expect(printed).toMatch(/Overall exposure level for ferry.service: [01]\.\d/);
  });
});

const hasPromtool = has('promtool', '--version');
describe.runIf(hasPromtool)(`the alerts${note(hasPromtool, 'promtool')}`, () => {
  const promtool = (...args: string[]): string =>
    execFileSync('promtool', args, { cwd: join(DEPLOY, 'prometheus'), encoding: 'utf8' });

  it('are valid rules', () => {
    expect(promtool('check', 'rules', 'ferry-alerts.yaml')).toContain('SUCCESS');
  });

  it('fire when they should, and only then', () => {
    expect(promtool('test', 'rules', 'ferry-alerts.test.yaml')).toContain('SUCCESS');
  });
});

const hasHelm = has('helm', 'version');
const hasGo = has('go', 'version');
const CHART = join(DEPLOY, 'helm/ferry');

/** Helm, or a small program that renders our chart: Helm takes minutes to build. */
function rendererOf(): (values: string) => SpawnSyncReturns<string> {
  const options = { encoding: 'utf8', maxBuffer: 10_000_000 } as const;
  if (hasHelm) return (values) => spawnSync('helm', ['template', 'mine', CHART, '-f', values], options);
  cpSync(join(import.meta.dirname, 'chart'), join(folder, 'chart'), { recursive: true });
  const env = { ...process.env, GOFLAGS: '-mod=mod' };
  execFileSync('go', ['build', '-o', 'chart', '.'], { cwd: join(folder, 'chart'), env });
  return (values) => spawnSync(join(folder, 'chart/chart'), [CHART, values], options);
}

describe.runIf(hasHelm)(`helm lint${note(hasHelm, 'helm')}`, () => {
  it('has no objection to the chart', () => {
    const args = ['lint', '--strict', CHART, '--set', 'publicUrl=https://pay.example'];
    expect(execFileSync('helm', args, { encoding: 'utf8' })).toContain('0 chart(s) failed');
  });
});

describe.runIf(hasHelm || hasGo)(`the Helm chart${note(hasHelm || hasGo, 'neither helm nor go')}`, () => {
  let renderer: ReturnType<typeof rendererOf>;
  beforeAll(() => {
    renderer = rendererOf();
  });
  const rendered = (values: object): SpawnSyncReturns<string> => {
    const path = join(folder, 'values.json');
    writeFileSync(path, JSON.stringify(values));
    return renderer(path);
  };
  const render = (more: object = {}): any[] => {
    const { status, stdout, stderr } = rendered({ publicUrl: 'https://pay.example', ...more });
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
    const documents = parseAllDocuments(stdout);
    expect(documents.flatMap(({ errors }) => errors)).toEqual([]);
    return documents.map((document) => document.toJS()).filter((document) => document !== null);
  };
  const kinds = (documents: readonly any[]): string[] => documents.map(({ kind }): string => kind).sort();

  it('requires the public URL', () => {
    const { status, stderr } = rendered({});
    expect(status).not.toBe(0);
    expect(stderr).toContain('publicUrl is required');
  });

  it('renders nodes that have no rights, and are ready when they can serve', () => {
    const documents = render();
    expect(kinds(documents)).toEqual(['Deployment', 'Job', 'PodDisruptionBudget', 'Service']);
    const { spec } = documents.find(({ kind }) => kind === 'Deployment').spec.template;
    expect(spec.securityContext).toMatchObject({ runAsNonRoot: true, runAsUser: 10001 });
    const [node] = spec.containers;
    expect(node.image).toBe(`ferry:${JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')).version}`);
    expect(node.securityContext).toMatchObject({
      readOnlyRootFilesystem: true,
      allowPrivilegeEscalation: false,
    });
    expect(node.readinessProbe.httpGet).toEqual({ path: '/health/ready', port: 'http' });
    expect(node.env.map(({ name }: { name: string }) => name)).not.toContain('FERRY_MIGRATE_DATABASE_URL');
  });

  it('gives the owner of the tables to the migration only', () => {
    const { spec } = render().find(({ kind }) => kind === 'Job').spec.template;
    expect(spec.containers[0].args).toEqual(['migrate', '--serve-role', 'ferry_serve']);
    expect(spec.containers[0].env.map(({ name }: { name: string }) => name)).toContain(
      'FERRY_MIGRATE_DATABASE_URL',
    );
  });

  it('renders the configuration, the ingress and the monitoring if they are switched on', () => {
    const documents = render({
      config: { prices: { BTC: '65000' } },
      env: { LOG_LEVEL: 'info' },
      ingress: { enabled: true, host: 'pay.example', tlsSecret: 'tls' },
      monitoring: { enabled: true },
      databaseCaConfigMap: 'ca',
    });
    expect(kinds(documents)).toEqual([
      'ConfigMap',
      'Deployment',
      'Ingress',
      'Job',
      'PodDisruptionBudget',
      'PodMonitor',
      'PrometheusRule',
      'Service',
    ]);
    const of = (wanted: string): any => documents.find(({ kind }) => kind === wanted);
    expect(JSON.parse(of('ConfigMap').data['ferry.json'])).toEqual({ prices: { BTC: '65000' } });
    const paths = of('Ingress').spec.rules[0].http.paths.map(({ path }: { path: string }) => path);
    expect(paths).toContain('/v2');
    expect(paths).not.toContain('/metrics');
    expect(of('PrometheusRule').spec.groups[0].rules.length).toBeGreaterThan(20);
  });
});
