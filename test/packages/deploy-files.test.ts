import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { validate } from 'dockerfile-utils';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { startTestService, type TestService } from '../support/service.ts';
import { ROOT } from './installed.ts';

const text = (path: string): string => readFileSync(join(ROOT, 'deploy', path), 'utf8');
const yaml = (path: string): any => parse(text(path), { merge: true });
const { version } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'));

/** The variables of the table in docs/operations.md. */
const VARIABLES = [
  ...readFileSync(join(ROOT, 'docs/operations.md'), 'utf8').matchAll(/^\| `([A-Z_]+)` /gm),
].map((match) => match[1]!);

describe('the Dockerfile', () => {
  it('has no errors or warnings', () => {
    expect(validate(text('Dockerfile')).map(({ message }) => message)).toEqual([]);
  });

  it('runs the service as a user without rights, and sets only variables that the service knows', () => {
    const lines = text('Dockerfile').replaceAll('\\\n', '').split('\n');
    expect(lines.findLastIndex((line) => line.startsWith('RUN '))).toBeLessThan(
      lines.indexOf('USER 10001:10001'),
    );
    const [, set] = /^ENV (.*)$/m.exec(text('Dockerfile'))!;
    const names = set!.split(' ').map((pair) => pair.split('=')[0]!);
    expect(names.filter((name) => name !== 'NODE_ENV' && !VARIABLES.includes(name))).toEqual([]);
  });
});

describe('the compose file', () => {
  const { services, networks, volumes } = yaml('compose.yaml');

  it('starts a node only after the migration, and the migration only after the database', () => {
    expect(services.node.depends_on).toEqual({ migrate: { condition: 'service_completed_successfully' } });
    expect(services.migrate.depends_on).toEqual({ database: { condition: 'service_healthy' } });
    expect(services.migrate.command).toEqual(['migrate', '--serve-role', 'ferry_serve']);
  });

  it('gives the owner of the tables to the migration only, and shows the database to nobody else', () => {
    expect(services.migrate.environment).toHaveProperty('FERRY_MIGRATE_DATABASE_URL');
    expect(services.node.environment).not.toHaveProperty('FERRY_MIGRATE_DATABASE_URL');
    expect(services.database).not.toHaveProperty('ports');
    expect(services.database.networks).toEqual(['inside']);
    expect(networks.inside).toEqual({ internal: true });
    expect(services.node.ports).toEqual(['127.0.0.1:8080:8080']);
  });

  it('names only networks, volumes, files and variables that exist', () => {
    for (const service of Object.values<any>(services)) {
      for (const name of service.networks) expect(networks).toHaveProperty(name);
      for (const mount of service.volumes ?? []) {
        const [from] = mount.split(':');
        if (from.startsWith('./')) expect(text(from)).toContain('#!');
        else expect(volumes).toHaveProperty(from);
      }
    }
    for (const name of ['migrate', 'node'])
      for (const variable of Object.keys(services[name].environment)) expect(VARIABLES).toContain(variable);
  });

  it('contains no secret: each is required from the environment', () => {
    const secrets = [...text('compose.yaml').matchAll(/^ +\w+: (.*(?:PASSWORD|SECRET_KEY).*)$/gm)].map(
      (match) => match[1],
    );
    expect(secrets.length).toBeGreaterThan(3);
    for (const value of secrets) expect(value).toMatch(/\$\{[A-Z_]+:\?is required\}/);
  });
});

describe('the Helm chart', () => {
  const values = yaml('helm/ferry/values.yaml');
  const templates = globSync('helm/ferry/templates/*', { cwd: join(ROOT, 'deploy') }).map(text);

  it('has the version of the package', () => {
    expect(yaml('helm/ferry/Chart.yaml')).toMatchObject({ version, appVersion: version });
  });

  it('uses only values that values.yaml has, and has none that is not used', () => {
    const used = new Set(
      templates.flatMap((one) => [...one.matchAll(/\.Values\.([\w.]+)/g)].map((m) => m[1]!)),
    );
    const at = (path: string): unknown => path.split('.').reduce<any>((value, name) => value?.[name], values);
    expect([...used].filter((path) => at(path) === undefined)).toEqual([]);
    const names = [...used].map((path) => path.split('.')[0]);
    expect(Object.keys(values).filter((name) => !names.includes(name))).toEqual([]);
  });

  it('sets only variables that the service knows', () => {
    const set = templates.flatMap((one) =>
      [...one.matchAll(/- name: ([A-Z][A-Z_]+)$/gm)].map((match) => match[1]!),
    );
    expect(set.length).toBeGreaterThan(4);
    expect(set.filter((name) => !VARIABLES.includes(name))).toEqual([]);
  });

  it('brings the same alerts as deploy/prometheus', () => {
    expect(text('helm/ferry/ferry-alerts.yaml')).toBe(text('prometheus/ferry-alerts.yaml'));
  });
});

describe('the systemd unit', () => {
  const unit = text('systemd/ferry.service');

  it('sets and reads only variables that the service knows', () => {
    const [, set] = /^Environment=(.*)$/m.exec(unit)!;
    const example = [...text('systemd/ferry.env').matchAll(/^#? ?([A-Z_]+)=/gm)].map((match) => match[1]!);
    const names = [...set!.split(' ').map((pair) => pair.split('=')[0]!), ...example];
    expect(names.filter((name) => !VARIABLES.includes(name))).toEqual([]);
  });
});

describe('alerts and dashboard', () => {
  let service: TestService;
  let metrics: Set<string>;
  beforeAll(async () => {
    service = await startTestService();
    const shown = await (await fetch(`${service.url}/metrics`)).text();
    metrics = new Set(
      [...shown.matchAll(/^# TYPE (ferry_\w+) (\w+)/gm)].flatMap(([, name, type]) =>
        type === 'histogram' || type === 'summary'
          ? [name!, `${name}_bucket`, `${name}_sum`, `${name}_count`]
          : [name!],
      ),
    );
  });
  afterAll(() => service.stop());

  /** Files are named after the service, too: only what is used as a metric counts. */
  const namedIn = (texts: readonly string[]): string[] => [
    ...new Set(texts.flatMap((one) => one.match(/\bferry_\w+/g) ?? [])),
  ];
  const rules: any[] = yaml('prometheus/ferry-alerts.yaml').groups.flatMap((group: any) => group.rules);

  it('the alerts name only metrics that /metrics has', () => {
    const named = namedIn(rules.map(({ expr }) => expr));
    expect(named.length).toBeGreaterThan(15);
    expect(named.filter((name) => !metrics.has(name))).toEqual([]);
  });

  it('every alert says how severe it is, what happened and what to do', () => {
    for (const rule of rules) {
      expect(rule.labels.severity).toMatch(/^(critical|warning)$/);
      expect(Object.keys(rule.annotations)).toEqual(['summary', 'description']);
      expect(text('prometheus/ferry-alerts.test.yaml')).toContain(`alertname: ${rule.alert}\n`);
    }
  });

  it('every backlog that has an age has an alert', () => {
    const ages = [...metrics].filter((name) =>
      /(oldest|overdue|unknown|unreadable|failing)_seconds$/.test(name),
    );
    const alerted = namedIn(rules.map(({ expr }) => expr));
    // What is waited for lasts as long as your slowest rail and your reviews: it has no limit that suits everybody.
    expect(ages.filter((name) => !alerted.includes(name))).toEqual(['ferry_withdrawals_oldest_seconds']);
  });

  it('the dashboard names only metrics that /metrics has, and covers every metric of the alerts', () => {
    const dashboard = JSON.parse(text('grafana/ferry.json'));
    const expressions = dashboard.panels.flatMap((panel: any) =>
      (panel.targets ?? []).map(({ expr }: { expr: string }) => expr),
    );
    const named = namedIn(expressions);
    expect(named.length).toBeGreaterThan(25);
    expect(named.filter((name) => !metrics.has(name))).toEqual([]);
    const ids = dashboard.panels.map(({ id }: { id: number }) => id);
    expect(new Set(ids).size).toBe(ids.length);
  });
});
