// Words that clients bring from other APIs get the contract's own word, or the way that it has instead.
import { describe, expect, it } from 'vitest'
import { readDocument, readOperations } from '../../server/api/contract/contract.ts'
import { findMeant, otherWayThan } from '../../server/api/contract/otherNames.ts'
import { shareEnvironment } from '../environment.ts'
import { buildGuia } from '../factories.ts'

const environment = shareEnvironment()

async function fault(path: string) {
  const { llave } = await environment.createComercio()
  const { status, body } = await environment.request('GET', `/api/v1/${path}`, { llave })
  expect([status, body.errores?.length]).toEqual([400, 1])
  return body.errores[0] as { campo: string; codigo: string; mensaje: string }
}

async function post(path: string, body: unknown) {
  const { llave } = await environment.createComercio()
  const { status, body: cuerpo } = await environment.request('POST', `/api/v1/${path}`, {
    llave,
    raw: JSON.stringify(body),
    headers: { 'content-type': 'application/json' },
  })
  expect(status).toBe(422)
  return Object.fromEntries(cuerpo.errores.map((one: { campo: string; mensaje: string }) => [one.campo, one.mensaje]))
}

describe('a query parameter of another API', () => {
  it.each([
    ['per_page', 'limite'],
    ['pageSize', 'limite'],
    ['status', 'estado'],
    ['reference', 'external_ref'],
    ['desde', 'creado_desde'],
    ['phone', 'telefono'],
    ['starting_after', 'cursor'],
  ])('%s suggests %s', async (written, meant) =>
    expect(await fault(`guias?${written}=1`)).toEqual({
      campo: written,
      codigo: 'desconocido',
      mensaje: `no existe; ¿quiso decir ${meant}?`,
    }),
  )

  it.each([
    ['guias?page=2', 'se pide con cursor, el cursor_siguiente de la respuesta; los parámetros son: estado, '],
    ['guias?offset=50', 'se pide con cursor'],
    ['eventos?pagina=2', 'se pide con cursor'],
    ['guias?sort=-creado_en', 'el orden de la lista es siempre el mismo'],
    ['guias?q=juan', 'no hay búsqueda de palabras; los parámetros son: estado, '],
    ['guias?fields=guia', 'la respuesta viene siempre entera'],
  ])('%s says the way that there is', async (path, way) => expect((await fault(path)).mensaje).toContain(way))

  it('gets no advice where the operation has no such way', async () => {
    expect((await fault('cuenta?page=2')).mensaje).toBe('no existe; esta operación no tiene parámetros de consulta')
  })
})

describe('a filter with several values', () => {
  it.each([
    ['guias?estado=aceptado,en_ruta', 'repita el parámetro, estado=aceptado&estado=en_ruta'],
    ['guias?ubicacion=vencida,fallida', 'repita el parámetro, ubicacion=vencida&ubicacion=fallida'],
    ['guias?estado=en_ruta%20,%20aceptado', 'repita el parámetro, estado=en_ruta&estado=aceptado'],
    ['eventos?tipo=guia.*,ubicacion.*', 'repita el parámetro, tipo=guia.*&tipo=ubicacion.*'],
    ['guias?estado[]=aceptado', 'va sin corchetes y se repite: estado=…&estado=…'],
  ])('%s is told to repeat the parameter', async (path, way) => expect((await fault(path)).mensaje).toContain(way))

  it('admits the form that the message tells', async () => {
    const { llave } = await environment.createComercio()
    for (const form of ['guias?estado=aceptado&estado=en_ruta', 'eventos?tipo=guia.*&tipo=ubicacion.*'])
      expect((await environment.request('GET', `/api/v1/${form}`, { llave })).status).toBe(200)
  })

  it('is told to ask for each value apart, where a filter takes one', async () => {
    const { llave, api } = await environment.createComercio()
    const { webhook } = await api.webhooks.crear({ url: 'https://1.1.1.1/avisos' })
    for (const query of ['estado=fallido,pendiente', 'estado=fallido&estado=pendiente']) {
      const { body } = await environment.request('GET', `/api/v1/webhooks/${webhook}/avisos?${query}`, { llave })
      expect(body.errores).toEqual([
        expect.objectContaining({ campo: 'estado', mensaje: expect.stringContaining('cada uno por separado') }),
      ])
    }
  })

  it('gets the value that a misspelt one probably means', async () =>
    expect((await fault('guias?estado=entregada')).mensaje).toMatch(
      /cancelado, sin repetir; ¿quiso decir entregado\?$/,
    ))
})

describe('guides at the wrong operation', () => {
  const guia = buildGuia()
  it('lead to the batch, from a list or from an object with the list', async () => {
    expect(await post('guias', [guia])).toEqual({
      '': 'es una lista y debe ser una guía: varias se crean en un lote (bulk), como {"guias": […]}',
    })
    expect((await post('guias', { guias: [guia] }))['/guias']).toContain('se crean en un lote')
  })

  it('lead into the envelope of the batch, or to the single creation', async () => {
    expect(await post('guias/bulk', [guia])).toEqual({
      '': 'es una lista y debe ser un objeto: ponga la lista en guias, {"guias": […]}',
    })
    expect(await post('guias/bulk', guia)).toEqual({
      '/guias': expect.stringContaining('una sola guía también se crea sin lote'),
    })
  })

  it('lead an array of codes into the list of the labels', async () =>
    expect((await post('etiquetas', ['7K3M9QX2A1B4']))['']).toContain('{"guias": […]}'))

  it('suggest the contract’s word for a member of another API', async () => {
    const { telefono: phone, ...remainder } = guia
    expect(await post('guias', { ...remainder, phone, city: 'Mixco' })).toMatchObject({
      '/phone': 'no existe; ¿quiso decir telefono?',
      '/city': 'no existe; ¿quiso decir municipio?',
    })
  })
})

describe('the words of other APIs', () => {
  it('are none of the contract’s own parameters where they would lead elsewhere', () => {
    for (const { id, parameters } of readOperations(readDocument())) {
      const names = parameters.filter((one) => one.in === 'query').map(({ name }) => name)
      for (const name of names) {
        const others = names.filter((one) => one !== name)
        if (findMeant(name, names) !== name) expect([id, name, findMeant(name, others)]).toEqual([id, name, name])
      }
    }
  })

  it('cost the same for a name of any length', () => {
    expect(otherWayThan('page'.repeat(5_000), ['cursor'])).toBeUndefined()
    expect(findMeant('x'.repeat(20_000), ['limite'])).toBeUndefined()
  })
})
