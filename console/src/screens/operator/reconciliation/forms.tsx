import { useState } from 'react';
import { ferry, queryClient } from '~/app/api.ts';
import { fromLocalInput, READER_ZONE } from '~/lib/time.ts';
import { counted } from '~/lib/words.ts';
import { AmountInput, ConfirmDialog, Field, Select, TextInput, toast } from '~/ui/index.ts';

type Props = { readonly account: string; readonly onClose: () => void };
type Format = 'CAMT053' | 'CSV';

/** A statement of the bank, as a file. */
export function Import({ account, onClose }: Props) {
  const [format, setFormat] = useState<Format>('CAMT053');
  const [statement, setStatement] = useState('');
  const [content, setContent] = useState('');
  return (
    <ConfirmDialog
      open
      onClose={onClose}
      title={`Import a statement of ${account}`}
      description="Its lines are compared with the ledger. Nothing is booked. The same statement can be imported again."
      action="Import"
      isReady={content !== ''}
      onConfirm={async () => {
        const answer = await ferry.importStatement({
          account,
          format,
          content,
          ...(statement.trim() !== '' && { statement_id: statement.trim() }),
        });
        await queryClient.invalidateQueries();
        toast(`Imported ${counted(answer.line_count, 'line')}.`);
      }}
    >
      <Field label="Format">
        {(wired) => (
          <Select
            {...wired}
            value={format}
            onChange={(event) => setFormat(event.target.value as Format)}
            options={[
              { value: 'CAMT053', label: 'ISO 20022 camt.053' },
              { value: 'CSV', label: 'CSV: at, asset, direction, amount, reference' },
            ]}
          />
        )}
      </Field>
      {format === 'CSV' && (
        <Field label="Id of the statement" hint="The bank's own">
          {(wired) => (
            <TextInput {...wired} value={statement} onChange={(event) => setStatement(event.target.value)} />
          )}
        </Field>
      )}
      <Field label="File">
        {(wired) => (
          <TextInput
            {...wired}
            type="file"
            accept=".xml,.csv,.txt"
            className="h-auto py-1"
            onChange={(event) => {
              void event.target.files?.[0]?.text().then(setContent);
            }}
          />
        )}
      </Field>
    </ConfirmDialog>
  );
}

/** What the bank says is there. */
export function ReportBalance({ account, onClose }: Props) {
  const [asset, setAsset] = useState('USD');
  const [balance, setBalance] = useState('');
  const [reference, setReference] = useState('');
  const [at, setAt] = useState('');
  return (
    <ConfirmDialog
      open
      onClose={onClose}
      title={`Report a balance of ${account}`}
      description="It is compared with what the ledger had at that time. Nothing is booked."
      action="Report it"
      isReady={balance.trim() !== '' && reference.trim() !== '' && at !== ''}
      onConfirm={async () => {
        await ferry.reportBalance({
          account,
          asset: asset.trim(),
          balance: balance.trim(),
          reference: reference.trim(),
          at: fromLocalInput(at)!,
        });
        await queryClient.invalidateQueries();
        toast('The balance is reported.');
      }}
    >
      <div className="grid grid-cols-1 gap-3 sm:grid-cols-2">
        <Field label="Asset">
          {(wired) => (
            <TextInput {...wired} value={asset} onChange={(event) => setAsset(event.target.value)} />
          )}
        </Field>
        <Field label="Balance" hint="Negative if it is owed">
          {(wired) => (
            <AmountInput {...wired} value={balance} onChange={(event) => setBalance(event.target.value)} />
          )}
        </Field>
        <Field label="When" hint={READER_ZONE}>
          {(wired) => (
            <TextInput
              {...wired}
              type="datetime-local"
              value={at}
              onChange={(event) => setAt(event.target.value)}
            />
          )}
        </Field>
        <Field label="Statement or block">
          {(wired) => (
            <TextInput {...wired} value={reference} onChange={(event) => setReference(event.target.value)} />
          )}
        </Field>
      </div>
    </ConfirmDialog>
  );
}
