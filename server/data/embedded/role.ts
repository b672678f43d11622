// Role of the service in the embedded PostgreSQL. The cluster's superuser (`guias`) creates the role and its database,
// and nothing else. An injected statement therefore cannot read files, run programs or change the server's settings.

import { createHmac } from 'node:crypto'
import type pg from 'pg'

/** Role that owns the database. It may create roles, for migrations that keep parts of the service apart. */
export const SERVICE_ROLE = 'guias_servicio'

/** Derives the role's password from the superuser's, so that no further password needs to be stored. */
export const rolePassword = (key: string) => createHmac('sha256', key).update(SERVICE_ROLE).digest('base64url')

/**
 * Creates the role and its database, unless they exist.
 * @param client the superuser's connection to the database `postgres`
 */
export async function ensureDatabase(client: pg.Client, key: string): Promise<void> {
  const { rows } = await client.query<{ role: boolean; base: boolean }>(
    `select exists (select from pg_roles where rolname = $1) as role,
       exists (select from pg_database where datname = 'guias') as base`,
    [SERVICE_ROLE],
  )
  const { role, base } = rows[0]!
  if (!role) await runIfMissing(client, `create role ${SERVICE_ROLE} login createrole password '${rolePassword(key)}'`)
  if (!base) await runIfMissing(client, `create database guias owner ${SERVICE_ROLE}`)
}

/** Another process may create the role or database at the same time, so the error «already exists» is ignored. */
const runIfMissing = (client: pg.Client, command: string) =>
  client.query(command).catch((error: pg.DatabaseError) => {
    if (!['42710', '42P04', '23505'].includes(error.code ?? '')) throw error
  })
