import { ErrorConflicto, ErrorValidacion } from '@guias/sdk'
import { describe, expect, it } from 'vitest'
import { DIGESTED_COLUMNS } from '../../server/domain/records/guiaFields.ts'
import { newGuideCode } from '../../server/platform/codes/codes.ts'
import { HAS_LOCK_TIMEOUTS } from '../childEnvironment.ts'
import { useEnvironment } from '../environment.ts'
import { buildGuia, buildGuiaWithoutDestino, RECOGIDA, RECOGIDA_VIEW, waitUntil } from '../factories.ts'
import { useGuias } from './move.ts'

// The generator gives one code twice when told to: a collision is one in 10^16 otherwise.
let repetido: string | undefined
const environment = useEnvironment({
  newCode: (first) => {
    const codigo = repetido ?? newGuideCode(first)
    repetido = undefined
    return codigo
  },
})

describe('POST /api/v1/guias', () => {
  it('creates a guide, confirmed by its coordinates, with its Location and one event', async () => {
    const { api } = await environment.createComercio()
    const {
      datos,
      estadoHttp: status,
      cabeceras: headers,
    } = await api.guias.crear(buildGuia({ destinatario: 'María José Ajú' })).conRespuesta()
    expect(status).toBe(201)
    expect(headers.get('location')).toBe(`/api/v1/guias/${datos.guia}`)
    expect(datos.guia).toMatch(/^[0-9A-HJKMNP-TV-Z]{12}$/)
    expect(datos).toMatchObject({
      estado: 'aceptado',
      modo: 'test',
      telefono: '+50231481676',
      destinatario: 'María José Ajú',
      lat: 14.71889,
      recogida: RECOGIDA_VIEW,
      ubicacion: { estado: 'confirmada', origen: 'coordenadas', lat: 14.71889, lng: -90.64417 },
      intentos: 0,
      advertencias: [],
      secuencia: 1,
    })
    const { eventos } = await api.guias.obtener(datos.guia)
    expect(eventos.datos).toHaveLength(1)
    expect(eventos.datos[0]).toMatchObject({
      tipo: 'guia.aceptado',
      secuencia: 1,
      estado: 'aceptado',
      estado_anterior: null,
      ocurrido_en: datos.creado_en,
    })
  })

  it('reads the place from a link; coordinates win over it, and the link is kept', async () => {
    const { api } = await environment.createComercio()
    const maps_url = 'https://www.google.com/maps?q=14.6349,-90.5069'
    const withMapLink = await api.guias.crear({ ...buildGuiaWithoutDestino(), maps_url })
    expect(withMapLink).toMatchObject({
      lat: null,
      lng: null,
      maps_url,
      ubicacion: { estado: 'confirmada', origen: 'maps_url', lat: 14.6349, lng: -90.5069 },
    })
    const withBoth = await api.guias.crear(buildGuia({ maps_url }))
    expect(withBoth).toMatchObject({ maps_url, ubicacion: { origen: 'coordenadas', lat: 14.71889, maps_url: null } })
    const shortForm = await api.guias.crear({
      ...buildGuiaWithoutDestino(),
      maps_url: 'https://maps.app.goo.gl/aBcD1234',
    })
    expect(shortForm).toMatchObject({
      ubicacion: { estado: 'confirmada', origen: 'maps_url', lat: null },
      advertencias: [{ codigo: 'enlace_sin_coordenadas', campo: '/maps_url' }],
    })
  })

  it('asks the recipient once, and only when there is no place', async () => {
    const { api } = await environment.createComercio()
    const body = buildGuiaWithoutDestino()
    const guia = await api.guias.crear(body)
    expect(guia.ubicacion).toMatchObject({
      estado: 'solicitada',
      origen: null,
      lat: null,
      lng: null,
      confirmado_en: null,
      solicitud: { canal: 'buzon', estado: 'pendiente', numero: 1, enviado_en: null },
    })
    await api.guias.crear(body)
    const sent = await waitUntil(async () => {
      const { body } = await environment.asOperador('GET', `/mensajes?guia=${guia.guia}`)
      return body.datos[0]?.estado === 'enviado' && body.datos
    })
    expect(sent).toMatchObject([
      {
        mensaje: `men_${guia.guia}_1`,
        telefono: '+50231481676',
        canal: 'buzon',
        tipo: 'solicitud_ubicacion',
        estado: 'enviado',
      },
    ])
    const { eventos, ...now } = await api.guias.obtener(guia.guia)
    expect(eventos.datos.map(({ tipo }) => tipo)).toEqual(['guia.aceptado', 'ubicacion.solicitada'])
    expect(now.secuencia).toBe(2)

    const confirmed = await api.guias.crear(buildGuia())
    expect((await environment.asOperador('GET', `/mensajes?guia=${confirmed.guia}`)).body.datos).toEqual([])
  })

  it.each([
    ['+502 3148-1676', '+50231481676', []],
    ['+521 55 1234 5678', '+525512345678', []],
    ['+50211111111', '+50211111111', [{ codigo: 'telefono_dudoso', campo: '/telefono' }]],
  ])('normalises the phone %s', async (telefono, e164, advertencias) => {
    const { api } = await environment.createComercio()
    expect(await api.guias.crear(buildGuia({ telefono }))).toMatchObject({ telefono: e164, advertencias })
  })

  it('keeps the contact of the pickup, and reads its phone with the country of the account, not of the guide', async () => {
    const { api } = await environment.createComercio()
    const contacto = { contacto: 'Luis Batz', direccion: '12 avenida 3-40', indicaciones: 'Portón\nazul' }
    const recogida = { ...RECOGIDA, ...contacto, telefono: '5555 1234' }
    const sentRequest = buildGuia({ telefono: '7012 3456', pais: 'SV', recogida })
    const view = { ...RECOGIDA_VIEW, ...contacto, telefono: '+50255551234' }
    const created = await api.guias.crear(sentRequest)
    expect(created).toMatchObject({ telefono: '+50370123456', recogida: view })
    expect((await api.guias.obtener(created.guia)).recogida).toEqual(view)
    const { guias } = { guias: [buildGuia({ recogida: undefined })] } as never as { guias: never[] }
    const { resultados } = await api.guias.crearLote({ recogida, guias })
    expect((await api.guias.obtener((resultados[0] as { guia: string }).guia)).recogida).toEqual(view)
    expect(
      (await api.guias.crear({ ...sentRequest, recogida: { ...recogida, telefono: '+502 5555-1234' } })).guia,
    ).toBe(created.guia)
  })

  it('says everything that is wrong, field by field, in Spanish, and creates nothing', async () => {
    const { api } = await environment.createComercio()
    const bad = {
      telefono: '3148167',
      municipio: null,
      externalref: 'X',
      lat: 99,
      external_ref: ' x',
      recogida: { nombre: 'Bodega' },
    }
    const error = await api.guias.crear(bad as never).catch((e: unknown) => e)
    expect(error).toBeInstanceOf(ErrorValidacion)
    const errores = Object.fromEntries(
      (error as ErrorValidacion).errores.map(({ campo: field, mensaje }) => [field, mensaje]),
    )
    expect(errores).toEqual({
      '/telefono': 'le faltan dígitos: un número de Guatemala tiene 8; uno de otro país va con + y su código',
      '/departamento': 'falta; es obligatorio',
      '/municipio': 'no puede ser null; si no tiene valor, omita el campo',
      '/externalref': 'no existe; ¿quiso decir external_ref?',
      '/lat': 'debe ser un número de -90 a 90, en grados decimales, por ejemplo 14.6349',
      '/lng': 'falta: lat y lng van juntas',
      '/external_ref':
        'debe tener de 1 a 128 caracteres imprimibles, sin espacios al principio ni al final, por ejemplo PEDIDO-2026-00001',
      '/recogida': 'debe llevar lat y lng, o maps_url',
    })
    expect((await api.guias.listar()).datos).toEqual([])
  })

  it.each<[string, Record<string, unknown>, string]>([
    ['no pickup', { recogida: undefined }, '/recogida'],
    ['a bad telephone of the pickup', { recogida: { ...RECOGIDA, telefono: '3148167' } }, '/recogida/telefono'],
    ['an empty contact', { recogida: { ...RECOGIDA, contacto: ' ' } }, '/recogida/contacto'],
    ['a pickup address of two lines', { recogida: { ...RECOGIDA, direccion: 'a\nb' } }, '/recogida/direccion'],
    ['long pickup directions', { recogida: { ...RECOGIDA, indicaciones: 'a'.repeat(501) } }, '/recogida/indicaciones'],
    ['an empty reference', { external_ref: '' }, '/external_ref'],
    ['a reference of 129', { external_ref: 'x'.repeat(129) }, '/external_ref'],
    ['a reference that grows past 128 in NFC', { external_ref: '\u0958'.repeat(100) }, '/external_ref'],
    ['a reference of invisible characters', { external_ref: '\u3164\u2800' }, '/external_ref'],
    ['a name of invisible characters', { destinatario: '\u200B' }, '/destinatario'],
    ['a direction override in a name', { destinatario: 'Ana\u202Eoigres' }, '/destinatario'],
    ['a line break in an address', { direccion: 'uno\ndos' }, '/direccion'],
    ['a link to elsewhere', { maps_url: 'https://google.com.evil.example/maps?q=1,2' }, '/maps_url'],
    ['a phone with no such country', { telefono: '+9991234567' }, '/telefono'],
    ['a phone that is too short', { telefono: '+502123' }, '/telefono'],
    ['coordinates as text', { lat: '14.6', lng: '-90.5' }, '/lat'],
    ['a state of its own', { estado: 'entregado' }, '/estado'],
    ['a code of its own', { guia: '7K3M9QX2A1B4' }, '/guia'],
    ['a merchant of its own', { comercio: 'com_X' }, '/comercio'],
    ['an unknown pickup field', { recogida: { lat: 1, lng: 2, nonbre: 'x' } }, '/recogida/nonbre'],
  ])('refuses %s', async (_description, cambios, field) => {
    const { llave } = await environment.createComercio()
    const { status, body } = await environment.request('POST', '/api/v1/guias', {
      llave,
      body: { ...buildGuia(), ...cambios },
    })
    expect(status).toBe(422)
    expect(body.codigo).toBe('validacion')
    expect(body.errores.map((e: { campo: string }) => e.campo)).toContain(field)
  })

  it.each<[unknown, string]>([
    ['14.6349', 'es un texto y debe ser un número: escríbalo sin comillas, 14.6349'],
    [' 14,6349 ', 'es un texto y debe ser un número: escríbalo sin comillas, 14.6349'],
    ['14° 38′ N', 'es un texto y debe ser un número de -90 a 90, en grados decimales, por ejemplo 14.6349'],
    ['abc', 'es un texto y debe ser un número de -90 a 90, en grados decimales, por ejemplo 14.6349'],
    [true, 'debe ser un número de -90 a 90, en grados decimales, por ejemplo 14.6349'],
  ])('says what %j is where a number belongs', async (lat, mensaje) => {
    const { llave } = await environment.createComercio()
    const body = { ...buildGuia(), lat }
    expect((await environment.request('POST', '/api/v1/guias', { llave, body })).body.errores).toEqual([
      { campo: '/lat', codigo: 'tipo_invalido', mensaje },
    ])
  })

  it('keeps at most 50 faults and says how many more there are', async () => {
    const { llave } = await environment.createComercio()
    const surplusFields = Object.fromEntries(Array.from({ length: 60 }, (_, i) => [`x${i}`, i]))
    const { status, body } = await environment.request('POST', '/api/v1/guias', { llave, body: surplusFields })
    expect([status, body.errores.length, body.errores_omitidos]).toEqual([422, 50, 14])
  })
})

describe('external_ref', () => {
  it.each([
    { codigo: 'ya_cancelada', estado: 'cancelado' as const, path: [] },
    { codigo: 'ya_devuelta', estado: 'devuelto' as const, path: ['recolectado', 'en_devolucion', 'devuelto'] },
    { codigo: 'ya_devuelta', estado: 'en_devolucion' as const, path: ['recolectado', 'en_devolucion'] },
    { codigo: 'ya_extraviada', estado: 'extraviado' as const, path: ['recolectado', 'extraviado'] },
  ])('repeated for a guide in $estado gets the warning $codigo, which no other answer has', async (ended) => {
    const { codigo, estado, path } = ended
    const { api } = await environment.createComercio()
    const order = buildGuia()
    const { guia } = await api.guias.crear(order)
    if (path.length === 0) await api.guias.cancelar(guia)
    else await useGuias(environment).mover(guia, ...path)
    const warning = { codigo, campo: '/external_ref', mensaje: expect.stringContaining('use otra external_ref') }
    expect(await api.guias.crear(order)).toMatchObject({ guia, estado, advertencias: [warning] })
    const { resultados } = await api.guias.crearLote({ guias: [order] })
    expect(resultados).toMatchObject([{ ok: true, guia, estado, repetida: true, advertencias: [warning] }])
    expect((await api.guias.obtener(guia)).advertencias).toEqual([])
  })

  it('makes creation idempotent: the same guide, 200, no second event or message', async () => {
    const { api } = await environment.createComercio()
    const body = buildGuiaWithoutDestino()
    const first = await api.guias.crear(body).conRespuesta()
    const second = await api.guias.crear({ ...body, telefono: '+502 3148 1676' }).conRespuesta()
    expect([first.estadoHttp, first.repetida, second.estadoHttp, second.repetida]).toEqual([201, false, 200, true])
    expect(second.datos.guia).toBe(first.datos.guia)
    const cuentas = await environment.db.pool.query('select count(*)::int as n from mensaje where guia = $1', [
      first.datos.guia,
    ])
    expect(cuentas.rows).toEqual([{ n: 1 }])
  })

  it('is one in NFC and NFD', async () => {
    const { api } = await environment.createComercio()
    const first = await api.guias.crear(buildGuia({ external_ref: 'PEDIDÓ-1'.normalize('NFC') }))
    const body = buildGuia({ external_ref: 'PEDIDÓ-1'.normalize('NFD') })
    expect((await api.guias.crear(body)).guia).toBe(first.guia)
  })

  const OTHER_VALUES: Readonly<Record<string, unknown>> = {
    telefono: '+50231481677',
    departamento: 'Escuintla',
    municipio: 'Mixco',
    lat: 14.7,
    lng: -90.6,
    maps_url: 'https://www.google.com/maps?q=14.6349,-90.5069',
    recogida: { lat: 14.5, lng: -90.5 },
  }
  const cambios: [string, Record<string, unknown>][] = [
    ...DIGESTED_COLUMNS.map((column): [string, Record<string, unknown>] => [
      column,
      { [column]: OTHER_VALUES[column] ?? 'Otro texto' },
    ]),
    ['recogida', { recogida: { ...RECOGIDA, contacto: 'Otro' } }],
  ]
  it.each(cambios)(
    'refuses the same reference with another %s, and names the field and the guide',
    async (field, cambio) => {
      const { api } = await environment.createComercio()
      const body = buildGuia()
      const { guia } = await api.guias.crear(body)
      const error = (await api.guias.crear({ ...body, ...cambio }).catch((e: unknown) => e)) as ErrorConflicto
      expect(error).toBeInstanceOf(ErrorConflicto)
      expect([error.codigo, error.guia, error.errores.map((e) => e.campo)]).toEqual([
        'external_ref_en_conflicto',
        guia,
        [`/${field}`],
      ])
    },
  )

  it('stays a replay after the guide moved, and a cancelled guide keeps it', async () => {
    const { api } = await environment.createComercio()
    const body = buildGuia()
    const { guia } = await api.guias.crear(body)
    await api.guias.cancelar(guia)
    const { datos, estadoHttp: status } = await api.guias.crear(body).conRespuesta()
    expect([status, datos.guia, datos.estado]).toEqual([200, guia, 'cancelado'])
  })

  it('belongs to one merchant and one mode', async () => {
    const comercio = await environment.createComercio()
    const other = await environment.createComercio()
    const body = buildGuia()
    const liveOne = await environment.request('POST', '/api/v1/guias', {
      llave: await environment.createLlave(comercio, { modo: 'live' }),
      body,
    })
    const guias = [
      (await comercio.api.guias.crear(body)).guia,
      (await other.api.guias.crear(body)).guia,
      liveOne.body.guia,
    ]
    expect(new Set(guias).size).toBe(3)
    expect(liveOne.body.modo).toBe('live')
  })

  it('survives 100 concurrent equal creations of each of 5 references: one 201, the rest replays', async () => {
    const { api, id } = await environment.createComercio()
    const cuerpos = Array.from({ length: 5 }, () => buildGuiaWithoutDestino())
    const responses = await Promise.all(
      cuerpos.flatMap((body) => Array.from({ length: 100 }, () => api.guias.crear(body).conRespuesta())),
    )
    for (const body of cuerpos) {
      const ownResponses = responses.filter(({ datos }) => datos.external_ref === body.external_ref)
      expect(new Set(ownResponses.map(({ datos }) => datos.guia)).size).toBe(1)
      expect(ownResponses.filter(({ estadoHttp }) => estadoHttp === 201)).toHaveLength(1)
      expect(ownResponses.filter(({ estadoHttp }) => estadoHttp === 200)).toHaveLength(99)
    }
    const { rows } = await environment.db.pool.query(
      `select (select count(*)::int from guia where comercio_id = $1) guias,
              (select count(*)::int from evento where comercio_id = $1 and tipo = 'guia.aceptado') eventos,
              (select count(*)::int from mensaje where comercio_id = $1) mensajes`,
      [id],
    )
    expect(rows).toEqual([{ guias: 5, eventos: 5, mensajes: 5 }])
  })

  it('answers with the guide of each mode when one reference is repeated in both at once', async () => {
    const comercio = await environment.createComercio()
    const live = await environment.createLlave(comercio, { modo: 'live' })
    const body = buildGuia()
    const request = (llave: string) => environment.request('POST', '/api/v1/guias', { llave, body })
    const llaves = [comercio.llave, live]
    const primeras = await Promise.all(llaves.map(request))
    expect(primeras.map(({ status, body }) => [status, body.modo])).toEqual([
      [201, 'test'],
      [201, 'live'],
    ])
    // Many at once, so that repetitions of both modes share statements.
    const repetidas = await Promise.all(Array.from({ length: 40 }, (_, i) => request(llaves[i % 2]!)))
    for (const [i, { status, body }] of repetidas.entries())
      expect([status, body.modo, body.guia]).toEqual([200, ['test', 'live'][i % 2], primeras[i % 2]!.body.guia])
  })

  it('answers 409 to a repeated reference when the master key of its digests is lost', async () => {
    const { api } = await environment.createComercio()
    const sentRequest = buildGuia()
    const { guia } = await api.guias.crear(sentRequest)
    await environment.db.pool.query(
      `update guia set huellas = regexp_replace(huellas, '^\\S+', '00000000') where guia = $1`,
      [guia],
    )
    await expect(api.guias.crear(sentRequest)).rejects.toMatchObject({ codigo: 'external_ref_en_conflicto', guia })
  })

  it('draws another code when one is taken', async () => {
    const { api } = await environment.createComercio()
    const { guia } = await api.guias.crear(buildGuia())
    repetido = guia
    const other = await api.guias.crear(buildGuia())
    expect(other.guia).not.toBe(guia)
    expect((await api.guias.listar()).datos).toHaveLength(2)
  })
})

describe('a merchant whose rows are locked', () => {
  it.runIf(HAS_LOCK_TIMEOUTS)('holds up no other merchant that creates a guide at the same time', async () => {
    const [one, other] = [await environment.createComercio(), await environment.createComercio()]
    // The keys are known from here on, so that the next two requests reach the database together.
    for (const { api } of [one, other]) await api.guias.crear(buildGuia())
    const client = await environment.db.pool.connect()
    try {
      await client.query('begin')
      await client.query('select from comercio where id = $1 for update', [one.id])
      const ownCreation = one.api.guias.crear(buildGuia())
      const foreign = other.api.guias.crear(buildGuia())
      expect(await foreign).toMatchObject({ estado: 'aceptado' })
      await client.query('commit')
      expect(await ownCreation).toMatchObject({ estado: 'aceptado' })
    } finally {
      client.release(true)
    }
  })
})

describe('the message to the recipient', () => {
  it('is not sent for a guide that was cancelled before it left', async () => {
    const { api } = await environment.createComercio()
    // Straight into the tables: a message that waits while its guide is cancelled, as after a stop of the workers.
    const { guia } = await api.guias.crear(buildGuia())
    await api.guias.cancelar(guia)
    await environment.db.pool.query(`update guia set ubicacion_estado = 'solicitada' where guia = $1`, [guia])
    await environment.db.pool.query(
      `insert into mensaje (comercio_id, modo, guia_id, numero, id, guia, canal, tipo, telefono, estado, proximo_en, creado_en)
       select comercio_id, modo, id, 1, gen_random_uuid(), guia, 'buzon', 'solicitud_ubicacion', telefono, 'pendiente', now(), now() from guia where guia = $1`,
      [guia],
    )
    const mensaje = await waitUntil(async () => {
      const { body } = await environment.asOperador('GET', `/mensajes?guia=${guia}`)
      return body.datos[0].estado !== 'pendiente' && body.datos[0]
    })
    expect(mensaje).toMatchObject({ estado: 'descartado', enviado_en: null })
    expect((await api.guias.obtener(guia)).secuencia).toBe(2)
  })
})
