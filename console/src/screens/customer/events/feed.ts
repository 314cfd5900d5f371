import type { components } from '@ferry/client';
import { useEffect, useState } from 'react';
import { ferry } from '~/app/api.ts';

export type FerryEvent = components['schemas']['Event'];

const DAY_MS = 86_400_000;
const PAGE = 1_000;
/** Pages of the past that are read before the present; a customer with more events filters them. */
const PAST_PAGES_MAX = 20;
/** Rows that stay on the screen. */
const KEPT = 2_000;
/** How long the service waits for an event before it answers without one. */
const WAIT_SECONDS = 20;
const AGAIN_MS = 2_000;

export type Feed = {
  /** Newest first. */
  readonly events: readonly FerryEvent[];
  readonly isLoading: boolean;
  readonly isLive: boolean;
  readonly error: unknown;
};

type Filter = { readonly types?: string[]; readonly resource_ids?: string[] };
const EMPTY: Feed = { events: [], isLoading: true, isLive: false, error: null };

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

async function follow(filter: Filter, signal: AbortSignal, show: (change: (feed: Feed) => Feed) => void) {
  const add = (items: readonly FerryEvent[]): void =>
    show((feed) => ({ ...feed, events: [...items.toReversed(), ...feed.events].slice(0, KEPT) }));
  let cursor: string | undefined;
  for (let pages = 0; pages < PAST_PAGES_MAX; pages += 1) {
    const page = await ferry.listEvents(
      cursor === undefined
        ? { ...filter, 'created_at.gte': new Date(Date.now() - DAY_MS).toISOString(), limit: PAGE }
        : { ...filter, page_cursor: cursor, limit: PAGE },
      { signal },
    );
    add(page.items);
    cursor = page.next_page_cursor;
    if (!page.has_more) break;
  }
  show((feed) => ({ ...feed, isLoading: false, isLive: true, error: null }));
  while (!signal.aborted) {
    const page = await ferry.listEvents(
      { ...filter, page_cursor: cursor!, limit: PAGE, wait_seconds: WAIT_SECONDS },
      { signal },
    );
    cursor = page.next_page_cursor;
    if (page.items.length > 0) add(page.items);
  }
}

/** The events of the last day, and each new one as it happens. After an outage it starts over. */
export function useFeed(filter: Filter, isPaused: boolean): Feed {
  const [feed, setFeed] = useState(EMPTY);
  const key = JSON.stringify(filter);
  useEffect(() => {
    if (isPaused) {
      setFeed((before) => ({ ...before, isLive: false }));
      return undefined;
    }
    const stop = new AbortController();
    const show = (change: (before: Feed) => Feed): void => {
      if (!stop.signal.aborted) setFeed(change);
    };
    void (async () => {
      while (!stop.signal.aborted) {
        show((before) => ({ ...before, events: [] }));
        try {
          await follow(JSON.parse(key) as Filter, stop.signal, show);
        } catch (error) {
          show((before) => ({ ...before, isLoading: false, isLive: false, error }));
          await pause(AGAIN_MS);
        }
      }
    })();
    return () => stop.abort();
  }, [key, isPaused]);
  return feed;
}
