import type pg from 'pg'
import type { Connections } from './connections.ts'
import { currentScope } from './scope.ts'

/**
 * Removes the schema name that Prisma writes before each table. In a part of Citus, the tables are in another schema.
 */
const withoutSchema = (config: pg.QueryConfig) =>
  currentScope().place ? { ...config, text: config.text.replaceAll('"public".', '') } : config

/**
 * Pool with the interface that Prisma expects. Prisma's calls cannot pass a role, visible merchants or a place, so
 * these come from the async context.
 */
export const forPrisma = (connections: Connections): pg.Pool =>
  new Proxy(connections, {
    get(_connections, property) {
      if (property === 'query')
        return (config: pg.QueryConfig) => connections.queryScoped(currentScope(), withoutSchema(config))
      if (property === 'connect' && currentScope().scope)
        throw new Error('use inTransaction for a transaction with a scope')
      const value = Reflect.get(connections, property) as unknown
      return typeof value === 'function' ? value.bind(connections) : value
    },
  })
