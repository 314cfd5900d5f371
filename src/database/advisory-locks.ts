/** Every advisory lock of the service: any fixed numbers, but no two the same. */
export const ADVISORY_LOCKS = {
  /** Nodes that start together migrate once. */
  migrations: 7_177_001,
  /** Every connection that may write holds it shared; a migration that older nodes cannot run on holds it alone. */
  schema: 7_177_007,
  /** Whoever holds it on the embedded server is the service of that data directory. */
  dataDirectory: 7_177_002,
  /** All who use the embedded server hold it together; whoever gets it alone was the last. */
  embeddedUsers: 7_177_005,
  /** Nodes that start together on a new sandbox seed it once. */
  demoData: 7_177_003,
  /** Whoever changes which key signs goes one after the other. */
  signingKeys: 7_177_004,
  /** Nodes that start together on a new database create one data key; rewrapping goes one after the other. */
  dataKeys: 7_177_008,
  /** One background audit at a time. */
  audit: 7_177_006,
  /** Whoever holds it looks for settlements that windows, other nodes or a crash left to do. */
  settlementLead: 7_177_050,
} as const;
