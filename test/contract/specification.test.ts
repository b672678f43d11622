// The service's specification, statement by statement, against the bundled contract: what it says is there and marked
// `especificado`, what it leaves open («not shown») is marked `decision` and has its row in DECISIONES.md.
import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { ROOT } from '../../server/platform/root.ts'
import { readSchema } from './schema.ts'

type Nodo = Record<string, unknown>
type Origen = 'especificado' | 'decision'
/** An element of the contract, where it comes from, and what must be true of it. */
type ContractElement = [pointer: string, origen: Origen, is?: object]
interface Statement {
  dice: string
  en: ContractElement[]
}
interface Gap extends Statement {
  /** First cells of its rows in DECISIONES.md. */
  rows: string[]
}

const read = (documento: string) =>
  JSON.parse(readFileSync(new URL(`server/generated/contract/${documento}.json`, ROOT), 'utf8')) as Nodo
const comercios = read('comercios')

const escapeStep = (step: string) => step.replaceAll('~', '~0').replaceAll('/', '~1')
const operacion = (method: string, path: string) => `/paths/${escapeStep(path)}/${method}`
const json = '/content/application~1json/schema'
const schema = (name: string) => `/components/schemas/${name}`
/** Fields of a guide that the specification names. */
const SPECIFIED_FIELDS = 'telefono departamento municipio lat lng maps_url recogida external_ref'.split(' ')
const field = (name: string, propertyName: string) => `${schema(name)}/properties/${propertyName}`

/** The element at a pointer; what stands beside a `$ref` stands over what it refers to. */
function resolver(documento: Nodo, pointer: string): Nodo {
  const whole = (node: Nodo): Nodo => {
    const { $ref, ...own } = node
    return typeof $ref === 'string' ? { ...resolver(documento, $ref.slice(1)), ...own } : node
  }
  return pointer
    .split('/')
    .slice(1)
    .map((step) => step.replaceAll('~1', '/').replaceAll('~0', '~'))
    .reduce((node, step) => {
      if (!(step in node)) throw new Error(`${pointer}: there is no ${step}`)
      return whole(node[step] as Nodo)
    }, documento)
}

/** Pointers of every element that claims to be specified, by its own mark or by what it refers to. */
function findSpecified(documento: Nodo): string[] {
  const mentions: string[] = []
  const walk = (value: unknown, pointer: string) => {
    if (value === null || typeof value !== 'object') return
    const { 'x-origen': own, $ref } = value as Nodo
    const origen = own ?? (typeof $ref === 'string' && resolver(documento, $ref.slice(1))['x-origen'])
    if (origen === 'especificado') mentions.push(pointer)
    for (const [key, child] of Object.entries(value))
      if (!/^(examples?|x-.*)$/.test(key)) walk(child, `${pointer}/${escapeStep(key)}`)
  }
  walk(documento, '')
  return mentions
}

const text = { type: 'string' }
const number = { type: 'number' }
const whole = { type: 'integer' }
const buildRequired = (...names: string[]) => ({ required: expect.arrayContaining(names) })
const expectNotRequired = (name: string) => ({ required: expect.not.arrayContaining([name]) })

const CREAR = operacion('post', '/api/v1/guias')
const LOTE = operacion('post', '/api/v1/guias/bulk')
const LISTAR = operacion('get', '/api/v1/guias')
/** Pointer of a parameter of the list of guides. */
const filterOf = (name: string) => {
  const parameters = resolver(comercios, LISTAR).parameters as Nodo[]
  return parameters
    .map((_parameter, i) => `${LISTAR}/parameters/${i}`)
    .find((at) => resolver(comercios, at).name === name)!
}
const DETALLE = operacion('get', '/api/v1/guias/{guia}')
const PRUEBA = operacion('get', '/api/v1/guias/{guia}/prueba-entrega')
const AVISO = '/webhooks/guia/post'
const LLAVE = '/components/securitySchemes/llaveDeComercio'

const STATEMENTS_OF_SPECIFICATION: Record<string, Statement[]> = {
  'What the service does': [
    { dice: 'A merchant’s system creates shipment guides', en: [[CREAR, 'especificado']] },
    {
      dice: 'Guides are created one at a time or in a batch of up to 100 per call',
      en: [
        [CREAR, 'especificado'],
        [LOTE, 'especificado'],
      ],
    },
    {
      dice: 'With destination coordinates the delivery address is confirmed immediately',
      en: [[schema('EstadoDeUbicacion'), 'decision', { enum: expect.arrayContaining(['confirmada']) }]],
    },
    {
      dice: 'Without them, the service sends a location-confirmation message through a messaging app',
      en: [
        [schema('EstadoDeUbicacion'), 'decision', { enum: expect.arrayContaining(['solicitada']) }],
        [field('Ubicacion', 'solicitud'), 'decision'],
      ],
    },
    {
      dice: 'Tracking returns the current status and the history of events, with cursor pagination',
      en: [
        [`${DETALLE}/responses/200${json}/allOf/0/allOf/0`, 'decision', buildRequired('estado')],
        [
          `${DETALLE}/responses/200${json}/allOf/1/properties/eventos`,
          'decision',
          buildRequired('datos', 'cursor_siguiente'),
        ],
      ],
    },
    {
      dice: 'Proof of delivery consists of photos, a signature and a PDF, each available as a signed link',
      en: [
        [`${PRUEBA}/responses/200${json}`, 'decision', buildRequired('fotos', 'firma', 'pdf')],
        [`${field('PruebaDeEntrega', 'fotos')}/items`, 'decision', buildRequired('url')],
        [`${field('PruebaDeEntrega', 'firma')}/oneOf/0`, 'decision', buildRequired('url')],
        [`${field('PruebaDeEntrega', 'pdf')}/oneOf/0`, 'decision', buildRequired('url')],
      ],
    },
    {
      dice: 'Status changes are pushed as webhooks, signed with HMAC-SHA256 and retried automatically',
      en: [[AVISO, 'especificado', { description: expect.stringMatching(/firmado.*HMAC-SHA256[\s\S]*se reintenta/) }]],
    },
    {
      dice: 'Access uses Bearer keys issued per merchant',
      en: [[LLAVE, 'especificado', { type: 'http', scheme: 'bearer' }]],
    },
    {
      dice: 'Creation can be made idempotent with the field external_ref',
      en: [[field('GuiaParaCrear', 'external_ref'), 'especificado']],
    },
  ],
  'Resources and their fields': [
    { dice: 'A guide to create', en: [[schema('GuiaParaCrear'), 'especificado', { type: 'object' }]] },
    {
      dice: 'telefono: a string in international format',
      en: [[field('GuiaParaCrear', 'telefono'), 'especificado', { ...text, examples: [expect.stringMatching(/^\+/)] }]],
    },
    { dice: 'departamento: string', en: [[field('GuiaParaCrear', 'departamento'), 'especificado', text]] },
    { dice: 'municipio: string', en: [[field('GuiaParaCrear', 'municipio'), 'especificado', text]] },
    { dice: 'lat: destination latitude, number', en: [[field('GuiaParaCrear', 'lat'), 'especificado', number]] },
    { dice: 'lng: destination longitude, number', en: [[field('GuiaParaCrear', 'lng'), 'especificado', number]] },
    { dice: 'maps_url: a map link, string', en: [[field('GuiaParaCrear', 'maps_url'), 'especificado', text]] },
    { dice: 'recogida: object', en: [[field('GuiaParaCrear', 'recogida'), 'especificado', { type: 'object' }]] },
    { dice: 'guia: identifier, string', en: [[field('ResultadoCreado', 'guia'), 'especificado', text]] },
    { dice: 'estado: current state, string', en: [[field('ResultadoCreado', 'estado'), 'especificado', text]] },
    { dice: 'recogida.maps_url: string', en: [[field('Recogida', 'maps_url'), 'especificado', text]] },
    { dice: 'recogida.lat: number', en: [[field('Recogida', 'lat'), 'especificado', number]] },
    { dice: 'recogida.lng: number', en: [[field('Recogida', 'lng'), 'especificado', number]] },
    { dice: 'recogida.nombre: string', en: [[field('Recogida', 'nombre'), 'especificado', text]] },
    {
      dice: 'A pickup point is given either as coordinates (lat and lng) or as maps_url',
      en: [
        [
          schema('Recogida'),
          'especificado',
          {
            anyOf: [buildRequired('lat', 'lng'), buildRequired('maps_url')],
            dependentRequired: { lat: ['lng'], lng: ['lat'] },
          },
        ],
      ],
    },
    {
      dice: 'Destination coordinates are given as lat and lng, or as maps_url, directly on the guide',
      en: [[schema('GuiaParaCrear'), 'especificado', { dependentRequired: { lat: ['lng'], lng: ['lat'] } }]],
    },
  ],
  'States and transitions': [
    {
      dice: 'A created guide becomes aceptado, the only state value given',
      en: [[schema('Estado'), 'decision', { 'x-transiciones': { iniciales: ['aceptado'] } }]],
    },
  ],
  'Create a guide': [
    { dice: 'POST /api/v1/guias', en: [[CREAR, 'especificado', { operationId: 'crearGuia' }]] },
    {
      dice: 'Request body: a JSON object with the guide fields',
      en: [
        [`${CREAR}/requestBody`, 'especificado', { required: true }],
        [`${CREAR}/requestBody${json}/allOf/0`, 'especificado', { title: 'Guía para crear' }],
        [`${schema('GuiaIndividual')}/allOf/0`, 'especificado'],
        [`${schema('GuiaIndividual')}/allOf/1/properties/recogida`, 'especificado'],
      ],
    },
  ],
  'Create guides in batch': [
    { dice: 'POST /api/v1/guias/bulk', en: [[LOTE, 'especificado', { operationId: 'crearLote' }]] },
    {
      dice: 'Request body: guias and recogida',
      en: [
        [`${LOTE}/requestBody`, 'especificado', { required: true }],
        [`${LOTE}/requestBody${json}`, 'especificado', { type: 'object' }],
        [schema('LoteParaCrear'), 'especificado', buildRequired('guias')],
      ],
    },
    {
      dice: 'guias: array of guide objects, required, length 1 to 100',
      en: [
        [field('LoteParaCrear', 'guias'), 'especificado', { type: 'array', minItems: 1, maxItems: 100 }],
        [`${field('LoteParaCrear', 'guias')}/items`, 'especificado', { title: 'Guía para crear' }],
      ],
    },
    {
      dice: 'recogida: object, not required, default pickup point; each guide may override it',
      en: [
        [field('LoteParaCrear', 'recogida'), 'especificado', { type: 'object' }],
        [schema('LoteParaCrear'), 'especificado', expectNotRequired('recogida')],
        [schema('GuiaParaCrear'), 'especificado', expectNotRequired('recogida')],
      ],
    },
    {
      dice: 'Response: HTTP 200 always, whether or not items failed',
      en: [
        [`${LOTE}/responses/200`, 'especificado'],
        [`${LOTE}/responses/200${json}`, 'especificado', { type: 'object' }],
        [schema('LoteCreado'), 'especificado', buildRequired('ok', 'creadas', 'fallidas', 'resultados')],
      ],
    },
    { dice: 'ok: boolean', en: [[field('LoteCreado', 'ok'), 'especificado', { type: 'boolean' }]] },
    { dice: 'creadas: integer', en: [[field('LoteCreado', 'creadas'), 'especificado', whole]] },
    { dice: 'fallidas: integer', en: [[field('LoteCreado', 'fallidas'), 'especificado', whole]] },
    {
      dice: 'resultados: array, one entry per submitted guide',
      en: [
        [field('LoteCreado', 'resultados'), 'especificado', { type: 'array', minItems: 1, maxItems: 100 }],
        [`${field('LoteCreado', 'resultados')}/items/oneOf/0`, 'especificado', { title: 'Guía creada' }],
        [`${field('LoteCreado', 'resultados')}/items/oneOf/1`, 'especificado', { title: 'Guía fallida' }],
      ],
    },
    {
      dice: 'indice: integer, zero-based position in the submitted guias array',
      en: [
        [schema('Indice'), 'especificado', { ...whole, minimum: 0, maximum: 99 }],
        [field('ResultadoCreado', 'indice'), 'especificado'],
        [field('ResultadoFallido', 'indice'), 'especificado'],
      ],
    },
    {
      dice: 'ok: boolean, whether this guide was created',
      en: [
        [field('ResultadoCreado', 'ok'), 'especificado', { type: 'boolean', const: true }],
        [field('ResultadoFallido', 'ok'), 'especificado', { type: 'boolean', const: false }],
      ],
    },
    {
      dice: 'guia and estado: present on success',
      en: [[schema('ResultadoCreado'), 'especificado', buildRequired('indice', 'ok', 'guia', 'estado')]],
    },
    {
      dice: 'error: present instead of guia when this guide failed',
      en: [
        [
          schema('ResultadoFallido'),
          'especificado',
          {
            ...buildRequired('indice', 'ok', 'error'),
            properties: expect.not.objectContaining({ guia: expect.anything() }),
          },
        ],
        [field('ResultadoFallido', 'error'), 'especificado', { type: 'object' }],
      ],
    },
  ],
  'Rules of the batch': [
    {
      dice: 'Every guide must resolve a pickup point, the batch’s or its own',
      en: [[schema('GuiaIndividual'), 'decision', { allOf: [{}, { required: ['recogida'] }] }]],
    },
    {
      dice: 'A guide without destination coordinates triggers one message; lat and lng, or maps_url, avoid it',
      en: [[schema('GuiaParaCrear'), 'especificado', { description: expect.stringContaining('**un** mensaje') }]],
    },
    {
      dice: 'A caller must examine each entry by its indice',
      en: [[schema('LoteCreado'), 'especificado', { description: expect.stringContaining('por su `indice`') }]],
    },
  ],
  'Other operations': [
    {
      dice: 'Listing of the merchant’s guides, with cursor pagination',
      en: [[`${LISTAR}/responses/200${json}`, 'decision', buildRequired('datos', 'cursor_siguiente')]],
    },
    { dice: 'The detail of a guide, with its status and event history', en: [[DETALLE, 'decision']] },
    { dice: 'The proof of delivery of a guide', en: [[PRUEBA, 'decision']] },
  ],
}

// «Authentication», «Events», «Errors» and «Limits» repeat what the sections above say.
const GAPS: Record<string, Gap[]> = {
  'Resources and their fields': [
    {
      dice: 'Required or optional status of each guide field',
      rows: ['Qué campos de la guía son obligatorios'],
      en: [[schema('GuiaIndividual'), 'decision']],
    },
    {
      dice: 'Complete field list of a guide, semantics and format of external_ref',
      rows: ['Otros campos', 'La guía en las respuestas', 'Formato de `external_ref`', 'Qué es «la misma» creación'],
      en: [
        [schema('Guia'), 'decision'],
        [field('GuiaDeAviso', 'external_ref'), 'decision'],
        [schema('RecogidaDeGuia'), 'decision'],
        [schema('ReferenciaExterna'), 'decision'],
        [schema('CodigoDeGuia'), 'decision'],
        ...Object.keys(readSchema('GuiaParaCrear').properties)
          .filter((name) => !SPECIFIED_FIELDS.includes(name))
          .map((name): ContractElement => [field('GuiaParaCrear', name), 'decision']),
      ],
    },
    {
      dice: 'Fields of an event-history record',
      rows: ['Campos de un evento del historial'],
      en: [[schema('Evento'), 'decision']],
    },
    {
      dice: 'Fields of the proof-of-delivery record, and the format of its signed links',
      rows: ['Campos de la prueba de entrega', 'Enlaces firmados'],
      en: [
        [schema('PruebaDeEntrega'), 'decision'],
        [field('PruebaDeEntrega', 'fotos'), 'decision'],
        [field('ArchivoDePrueba', 'url'), 'decision'],
      ],
    },
  ],
  'States and transitions': [
    {
      dice: 'The full list of states; transitions',
      rows: ['Estados y transiciones'],
      en: [[schema('Estado'), 'decision']],
    },
  ],
  Endpoints: [
    {
      dice: 'Response body of the single create',
      rows: ['Respuesta de la creación individual'],
      en: [
        [`${CREAR}/responses/201`, 'decision'],
        [`${CREAR}/responses/200`, 'decision'],
      ],
    },
    {
      dice: 'Method, path, parameters and payload of the listing, the detail and the proof',
      rows: ['Lista, detalle y prueba de entrega', 'Paginación'],
      en: [LISTAR, DETALLE, PRUEBA].flatMap((one): ContractElement[] => [
        [one, 'decision'],
        [`${one}/parameters/0`, 'decision'],
        [`${one}/responses/200`, 'decision'],
      ]),
    },
  ],
  Authentication: [
    {
      dice: 'Key issuance, rotation, revocation and scopes',
      rows: ['Llaves', 'Emisión, rotación y alcances de las llaves', 'Revocación'],
      en: [],
    },
  ],
  Events: [
    {
      dice: 'Event names, payload shape, signature header, signing input, retry schedule, registration of an address',
      rows: [
        'Nombres de los eventos',
        'Cuerpo de un aviso',
        'Formato de los webhooks',
        'Reintentos',
        'Cómo se registra un webhook',
      ],
      en: [
        [schema('TipoDeEvento'), 'decision'],
        [`${AVISO}/requestBody`, 'decision'],
        [`${AVISO}/parameters/2`, 'decision', { name: 'webhook-signature' }],
        [operacion('post', '/api/v1/webhooks'), 'decision'],
      ],
    },
  ],
  Errors: [
    {
      dice: 'Shape and content of the error value in a batch entry',
      rows: ['`error` de una entrada'],
      en: [[schema('Problema'), 'decision']],
    },
    { dice: 'Value of the top-level ok when some entries fail', rows: ['`ok` del lote'], en: [] },
    {
      dice: 'Error codes, status codes and the error body for other failures',
      rows: ['Errores', 'Códigos y estados HTTP de las fallas'],
      en: [
        [schema('CodigoDeProblema'), 'decision'],
        ...['401', '422'].map((estado): ContractElement => [`${CREAR}/responses/${estado}`, 'decision']),
      ],
    },
  ],
  Limits: [
    {
      dice: 'Rate limits, request size limits and page size limits',
      rows: ['Límites', 'Ritmo de las solicitudes'],
      en: [[filterOf('limite'), 'decision', { name: 'limite' }]],
    },
  ],
  Versioning: [
    {
      dice: 'Version policy, deprecation and compatibility rules',
      rows: ['Versiones, retiro y compatibilidad'],
      en: [],
    },
  ],
}

const cases = (table: Record<string, Statement[]>) =>
  Object.entries(table).flatMap(([section, rows]) => rows.map((row) => [section, row.dice, row.en] as const))

/** What the world has at this one place (RFC 8615), for whoever checks a proof: it has no version and takes no key. */
const CLAVES_PUBLICAS = '/.well-known/jwks.json'

describe('a statement of the specification', () => {
  it.each(cases(STATEMENTS_OF_SPECIFICATION))('%s: %s', (_section, _dice, elements) => {
    for (const [pointer, origen, expectedProperties = {}] of elements) {
      expect(resolver(comercios, pointer), pointer).toMatchObject({ 'x-origen': origen, ...expectedProperties })
    }
  })

  it('Endpoints: every request carries the key, and requests and answers are JSON', () => {
    expect(comercios.security).toEqual([{ llaveDeComercio: [] }])
    for (const [path, metodos] of Object.entries(comercios.paths as Record<string, Record<string, Nodo>>)) {
      for (const [method, one] of Object.entries(metodos)) {
        expect(one.security, path).toEqual(path === CLAVES_PUBLICAS ? [] : [{ llaveDeComercio: expect.any(Array) }])
        const cuerpos = [one.requestBody, ...Object.keys(one.responses as Nodo)]
          .filter(Boolean)
          .map((body) =>
            typeof body === 'string' ? resolver(comercios, `${operacion(method, path)}/responses/${body}`) : body,
          ) as Nodo[]
        for (const { content } of cuerpos)
          expect(Object.keys(content ?? { 'application/json': {} }), path).toContain('application/json')
      }
    }
  })

  it('Versioning: every path has the prefix /api/v1', () => {
    const paths = Object.keys(comercios.paths as Nodo).filter((path) => path !== CLAVES_PUBLICAS)
    for (const path of paths) expect(path).toMatch(/^\/api\/v1\//)
  })
})

describe('a gap of the specification', () => {
  const decisiones = readFileSync(new URL('openapi/DECISIONES.md', ROOT), 'utf8')

  it.each(cases(GAPS))('%s: %s', (_section, _dice, elements) => {
    for (const [pointer, origen, expectedProperties = {}] of elements) {
      expect(resolver(comercios, pointer), pointer).toMatchObject({ 'x-origen': origen, ...expectedProperties })
    }
  })

  it.each(
    Object.values(GAPS)
      .flat()
      .map(({ dice, rows }) => [dice, rows] as const),
  )('has its rows in DECISIONES.md: %s', (_dice, rows) => {
    for (const row of rows) expect(decisiones).toContain(`\n| ${row} | `)
  })
})

describe('nothing else', () => {
  const messages = new Set(
    Object.values(STATEMENTS_OF_SPECIFICATION)
      .flat()
      .flatMap(({ en }) => en.filter(([, origen]) => origen === 'especificado').map(([pointer]) => pointer)),
  )

  it.each(['comercios', 'operaciones', 'publico'])('in %s claims to be specified', (documento) => {
    expect(findSpecified(read(documento)).filter((pointer) => !messages.has(pointer))).toEqual([])
  })
})
