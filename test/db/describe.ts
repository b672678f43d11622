import type pg from 'pg'

/** What PostgreSQL says of a statement that it has parsed and not run. */
export interface StatementDescription {
  /** Types of the parameters, in order, as `pg_type` names them. */
  parameters: string[]
  columns: { nombre: string; tipo: string /** Whether it is a table's column that may be null. */; nula: boolean }[]
}

interface Conexion {
  parse(query: { name: string; text: string; types: number[] }): void
  describe(de: { type: 'S'; name: string }): void
  sync(): void
  once(event: 'parameterDescription', listener: (mensaje: { dataTypeIDs: number[] }) => void): void
}
interface Campo {
  name: string
  tableID: number
  columnID: number
  dataTypeID: number
}

/** One round of the extended protocol that parses and describes, as node-postgres takes it for a query. */
class DescribeQuery {
  parameters: number[] = []
  campos: Campo[] = []
  private readonly text: string
  private readonly finish: (error?: Error) => void
  constructor(text: string, finish: (error?: Error) => void) {
    this.text = text
    this.finish = finish
  }
  submit(connection: Conexion) {
    connection.once('parameterDescription', ({ dataTypeIDs }) => {
      this.parameters = dataTypeIDs
    })
    connection.parse({ name: '', text: this.text, types: [] })
    connection.describe({ type: 'S', name: '' })
    connection.sync()
  }
  handleRowDescription({ fields }: { fields: Campo[] }) {
    this.campos = fields
  }
  handleError(error: Error) {
    this.finish(error)
  }
  handleReadyForQuery() {
    this.finish()
  }
}

/** @returns a function that describes statements over that connection */
export async function createDescriber(client: pg.Client): Promise<(text: string) => Promise<StatementDescription>> {
  const { rows: tipos } = await client.query('select oid, typname from pg_type')
  const { rows: columnRows } = await client.query(
    'select attrelid, attnum from pg_attribute where not attnotnull and attnum > 0',
  )
  const nombre = new Map(tipos.map(({ oid, typname }) => [Number(oid), typname as string]))
  const nullableColumns = new Set(columnRows.map(({ attrelid, attnum }) => `${attrelid}.${attnum}`))
  return async (text) => {
    const { promise, resolve, reject } = Promise.withResolvers<void>()
    const describeQuery = new DescribeQuery(text, (error) => (error ? reject(error) : resolve()))
    client.query(describeQuery as unknown as pg.Submittable)
    await promise
    return {
      parameters: describeQuery.parameters.map((oid) => nombre.get(oid)!),
      columns: describeQuery.campos.map(({ name, dataTypeID, tableID, columnID }) => ({
        nombre: name,
        tipo: nombre.get(dataTypeID)!,
        nula: nullableColumns.has(`${tableID}.${columnID}`),
      })),
    }
  }
}
