import pg from 'pg'
import { Connections } from '../../server/data/connections.ts'

/** Somebody's statement as it was about to run, without one of the conditions that hold it to its merchant. */
export interface Mutant {
  statement: string
  /** The condition that it lacks, and which one of the statement's it is. */
  missing: string
  /** Whether what it saw or changed differed from what the whole statement does: behind the wall, and with the wall off. */
  differsBehindWall: boolean
  differsWithoutWall: boolean
}

/** A condition on whose row it is. */
const COMERCIO_CONDITION =
  /(?<![\w.])(?:\w+\.)?comercio_id = (?:any\s*\((?:[^()]|\([^()]*\))*\)|\$\d+(?:::uuid)?|\w+\.comercio_id)/g
/** What is left of it when it holds for every row: its parameter, for PostgreSQL wants to know of which type it is. */
const toAlwaysTrue = (condition: string) => {
  const parametro = /\$\d+/.exec(condition)?.[0]
  return parametro ? `(${parametro}::uuid is null or true)` : 'true'
}

/** The statement without its nth condition, for each. */
export const createMutants = (text: string) =>
  [...text.matchAll(COMERCIO_CONDITION)].map(({ 0: condition, index }) => ({
    missing: condition,
    text: text.slice(0, index) + toAlwaysTrue(condition) + text.slice(index + condition.length),
  }))

/** What is gathered in an array has no order of its own, and where the server's transactions end is nobody's doing. */
const ignoreOrder = (key: string, value: unknown) =>
  key === 'fin' ? undefined : Array.isArray(value) ? [...value].sort() : value

interface InterceptedQuery extends pg.QueryConfig {
  submit?: unknown
}
type QueryFunction = (...args: unknown[]) => unknown

/** Whether a query runs as a merchant, by the name of its statement or by its class. */
const isOfComercio = (query: InterceptedQuery) =>
  query.name?.startsWith('guias_api.') || (query.constructor.name === 'ScopedQuery' && query.name === undefined)

/**
 * From now on, each statement that runs as a merchant is first tried without each of its conditions, in a transaction that is
 * rolled back: behind the wall, and with the wall off.
 * @param othersSql SQL of one value that changes when a row of anybody else does
 * @returns how to stop it, which gives what was tried
 */
export function watchForMutants(url: string, comercio: string, othersSql: string): () => Promise<Map<string, Mutant>> {
  const mutants = new Map<string, Mutant>()
  const separateClient = new pg.Client({ connectionString: url, options: '-c enable_seqscan=off -c timezone=UTC' })
  const connecting = separateClient.connect()
  const { runOne: poolRunOne } = Connections.prototype
  const { query: clientQuery } = pg.Client.prototype
  const consultar = clientQuery as unknown as (this: pg.Client, ...args: unknown[]) => Promise<pg.QueryResult>
  let turno: Promise<unknown> = Promise.resolve()

  /** What a statement does, in a sub-transaction of which nothing stays. */
  async function probar(client: pg.Client, { text, values }: pg.QueryConfig, isBehindWall: boolean): Promise<string> {
    await consultar.call(client, 'savepoint prueba')
    try {
      await consultar.call(
        client,
        isBehindWall ? `set local role guias_api; set local guias.comercios = '{${comercio}}'` : 'set local role none',
      )
      const { rows, rowCount } = await consultar.call(client, { text, values })
      await consultar.call(client, 'set local role none')
      const { rows: after } = await consultar.call(client, othersSql)
      return JSON.stringify([rowCount, rows.map((row) => JSON.stringify(row, ignoreOrder)).sort(), after])
    } catch (error) {
      return String((error as { code?: string }).code)
    } finally {
      await consultar.call(client, 'rollback to savepoint prueba')
    }
  }

  async function tryMutants(client: pg.Client, { name, text, values }: InterceptedQuery): Promise<void> {
    const original = await probar(client, { text, values: values! }, true)
    for (const [i, mutant] of createMutants(text).entries()) {
      const key = `${text} ${i}`
      const knownMutant = mutants.get(key)
      const differsBehindWall = (await probar(client, { text: mutant.text, values: values! }, true)) !== original
      const differsWithoutWall =
        knownMutant?.differsWithoutWall ||
        (await probar(client, { text: mutant.text, values: values! }, false)) !== original
      mutants.set(key, {
        statement: name && !/[0-9a-f]{40}$/.test(name) ? name.replace('guias_api.', '') : text,
        missing: `${i + 1}: ${mutant.missing}`,
        differsBehindWall: differsBehindWall || (knownMutant?.differsBehindWall ?? false),
        differsWithoutWall,
      })
    }
  }

  Connections.prototype.runOne = function (this: Connections, query: InterceptedQuery) {
    const runQuery = () => poolRunOne.call(this, query)
    if (!isOfComercio(query)) return runQuery()
    const trial = turno.then(async () => {
      await connecting
      await consultar.call(separateClient, 'begin')
      await tryMutants(separateClient, query)
      await consultar.call(separateClient, 'rollback')
    })
    turno = trial.catch(() => {})
    return trial.then(runQuery)
  }
  pg.Client.prototype.query = function (this: pg.Client, ...args: unknown[]) {
    const query = args[0] as InterceptedQuery
    const runQuery = () => (clientQuery as unknown as QueryFunction).apply(this, args) as Promise<pg.QueryResult>
    // What the pool sends through its connections was tried above; what is left is in a transaction of its own.
    if (typeof query !== 'object' || query.submit || !isOfComercio(query)) return runQuery()
    return tryMutants(this, query).then(runQuery)
  } as typeof clientQuery
  return async () => {
    Connections.prototype.runOne = poolRunOne
    pg.Client.prototype.query = clientQuery
    await separateClient.end()
    return mutants
  }
}
