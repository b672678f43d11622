// A recipient replaces a decision of the recipient's own until it is carried out.
import { request } from 'node:http'
import { describe, expect, it } from 'vitest'
import { addDays } from '../../server/platform/time/day.ts'
import { DAY_MS } from '../../server/platform/time/units.ts'
import { useEnvironment } from '../environment.ts'
import { CON_ROSA, OTHER_DAY_CHOICE, REFUSAL_CHOICE, useQuestions } from './questions.ts'

const environment = useEnvironment()
const { createComercio, createAskedGuia, ver, send } = useQuestions(environment)
/** Field that names the first decision. */
const CHANGE = { cambiar: '1' }

/** Sends the form from another network, whose rate limit is not used up. */
const sendFromElsewhere = (url: string, fields: Record<string, string>) =>
  new Promise<number | undefined>((resolve, reject) => {
    const headers = { 'Content-Type': 'application/x-www-form-urlencoded' }
    request(url, { method: 'POST', localAddress: '127.0.9.1', headers }, (response) => {
      response.resume()
      resolve(response.statusCode)
    })
      .on('error', reject)
      .end(new URLSearchParams(fields).toString())
  })

describe('a recipient who replaces the decision', () => {
  it('says so on the page, and the last choice holds with nothing left of the first', async () => {
    const { guia, enlace, read, tipos, api } = await createAskedGuia()
    await send(enlace, CON_ROSA)
    const { html } = await ver(enlace)
    expect(html).toContain('href="?cambiar=1">Cambiar lo que pedí')
    const { html: question } = await ver(`${enlace}?cambiar=1`)
    expect(question).toContain('queda en vez de lo que pidió')
    expect(question).toContain('name="cambiar" value="1"')
    const { fecha_desde } = (await read()).decision!
    const fecha = addDays(fecha_desde!, 5)
    expect((await send(enlace, { ...OTHER_DAY_CHOICE, ...CHANGE, fecha })).status).toBe(303)
    const { decision, indicaciones } = await read()
    expect([decision, indicaciones]).toMatchObject([{ estado: 'tomada', por: 'destinatario', fecha }, null])
    expect((await tipos()).slice(-4)).toEqual(['corregida', 'decision_tomada', 'corregida', 'decision_tomada'])
    expect((await ver(enlace)).html).toContain('href="?cambiar=2"')
    expect((await send(enlace, { ...REFUSAL_CHOICE, cambiar: '2' })).status).toBe(303)
    expect(await api.guias.obtener(guia)).toMatchObject({ estado: 'en_devolucion', decision: { accion: 'devolver' } })
  })

  it('is asked again before a refusal and about a far place, which both remember the change', async () => {
    const { enlace, read } = await createAskedGuia()
    await send(enlace, OTHER_DAY_CHOICE)
    const far = { eleccion: 'otro_lugar', enlace: 'https://www.google.com/maps?q=16.93,-89.89', ...CHANGE }
    for (const fields of [{ eleccion: 'rechazo', ...CHANGE }, far]) {
      const { html } = await send(enlace, fields)
      expect(html).toContain('¿Seguro que')
      expect(html).toContain('name="cambiar" value="1"')
    }
    expect((await read()).decision).toMatchObject({ accion: 'reintentar', estado: 'tomada' })
    expect((await send(enlace, { ...far, seguro: '1' })).status).toBe(303)
    expect((await read()).ubicacion).toMatchObject({ lat: 16.93 })
  })

  it('needs to name the decision: a form that is sent twice, or that is old, changes nothing', async () => {
    const { enlace, read } = await createAskedGuia()
    await send(enlace, OTHER_DAY_CHOICE)
    const first = await read()
    expect((await send(enlace, CON_ROSA)).status).toBe(409)
    expect((await read()).secuencia).toBe(first.secuencia)
    const fecha = addDays(first.decision!.fecha_desde!, 3)
    expect((await send(enlace, { ...OTHER_DAY_CHOICE, ...CHANGE, fecha })).status).toBe(303)
    const { secuencia } = await read()
    for (const fields of [{ ...OTHER_DAY_CHOICE, fecha }, CON_ROSA, REFUSAL_CHOICE]) {
      const { status, html } = await send(enlace, { ...fields, ...CHANGE })
      expect([status, html.includes('Ya se había decidido')]).toEqual([409, true])
    }
    expect((await ver(`${enlace}?cambiar=1`)).html).not.toContain('<form')
    expect(await read()).toMatchObject({ secuencia, decision: { fecha } })
  })

  it('decides once if two forms arrive together', async () => {
    const { enlace, tipos } = await createAskedGuia()
    await send(enlace, OTHER_DAY_CHOICE)
    const answers = await Promise.all([CON_ROSA, OTHER_DAY_CHOICE].map((one) => send(enlace, { ...one, ...CHANGE })))
    expect(answers.map(({ status }) => status).sort()).toEqual([303, 409])
    expect((await tipos()).filter((tipo) => tipo === 'decision_tomada')).toHaveLength(2)
  })

  it('tells the merchant by another event, and the merchant’s next decision is refused', async () => {
    const { enlace, read, api, guia } = await createAskedGuia()
    await send(enlace, OTHER_DAY_CHOICE)
    await send(enlace, { ...CON_ROSA, ...CHANGE })
    const { decision, eventos } = await read()
    expect(eventos.datos.at(-1)).toMatchObject({
      tipo: 'guia.decision_tomada',
      descripcion: 'El destinatario pidió que se deje con un vecino',
      decision,
    })
    await expect(api.guias.reintentar(guia)).rejects.toThrow('solo la cambian quien recibe, si tiene su enlace, y')
  })

  it('may do so after the deadline, and not once the courier has left', async () => {
    const { enlace, scan, read } = await createAskedGuia()
    await send(enlace, { ...OTHER_DAY_CHOICE })
    environment.advance(6 * DAY_MS)
    expect((await send(enlace, { ...CON_ROSA, ...CHANGE })).status).toBe(303)
    await scan('en_ruta')
    expect((await ver(enlace)).html).not.toContain('?cambiar')
    expect((await send(enlace, { ...OTHER_DAY_CHOICE, ...CHANGE })).status).toBe(409)
    expect((await read()).decision).toMatchObject({ estado: 'aplicada' })
  })

  it('replaces neither the merchant’s decision nor an operator’s', async () => {
    const comercio = await createComercio()
    const byMerchant = await createAskedGuia(comercio)
    await byMerchant.api.guias.reintentar(byMerchant.guia)
    const byOperator = await createAskedGuia(comercio)
    await environment.asOperador('POST', `/guias/${byOperator.guia}/reintentar`, { razon: 'Llamó' })
    for (const [{ enlace, read }, por] of [
      [byMerchant, 'comercio'],
      [byOperator, 'operador'],
    ] as const) {
      expect((await ver(enlace)).html).not.toContain('?cambiar')
      expect((await ver(`${enlace}?cambiar=1`)).html).not.toContain('<form')
      for (const fields of [OTHER_DAY_CHOICE, REFUSAL_CHOICE])
        expect((await send(enlace, { ...fields, ...CHANGE })).status).toBe(409)
      expect((await read()).decision).toMatchObject({ por, accion: 'reintentar', estado: 'tomada' })
    }
  })

  it('waits while the parcel is lost', async () => {
    const { enlace, scan } = await createAskedGuia()
    await send(enlace, OTHER_DAY_CHOICE)
    await scan('extraviado')
    expect((await ver(enlace)).html).not.toContain('?cambiar')
    expect((await send(enlace, { ...OTHER_DAY_CHOICE, ...CHANGE })).status).toBe(409)
    await scan('en_bodega')
    expect((await send(enlace, { ...CON_ROSA, ...CHANGE })).status).toBe(303)
  })

  it('decides ten times at most', async () => {
    const { enlace } = await createAskedGuia()
    for (let i = 0; i < 10; i++)
      expect((await send(enlace, { ...OTHER_DAY_CHOICE, cambiar: String(i) })).status).toBe(303)
    expect((await ver(enlace)).html).not.toContain('?cambiar')
    expect(await sendFromElsewhere(environment.url + enlace, { ...OTHER_DAY_CHOICE, cambiar: '10' })).toBe(409)
  })

  it('is offered nothing else after the last attempt', async () => {
    const comercio = await createComercio({ maximos: 1, al_vencer: 'esperar' })
    const { enlace, scan } = await createAskedGuia(comercio)
    await scan('en_bodega', 'en_transito')
    expect((await send(enlace, REFUSAL_CHOICE)).status).toBe(303)
    expect((await ver(enlace)).html).not.toContain('?cambiar')
    expect((await send(enlace, { ...REFUSAL_CHOICE, ...CHANGE })).status).toBe(409)
  })
})
