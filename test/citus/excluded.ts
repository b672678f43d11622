/** What `npm run test:citus` leaves out, and why. */
export const EXCLUDED_FROM_CITUS: Readonly<Record<string, string>> = {
  'test/embeddedPostgres/**': 'it starts and kills servers of its own, of PostgreSQL alone',
  'test/startup/**': 'it starts processes on the embedded PostgreSQL, kills it, and measures a replica and a pooler',
  'test/db/prepared.test.ts': 'it counts what one session of PostgreSQL keeps prepared',
  'test/db/errors.test.ts': 'it breaks a server of PostgreSQL alone',
  'test/db/statements.test.ts':
    'both texts of each statement are described on PostgreSQL; test/citus/statements.test.ts runs the other',
  'test/db/rowSecurity.test.ts':
    'its sessions tell the wall what a single server needs; test/citus/rowSecurity.test.ts tells a cluster',
  'test/webhooks/sending/settleSuccesses.test.ts': "it counts the rows that PostgreSQL's own plan reads",
  'test/resilience/**': 'it kills a server of its own; test/citus/failures.test.ts takes nodes of the cluster away',
  'test/salud/disk.test.ts': 'it puts a database of PostgreSQL alone on a disk of its own',
  'test/deployment/**': 'it has no database',
  'test/scripts/**': 'it starts processes on the embedded PostgreSQL',
}
