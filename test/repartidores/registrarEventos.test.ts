import { describe, expect, it } from 'vitest'
import { registrarEventosDeReparto } from '../../server/domain/repartidores/registrarEventos.ts'
import { checkDigit } from '../../server/platform/codes/guideCode.ts'
import { buildGuia, buildGuiaWithoutDestino } from '../factories.ts'
import { comercio, key, mobile, useDispatch } from './dispatch.ts'
import { createMobile } from './phone.ts'

const { environment, ago: hace, ver, eventos, foto } = useDispatch()

const registerSeveral = (items: readonly unknown[], sender = mobile) =>
  sender.request('POST', '/eventos', { eventos: items })
const resultsOf = async (items: readonly unknown[], sender = mobile) => {
  const { status, body } = await registerSeveral(items, sender)
  expect(status).toBe(200)
  return body.resultados
}
const newGuias = (count: number, datos: () => object = buildGuia) =>
  Promise.all(Array.from({ length: count }, async () => (await comercio.api.guias.crear(datos() as never)).guia))
const collect = (guia: string, more: object = {}) => ({
  guia,
  evento: { estado: 'recolectado', ocurrido_en: hace(0), idempotencia: key(), ...more },
})

describe('POST /repartidor/v1/eventos', () => {
  it('registers each event in the courier’s name, and answers in the order of the request', async () => {
    const guias = await newGuias(50)
    const results = await resultsOf(guias.map((guia) => collect(guia)))
    expect(results).toHaveLength(50)
    for (const [indice, guia] of guias.entries())
      expect(results[indice]).toMatchObject({
        indice,
        ok: true,
        repetido: false,
        evento: { guia, tipo: 'guia.recolectado', secuencia: 2, aplicado: true },
      })
    for (const guia of guias.slice(0, 2)) {
      expect(await ver(guia)).toMatchObject({ estado: 'recolectado', custodia: 'propia' })
      expect((await eventos(guia)).at(-1)).toMatchObject({ autor: mobile.repartidor, custodio: mobile.repartidor })
    }
  })

  it('takes an optional member that is null for absent, in one event and in many', async () => {
    const [one, other] = await newGuias(2)
    const absent = { tipo: null, motivo: null, descripcion: null, fotos: null, lat: null, lng: null }
    expect(await resultsOf([collect(one!, absent)])).toMatchObject([{ ok: true }])
    expect(await mobile.registrar(other!, collect(other!, absent).evento)).toMatchObject({ status: 201 })
  })

  it('gives each event that fails the error of the single operation, and registers the others', async () => {
    const [good, other, createGuiaWithIntento] = await newGuias(3)
    const [guiaWithoutPlace] = await newGuias(1, buildGuiaWithoutDestino)
    const foreign = await createMobile(environment)
    await foreign.registrar(other!, { estado: 'recolectado', idempotencia: key() })
    for (const guia of [guiaWithoutPlace!, createGuiaWithIntento!])
      await mobile.registrar(guia, { estado: 'recolectado', idempotencia: key() })
    await mobile.registrar(createGuiaWithIntento!, { estado: 'en_ruta', idempotencia: key() })
    const bad = [
      { guia: guiaWithoutPlace, evento: { estado: 'en_ruta', idempotencia: key() } },
      { guia: other, evento: { estado: 'en_bodega', idempotencia: key() } },
      { guia: '7K3M9QX2A1B4', evento: { estado: 'en_ruta', idempotencia: key() } },
      { guia: createGuiaWithIntento, evento: { estado: 'intento_fallido', motivo: 'robo', idempotencia: key() } },
      { guia: createGuiaWithIntento, evento: { estado: 'entregado', idempotencia: key() } },
      { guia: createGuiaWithIntento, evento: { estado: 'en_bodega' } },
      {
        guia: createGuiaWithIntento,
        evento: { estado: 'intento_fallido', motivo: 'otro', fotos: ['arc_x'], idempotencia: key() },
      },
    ]
    for (const badItem of bad) {
      const [sender, input] = await resultsOf([badItem, collect((await newGuias(1))[0]!)])
      const single = await mobile.registrar(badItem.guia!, badItem.evento)
      expect(sender).toMatchObject({ indice: 0, ok: false })
      expect({ ...sender.error, id_solicitud: '' }).toEqual({ ...single.body, id_solicitud: '' })
      expect(input).toMatchObject({ indice: 1, ok: true })
    }
    const oddEntries = [null, 7, [], 'x', {}, { guia: 5, evento: {} }, { guia: good }, { ...collect(good!), de: 'mí' }]
    const results = await resultsOf([...oddEntries, collect(good!)])
    expect(results.map(({ ok }: { ok: boolean }) => ok)).toEqual([...oddEntries.map(() => false), true])
    for (const { error } of results.slice(0, -1))
      expect(error).toMatchObject({ codigo: 'validacion', estado_http: 422 })
    expect(results[7].error.errores).toMatchObject([{ campo: '/de', codigo: 'desconocido' }])
  })

  it('tells an unknown member of the request as a warning, and registers the events', async () => {
    const [one, other] = await newGuias(2)
    const { status, body } = await mobile.request('POST', '/eventos', {
      eventos: [collect(one!)],
      evento: collect(other!),
    })
    expect([status, body.resultados.map(({ ok }: { ok: boolean }) => ok)]).toEqual([200, [true]])
    expect(body.advertencias).toEqual([
      {
        codigo: 'campo_desconocido',
        campo: '/evento',
        mensaje: 'no existe y no se tomó en cuenta; ¿quiso decir eventos?',
        sugerencia: 'eventos',
      },
    ])
    expect((await registerSeveral([collect(other!)])).body.advertencias).toEqual([])
  })

  it('hides the event of another courier from a courier without the parcel, and repeats the courier’s own event', async () => {
    const [guia] = await newGuias(1)
    const other = await createMobile(environment)
    await resultsOf([collect(guia!)])
    const output = { guia: guia!, evento: { estado: 'en_ruta', ocurrido_en: hace(0), idempotencia: key() } }
    const [registrada] = await resultsOf([output])
    expect(registrada).toMatchObject({ ok: true, repetido: false })
    for (const evento of [output.evento, { ...output.evento, estado: 'en_bodega', descripcion: 'Otra cosa' }]) {
      const [foreign] = await resultsOf([{ guia: guia!, evento }], other)
      expect(foreign).toMatchObject({ ok: false, error: { codigo: 'sin_custodia' } })
    }
    await environment.asOperador('POST', `/guias/${guia}/eventos`, { estado: 'en_bodega' })
    await other.registrar(guia!, { estado: 'en_ruta', idempotencia: key() })
    expect(await resultsOf([output])).toMatchObject([{ ok: true, repetido: true, evento: registrada.evento }])
  })

  it('is registered once, however often it is sent, and tells what was there', async () => {
    const guias = await newGuias(3)
    const items = guias.map((guia) => collect(guia))
    const all = await Promise.all([resultsOf(items), resultsOf(items), resultsOf(items)])
    for (const [i, guia] of guias.entries()) {
      expect(all.map((one) => one[i].repetido).sort()).toEqual([false, true, true])
      for (const one of all) expect(one[i].evento).toEqual(all[0]![i].evento)
      expect(await eventos(guia)).toHaveLength(2)
    }
    // The single operation knows the same keys.
    const single = await mobile.registrar(guias[0]!, items[0]!.evento)
    expect([single.status, single.body]).toEqual([200, all[0]![0].evento])
    const [other] = await resultsOf([{ ...items[0], evento: { ...items[0]!.evento, estado: 'en_bodega' } }])
    expect(other.error.codigo).toBe('idempotencia_en_conflicto')
  })

  it('takes one event of a guide, in any spelling of its code', async () => {
    const [guia] = await newGuias(1)
    const second = { guia: guia!.toLowerCase(), evento: { estado: 'en_ruta', idempotencia: key() } }
    const [one, dos] = await resultsOf([collect(guia!), second])
    expect([one.ok, dos.error.errores]).toMatchObject([true, [{ campo: '/guia', codigo: 'valor_no_admitido' }]])
    expect((await resultsOf([second]))[0]).toMatchObject({ ok: true, evento: { estado: 'en_ruta' } })
  })

  it('takes the photos of a failed attempt', async () => {
    const [guia] = await newGuias(1)
    for (const estado of ['recolectado', 'en_ruta']) await mobile.registrar(guia!, { estado, idempotencia: key() })
    const fotos = [await foto(guia!)]
    const evento = { estado: 'intento_fallido', motivo: 'sin_respuesta', fotos, idempotencia: key() }
    expect(await resultsOf([{ guia, evento }])).toMatchObject([{ ok: true, evento: { numero_intento: 1 } }])
    expect((await comercio.api.guias.intentos(guia!)).datos[0]!.fotos).toHaveLength(1)
  })

  it('refuses what is no list of 1 to 50', async () => {
    for (const bad of [[], Array(51).fill({}), undefined, {}]) {
      const { status, body } = await registerSeveral(bad as never)
      expect([status, body.errores[0].campo]).toEqual([422, '/eventos'])
    }
  })

  it('counts codes that name no guide, and then refuses', async () => {
    const curiousMobile = await createMobile(environment)
    const unknownGuia = (i: number) => ({
      guia: `no-existe-${i}`,
      evento: { estado: 'en_ruta', idempotencia: key() },
    })
    const lote = Array.from({ length: 50 }, (_, i) => unknownGuia(i))
    const results = await resultsOf(lote, curiousMobile)
    expect(new Set(results.map((one: { error: { codigo: string } }) => one.error.codigo))).toEqual(
      new Set(['guia_desconocida']),
    )
    await resultsOf(lote, curiousMobile)
    expect((await registerSeveral(lote, curiousMobile)).status).toBe(429)
  })
})

const buildCodigo = (base: string) => base + checkDigit(base)

describe('the database fails while events are registered', () => {
  /** Registers 50 events over a database that answers everything with this error. */
  async function withFaultDe(error: Error) {
    let queries = 0
    let loggedCount = 0
    const breakOff = () => {
      queries++
      throw error
    }
    const deps = {
      settings: { publicUrl: 'https://guias.ejemplo.com', repartidorReach: 'suyas' },
      limits: { requireKnown() {}, countUnknown() {} },
      log: { error: () => loggedCount++ },
      searchTurns: (_de: string, act: () => unknown) => act(),
      validacion: {
        validatorFor: () => ({ admit: (value: unknown) => ({ value, nulls: [] }) }),
        warnUnknownMembers: () => [],
      },
      clock: () => new Date(),
      db: new Proxy({}, { get: () => breakOff }),
    }
    const items = Array.from({ length: 50 }, (_, i) => collect(buildCodigo(`${i}`.padStart(11, '0'))))
    const solicitud = { body: { eventos: items }, identity: { repartidor: 'rep_1', nombre: 'x' }, requestId: 'x' }
    const { body } = (await registrarEventosDeReparto(solicitud as never, deps as never)) as {
      body: { resultados: { error: { codigo: string } }[] }
    }
    return { queries, loggedCount, codigos: new Set(body.resultados.map((one) => one.error.codigo)) }
  }

  it('tries no more of them once the database is away', async () => {
    const { queries, codigos } = await withFaultDe(Object.assign(new Error('away'), { code: '57P01' }))
    expect([...codigos]).toEqual(['no_disponible'])
    expect(queries).toBeLessThan(5)
  })

  it('tries all of them after an error of one, and logs each', async () => {
    const { queries, loggedCount, codigos } = await withFaultDe(new Error('a fault of ours'))
    expect([...codigos]).toEqual(['error_interno'])
    expect([queries, loggedCount]).toEqual([50, 50])
  })
})
