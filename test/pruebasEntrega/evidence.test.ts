import { beforeAll, describe, expect, it } from 'vitest'
import { createDeliveredGuia, createFirma, createFoto, createGuiaOnRoute, uploadArchivo } from '../archivos/images.ts'
import { type Comercio, useEnvironment } from '../environment.ts'
import { waitUntil } from '../factories.ts'
import { createMobile, type Mobile } from '../repartidores/phone.ts'
import { parsePdf } from './readPdf.ts'

const environment = useEnvironment()
let phone: Mobile
let keys = 0
beforeAll(async () => {
  phone = await createMobile(environment)
})

const REQUIRES_EVERYTHING = { fotos_minimas: 2, firma: 'obligatoria', documento: 'obligatoria' } as const
const NO_PIDE = { fotos_minimas: 1, firma: 'no', documento: 'no' } as const
const PIDE_FIRMA = { fotos_minimas: 1, firma: 'obligatoria', documento: 'opcional' } as const
const OPCIONAL = { fotos_minimas: 1, firma: 'opcional', documento: 'opcional' } as const
type Politica = typeof REQUIRES_EVERYTHING | typeof NO_PIDE | typeof PIDE_FIRMA | typeof OPCIONAL

const request = async ({ comercio }: Comercio, evidencia: object) =>
  expect((await environment.asOperador('PATCH', `/comercios/${comercio}`, { evidencia })).status).toBe(200)
async function createComercioWith(evidencia: Politica) {
  const comercio = await environment.createComercio()
  await request(comercio, evidencia)
  return comercio
}
const QUIEN = { nombre: 'María López', relacion: 'familiar' }
const DOCUMENTO = '2456 78901 0101'

/** Ways to deliver: an operator's, and a courier's whose page knows the policy. */
const VIAS = {
  operador: {
    onRoute: (comercio: Comercio) => createGuiaOnRoute(environment, comercio),
    foto: async (guia: string) => (await uploadArchivo(environment, guia)).body.archivo as string,
    firma: async (guia: string) => (await uploadArchivo(environment, guia, { tipo: 'firma' })).body.archivo as string,
    deliver: (guia: string, _evidencia: Politica, body: object) =>
      environment.asOperador('POST', `/guias/${guia}/entrega`, body),
  },
  repartidor: {
    onRoute: (comercio: Comercio) => createGuiaOnRoute(environment, comercio, phone.repartidor),
    foto: async (guia: string) => (await phone.upload(guia, 'foto', await createFoto())).body.archivo as string,
    firma: async (guia: string) => (await phone.upload(guia, 'firma', await createFirma())).body.archivo as string,
    deliver: (guia: string, evidencia: Politica, body: object) =>
      phone.deliver(guia, { ...body, evidencia, idempotencia: `evidencia-${++keys}` }),
  },
} as const
const { repartidor } = VIAS
/** A courier's delivery as a page sends it that knows of no policy. */
const deliverAsBefore = (guia: string, body: object) =>
  phone.deliver(guia, { ...body, idempotencia: `evidencia-${++keys}` })

const waitForPdf = ({ api }: Comercio, guia: string) =>
  waitUntil(async () => {
    const prueba = await api.guias.pruebaEntrega(guia)
    return prueba.pdf !== null && prueba
  })
async function documentsOf(comercio: Comercio, guia: string) {
  const prueba = await waitForPdf(comercio, guia)
  const { texto: text } = parsePdf(Buffer.from(await (await fetch(prueba.pdf!.url)).arrayBuffer()))
  const manifiesto = JSON.parse(Buffer.from(prueba.manifiesto!.split('.')[1]!, 'base64url').toString())
  return { prueba, texto: text, manifiesto }
}

describe.each(['operador', 'repartidor'] as const)('the evidence of a delivery by an %s', (caller) => {
  const via = VIAS[caller]

  it('names each missing member with its remedy, and delivers with all of them', async () => {
    const comercio = await createComercioWith(REQUIRES_EVERYTHING)
    const guia = await via.onRoute(comercio)
    const fotos = [await via.foto(guia), await via.foto(guia)]
    const { status, body } = await via.deliver(guia, REQUIRES_EVERYTHING, {
      recibido_por: QUIEN,
      fotos: fotos.slice(1),
    })
    expect([status, body.errores]).toEqual([
      422,
      [
        {
          campo: '/fotos',
          codigo: 'largo_invalido',
          mensaje: 'el comercio pide 2 fotos por lo menos y trae 1; suba las demás con …/archivos',
        },
        { campo: '/firma', codigo: 'requerido', mensaje: expect.stringMatching(/sin_firma.*se_nego/) },
        {
          campo: '/recibido_por/documento',
          codigo: 'requerido',
          mensaje: expect.stringContaining('escriba el número'),
        },
      ],
    ])
    expect((await comercio.api.guias.obtener(guia)).estado).toBe('en_ruta')
    const completa = { recibido_por: { ...QUIEN, documento: DOCUMENTO }, fotos, firma: await via.firma(guia) }
    expect((await via.deliver(guia, REQUIRES_EVERYTHING, completa)).status).toBe(201)
    const prueba = await comercio.api.guias.pruebaEntrega(guia)
    expect(prueba).toMatchObject({
      sin_firma: null,
      evidencia: { ...REQUIRES_EVERYTHING, faltas: [], pagina_anterior: false },
      recibido_por: { documento: DOCUMENTO },
    })
  })

  it.each([
    ['no_puede_firmar', 'no puede firmar'],
    ['se_nego', 'se negó'],
    ['sin_contacto', 'sin contacto'],
  ] as const)(
    'takes %s in place of a required signature, and PDF and manifest say so',
    async (noFirmaReason, message) => {
      const comercio = await createComercioWith(PIDE_FIRMA)
      const guia = await via.onRoute(comercio)
      const entrega = {
        recibido_por: { ...QUIEN, documento: DOCUMENTO },
        fotos: [await via.foto(guia)],
        sin_firma: noFirmaReason,
      }
      expect((await via.deliver(guia, PIDE_FIRMA, entrega)).status).toBe(201)
      const { prueba, texto: text, manifiesto } = await documentsOf(comercio, guia)
      const evidencia = { ...PIDE_FIRMA, faltas: [], pagina_anterior: false }
      expect([prueba.sin_firma, prueba.evidencia]).toEqual([noFirmaReason, evidencia])
      expect([manifiesto.sin_firma, manifiesto.evidencia]).toEqual([noFirmaReason, evidencia])
      expect(text).toContain(`Sin firma: ${message}`)
      expect(text).toContain('Documento •••• 0101')
      expect(text).not.toMatch(/78901 ?0101|página que aún no conocía/)
    },
  )

  it('refuses what the merchant does not admit, a signature with a reason, and any other reason', async () => {
    const comercio = await createComercioWith(NO_PIDE)
    const guia = await via.onRoute(comercio)
    const [fotos, firma] = [[await via.foto(guia)], await via.firma(guia)]
    const faltas = async (body: object) => {
      const { status, body: message } = await via.deliver(guia, NO_PIDE, { recibido_por: QUIEN, fotos, ...body })
      expect(status).toBe(422)
      return message.errores.map(({ campo: field, mensaje }: Record<string, string>) => [field, mensaje])
    }
    const surplus = (kind: string) => `el comercio no admite ${kind} en sus entregas; omítalo`
    expect(await faltas({ firma, recibido_por: { ...QUIEN, documento: DOCUMENTO } })).toEqual([
      ['/firma', surplus('la firma')],
      ['/recibido_por/documento', surplus('el número del documento')],
    ])
    expect(await faltas({ sin_firma: 'se_nego' })).toEqual([['/sin_firma', surplus('la firma')]])
    expect(await faltas({ firma, sin_firma: 'se_nego' })).toEqual([
      ['/sin_firma', expect.stringContaining('omita una')],
    ])
    expect(await faltas({ sin_firma: 'otro' })).toEqual([['/sin_firma', expect.stringContaining('no_puede_firmar')]])
    expect((await via.deliver(guia, NO_PIDE, { recibido_por: QUIEN, fotos })).status).toBe(201)
    expect(await comercio.api.guias.pruebaEntrega(guia)).toMatchObject({ firma: null, sin_firma: null })
  })
})

describe('a courier’s delivery', () => {
  it('finds in the guide what the merchant needs, also in one that nobody carries', async () => {
    const comercio = await createComercioWith(REQUIRES_EVERYTHING)
    const guia = await createGuiaOnRoute(environment, comercio, phone.repartidor)
    const free = await createGuiaOnRoute(environment, comercio)
    const { datos } = (await phone.request('GET', '/guias')).body
    expect(datos.find((one: { guia: string }) => one.guia === guia).evidencia).toEqual(REQUIRES_EVERYTHING)
    for (const one of [guia, free]) {
      expect((await phone.request('GET', `/guias/${one}`)).body.evidencia).toEqual(REQUIRES_EVERYTHING)
      expect((await phone.request('GET', `/guias?guia=${one}`)).body.datos[0].evidencia).toEqual(REQUIRES_EVERYTHING)
    }
  })

  it('from a page that knows no policy is accepted, and marked with what it lacks', async () => {
    const comercio = await createComercioWith(REQUIRES_EVERYTHING)
    const guia = await repartidor.onRoute(comercio)
    const entrega = { recibido_por: QUIEN, fotos: [await repartidor.foto(guia)] }
    expect((await deliverAsBefore(guia, entrega)).status).toBe(201)
    const { prueba, texto: text, manifiesto } = await documentsOf(comercio, guia)
    const evidencia = { ...REQUIRES_EVERYTHING, faltas: ['fotos', 'firma', 'documento'], pagina_anterior: true }
    expect([prueba.evidencia, manifiesto.evidencia]).toEqual([evidencia, evidencia])
    expect(text).toContain(
      'Se entregó con una página que aún no conocía lo que pide el comercio; falta: fotos, la firma, el documento',
    )
  })

  it('from such a page is marked also if it lacks nothing', async () => {
    const comercio = await createComercioWith(OPCIONAL)
    const guia = await repartidor.onRoute(comercio)
    expect((await deliverAsBefore(guia, { recibido_por: QUIEN, fotos: [await repartidor.foto(guia)] })).status).toBe(
      201,
    )
    const { prueba, texto: text } = await documentsOf(comercio, guia)
    expect(prueba.evidencia).toEqual({ ...OPCIONAL, faltas: [], pagina_anterior: true })
    expect(text).toContain('no conocía lo que pide el comercio; falta: nada')
  })

  it('from such a page leaves out what the merchant does not admit', async () => {
    const comercio = await createComercioWith(NO_PIDE)
    const guia = await repartidor.onRoute(comercio)
    const firma = await repartidor.firma(guia)
    const entrega = { recibido_por: { ...QUIEN, documento: DOCUMENTO }, fotos: [await repartidor.foto(guia)], firma }
    expect((await deliverAsBefore(guia, entrega)).status).toBe(201)
    expect(await comercio.api.guias.pruebaEntrega(guia)).toMatchObject({
      firma: null,
      recibido_por: { documento: null },
      evidencia: { faltas: [], pagina_anterior: true },
    })
    const { rows } = await environment.db.pool.query('select usado_en from archivo where archivo = $1', [firma])
    expect(rows).toEqual([{ usado_en: null }])
  })

  it('is judged by what the page asked for at the door, if the merchant needs more since', async () => {
    const comercio = await createComercioWith(OPCIONAL)
    const guia = await repartidor.onRoute(comercio)
    const entrega = { recibido_por: QUIEN, fotos: [await repartidor.foto(guia)] }
    await request(comercio, PIDE_FIRMA)
    // A page that knew more than it brought is refused, whatever the merchant needs now.
    expect((await repartidor.deliver(guia, REQUIRES_EVERYTHING, entrega)).status).toBe(422)
    expect((await repartidor.deliver(guia, OPCIONAL, entrega)).status).toBe(201)
    expect((await comercio.api.guias.pruebaEntrega(guia)).evidencia).toEqual({
      ...PIDE_FIRMA,
      faltas: ['firma'],
      pagina_anterior: true,
    })
  })

  it('keeps what it was judged by when the policy changes, also in documents made later', async () => {
    const comercio = await createComercioWith(PIDE_FIRMA)
    const { guia } = await createDeliveredGuia(environment, comercio)
    const before = await waitForPdf(comercio, guia)
    const other = await createGuiaOnRoute(environment, comercio)
    const fotos = [(await uploadArchivo(environment, other)).body.archivo]
    await environment.asOperador('POST', `/guias/${other}/entrega`, {
      recibido_por: QUIEN,
      fotos,
      sin_firma: 'sin_contacto',
    })
    await request(comercio, REQUIRES_EVERYTHING)
    const after = await waitForPdf(comercio, guia)
    expect([after.manifiesto, after.pdf!.sha256]).toEqual([before.manifiesto, before.pdf!.sha256])
    const { manifiesto } = await documentsOf(comercio, other)
    expect(manifiesto.evidencia).toMatchObject(PIDE_FIRMA)
  })
})

describe('an operator’s delivery', () => {
  it('cannot say which evidence was asked for', async () => {
    const comercio = await createComercioWith(PIDE_FIRMA)
    const guia = await createGuiaOnRoute(environment, comercio)
    const fotos = [(await uploadArchivo(environment, guia)).body.archivo]
    const { status, body } = await environment.asOperador('POST', `/guias/${guia}/entrega`, {
      recibido_por: QUIEN,
      fotos,
      evidencia: OPCIONAL,
    })
    expect([status, body.errores]).toMatchObject([422, [{ campo: '/evidencia' }]])
  })
})

describe('a simulated delivery', () => {
  it.each([REQUIRES_EVERYTHING, NO_PIDE, PIDE_FIRMA, OPCIONAL])('has what %o needs', async (politica) => {
    const comercio = await createComercioWith(politica)
    const guia = await createGuiaOnRoute(environment, comercio)
    await comercio.api.simulador.avanzar(guia, { estado: 'entregado' })
    const prueba = await comercio.api.guias.pruebaEntrega(guia)
    expect(prueba.evidencia).toEqual({ ...politica, faltas: [], pagina_anterior: false })
    expect([prueba.fotos.length, prueba.firma !== null, prueba.recibido_por.documento]).toEqual([
      politica.fotos_minimas,
      politica.firma !== 'no',
      politica.documento === 'obligatoria' ? 'PRUEBA 0000' : null,
    ])
  })
})
