// Places of the database that hold a person of a guide, and by what each is erased.

import { readFileSync } from 'node:fs'

/** What erases a person: her telephone, by what it is in the guide, or the guide. */
export type ErasureMeans = 'destinatario' | 'anterior' | 'recogida' | 'guia'
const ERASURE_MEANS: readonly ErasureMeans[] = ['destinatario', 'anterior', 'recogida', 'guia']

interface Lugar {
  table: string
  columns: readonly string[]
  /** Who stands there. */
  quien: string
  erasedBy: readonly ErasureMeans[]
}

const ALL_BUT_RECOGIDA: readonly ErasureMeans[] = ['destinatario', 'anterior', 'guia']
const CURRENT_MEANS: readonly ErasureMeans[] = ['destinatario', 'guia']

/** Columns that hold a person of a guide. */
export const PERSONA_COLUMNS: readonly Lugar[] = [
  {
    table: 'guia',
    columns: [
      'telefono',
      'destinatario',
      'direccion',
      'contenido',
      'lat',
      'lng',
      'maps_url',
      'ubicacion_lat',
      'ubicacion_lng',
      'ubicacion_extra',
    ],
    quien: 'recipient',
    erasedBy: CURRENT_MEANS,
  },
  {
    table: 'guia',
    columns: ['indicaciones'],
    quien: 'recipient; neighbour that the recipient named',
    erasedBy: CURRENT_MEANS,
  },
  { table: 'guia', columns: ['metadatos'], quien: 'recipient at the creation', erasedBy: ALL_BUT_RECOGIDA },
  {
    table: 'guia',
    columns: ['recogida'],
    quien: 'contact of the pickup',
    erasedBy: ['destinatario', 'recogida', 'guia'],
  },
  {
    table: 'evento',
    columns: ['cambios'],
    quien: 'recipients, neighbours and contacts, present and former',
    erasedBy: ERASURE_MEANS,
  },
  {
    table: 'evento',
    columns: ['descripcion', 'datos'],
    quien: 'whom a courier, an operator or the merchant named',
    erasedBy: ALL_BUT_RECOGIDA,
  },
  { table: 'evento', columns: ['lat', 'lng', 'foto'], quien: 'recipient', erasedBy: ALL_BUT_RECOGIDA },
  { table: 'evento', columns: ['idempotencia'], quien: 'whom the key of a request named', erasedBy: CURRENT_MEANS },
  {
    table: 'clave_idempotencia',
    columns: ['idempotencia'],
    quien: 'whom the key of a request named',
    erasedBy: CURRENT_MEANS,
  },
  { table: 'nota', columns: ['texto'], quien: 'whom an operator named', erasedBy: ALL_BUT_RECOGIDA },
  { table: 'busqueda', columns: ['claves'], quien: 'recipient', erasedBy: CURRENT_MEANS },
  {
    table: 'mensaje',
    columns: ['telefono', 'proveedor_id', 'motivo'],
    quien: 'recipient',
    erasedBy: ALL_BUT_RECOGIDA,
  },
  { table: 'entrante', columns: ['cuerpo'], quien: 'who wrote to the app', erasedBy: ['destinatario', 'anterior'] },
  { table: 'enlace_corto', columns: ['maps_url'], quien: 'recipient', erasedBy: ALL_BUT_RECOGIDA },
  { table: 'telefono_anterior', columns: ['telefono'], quien: 'former recipient', erasedBy: ['anterior', 'guia'] },
  {
    table: 'webhook_aviso',
    columns: ['exito'],
    quien: 'whom an answer of a merchant’s server repeated',
    erasedBy: ERASURE_MEANS,
  },
  {
    table: 'webhook_intento',
    columns: ['cabeceras', 'cuerpo', 'detalle'],
    quien: 'whom an answer of a merchant’s server repeated',
    erasedBy: ERASURE_MEANS,
  },
  { table: 'archivo', columns: ['lat', 'lng'], quien: 'recipient', erasedBy: ALL_BUT_RECOGIDA },
  {
    table: 'prueba_entrega',
    columns: ['recibido_por'],
    quien: 'who received at the door',
    erasedBy: ALL_BUT_RECOGIDA,
  },
  {
    table: 'prueba_entrega',
    columns: ['lat', 'lng', 'manifiesto'],
    quien: 'recipient',
    erasedBy: ALL_BUT_RECOGIDA,
  },
]

/** Columns that hold no person of a guide, by the reason. */
const WITHOUT_PERSONA: Readonly<Record<string, Readonly<Record<string, readonly string[]>>>> = {
  /** Codes, words of a vocabulary, numbers, and names of files. */
  codigos: {
    comercio: ['comercio', 'pais', 'evidencia_firma', 'evidencia_documento', 'politica_de_intentos_al_vencer'],
    guia: ['modo', 'guia', 'estado', 'custodio', 'ubicacion_estado', 'ubicacion_origen', 'decision', 'advertencias'],
    guia_indice: ['guia', 'modo'],
    nota: ['modo', 'nota', 'autor'],
    asignacion: ['modo', 'repartidor', 'autor'],
    busqueda: ['modo'],
    evento: ['modo', 'guia', 'tipo', 'estado', 'estado_anterior', 'motivo', 'autor', 'custodio', 'traza'],
    mensaje: ['modo', 'guia', 'canal', 'tipo', 'estado', 'kid', 'codigo'],
    enlace_ubicacion: ['modo'],
    enlace_corto: ['modo'],
    telefono_anterior: ['modo'],
    clave_idempotencia: ['modo', 'operacion', 'identificador'],
    webhook_aviso: ['modo', 'webhook', 'evento', 'tipo', 'estado', 'causa', 'ultimo_error', 'datos'],
    webhook_intento: [
      'modo',
      'webhook',
      'causa',
      'error',
      'dns_ms',
      'conexion_ms',
      'tls_ms',
      'primer_byte_ms',
      'total_ms',
    ],
    recuperacion: ['modo', 'webhook', 'recuperacion', 'posicion', 'estado'],
    archivo_indice: ['archivo', 'modo', 'estado'],
    archivo: ['modo', 'archivo', 'tipo', 'mime', 'autor'],
    prueba_entrega: ['modo', 'precision_m', 'fotos', 'firma', 'sin_firma', 'evidencia', 'pdf'],
    prueba_intento: ['modo', 'fotos'],
    prueba_borrada: ['modo', 'motivo'],
  },
  /** Departments and municipalities, which stay with the guide. */
  places: { guia: ['departamento', 'municipio'] },
  /** The merchant's own reference, which stays with the guide (docs/operacion/personal-data.md). */
  referencia: { guia: ['external_ref'], evento: ['external_ref'] },
  /** Digests with a key, digests of random values, and random values. */
  huellas: {
    guia: ['huellas'],
    evento: ['huella'],
    enlace_ubicacion: ['huella'],
    entrante: ['huella'],
    clave_idempotencia: ['huella'],
    archivo: ['sha256'],
    prueba_entrega: ['sal'],
    dueno: ['clave'],
    eslabon: ['registro', 'claves', 'huellas', 'hash'],
    sello: ['jws'],
    clave_publica: ['kid', 'jwk'],
  },
  /** The merchant's own endpoints. */
  webhooks: {
    webhook: ['modo', 'webhook', 'url', 'tipos', 'descripcion', 'estado', 'motivo'],
    webhook_secreto: ['modo', 'webhook', 'cifrado'],
    webhook_arriendo: ['webhook'],
    webhook_intento: ['url', 'ip'],
  },
  /** The record of who did what. It names no person of a guide (openapi/DECISIONES.md). */
  bitacora: Object.fromEntries(
    ['bitacora', 'bitacora_de_parte'].map((table) => [
      table,
      [
        'linea',
        'modo',
        'accion',
        'quien_tipo',
        'quien',
        'llave',
        'sobre_tipo',
        'sobre',
        'campos',
        'antes',
        'despues',
        'id_solicitud',
        'red',
      ],
    ]),
  ),
  /** Merchants, and the people of the company and of merchants, whom `personas eliminar` erases. */
  people: {
    comercio: ['nombre'],
    operador: ['operador', 'nombre'],
    llave: ['id', 'tipo', 'hash', 'alcances', 'redes'],
    repartidor: ['repartidor', 'nombre', 'telefono', 'codigo_hash'],
    sesion_repartidor: ['hash'],
    persona: ['persona', 'correo', 'nombre'],
    membresia: ['membresia', 'ambito', 'alcances'],
    invitacion: ['huella', 'codigo_hash', 'invitacion', 'correo', 'nombre', 'ambito', 'alcances'],
    codigo_de_entrada: ['huella', 'codigo_hash'],
    sesion_persona: ['hash', 'sesion', 'modo', 'dispositivo', 'red'],
    aprobacion: ['aprobacion', 'tipo', 'contenido', 'estado', 'pide', 'decide', 'razon'],
    passkey: ['passkey', 'credencial', 'clave', 'dispositivo'],
    reto_de_passkey: ['huella'],
    segundo_factor: ['secreto', 'nuevo'],
    codigo_de_recuperacion: ['huella'],
    entrada_a_medias: ['huella'],
    cambio_de_correo: ['huella', 'correo', 'anterior', 'codigo_hash'],
    correo: ['huella', 'tipo', 'contenido', 'canal', 'estado', 'codigo'],
  },
}

/** Names of the columns that {@link PERSONA_COLUMNS} lists for a means. */
export const listErasedColumns = (means: ErasureMeans): string[] =>
  PERSONA_COLUMNS.filter(({ erasedBy }) => erasedBy.includes(means))
    .flatMap(({ table, columns }) => columns.map((column) => `${table}.${column}`))
    .sort()

/** All classified columns. A column stands here once. */
export const listClassifiedColumns = (): string[] =>
  [
    ...PERSONA_COLUMNS.flatMap(({ table, columns }) => columns.map((column) => `${table}.${column}`)),
    ...Object.values(WITHOUT_PERSONA).flatMap((tables) =>
      Object.entries(tables).flatMap(([table, columns]) => columns.map((column) => `${table}.${column}`)),
    ),
  ].sort()

const MODEL_BLOCK = /^model (\w+) \{\n(.*?)^\}/gms
const COLUMN_LINE = /^ *(\w+) +(?:String|Json|Bytes|Float|Unsupported\("tsvector"\))(?:\[\])?\??(?= |$)(.*)$/gm

/** Columns of prisma/schema.prisma that can hold a text, a place or bytes. */
export function readSchemaColumns(): string[] {
  const schema = readFileSync(new URL('../../prisma/schema.prisma', import.meta.url), 'utf8')
  return [...schema.matchAll(MODEL_BLOCK)]
    .flatMap(([, table, body = '']) =>
      [...body.matchAll(COLUMN_LINE)].flatMap(([, column, attributes = '']) =>
        attributes.split('//')[0]!.includes('@db.Uuid') ? [] : [`${table}.${column}`],
      ),
    )
    .sort()
}
