import { Fragment } from 'react';
import { shortId } from './id.tsx';
import { Time } from './time.tsx';

const PARTS =
  /([0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}|\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z)/;

export type SentenceProps = {
  readonly text: string | undefined;
  /** The name of what an id is about, such as a profile of the reader. */
  readonly nameOf?: (id: string) => string | undefined;
};

/** A sentence of the service, with its ids short or by name, and its times in the zone of the reader. */
export function Sentence({ text, nameOf }: SentenceProps) {
  if (text === undefined) return undefined;
  const parts = text.split(PARTS).map((part, index) => {
    const key = `${index} ${part}`;
    if (index % 2 === 0) return <Fragment key={key}>{part}</Fragment>;
    if (part.endsWith('Z')) return <Time key={key} at={part} />;
    const name = nameOf?.(part);
    return (
      <span key={key} title={part} className={name === undefined ? 'font-mono text-[0.92em]' : 'font-medium'}>
        {name ?? shortId(part)}
      </span>
    );
  });
  return <span>{parts}</span>;
}
