import { expect } from 'vitest';

type Compare = (example: any, body: any, comparable: (value: unknown) => unknown) => void;

/** Operations whose real answer has more than the example, or less: what of it is compared. */
export const SPECIAL_ANSWERS: Readonly<Record<string, Compare>> = {
  /** The real one has the accounts of all the other examples. */
  getTrialBalance(example, body) {
    expect(body.assets.map(Object.keys)).toContainEqual(Object.keys(example.assets[0]));
    expect(body.assets[0].accounts.map(Object.keys)).toContainEqual(['account', 'balance']);
  },
  /** By its reference; other records of the examples may have the same. */
  searchEverything(example, body) {
    expect(body.items.map(Object.keys)).toContainEqual(Object.keys(example.items[0]));
    expect(Object.keys(body)).toEqual(Object.keys(example));
  },
  /** Of all endpoints and their deliveries. */
  getWebhookHealth(example, body) {
    expect(body.items.map(Object.keys)).toContainEqual(Object.keys(example.items[0]));
    expect(Object.keys(body)).toEqual(Object.keys(example));
  },
  /** Nothing settles together here; test/settlement compares it with the example. */
  getSettlementNetwork(example, body) {
    expect(Object.keys(body)).toEqual(Object.keys(example));
  },
  /** No chain is configured here; test/treasury compares the networks of the example. */
  getTreasury(example, body, comparable) {
    expect(comparable({ ...example, networks: [], alarms: [] })).toEqual(comparable(body));
  },
};
