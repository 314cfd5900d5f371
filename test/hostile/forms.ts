import type { Operation } from '../support/openapi.ts';
import type { Header } from './headers.ts';
import type { Random } from './random.ts';
import type { Request } from './requests.ts';
import { hostileText } from './values.ts';
import type { World } from './world.ts';

/** Requests to the token endpoints: their bodies are forms. */
type Form = [string, string][];

const FORM = 'application/x-www-form-urlencoded';

const encode = (form: Form): string =>
  form
    .map(
      ([name, value]) =>
        `${encodeURIComponent(name.toWellFormed())}=${encodeURIComponent(value.toWellFormed())}`,
    )
    .join('&');

export function validForm(operation: Operation, { caller, access }: World): Form {
  const { clientId, clientSecret } = caller.party;
  const client: Form = [
    ['client_id', clientId],
    ['client_secret', clientSecret],
  ];
  // Revoking a token that was revoked already writes nothing.
  return operation.id === 'createToken'
    ? [['grant_type', 'client_credentials'], ...client]
    : [['token', access.refused['revoked token']!.slice('Bearer '.length)], ...client];
}

type Mutate = (form: Form, random: Random) => { body: Buffer; type: string | undefined; headers?: Header[] };

const MUTATIONS: Readonly<Record<string, Mutate>> = {
  'form field': (form, random) => {
    const at = random.below(form.length);
    const changed: Form = form.map(([name, value], index) =>
      index === at
        ? [name, random.pick([hostileText(random), `${value} `, value.toUpperCase(), 'x'.repeat(5_000), ''])]
        : [name, value],
    );
    return { body: Buffer.from(encode(changed)), type: FORM };
  },
  'form without a field': (form, random) => {
    const at = random.below(form.length);
    return { body: Buffer.from(encode(form.filter((_, index) => index !== at))), type: FORM };
  },
  'form with more fields': (form, random) => {
    const more: Form = random.pick<Form>([
      [random.pick(form)],
      [['scope', 'transfer:read_transfer admin:all']],
      [['scope', hostileText(random)]],
      [['client_assertion', 'x.y.z']],
      [
        [
          'client_assertion',
          `${Buffer.from('{"alg":"none"}').toString('base64url')}.${Buffer.from('{"sub":"x"}').toString('base64url')}.`,
        ],
        ['client_assertion_type', 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer'],
      ],
      [['__proto__', 'x']],
      [['token_type_hint', hostileText(random)]],
      Array.from({ length: 300 }, (_, index): [string, string] => [`a${index}`, 'b']),
    ]);
    return { body: Buffer.from(encode([...form, ...more])), type: FORM };
  },
  'broken form': (form, random) => ({
    body: Buffer.from(
      random.pick([
        '',
        '&&&',
        '=',
        '%',
        '%zz=%ff',
        `${encode(form)}&%00=%00`,
        '{"grant_type":"client_credentials"}',
        '\u0000',
        'a'.repeat(17_000),
      ]),
    ),
    type: random.pick([
      FORM,
      FORM,
      'application/json',
      undefined,
      'text/plain',
      'multipart/form-data',
      'multipart/form-data; boundary=x',
      `${FORM}; charset=utf-16`,
    ]),
  }),
  'multipart form': (form, random) => {
    const parts = form.map(
      ([name, value]) =>
        `--x\r\nContent-Disposition: form-data; name="${name}"${random.chance(0.1) ? '; filename="a"' : ''}\r\n\r\n${value}\r\n`,
    );
    const text = `${parts.join('')}${random.chance(0.7) ? '--x--\r\n' : ''}`;
    return {
      body: Buffer.from(text),
      type: `multipart/form-data; boundary=${random.pick(['x', 'y', '"x"', ''])}`,
    };
  },
  'basic credentials': (form, random) => ({
    body: Buffer.from(encode(form.filter(([name]) => !name.startsWith('client_')))),
    type: FORM,
    headers: [
      [
        'Authorization',
        random.pick([
          'Basic',
          'Basic x',
          `Basic ${btoa('a')}`,
          `Basic ${btoa('%zz:%')}`,
          `Basic ${btoa(':')}`,
          'Bearer x',
          `Basic ${btoa(`${'x'.repeat(3_000)}:y`)}`,
          'Digest a=b',
          '\u00ff',
        ]),
      ],
    ],
  }),
};

export function formRequest(
  operation: Operation,
  world: World,
  random: Random,
): { request: Request; kind: string } {
  const kind = random.pick(Object.keys(MUTATIONS));
  const { body, type, headers = [] } = MUTATIONS[kind]!(validForm(operation, world), random);
  const types: Header[] = type === undefined ? [] : [['Content-Type', type]];
  return {
    kind,
    request: { method: operation.method, target: operation.path, headers: [...types, ...headers], body },
  };
}

function requestWith(operation: Operation, form: Form): Request {
  const body = Buffer.from(encode(form));
  return { method: operation.method, target: operation.path, headers: [['Content-Type', FORM]], body };
}

export const validFormRequest = (operation: Operation, world: World): Request =>
  requestWith(operation, validForm(operation, world));

/** Without the kind of grant, or without the token. */
export const refusedFormRequest = (operation: Operation, world: World): Request =>
  requestWith(operation, validForm(operation, world).slice(1));
