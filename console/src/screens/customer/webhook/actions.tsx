import { useState } from 'react';
import { ferry, queryClient } from '~/app/api.ts';
import { useGo } from '~/app/navigation.ts';
import { fromLocalInput, READER_ZONE, toLocalInput } from '~/lib/time.ts';
import { Button, ConfirmDialog, Field, Menu, TextInput, toast } from '~/ui/index.ts';
import { Secret } from '../webhooks/new-webhook.tsx';
import type { Webhook } from '../webhooks/page.tsx';

const DAY_MS = 86_400_000;

export function WebhookActions({ hook }: { readonly hook: Webhook }) {
  const go = useGo();
  const [asked, setAsked] = useState<'replay' | 'rotate' | 'delete' | 'disable'>();
  const [since, setSince] = useState(() => toLocalInput(new Date(Date.now() - DAY_MS).toISOString()));
  const [secret, setSecret] = useState<string>();
  const [busy, setBusy] = useState(false);
  const close = (): void => setAsked(undefined);
  const done = async (text: string): Promise<void> => {
    await queryClient.invalidateQueries();
    toast(text);
  };
  async function test(): Promise<void> {
    setBusy(true);
    try {
      await ferry.testWebhook({ id: hook.id });
      await done('Sent a test event.');
    } catch (error) {
      toast(error instanceof Error ? error.message : String(error), 'bad');
    } finally {
      setBusy(false);
    }
  }
  const enable = async (enabled: boolean): Promise<void> => {
    await ferry.updateWebhook({ id: hook.id, enabled });
    await done(
      enabled ? 'Enabled it. It continues with the first event that it has not received.' : 'Disabled it.',
    );
  };
  return (
    <>
      <Button busy={busy} onClick={() => void test()}>
        Send a test event
      </Button>
      <Menu
        trigger={<Button icon="down">More</Button>}
        items={[
          { label: 'Replay since…', icon: 'refresh', onSelect: () => setAsked('replay') },
          { label: 'Replace the secret…', icon: 'key', onSelect: () => setAsked('rotate') },
          hook.enabled
            ? { label: 'Disable…', icon: 'clock', onSelect: () => setAsked('disable') }
            : { label: 'Enable', icon: 'check', onSelect: () => void enable(true) },
          { label: 'Delete…', icon: 'close', onSelect: () => setAsked('delete') },
        ]}
      />
      <ConfirmDialog
        open={asked === 'replay'}
        onClose={close}
        title="Replay events"
        description="Every event since this time is sent again, in order."
        action="Replay"
        isReady={since !== ''}
        onConfirm={async () => {
          await ferry.replayWebhook({ id: hook.id, since: fromLocalInput(since)! });
          await done('The events are sent again.');
        }}
      >
        <Field label="Since" hint={READER_ZONE}>
          {(wired) => (
            <TextInput
              {...wired}
              type="datetime-local"
              value={since}
              onChange={(event) => setSince(event.target.value)}
            />
          )}
        </Field>
      </ConfirmDialog>
      <ConfirmDialog
        open={asked === 'rotate'}
        onClose={close}
        title="Replace the secret?"
        description="For a while, both secrets sign what is sent, so that your endpoint can change over."
        action="Replace the secret"
        onConfirm={async () => {
          const answer = await ferry.rotateWebhookSecret({ id: hook.id });
          setSecret(answer.secret);
          await done('Replaced the secret.');
        }}
      />
      <ConfirmDialog
        open={asked === 'disable'}
        onClose={close}
        title="Disable this endpoint?"
        description="Nothing is sent until it is enabled. It then continues with the first event that it has not received."
        action="Disable"
        onConfirm={() => enable(false)}
      />
      <ConfirmDialog
        open={asked === 'delete'}
        onClose={close}
        title="Delete this endpoint?"
        description="Nothing more is sent to it, and its deliveries can no longer be replayed."
        action="Delete the endpoint"
        danger
        onConfirm={async () => {
          await ferry.deleteWebhook({ id: hook.id });
          go('/webhooks');
          await done('Deleted the endpoint.');
        }}
      />
      {secret !== undefined && <Secret secret={secret} onClose={() => setSecret(undefined)} />}
    </>
  );
}
