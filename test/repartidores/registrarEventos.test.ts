import { describe, expect, it } from 'vitest'
import { registrarEventosDeReparto } from '../../server/domain/repartidores/registrarEventos.ts'
import { checkDigit } from '../../server/platform/codes/guideCode.ts'
import { buildGuia, buildGuiaWithoutDestino } from '../factories.ts'
import { clave, comercio, mobile, useDispatch } from './dispatch.ts'
import { createMobile } from './phone.ts'

const { environment, ago: hace, ver, eventos, foto } = useDispatch()

const registrarVarios = (unos: readonly unknown[], de = mobile) => de.request('POST', '/eventos', { eventos: unos })
const resultadosDe = async (unos: readonly unknown[], de = mobile) => {
  const { status, cuerpo } = await registrarVarios(unos, de)
  expect(status).toBe(200)
  return cuerpo.resultados
}
const nuevas = (cuantas: number, datos: () => object = buildGuia) =>
  Promise.all(Array.from({ length: cuantas }, async () => (await comercio.api.guias.crear(datos() as never)).guia))
const recoger = (guia: string, mas: object = {}) => ({
  guia,
  evento: { estado: 'recolectado', ocurrido_en: hace(0), idempotencia: clave(), ...mas },
})

describe('POST /repartidor/v1/eventos', () => {
  it('registers each event in the courier’s name, and answers in the order of the request', async () => {
    const guias = await nuevas(50)
    const resultados = await resultadosDe(guias.map((guia) => recoger(guia)))
    expect(resultados).toHaveLength(50)
    for (const [indice, guia] of guias.entries())
      expect(resultados[indice]).toMatchObject({
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
    const [buena, otra, conIntento] = await nuevas(3)
    const [sinLugar] = await nuevas(1, buildGuiaWithoutDestino)
    const ajena = await createMobile(environment)
    await ajena.registrar(otra!, { estado: 'recolectado', idempotencia: clave() })
    for (const guia of [sinLugar!, conIntento!])
      await mobile.registrar(guia, { estado: 'recolectado', idempotencia: clave() })
    await mobile.registrar(conIntento!, { estado: 'en_ruta', idempotencia: clave() })
    const malos = [
      { guia: sinLugar, evento: { estado: 'en_ruta', idempotencia: clave() } },
      { guia: otra, evento: { estado: 'en_bodega', idempotencia: clave() } },
      { guia: '7K3M9QX2A1B4', evento: { estado: 'en_ruta', idempotencia: clave() } },
      { guia: conIntento, evento: { estado: 'intento_fallido', motivo: 'robo', idempotencia: clave() } },
      { guia: conIntento, evento: { estado: 'entregado', idempotencia: clave() } },
      { guia: conIntento, evento: { estado: 'en_bodega' } },
      {
        guia: conIntento,
        evento: { estado: 'intento_fallido', motivo: 'otro', fotos: ['arc_x'], idempotencia: clave() },
      },
    ]
    for (const malo of malos) {
      const [de, entrada] = await resultadosDe([malo, recoger((await nuevas(1))[0]!)])
      const solo = await mobile.registrar(malo.guia!, malo.evento)
      expect(de).toMatchObject({ indice: 0, ok: false })
      expect({ ...de.error, id_solicitud: '' }).toEqual({ ...solo.cuerpo, id_solicitud: '' })
      expect(entrada).toMatchObject({ indice: 1, ok: true })
    }
    const raras = [null, 7, [], 'x', {}, { guia: 5, evento: {} }, { guia: buena }, { ...recoger(buena!), de: 'mí' }]
    const resultados = await resultadosDe([...raras, recoger(buena!)])
    expect(resultados.map(({ ok }: { ok: boolean }) => ok)).toEqual([...raras.map(() => false), true])
    for (const { error } of resultados.slice(0, -1))
      expect(error).toMatchObject({ codigo: 'validacion', estado_http: 422 })
    expect(resultados[7].error.errores).toMatchObject([{ campo: '/de', codigo: 'desconocido' }])
  })

  it('tells an unknown member of the request as a warning, and registers the events', async () => {
    const [una, otra] = await nuevas(2)
    const { status, cuerpo } = await mobile.request('POST', '/eventos', {
      eventos: [recoger(una!)],
      evento: recoger(otra!),
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
    expect((await registrarVarios([recoger(otra!)])).cuerpo.advertencias).toEqual([])
  })

  it('hides the event of another courier from a courier without the parcel, and repeats the courier’s own event', async () => {
    const [guia] = await nuevas(1)
    const otro = await createMobile(environment)
    await resultadosDe([recoger(guia!)])
    const salida = { guia: guia!, evento: { estado: 'en_ruta', ocurrido_en: hace(0), idempotencia: clave() } }
    const [registrada] = await resultadosDe([salida])
    expect(registrada).toMatchObject({ ok: true, repetido: false })
    for (const evento of [salida.evento, { ...salida.evento, estado: 'en_bodega', descripcion: 'Otra cosa' }]) {
      const [ajena] = await resultadosDe([{ guia: guia!, evento }], otro)
      expect(ajena).toMatchObject({ ok: false, error: { codigo: 'sin_custodia' } })
    }
    await environment.operar('POST', `/guias/${guia}/eventos`, { estado: 'en_bodega' })
    await otro.registrar(guia!, { estado: 'en_ruta', idempotencia: clave() })
    expect(await resultadosDe([salida])).toMatchObject([{ ok: true, repetido: true, evento: registrada.evento }])
  })

  it('is registered once, however often it is sent, and tells what was there', async () => {
    const guias = await nuevas(3)
    const unos = guias.map((guia) => recoger(guia))
    const todas = await Promise.all([resultadosDe(unos), resultadosDe(unos), resultadosDe(unos)])
    for (const [i, guia] of guias.entries()) {
      expect(todas.map((una) => una[i].repetido).sort()).toEqual([false, true, true])
      for (const una of todas) expect(una[i].evento).toEqual(todas[0]![i].evento)
      expect(await eventos(guia)).toHaveLength(2)
    }
    // The single operation knows the same keys.
    const solo = await mobile.registrar(guias[0]!, unos[0]!.evento)
    expect([solo.status, solo.cuerpo]).toEqual([200, todas[0]![0].evento])
    const [otra] = await resultadosDe([{ ...unos[0], evento: { ...unos[0]!.evento, estado: 'en_bodega' } }])
    expect(otra.error.codigo).toBe('idempotencia_en_conflicto')
  })

  it('takes one event of a guide, in any spelling of its code', async () => {
    const [guia] = await nuevas(1)
    const segundo = { guia: guia!.toLowerCase(), evento: { estado: 'en_ruta', idempotencia: clave() } }
    const [uno, dos] = await resultadosDe([recoger(guia!), segundo])
    expect([uno.ok, dos.error.errores]).toMatchObject([true, [{ campo: '/guia', codigo: 'valor_no_admitido' }]])
    expect((await resultadosDe([segundo]))[0]).toMatchObject({ ok: true, evento: { estado: 'en_ruta' } })
  })

  it('takes the photos of a failed attempt', async () => {
    const [guia] = await nuevas(1)
    for (const estado of ['recolectado', 'en_ruta']) await mobile.registrar(guia!, { estado, idempotencia: clave() })
    const fotos = [await foto(guia!)]
    const evento = { estado: 'intento_fallido', motivo: 'sin_respuesta', fotos, idempotencia: clave() }
    expect(await resultadosDe([{ guia, evento }])).toMatchObject([{ ok: true, evento: { numero_intento: 1 } }])
    expect((await comercio.api.guias.intentos(guia!)).datos[0]!.fotos).toHaveLength(1)
  })

  it('refuses what is no list of 1 to 50', async () => {
    for (const malos of [[], Array(51).fill({}), undefined, {}]) {
      const { status, cuerpo } = await registrarVarios(malos as never)
      expect([status, cuerpo.errores[0].campo]).toEqual([422, '/eventos'])
    }
  })

  it('counts codes that name no guide, and then refuses', async () => {
    const curioso = await createMobile(environment)
    const desconocida = (i: number) => ({
      guia: `no-existe-${i}`,
      evento: { estado: 'en_ruta', idempotencia: clave() },
    })
    const lote = Array.from({ length: 50 }, (_, i) => desconocida(i))
    const resultados = await resultadosDe(lote, curioso)
    expect(new Set(resultados.map((uno: { error: { codigo: string } }) => uno.error.codigo))).toEqual(
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
      searchTurns: (_de: string, hacer: () => unknown) => hacer(),
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
    return { consultas, anotadas, codigos: new Set(body.resultados.map((uno) => uno.error.codigo)) }
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
