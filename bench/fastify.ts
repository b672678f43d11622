/**
 * Reference program: creation of one guide as a developer who knows Fastify and pg would write it. It has its own
 * validation, and for each request runs the service's own named statement (JSON input, deliveries, ON CONFLICT) behind
 * row-level security. It shares the domain rules with the service (phones, digests, keys, codes), so that only the
 * machinery differs. Reads DATABASE_URL, MASTER_KEYS and PORT.
 */
import Fastify, { type FastifyInstance } from 'fastify'
import { openDb, STATEMENTS, type Statement } from '../server/data/db.ts'
import { type FilaGuia, guiaNueva } from '../server/domain/guias/campos.ts'
import { normalizar } from '../server/domain/guias/datos.ts'
import { presentar } from '../server/domain/guias/guia.ts'
import { huellasDe } from '../server/domain/guias/huellas.ts'
import { createIdGenerator, newGuideCode } from '../server/platform/codes/codes.ts'
import '../server/domain/guias/writing.ts'
import { crearAutenticadores } from '../server/domain/llaves/autenticadores.ts'
import { Usos } from '../server/domain/llaves/usos.ts'
import { createLog } from '../server/platform/log.ts'
import { createSecrets, readKeys } from '../server/platform/secrets.ts'
import { readTelephone } from '../server/platform/telephones/telephone.ts'
import { morirConElPadre } from './arnes/hijo.ts'

const visible = (maxLength: number) => ({
  type: 'string',
  minLength: 1,
  maxLength,
  pattern: '^(?=.*\\S)[^\\p{Cc}\\u202A-\\u202E\\u2066-\\u2069]*$',
})
const lugar = {
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
    departamento: visible(100),
    municipio: visible(100),
    ...lugar,
    recogida: {
      type: 'object',
      additionalProperties: false,
      dependencies: { lat: ['lng'], lng: ['lat'] },
      anyOf: [{ required: ['lat', 'lng'] }, { required: ['maps_url'] }],
      properties: { nombre: visible(120), ...lugar },
    },
    external_ref: {
      type: 'string',
      minLength: 1,
      maxLength: 128,
      pattern: '^(?!\\s)[^\\p{Cc}\\p{Cf}\\p{Co}\\p{Zl}\\p{Zp}]+(?<!\\s)$',
    },
    destinatario: visible(120),
    direccion: visible(300),
    indicaciones: { type: 'string', minLength: 1, maxLength: 500 },
    contenido: visible(300),
  },
}

const COLUMNAS = [
  'comercio_id', 'modo', 'id', 'guia', 'external_ref', 'huellas', 'telefono', 'destinatario', 'departamento', 'municipio',
  'direccion', 'indicaciones', 'contenido', 'lat', 'lng', 'maps_url', 'recogida', 'metadatos', 'ubicacion_estado', 'ubicacion_origen',
  'ubicacion_lat', 'ubicacion_lng', 'ubicacion_extra', 'advertencias', 'creado_en',
] as const satisfies readonly (keyof FilaGuia)[] // biome-ignore format: a list
const enJson = (fila: FilaGuia) =>
  JSON.stringify([Object.fromEntries(COLUMNAS.map((columna) => [columna, fila[columna] ?? undefined]))])
// The import of `server/domain/guias/writing.ts` registers this statement.
const INSERTAR = STATEMENTS.get('guias.insertar') as Statement<
  { comercio_id: string; guias: string },
  { id: string; webhooks: string[] | null }
>

const { DATABASE_URL = '', MASTER_KEYS = '', PORT = '0' } = process.env
const db = openDb(DATABASE_URL)
const reloj = () => new Date()
const { llaveDeComercio } = crearAutenticadores({ db, reloj, usos: new Usos(db, createLog('silent')) })
const secretos = createSecrets(readKeys(MASTER_KEYS)!)
const nuevoId = createIdGenerator(reloj)

const app: FastifyInstance = Fastify({
  logger: false,
  ajv: { customOptions: { removeAdditional: false, coerceTypes: false } },
})

app.post<{ Body: Parameters<typeof normalizar>[0] }>('/api/v1/guias', {
  schema: { body },
  onRequest: async (req, reply) => {
    const llave = /^Bearer +(\S+)$/i.exec(req.headers.authorization ?? '')?.[1]
    const identidad = llave ? await llaveDeComercio(llave) : undefined
    if (!identidad?.alcances.includes('guias:escribir')) return reply.code(401).send({ error: 'no_autenticado' })
    req.setDecorator('identidad', identidad)
  },
  handler: async (req, reply) => {
    const identidad = req.getDecorator<NonNullable<Awaited<ReturnType<typeof llaveDeComercio>>>>('identidad')
    if ('error' in readTelephone(req.body.telefono)) return reply.code(422).send({ error: 'telefono' })
    const datos = normalizar(req.body, { pais: null })
    const { id, creado_en } = nuevoId()
    const huellas = datos.external_ref === null ? null : huellasDe(datos, secretos)
    const { comercioId: comercio_id, modo } = identidad
    const fila = guiaNueva(datos, { comercio_id, modo, id, guia: newGuideCode(), huellas, creado_en })
    const { consultar } = db.como('guias_api', [fila.comercio_id])
    const [creada] = await consultar(INSERTAR, { guias: enJson(fila), comercio_id: fila.comercio_id })
    if (!creada) return reply.code(409).send({ error: 'external_ref' })
    return reply
      .code(201)
      .header('Location', `/api/v1/guias/${fila.guia}`)
      .send(presentar({ urlPublica: '', zonaHoraria: undefined }, fila))
  },
})
app.decorateRequest('identidad', null)
app.get('/readyz', async () => ({ ok: (await db.pool.query('select 1')).rowCount === 1 }))

await app.listen({ host: '127.0.0.1', port: Number(PORT) })
morirConElPadre(() => app.close())
