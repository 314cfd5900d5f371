// The script of the guides. Who is signed in sees their own ids in the examples; without a session, they stay variables.
const FERRY = document.body.dataset.ferry;
const SERVICE = new URL('../../', import.meta.url);

for (const index of document.querySelectorAll('.index'))
  index.open = matchMedia('(min-width: 52rem)').matches;

for (const block of document.querySelectorAll('pre')) {
  const button = document.createElement('button');
  button.type = 'button';
  button.className = 'copy';
  button.textContent = 'Copy';
  const say = (text) => {
    button.textContent = text;
    setTimeout(() => {
      button.textContent = 'Copy';
    }, 2_000);
  };
  button.addEventListener('click', () => {
    navigator.clipboard.writeText(block.querySelector('code').textContent).then(
      () => say('Copied'),
      () => say('Not allowed'),
    );
  });
  block.append(button);
}

async function read(path) {
  const response = await fetch(new URL(path, SERVICE), { headers: { accept: 'application/json' } });
  return response.ok ? response.json() : undefined;
}

/** Replaces `$NAME` and `'$NAME'` in shell examples. */
function fill(values) {
  for (const code of document.querySelectorAll('pre[data-language="bash"] code')) {
    for (const [name, value] of Object.entries(values))
      code.textContent = code.textContent.replaceAll(
        new RegExp(`"'\\$${name}'"|\\$${name}(?![A-Z_])`, 'g'),
        (found) => (found.startsWith('"') ? `"${value}"` : value),
      );
  }
}

async function showOwn() {
  const usesVariables = [...document.querySelectorAll('pre[data-language="bash"] code')].some((code) =>
    /\$(FERRY|CLIENT_ID|PROFILE|FIAT_ACCOUNT)\b/.test(code.textContent),
  );
  if (!usesVariables) return;
  fill({ FERRY });
  const me = await read('v2/me');
  if (me?.customer_id === undefined) return;
  const profiles = await read('v2/profiles?limit=1');
  const accounts = await read('v2/transfer/fiat-accounts?limit=1&statuses=APPROVED');
  // A person has no client, but the customer has: one that the person owns, if there is one.
  const clients = me.kind === 'CLIENT' ? undefined : await read('v2/clients?limit=100&statuses=ACTIVE');
  const isOwned = ({ owner_person_id: owner }) => owner === me.id;
  const clientId =
    me.kind === 'CLIENT' ? me.id : (clients?.items.find(isOwned) ?? clients?.items[0])?.client_id;
  const [profile] = profiles?.items ?? [];
  const [account] = accounts?.items ?? [];
  fill({
    ...(clientId !== undefined && { CLIENT_ID: clientId }),
    ...(profile !== undefined && { PROFILE: profile.id }),
    ...(account !== undefined && { FIAT_ACCOUNT: account.id }),
  });
  const yours = document.getElementById('yours');
  const whose = me.kind === 'CLIENT' ? 'your client and its customer' : `${me.name}'s customer`;
  yours.textContent = `The examples have the address of this service and ids of ${whose}. Secrets are shown only when they are created.`;
  yours.hidden = false;
}

await showOwn();
