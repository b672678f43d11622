import pg from 'pg'
import { Connections } from '../../server/data/connections.ts'

/** Somebody's statement as it was about to run, without one of the conditions that hold it to its merchant. */
export interface Mutant {
  sentencia: string
  /** The condition that it lacks, and which one of the statement's it is. */
  missing: string
  /** Whether what it saw or changed differed from what the whole statement does: behind the wall, and with the wall off. */
  conMuro: boolean
  sinMuro: boolean
}

/** A condition on whose row it is. */
const CONDICION =
  /(?<![\w.])(?:\w+\.)?comercio_id = (?:any\s*\((?:[^()]|\([^()]*\))*\)|\$\d+(?:::uuid)?|\w+\.comercio_id)/g
/** What is left of it when it holds for every row: its parameter, for PostgreSQL wants to know of which type it is. */
const siempre = (condicion: string) => {
  const parametro = /\$\d+/.exec(condicion)?.[0]
  return parametro ? `(${parametro}::uuid is null or true)` : 'true'
}

/** The statement without its nth condition, for each. */
export const createMutants = (text: string) =>
  [...text.matchAll(CONDICION)].map(({ 0: condicion, index }) => ({
    missing: condicion,
    text: text.slice(0, index) + siempre(condicion) + text.slice(index + condicion.length),
  }))

/** What is gathered in an array has no order of its own, and where the server's transactions end is nobody's doing. */
const ignoreOrder = (clave: string, valor: unknown) =>
  clave === 'fin' ? undefined : Array.isArray(valor) ? [...valor].sort() : valor

interface Consulta extends pg.QueryConfig {
  submit?: unknown
}
type Correr = (...args: unknown[]) => unknown

/** Whether a query runs as a merchant, by the name of its statement or by its class. */
const isOfComercio = (consulta: Consulta) =>
  consulta.name?.startsWith('guias_api.') ||
  (consulta.constructor.name === 'ScopedQuery' && consulta.name === undefined)

/**
 * From now on, each statement that runs as a merchant is first tried without each of its conditions, in a transaction that is
 * rolled back: behind the wall, and with the wall off.
 * @param othersSql SQL of one value that changes when a row of anybody else does
 * @returns how to stop it, which gives what was tried
 */
export function watchForMutants(url: string, comercio: string, othersSql: string): () => Promise<Map<string, Mutant>> {
  const mutantes = new Map<string, Mutant>()
  const aparte = new pg.Client({ connectionString: url, options: '-c enable_seqscan=off -c timezone=UTC' })
  const conectada = aparte.connect()
  const { runOne: dePool } = Connections.prototype
  const { query: deCliente } = pg.Client.prototype
  const consultar = deCliente as unknown as (this: pg.Client, ...args: unknown[]) => Promise<pg.QueryResult>
  let turno: Promise<unknown> = Promise.resolve()

  /** What a statement does, in a sub-transaction of which nothing stays. */
  async function probar(cliente: pg.Client, { text, values }: pg.QueryConfig, muro: boolean): Promise<string> {
    await consultar.call(cliente, 'savepoint prueba')
    try {
      await consultar.call(
        cliente,
        muro ? `set local role guias_api; set local guias.comercios = '{${comercio}}'` : 'set local role none',
      )
      const { rows, rowCount } = await consultar.call(cliente, { text, values })
      await consultar.call(cliente, 'set local role none')
      const { rows: despues } = await consultar.call(cliente, othersSql)
      return JSON.stringify([rowCount, rows.map((row) => JSON.stringify(row, ignoreOrder)).sort(), despues])
    } catch (error) {
      return String((error as { code?: string }).code)
    } finally {
      await consultar.call(cliente, 'rollback to savepoint prueba')
    }
  }

  async function tryMutants(cliente: pg.Client, { name, text, values }: Consulta): Promise<void> {
    const entera = await probar(cliente, { text, values: values! }, true)
    for (const [i, mutante] of createMutants(text).entries()) {
      const clave = `${text} ${i}`
      const visto = mutantes.get(clave)
      const conMuro = (await probar(cliente, { text: mutante.text, values: values! }, true)) !== entera
      const sinMuro =
        visto?.sinMuro || (await probar(cliente, { text: mutante.text, values: values! }, false)) !== entera
      mutantes.set(clave, {
        sentencia: name && !/[0-9a-f]{40}$/.test(name) ? name.replace('guias_api.', '') : text,
        missing: `${i + 1}: ${mutante.missing}`,
        conMuro: conMuro || (visto?.conMuro ?? false),
        sinMuro,
      })
    }
  }

  Connections.prototype.runOne = function (this: Connections, consulta: Consulta) {
    const correr = () => dePool.call(this, consulta)
    if (!isOfComercio(consulta)) return correr()
    const probada = turno.then(async () => {
      await conectada
      await consultar.call(aparte, 'begin')
      await tryMutants(aparte, consulta)
      await consultar.call(aparte, 'rollback')
    })
    turno = probada.catch(() => {})
    return probada.then(correr)
  }
  pg.Client.prototype.query = function (this: pg.Client, ...args: unknown[]) {
    const consulta = args[0] as Consulta
    const correr = () => (deCliente as unknown as Correr).apply(this, args) as Promise<pg.QueryResult>
    // What the pool sends through its connections was tried above; what is left is in a transaction of its own.
    if (typeof consulta !== 'object' || consulta.submit || !isOfComercio(consulta)) return correr()
    return tryMutants(this, consulta).then(correr)
  } as typeof deCliente
  return async () => {
    Connections.prototype.runOne = dePool
    pg.Client.prototype.query = deCliente
    await aparte.end()
    return mutantes
  }
}
