import { beforeAll, describe, expect, it } from 'vitest'
import { addDays, dayIn } from '../../server/platform/time/day.ts'
import { GUATEMALAN_REST_DAYS, isRestDay } from '../../server/platform/time/restDays.ts'
import { useEnvironment } from '../environment.ts'
import { apiFault } from '../webhooks/webhooks.ts'
import { useIntentos } from './move.ts'
import { CON_ROSA, OTHER_DAY_CHOICE, useQuestions } from './questions.ts'

const environment = useEnvironment({}, () => ({ REST_DAYS: '' }))
const { createAskedGuia, createComercio, send, ver } = useQuestions(environment)
const { createGuia } = useIntentos(environment)
const today = () => dayIn(environment.clock(), 'America/Guatemala')
/** Christmas, the day after each attempt of these tests. */
const christmas = () => `${today().slice(0, 4)}-12-25`
const offered = (html: string) => [...html.matchAll(/<option value="([^"]+)"/g)].map(([, day]) => day!)

// Noon of the next 24 December in Guatemala. The first day after the attempt is a holiday.
beforeAll(() => {
  environment.freezeClock()
  const now = environment.clock()
  const eve = [0, 1]
    .map((years) => Date.parse(`${now.getUTCFullYear() + years}-12-24T18:00:00Z`))
    .find((time) => time > now.getTime())!
  environment.advance(eve - now.getTime())
})

describe('days without deliveries', () => {
  it('are not offered to recipients', async () => {
    const { enlace, read } = await createAskedGuia()
    expect((await read()).decision!.fecha_desde).toBe(christmas())
    const { html } = await ver(enlace)
    const days = new Set(offered(html))
    const range = Array.from({ length: 30 }, (_, i) => addDays(christmas(), i))
    expect([...days]).toEqual(range.filter((day) => !isRestDay(GUATEMALAN_REST_DAYS, day)))
    expect(days.has(christmas()) || days.has(`${Number(today().slice(0, 4)) + 1}-01-01`)).toBe(false)
    expect(html).toContain('Solo los días en que repartimos.')
  })

  it('are skipped by a recipient who names no day', async () => {
    for (const answer of [OTHER_DAY_CHOICE, CON_ROSA]) {
      const { enlace, read } = await createAskedGuia()
      const [first] = offered((await ver(enlace)).html)
      expect((await send(enlace, answer)).status).toBe(303)
      expect((await read()).decision).toMatchObject({ accion: 'reintentar', fecha: first })
    }
  })

  it('are refused if a recipient sends one', async () => {
    const { enlace, read } = await createAskedGuia()
    const { status, html } = await send(enlace, { ...OTHER_DAY_CHOICE, fecha: christmas() })
    expect([status, html]).toEqual([422, expect.stringContaining('Ese día ya no se puede: elija otro.')])
    expect((await read()).decision!.estado).toBe('pendiente')
  })

  it('are refused to a simulated recipient, with a day that is possible', async () => {
    const { api, guia } = await createAskedGuia()
    const fault = await apiFault(api.simulador.decidir(guia, { eleccion: 'otro_dia', fecha: christmas() }))
    expect(fault).toMatchObject({ estadoHttp: 422, errores: [{ campo: '/fecha', codigo: 'fuera_de_rango' }] })
    const [day = ''] = /\d{4}-\d{2}-\d{2}/.exec(fault.errores![0]!.mensaje) ?? []
    const { decision } = await api.simulador.decidir(guia, { eleccion: 'otro_dia', fecha: day })
    expect(decision).toMatchObject({ fecha: day, por: 'destinatario' })
  })

  it('are possible for the merchant', async () => {
    const { api, guia } = await createGuia(await createComercio(), 'recolectado', 'en_ruta', 'intento_fallido')
    const { decision } = await api.guias.reintentar(guia, { fecha: christmas() })
    expect(decision).toMatchObject({ fecha: christmas(), por: 'comercio' })
  })
})
