import { randomUUID } from 'node:crypto'
import { beforeAll, describe, expect, it } from 'vitest'
import { addDays } from '../../server/platform/time/day.ts'
import { HOUR_MS } from '../../server/platform/time/units.ts'
import { createGuiaOnRoute } from '../archivos/images.ts'
import { useEnvironment } from '../environment.ts'
import { createMobile } from '../repartidores/phone.ts'
import { useIntentos } from './move.ts'

const environment = useEnvironment()
const { createGuia: fresh } = useIntentos(environment)
// The day does not change while the tests run.
beforeAll(() => environment.freezeClock())
const today = () => new Date(environment.clock().getTime() - 6 * HOUR_MS).toISOString().slice(0, 10)
const buildPostponement = (fecha: string, more: object = {}) => ({
  estado: 'intento_fallido',
  motivo: 'reprogramado',
  fecha,
  ...more,
})
const mensajesOf = async (guia: string) =>
  (await environment.db.pool.query(`select from mensaje where guia = $1 and tipo = 'solicitud_decision'`, [guia]))
    .rowCount

describe('a day that the recipient tells the courier', () => {
  it('takes the decision, in the recipient’s name and with the attempt, and asks nobody', async () => {
    const comercio = await environment.createComercio()
    await environment.asOperador('PATCH', `/comercios/${comercio.comercio}`, {
      politica_de_intentos: { destinatario_decide: true },
    })
    const phone = await createMobile(environment)
    const guia = await createGuiaOnRoute(environment, comercio, phone.repartidor)
    const fecha = addDays(today(), 3)
    const body = buildPostponement(fecha, { descripcion: 'Estará por la tarde', idempotencia: randomUUID() })
    const { status } = await phone.registrar(guia, body)
    expect(status).toBe(201)
    const { decision, eventos, intentos } = await comercio.api.guias.obtener(guia)
    expect(decision).toMatchObject({
      estado: 'tomada',
      accion: 'reintentar',
      por: 'destinatario',
      fecha,
      franja: null,
      opciones: ['reintentar', 'devolver'],
    })
    expect(intentos).toBe(1)
    expect(eventos.datos.slice(-3)).toMatchObject([
      { tipo: 'guia.intento_fallido', motivo: 'reprogramado', descripcion: 'Estará por la tarde', secuencia: 4 },
      { tipo: 'guia.decision_pendiente', decision: { estado: 'pendiente', fecha: null } },
      { tipo: 'guia.decision_tomada', descripcion: 'El destinatario pidió otro día', decision: { fecha } },
    ])
    expect(await mensajesOf(guia)).toBe(0)
    // The courier sees the day, and leaving with the parcel carries the decision out.
    expect((await phone.request('GET', `/guias/${guia}`)).body.decision).toMatchObject({ fecha })
    expect((await phone.registrar(guia, body)).status).toBe(200)
    await phone.registrar(guia, { estado: 'en_ruta', idempotencia: randomUUID() })
    expect((await comercio.api.guias.obtener(guia)).decision).toMatchObject({ estado: 'aplicada', fecha })
  })

  it('stands for the first possible day if it is earlier, because reports arrive late', async () => {
    for (const [requestData, expectedOffset] of [
      [-2, 1],
      [0, 1],
      [1, 1],
      [30, 30],
    ] as const) {
      const { read, registrar } = await fresh(undefined, 'recolectado', 'en_ruta')
      await registrar(buildPostponement(addDays(today(), requestData)))
      expect([requestData, (await read()).decision!.fecha]).toEqual([requestData, addDays(today(), expectedOffset)])
    }
  })

  it('is refused with the attempt after 30 days, and with any other report', async () => {
    const comercio = await environment.createComercio()
    const phone = await createMobile(environment)
    const guia = await createGuiaOnRoute(environment, comercio, phone.repartidor)
    const date = addDays(today(), 31)
    for (const [body, codigo] of [
      [buildPostponement(date), 'fuera_de_rango'],
      [buildPostponement('2026-02-30'), 'formato_invalido'],
      [buildPostponement(today(), { motivo: 'sin_respuesta' }), 'incompatible'],
      [{ tipo: 'guia.nota', descripcion: 'x', fecha: today() }, 'incompatible'],
    ] as const) {
      const { status, body: problema } = await phone.registrar(guia, { ...body, idempotencia: randomUUID() })
      expect([status, problema.errores]).toMatchObject([422, [{ campo: '/fecha', codigo }]])
    }
    expect(await comercio.api.guias.obtener(guia)).toMatchObject({ estado: 'en_ruta', intentos: 0, decision: null })
  })

  it('is told to the merchant if no attempt is left, and decides nothing', async () => {
    const comercio = await environment.createComercio()
    await environment.asOperador('PATCH', `/comercios/${comercio.comercio}`, {
      politica_de_intentos: { maximos: 1, al_vencer: 'esperar' },
    })
    const { read, registrar } = await fresh(comercio, 'recolectado', 'en_ruta')
    const date = addDays(today(), 2)
    await registrar(buildPostponement(date))
    const { decision, eventos } = await read()
    expect(decision).toMatchObject({ estado: 'pendiente', opciones: ['devolver'], fecha: null })
    expect(eventos.datos.at(-1)!.descripcion).toBe(`El destinatario pidió el ${date}, y ya no quedan intentos`)
  })

  it('is noted without effect if the report is older than the guide’s state', async () => {
    const { read, registrar } = await fresh(undefined, 'recolectado', 'en_ruta')
    const ocurrido_en = new Date(environment.clock().getTime() - 60_000).toISOString()
    await registrar(buildPostponement(addDays(today(), 2), { ocurrido_en }))
    expect(await read()).toMatchObject({ estado: 'en_ruta', decision: null })
  })
})
