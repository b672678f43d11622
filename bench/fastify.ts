/**
 * Reference program: creation of one guide as a developer who knows Fastify and pg would write it. It has its own
 * validation, and for each request runs the service's own named statement (JSON input, deliveries, ON CONFLICT) behind
 * row-level security. It shares the domain rules with the service (phones, digests, keys, codes), so that only the
 * machinery differs. Reads DATABASE_URL, MASTER_KEYS and PORT.
 */
import Fastify, { type FastifyInstance } from 'fastify'
import { type JsonSchema, readDocument } from '../server/api/contract/contract.ts'
import { openDb, STATEMENTS, type Statement } from '../server/data/db.ts'
import { digestsOf } from '../server/domain/guias/digests.ts'
import { normalizeGuia } from '../server/domain/records/guiaData.ts'
import { buildNewGuiaRow, type GuiaRow, NEW_GUIA_COLUMNS } from '../server/domain/records/guiaFields.ts'
import { present } from '../server/domain/records/guiaPresentation.ts'
import { createIdGenerator, newGuideCode } from '../server/platform/codes/codes.ts'
import '../server/domain/guias/writing.ts'
import { createAuthenticators } from '../server/domain/llaves/authenticators.ts'
import { LlaveUses } from '../server/domain/llaves/uses.ts'
import { createLog } from '../server/platform/log.ts'
import { createSecrets, readKeys } from '../server/platform/secrets.ts'
import { readTelephone } from '../server/platform/telephones/telephone.ts'
import { dieWithParent } from './harness/child.ts'

const visible = (maxLength: number) => ({
  type: 'string',
  minLength: 1,
  maxLength,
  pattern: '^(?=.*\\S)[^\\p{Cc}\\u202A-\\u202E\\u2066-\\u2069]*$',
})
/** Texts of a new guide, as the contract bounds them. */
function textMembers(): Record<string, object> {
  const { properties } = readDocument().components.schemas.GuiaParaCrear as { properties: Record<string, JsonSchema> }
  return Object.fromEntries(
    Object.entries(properties).flatMap(([name, { type, minLength, maxLength, pattern }]) =>
      type === 'string' ? [[name, { type, minLength, maxLength, ...(pattern === undefined ? {} : { pattern }) }]] : [],
    ),
  )
}
const place = {
  lat: { type: 'number', minimum: -90, maximum: 90 },
  lng: { type: 'number', minimum: -180, maximum: 180 },
  maps_url: { type: 'string', minLength: 1, maxLength: 2048, pattern: '^(https|geo):' },
}
const body = {
  type: 'object',
  additionalProperties: false,
  required: ['telefono', 'departamento', 'municipio', 'recogida'],
  dependencies: { lat: ['lng'], lng: ['lat'] },
  properties: {
    telefono: { type: 'string', minLength: 1, maxLength: 40, pattern: '^\\+[\\d\\s().-]+$' },
    ...textMembers(),
    ...place,
    recogida: {
      type: 'object',
      additionalProperties: false,
      dependencies: { lat: ['lng'], lng: ['lat'] },
      anyOf: [{ required: ['lat', 'lng'] }, { required: ['maps_url'] }],
      properties: { nombre: visible(120), ...place },
    },
    external_ref: {
      type: 'string',
      minLength: 1,
      maxLength: 128,
      pattern: '^(?!\\s)[^\\p{Cc}\\p{Cf}\\p{Co}\\p{Zl}\\p{Zp}]+(?<!\\s)$',
    },
  },
}

const toJson = (row: GuiaRow) =>
  JSON.stringify([Object.fromEntries(NEW_GUIA_COLUMNS.map((column) => [column, row[column] ?? undefined]))])
// The import of `server/domain/guias/writing.ts` registers this statement.
const INSERT_GUIAS = STATEMENTS.get('guias.insert') as Statement<
  { comercio_id: string; guias: string },
  { id: string; webhooks: string[] | null }
>

const { DATABASE_URL = '', MASTER_KEYS = '', PORT = '0' } = process.env
const db = openDb(DATABASE_URL)
const clock = () => new Date()
const { llaveDeComercio } = createAuthenticators({ db, clock, usages: new LlaveUses(db, createLog('silent')) })
const secrets = createSecrets(readKeys(MASTER_KEYS)!)
const newId = createIdGenerator(clock)

const app: FastifyInstance = Fastify({
  logger: false,
  ajv: { customOptions: { removeAdditional: false, coerceTypes: false } },
})

app.post<{ Body: Parameters<typeof normalizeGuia>[0] }>('/api/v1/guias', {
  schema: { body },
  onRequest: async (req, reply) => {
    const llave = /^Bearer +(\S+)$/i.exec(req.headers.authorization ?? '')?.[1]
    const identity = llave ? await llaveDeComercio(llave) : undefined
    if (!identity?.alcances.includes('guias:escribir')) return reply.code(401).send({ error: 'no_autenticado' })
    req.setDecorator('identidad', identity)
  },
  handler: async (req, reply) => {
    const identity = req.getDecorator<NonNullable<Awaited<ReturnType<typeof llaveDeComercio>>>>('identidad')
    if ('error' in readTelephone(req.body.telefono)) return reply.code(422).send({ error: 'telefono' })
    const datos = normalizeGuia(req.body, { pais: null })
    const { id, creado_en } = newId()
    const huellas = datos.external_ref === null ? null : digestsOf(datos, secrets)
    const { comercioId: comercio_id, modo } = identity
    const newRow = buildNewGuiaRow(datos, { comercio_id, modo, id, guia: newGuideCode(), huellas, creado_en })
    const { query } = db.asRole('guias_api', [newRow.comercio_id])
    const [createdRow] = await query(INSERT_GUIAS, { guias: toJson(newRow), comercio_id: newRow.comercio_id })
    if (!createdRow) return reply.code(409).send({ error: 'external_ref' })
    return reply
      .code(201)
      .header('Location', `/api/v1/guias/${newRow.guia}`)
      .send(present({ publicUrl: '', timeZone: undefined }, newRow))
  },
})
app.decorateRequest('identidad', null)
app.get('/readyz', async () => ({ ok: (await db.pool.query('select 1')).rowCount === 1 }))

await app.listen({ host: '127.0.0.1', port: Number(PORT) })
dieWithParent(() => app.close())
