import { describe, expect, it } from 'vitest'
import { registrarEventosDeReparto } from '../../server/domain/repartidores/registrarEventos.ts'
import { checkDigit } from '../../server/platform/codes/guideCode.ts'
import { buildGuia, buildGuiaWithoutDestino } from '../factories.ts'
import { comercio, key, mobile, useDispatch } from './dispatch.ts'
import { createMobile } from './phone.ts'

const { environment, ago: hace, ver, eventos, foto } = useDispatch()

const registrarVarios = (unos: readonly unknown[], de = mobile) => de.request('POST', '/eventos', { eventos: unos })
const resultadosDe = async (unos: readonly unknown[], de = mobile) => {
  const { status, cuerpo } = await registrarVarios(unos, de)
  expect(status).toBe(200)
  return cuerpo.resultados
}
const nuevas = (count: number, datos: () => object = buildGuia) =>
  Promise.all(Array.from({ length: count }, async () => (await comercio.api.guias.crear(datos() as never)).guia))
const recoger = (guia: string, more: object = {}) => ({
  guia,
  evento: { estado: 'recolectado', ocurrido_en: hace(0), idempotencia: key(), ...more },
})

describe('POST /repartidor/v1/eventos', () => {
  it('registers each event in the courier’s name, and answers in the order of the request', async () => {
    const guias = await nuevas(50)
    const results = await resultadosDe(guias.map((guia) => recoger(guia)))
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
    const [one, other] = await nuevas(2)
    const absent = { tipo: null, motivo: null, descripcion: null, fotos: null, lat: null, lng: null }
    expect(await resultadosDe([recoger(one!, absent)])).toMatchObject([{ ok: true }])
    expect(await mobile.registrar(other!, recoger(other!, absent).evento)).toMatchObject({ status: 201 })
  })

  it('gives each event that fails the error of the single operation, and registers the others', async () => {
    const [good, other, conIntento] = await nuevas(3)
    const [sinLugar] = await nuevas(1, buildGuiaWithoutDestino)
    const foreign = await createMobile(environment)
    await foreign.registrar(other!, { estado: 'recolectado', idempotencia: key() })
    for (const guia of [sinLugar!, conIntento!])
      await mobile.registrar(guia, { estado: 'recolectado', idempotencia: key() })
    await mobile.registrar(conIntento!, { estado: 'en_ruta', idempotencia: key() })
    const bad = [
      { guia: sinLugar, evento: { estado: 'en_ruta', idempotencia: key() } },
      { guia: other, evento: { estado: 'en_bodega', idempotencia: key() } },
      { guia: '7K3M9QX2A1B4', evento: { estado: 'en_ruta', idempotencia: key() } },
      { guia: conIntento, evento: { estado: 'intento_fallido', motivo: 'robo', idempotencia: key() } },
      { guia: conIntento, evento: { estado: 'entregado', idempotencia: key() } },
      { guia: conIntento, evento: { estado: 'en_bodega' } },
      {
        guia: conIntento,
        evento: { estado: 'intento_fallido', motivo: 'otro', fotos: ['arc_x'], idempotencia: key() },
      },
    ]
    for (const malo of bad) {
      const [de, input] = await resultadosDe([malo, recoger((await nuevas(1))[0]!)])
      const solo = await mobile.registrar(malo.guia!, malo.evento)
      expect(de).toMatchObject({ indice: 0, ok: false })
      expect({ ...de.error, id_solicitud: '' }).toEqual({ ...solo.cuerpo, id_solicitud: '' })
      expect(input).toMatchObject({ indice: 1, ok: true })
    }
    const raras = [null, 7, [], 'x', {}, { guia: 5, evento: {} }, { guia: good }, { ...recoger(good!), de: 'mí' }]
    const results = await resultadosDe([...raras, recoger(good!)])
    expect(results.map(({ ok }: { ok: boolean }) => ok)).toEqual([...raras.map(() => false), true])
    for (const { error } of results.slice(0, -1))
      expect(error).toMatchObject({ codigo: 'validacion', estado_http: 422 })
    expect(results[7].error.errores).toMatchObject([{ campo: '/de', codigo: 'desconocido' }])
  })

  it('tells an unknown member of the request as a warning, and registers the events', async () => {
    const [one, other] = await nuevas(2)
    const { status, cuerpo } = await mobile.request('POST', '/eventos', {
      eventos: [recoger(one!)],
      evento: recoger(other!),
    })
    expect([status, cuerpo.resultados.map(({ ok }: { ok: boolean }) => ok)]).toEqual([200, [true]])
    expect(cuerpo.advertencias).toEqual([
      {
        codigo: 'campo_desconocido',
        campo: '/evento',
        mensaje: 'no existe y no se tomó en cuenta; ¿quiso decir eventos?',
        sugerencia: 'eventos',
      },
    ])
    expect((await registrarVarios([recoger(other!)])).cuerpo.advertencias).toEqual([])
  })

  it('hides the event of another courier from a courier without the parcel, and repeats the courier’s own event', async () => {
    const [guia] = await nuevas(1)
    const other = await createMobile(environment)
    await resultadosDe([recoger(guia!)])
    const output = { guia: guia!, evento: { estado: 'en_ruta', ocurrido_en: hace(0), idempotencia: key() } }
    const [registrada] = await resultadosDe([output])
    expect(registrada).toMatchObject({ ok: true, repetido: false })
    for (const evento of [output.evento, { ...output.evento, estado: 'en_bodega', descripcion: 'Otra cosa' }]) {
      const [foreign] = await resultadosDe([{ guia: guia!, evento }], other)
      expect(foreign).toMatchObject({ ok: false, error: { codigo: 'sin_custodia' } })
    }
    await environment.operar('POST', `/guias/${guia}/eventos`, { estado: 'en_bodega' })
    await other.registrar(guia!, { estado: 'en_ruta', idempotencia: key() })
    expect(await resultadosDe([output])).toMatchObject([{ ok: true, repetido: true, evento: registrada.evento }])
  })

  it('is registered once, however often it is sent, and tells what was there', async () => {
    const guias = await nuevas(3)
    const unos = guias.map((guia) => recoger(guia))
    const all = await Promise.all([resultadosDe(unos), resultadosDe(unos), resultadosDe(unos)])
    for (const [i, guia] of guias.entries()) {
      expect(all.map((one) => one[i].repetido).sort()).toEqual([false, true, true])
      for (const one of all) expect(one[i].evento).toEqual(all[0]![i].evento)
      expect(await eventos(guia)).toHaveLength(2)
    }
    // The single operation knows the same keys.
    const solo = await mobile.registrar(guias[0]!, unos[0]!.evento)
    expect([solo.status, solo.cuerpo]).toEqual([200, all[0]![0].evento])
    const [other] = await resultadosDe([{ ...unos[0], evento: { ...unos[0]!.evento, estado: 'en_bodega' } }])
    expect(other.error.codigo).toBe('idempotencia_en_conflicto')
  })

  it('takes one event of a guide, in any spelling of its code', async () => {
    const [guia] = await nuevas(1)
    const second = { guia: guia!.toLowerCase(), evento: { estado: 'en_ruta', idempotencia: key() } }
    const [one, dos] = await resultadosDe([recoger(guia!), second])
    expect([one.ok, dos.error.errores]).toMatchObject([true, [{ campo: '/guia', codigo: 'valor_no_admitido' }]])
    expect((await resultadosDe([second]))[0]).toMatchObject({ ok: true, evento: { estado: 'en_ruta' } })
  })

  it('takes the photos of a failed attempt', async () => {
    const [guia] = await nuevas(1)
    for (const estado of ['recolectado', 'en_ruta']) await mobile.registrar(guia!, { estado, idempotencia: key() })
    const fotos = [await foto(guia!)]
    const evento = { estado: 'intento_fallido', motivo: 'sin_respuesta', fotos, idempotencia: key() }
    expect(await resultadosDe([{ guia, evento }])).toMatchObject([{ ok: true, evento: { numero_intento: 1 } }])
    expect((await comercio.api.guias.intentos(guia!)).datos[0]!.fotos).toHaveLength(1)
  })

  it('refuses what is no list of 1 to 50', async () => {
    for (const bad of [[], Array(51).fill({}), undefined, {}]) {
      const { status, cuerpo } = await registrarVarios(bad as never)
      expect([status, cuerpo.errores[0].campo]).toEqual([422, '/eventos'])
    }
  })

  it('counts codes that name no guide, and then refuses', async () => {
    const curioso = await createMobile(environment)
    const desconocida = (i: number) => ({
      guia: `no-existe-${i}`,
      evento: { estado: 'en_ruta', idempotencia: key() },
    })
    const lote = Array.from({ length: 50 }, (_, i) => desconocida(i))
    const results = await resultadosDe(lote, curioso)
    expect(new Set(results.map((one: { error: { codigo: string } }) => one.error.codigo))).toEqual(
      new Set(['guia_desconocida']),
    )
    await resultadosDe(lote, curioso)
    expect((await registrarVarios(lote, curioso)).status).toBe(429)
  })
})

const unCodigo = (base: string) => base + checkDigit(base)

describe('the database fails while events are registered', () => {
  /** Registers 50 events over a database that answers everything with this error. */
  async function conFallaDe(error: Error) {
    let consultas = 0
    let anotadas = 0
    const romper = () => {
      consultas++
      throw error
    }
    const deps = {
      settings: { publicUrl: 'https://guias.ejemplo.com', repartidorReach: 'suyas' },
      limits: { requireKnown() {}, countUnknown() {} },
      log: { error: () => anotadas++ },
      searchTurns: (_de: string, act: () => unknown) => act(),
      validacion: {
        validatorFor: () => ({ admit: (value: unknown) => ({ value, nulls: [] }) }),
        warnUnknownMembers: () => [],
      },
      clock: () => new Date(),
      db: new Proxy({}, { get: () => romper }),
    }
    const unos = Array.from({ length: 50 }, (_, i) => recoger(unCodigo(`${i}`.padStart(11, '0'))))
    const solicitud = { body: { eventos: unos }, identity: { repartidor: 'rep_1', nombre: 'x' }, requestId: 'x' }
    const { body } = (await registrarEventosDeReparto(solicitud as never, deps as never)) as {
      body: { resultados: { error: { codigo: string } }[] }
    }
    return { consultas, anotadas, codigos: new Set(body.resultados.map((one) => one.error.codigo)) }
  }

  it('tries no more of them once the database is away', async () => {
    const { consultas, codigos } = await conFallaDe(Object.assign(new Error('away'), { code: '57P01' }))
    expect([...codigos]).toEqual(['no_disponible'])
    expect(consultas).toBeLessThan(5)
  })

  it('tries all of them after an error of one, and logs each', async () => {
    const { consultas, anotadas, codigos } = await conFallaDe(new Error('a fault of ours'))
    expect([...codigos]).toEqual(['error_interno'])
    expect([consultas, anotadas]).toEqual([50, 50])
  })
})
