/** Batches of the optimistic lane that are in flight. They land, committed or failed, in the order in which they were sent. */
export type Flights = {
  inFlight(): number;
  /** The number of the flight that is sent next. */
  next(): number;
  send(): void;
  land(): void;
  /** Resolves when that flight, and all before it, have landed. */
  landed(flight: number): Promise<void>;
};

export function createFlights(): Flights {
  let sent = 0;
  let landed = 0;
  const waiting: { readonly flight: number; resolve(): void }[] = [];
  return {
    inFlight: () => sent - landed,
    next: () => sent + 1,
    send() {
      sent += 1;
    },
    land() {
      landed += 1;
      while (waiting.length > 0 && waiting[0]!.flight <= landed) waiting.shift()!.resolve();
    },
    landed(flight) {
      if (flight <= landed) return Promise.resolve();
      return new Promise((resolve) => {
        waiting.push({ flight, resolve });
        waiting.sort((one, other) => one.flight - other.flight);
      });
    },
  };
}
