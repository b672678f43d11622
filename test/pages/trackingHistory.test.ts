// History of a parcel on the tracking page: decisions in words, and each place once.
import { describe, expect, it } from 'vitest'
import type { DecisionEvento } from '../../server/pages/tracking/shipment.ts'
import { newGuideCode } from '../../server/platform/codes/codes.ts'
import { shareEnvironment } from '../environment.ts'
import { buildGuiaWithoutDestino } from '../factories.ts'
import { useUbicacionRequests } from '../ubicacion/requests.ts'
import { SHOWN_SHIPMENT, serveDetachedRastreo } from './trackingApart.ts'

const environment = shareEnvironment()
const { linkOf } = useUbicacionRequests(environment)
const stepsOf = (html: string) => [...html.matchAll(/<li><b>(.*?)<\/b>/g)].map(([, words]) => words)

const MONDAY = { accion: 'reintentar', fecha: '2026-11-23' } as const
const RETURN = { accion: 'devolver', fecha: null } as const

describe('the history', () => {
  it.each([
    [{ ...MONDAY, por: 'destinatario', requested: 'El destinatario pidió otro día' }, 'Pidió que lo llevemos el lunes'],
    [
      { ...MONDAY, por: 'destinatario', requested: 'El destinatario pidió otro lugar' },
      'Pidió que lo llevemos a otro lugar, el lunes',
    ],
    [
      { ...MONDAY, por: 'destinatario', requested: 'El destinatario pidió que se deje con un vecino' },
      'Pidió que lo dejemos con un vecino, el lunes',
    ],
    [{ ...RETURN, por: 'destinatario', requested: 'El destinatario no lo quiere' }, 'Dijo que no lo quiere'],
    [{ ...MONDAY, por: 'comercio', requested: null }, 'La tienda pidió que se lo lleven el lunes'],
    [{ ...RETURN, por: 'comercio', requested: null }, 'La tienda pidió que vuelva'],
    [{ ...MONDAY, por: 'operador', requested: null }, 'El servicio de mensajería decidió que se lo lleven el lunes'],
    [{ ...RETURN, por: 'politica', requested: null }, 'Se acabaron los intentos o el plazo: vuelve a la tienda'],
  ] satisfies [DecisionEvento, string][])('says what was decided: %o', async (decision, words) => {
    const eventos = [{ tipo: 'guia.decision_tomada' as const, ocurrido_en: new Date(), motivo: null, decision }]
    const detached = await serveDetachedRastreo(async () => ({ ...SHOWN_SHIPMENT, eventos }))
    const html = await (await fetch(`${detached.url}/r/${newGuideCode()}`)).text()
    detached.close()
    expect(stepsOf(html)[0]!.replace(' 23 de noviembre', '')).toBe(words)
  })

  it('names a confirmed place once, and another place again', async () => {
    const { api } = await environment.createComercio('test')
    const { guia } = await api.guias.crear(buildGuiaWithoutDestino())
    await environment.waitForQuiet()
    const link = environment.url + (await linkOf(guia))
    const send = async (fields: Record<string, string>) =>
      expect(
        (await fetch(link, { method: 'POST', redirect: 'manual', body: new URLSearchParams(fields) })).status,
      ).toBe(303)
    const confirmations = async () =>
      stepsOf(await (await fetch(`${environment.url}/r/${guia}`)).text()).filter((words) => words!.startsWith('Lugar'))
    await send({ metodo: 'mapa', lat: '14.6341', lng: '-90.6055' })
    await send({ accion: 'senas', referencia: 'portón verde' })
    await send({ accion: 'senas', referencia: 'portón negro' })
    expect(await confirmations()).toHaveLength(1)
    await send({ metodo: 'mapa', lat: '14.6342', lng: '-90.6056', cambiar: '1' })
    expect(await confirmations()).toHaveLength(2)
  })
})
