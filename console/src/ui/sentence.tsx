import { createElement, type ReactNode } from 'react';
import { shortId } from './id.tsx';
import { Time } from './time.tsx';

const PARTS =
  /([0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}|\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z)/;

export type SentenceProps = {
  readonly text: string | undefined;
  /** The name of what an id is about, such as a profile of the reader. */
  readonly nameOf?: (id: string) => string | undefined;
};

function partOf(part: string, isText: boolean, nameOf: SentenceProps['nameOf']): ReactNode {
  if (isText) return part;
  if (part.endsWith('Z')) return <Time at={part} />;
  const name = nameOf?.(part);
  return (
    <span title={part} className={name === undefined ? 'font-mono text-[0.92em]' : 'font-medium'}>
      {name ?? shortId(part)}
    </span>
  );
}

/** A sentence of the service, with its ids short or by name, and its times in the zone of the reader. */
export function Sentence({ text, nameOf }: SentenceProps) {
  if (text === undefined) return undefined;
  const parts = text.split(PARTS).map((part, index) => partOf(part, index % 2 === 0, nameOf));
  // Known by their place: when a table shows another row in the same element, texts change and no elements are created.
  return createElement('span', undefined, ...parts);
}
