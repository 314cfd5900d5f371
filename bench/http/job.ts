/** What the load process is told, and what it tells. */

export type RequestPlan = {
  readonly method: 'GET' | 'POST' | 'PUT';
  /** Path and body are templates: `{ref}` is new each time, `{name}` any value of the list of that name. */
  readonly path: string;
  readonly body?: string;
  readonly lists?: Readonly<Record<string, readonly string[]>>;
  readonly token: string;
  /** How many transfers one request has; absent: one. Rates and processor time are per transfer. */
  readonly size?: number;
  /** Sent when the answer is there, with its `{id}` in the path; the two count as one. */
  readonly next?: { readonly method: 'PUT'; readonly path: string; readonly token: string };
};

export type LoadJob = {
  readonly host: string;
  readonly port: number;
  readonly plan: RequestPlan;
  readonly connections: number;
  /** Run, but not counted. */
  readonly warmUpMs: number;
  readonly measureMs: number;
  /** Requests a second that arrive whatever the service does. Without it, each connection sends as fast as it is answered. */
  readonly ratePerSecond?: number;
  /** The service may refuse requests with a 503; without it that fails the run. */
  readonly mayRefuse?: boolean;
};

export type LoadResult = {
  /** Answers with status 200 within the measured time; any other answer fails the run. */
  readonly count: number;
  readonly perSecond: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  readonly p999Ms: number;
  /** All answers, warming up and finishing included: what must be in the database afterwards. */
  readonly total: number;
  /** Answers with status 503 within the measured time. Their time counts from when they were sent. */
  readonly refused?: Refused;
  /** Of requests that arrive at a rate: whether the machine kept its pace meanwhile. */
  readonly pace?: Pace;
};

export type Refused = {
  readonly count: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  /** The same of those that met a machine that kept its pace. */
  readonly steadyP99Ms: number;
};

export type Pace = {
  /** How much of the time the machine was slow, by itself, for whatever reason. */
  readonly slowShare: number;
  /** Of requests that met none of that, neither the slowness nor the queue that it left. */
  readonly p99Ms: number;
};

export type LoadMessage =
  | { readonly result: LoadResult }
  | { readonly phase: 'measuring' | 'measured' }
  | { readonly error: string };
