/** What `npm run test:citus` leaves out, and why. */
export const EXCLUDED_FROM_CITUS: Readonly<Record<string, string>> = {
  'test/postgresEmbebido/**': 'it starts and kills servers of its own, of PostgreSQL alone',
  'test/arranque/**': 'it starts processes on the embedded PostgreSQL, kills it, and measures a replica and a pooler',
  'test/db/preparadas.test.ts': 'it counts what one session of PostgreSQL keeps prepared',
  'test/db/errores.test.ts': 'it breaks a server of PostgreSQL alone',
  'test/db/sentencias.test.ts':
    'both texts of each statement are described on PostgreSQL; test/citus/sentencias.test.ts runs the other',
  'test/db/muro.test.ts':
    'its sessions tell the wall what a single server needs; test/citus/muro.test.ts tells a cluster',
  'test/webhooks/asentarExitos.test.ts': "it counts the rows that PostgreSQL's own plan reads",
  'test/resistencia/**': 'it kills a server of its own; test/citus/fallas.test.ts takes nodes of the cluster away',
  'test/salud/disco.test.ts': 'it puts a database of PostgreSQL alone on a disk of its own',
  'test/despliegue/**': 'it has no database',
  'test/scripts/**': 'it starts processes on the embedded PostgreSQL',
}
