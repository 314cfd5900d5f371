// The script of the pages under /signin. Addresses are relative to it, because the public URL of the service can have a path.
const SIGN_IN = new URL('./', import.meta.url);
const at = (path) => new URL(path, SIGN_IN).href;
const byId = (id) => document.getElementById(id);

class Refused extends Error {}

async function call(method, path, body) {
  const response = await fetch(at(path), {
    method,
    ...(body !== undefined && {
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
    }),
  });
  const answer = await response.json().catch(() => ({}));
  if (response.ok) return answer;
  const error = new Refused(answer.detail ?? `The service answered ${response.status}.`);
  error.slug = (answer.type ?? '').split('/').at(-1);
  throw error;
}

function say(sentence, isGood = false) {
  const message = byId('message');
  message.textContent = sentence;
  message.classList.toggle('good', isGood);
}

const CANCELLED = 'The browser has not used a passkey: it was cancelled, or took too long. Try again.';

function explain(error) {
  if (error instanceof Refused) return error.message;
  if (error.name === 'InvalidStateError') return 'This device has a passkey for you already.';
  if (error.name === 'NotAllowedError') return CANCELLED;
  return `That did not work: ${error.message}`;
}

/** Runs the work of a button, which cannot be pressed again until it has ended. */
async function run(button, work) {
  button.disabled = true;
  say('');
  try {
    await work();
  } catch (error) {
    say(explain(error));
  } finally {
    button.disabled = false;
  }
}

const onClick = (button, work) => button.addEventListener('click', () => run(button, work));

const onSubmit = (form, work) =>
  form.addEventListener('submit', (event) => {
    event.preventDefault();
    void run(form.querySelector('button'), work);
  });

// WebAuthn has bytes where JSON has base64url.

function bytes(encoded) {
  const plain = atob(encoded.replaceAll('-', '+').replaceAll('_', '/'));
  return Uint8Array.from(plain, (letter) => letter.charCodeAt(0));
}

function text(buffer) {
  const letters = Array.from(new Uint8Array(buffer), (byte) => String.fromCharCode(byte));
  return btoa(letters.join('')).replaceAll('+', '-').replaceAll('/', '_').replaceAll('=', '');
}

const listed = (credentials = []) => credentials.map((one) => ({ ...one, id: bytes(one.id) }));

function shared(credential) {
  const { id, rawId, type } = credential;
  return { id, rawId: text(rawId), type, clientExtensionResults: credential.getClientExtensionResults() };
}

async function prove(options) {
  const { challenge, allowCredentials, ...rest } = options;
  const credential = await navigator.credentials.get({
    publicKey: {
      ...rest,
      challenge: bytes(challenge),
      ...(allowCredentials && { allowCredentials: listed(allowCredentials) }),
    },
  });
  const { clientDataJSON, authenticatorData, signature, userHandle } = credential.response;
  return {
    ...shared(credential),
    response: {
      clientDataJSON: text(clientDataJSON),
      authenticatorData: text(authenticatorData),
      signature: text(signature),
      ...(userHandle && { userHandle: text(userHandle) }),
    },
  };
}

async function create(options) {
  const { challenge, user, excludeCredentials, ...rest } = options;
  const credential = await navigator.credentials.create({
    publicKey: {
      ...rest,
      challenge: bytes(challenge),
      user: { ...user, id: bytes(user.id) },
      excludeCredentials: listed(excludeCredentials),
    },
  });
  const { clientDataJSON, attestationObject } = credential.response;
  return {
    ...shared(credential),
    response: { clientDataJSON: text(clientDataJSON), attestationObject: text(attestationObject) },
  };
}

/** What a person would call this device. */
function deviceName() {
  const agent = navigator.userAgent;
  const known = ['iPhone', 'iPad', 'Android', 'Macintosh', 'Windows', 'CrOS', 'Linux'];
  const names = { Macintosh: 'Mac', CrOS: 'Chromebook' };
  const found = known.find((one) => agent.includes(one)) ?? 'This device';
  return names[found] ?? found;
}

// Where the person wanted to go before the sign-in: a view of the console, and nothing else. It survives the way over a provider.
const NEXT = 'ferry.next';

function keepNext() {
  const asked = new URLSearchParams(location.search).get('next');
  if (asked === null) return;
  const next = new URL(asked, location.origin);
  const isConsole = next.origin === location.origin && next.href.startsWith(at('../console'));
  if (isConsole) sessionStorage.setItem(NEXT, next.href);
}

function takeNext() {
  const next = sessionStorage.getItem(NEXT);
  sessionStorage.removeItem(NEXT);
  return next;
}

const enter = () => location.assign(takeNext() ?? at('me'));

// The sign-in.

function demoButton({ as, name, roles, operator }) {
  const button = document.createElement('button');
  const role = document.createElement('small');
  button.append(name, role);
  button.dataset.as = as;
  role.textContent = `${operator ? 'operator · ' : ''}${roles.join(', ').toLowerCase()}`;
  onClick(button, async () => {
    await call('POST', 'demo', { as });
    enter();
  });
  return button;
}

async function showSignIn() {
  keepNext();
  const { passkeys, url, provider, demo } = await call('GET', 'ways');
  const isHere = new URL(url).origin === location.origin;
  const works = passkeys && isHere && window.PublicKeyCredential !== undefined;
  byId('passkey').hidden = !works;
  if (passkeys && !isHere) {
    byId('elsewhere').hidden = false;
    byId('elsewhere').href = url;
    byId('elsewhere').textContent = `Sign in with a passkey at ${new URL(url).host}`;
  }
  if (provider !== undefined) {
    byId('provider').hidden = false;
    byId('provider').textContent = `Sign in with ${provider}`;
  }
  byId('people').append(...demo.map(demoButton));
  byId('demo').hidden = demo.length === 0;
  onSubmit(byId('client'), async () => {
    const [id, secret] = [byId('client-id'), byId('client-secret')];
    await call('POST', 'client', { client_id: id.value.trim(), client_secret: secret.value });
    secret.value = '';
    location.assign(takeNext() ?? at('../console'));
  });
  onClick(byId('passkey'), async () => {
    const response = await prove(await call('POST', 'passkey/options'));
    await call('POST', 'passkey', { response });
    enter();
  });
}

// The enrolment.

async function showEnrolment() {
  // The fragment is not part of requests, so it is in no log. It is taken out of the history, too.
  const token = location.hash.slice(1);
  history.replaceState(null, '', location.pathname);
  const { name, email } = await call('POST', 'enrolment/options', { token }).catch((error) => {
    byId('who').textContent = 'Nothing was created.';
    throw error;
  });
  byId('who').textContent = `For ${name}, ${email}.`;
  byId('name').value = deviceName();
  byId('enrol').hidden = false;
  onSubmit(byId('enrol'), async () => {
    const { options } = await call('POST', 'enrolment/options', { token });
    const response = await create(options);
    await call('POST', 'enrolment', { token, name: byId('name').value.trim(), response });
    enter();
  });
}

// The account.

const time = (value) => new Date(value).toLocaleString();

function card(title, detail, buttons) {
  const item = document.createElement('li');
  const about = document.createElement('div');
  const small = document.createElement('small');
  small.textContent = detail;
  about.append(title, small);
  item.append(about, ...buttons);
  return item;
}

function actionButton(label, work) {
  const made = document.createElement('button');
  made.textContent = label;
  onClick(made, work);
  return made;
}

let provider;

async function stepUp() {
  const { items } = await call('GET', 'passkeys');
  if (items.length === 0 && provider !== undefined) {
    location.assign(at('openid?step_up'));
    return;
  }
  const response = await prove(await call('POST', 'step-up/options'));
  await call('POST', 'step-up', { response });
}

/** Does what needs a recent proof; if it is too old, asks for one first. */
async function recently(work) {
  try {
    return await work();
  } catch (error) {
    if (error.slug !== 'step-up-required') throw error;
    await stepUp();
    return work();
  }
}

async function showPasskeys() {
  const { items } = await call('GET', 'passkeys');
  const cards = items.map((one) =>
    card(one.name, one.used_at ? `Last used ${time(one.used_at)}` : `Added ${time(one.created_at)}`, [
      actionButton('Remove', async () => {
        await recently(() => call('DELETE', `passkeys/${one.id}`));
        await showPasskeys();
      }),
    ]),
  );
  byId('passkeys')
    .querySelector('ul')
    .replaceChildren(...cards);
  byId('passkeys').hidden = false;
}

async function showSessions() {
  const { items } = await call('GET', 'sessions');
  const cards = items.map((one) => {
    const buttons = one.current
      ? []
      : [
          actionButton('End', async () => {
            await call('DELETE', `sessions/${one.id}`);
            await showSessions();
          }),
        ];
    const title = one.current ? 'This browser' : (one.user_agent ?? 'Unknown browser');
    return card(title, `Since ${time(one.created_at)}${one.address ? ` from ${one.address}` : ''}`, buttons);
  });
  byId('sessions')
    .querySelector('ul')
    .replaceChildren(...cards);
  byId('sessions').hidden = false;
}

function showFacts(me) {
  const facts = {
    Name: me.name,
    Email: me.email,
    Roles: me.roles.join(', ').toLowerCase(),
    ...(me.customer_id ? { Customer: me.customer_id } : { For: 'the operator, all customers' }),
    'Signed in': `${time(me.session.created_at)}, until ${time(me.session.expires_at)}`,
  };
  byId('facts').replaceChildren(
    ...Object.entries(facts).flatMap(([name, value]) => {
      const [term, detail] = [document.createElement('dt'), document.createElement('dd')];
      term.textContent = name;
      detail.textContent = value;
      return [term, detail];
    }),
  );
  byId('me').hidden = false;
}

async function showAccount() {
  const me = await call('GET', '../v2/me').catch((error) => {
    if (error.slug === 'unauthenticated') location.replace(at('../signin'));
    throw error;
  });
  const next = takeNext();
  if (next !== null) {
    location.replace(next);
    return;
  }
  showFacts(me);
  ({ provider } = await call('GET', 'ways'));
  byId('name').value = deviceName();
  onClick(byId('out'), async () => {
    await call('POST', 'out');
    location.assign(at('../signin'));
  });
  onClick(byId('step-up'), async () => {
    await stepUp();
    say('Confirmed.', true);
  });
  onSubmit(byId('add'), async () => {
    const options = await recently(() => call('POST', 'passkeys/options'));
    const response = await create(options);
    await call('POST', 'passkeys', { name: byId('name').value.trim(), response });
    await showPasskeys();
  });
  await Promise.all([showPasskeys(), showSessions()]);
}

const pages = { signin: showSignIn, enrol: showEnrolment, me: showAccount };
const show = pages[document.body.dataset.page];
if (show !== undefined) show().catch((error) => say(explain(error)));
