/** Every advisory lock of the service: any fixed numbers, but no two the same. */
export const ADVISORY_LOCKS = {
  /** Nodes that start together migrate once. */
  migrations: 7_177_001,
  /** Whoever holds it on the embedded server is the service of that data directory. */
  dataDirectory: 7_177_002,
  /** All who use the embedded server hold it together; whoever gets it alone was the last. */
  embeddedUsers: 7_177_005,
  /** Nodes that start together on a new sandbox seed it once. */
  demoData: 7_177_003,
  /** Whoever changes which key signs goes one after the other. */
  signingKeys: 7_177_004,
} as const;
