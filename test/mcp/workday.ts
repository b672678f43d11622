import { expect } from 'vitest'
import { RECOGIDA, waitUntil } from '../factories.ts'
import type { Assistant } from './assistant.ts'

/**
 * A merchant's day with an assistant: webhook, order, question about the place, correction, label, route, delivery, proof.
 * @param urlDeAvisos where the merchant's server listens
 * @returns the code of the delivered guide
 */
export async function runAssistantDay({ client, callUrl: callTool }: Assistant, urlDeAvisos: string): Promise<string> {
  const { datos: cuenta } = await callTool('obtenerCuenta')
  expect(cuenta.modo).toBe('test')
  const { resources } = await client.listResources()
  const chapter = resources.find(({ uri }) => uri.endsWith('/docs/guia/ubicacion.md'))!
  const { contents } = await client.readResource({ uri: chapter.uri })
  expect(contents).toEqual([expect.objectContaining({ text: expect.stringMatching(/^# Ubicación/) })])

  const { datos: webhook } = await callTool('crearWebhook', {
    url: urlDeAvisos,
    tipos: ['guia.*'],
    clave_de_idempotencia: 'w-1',
  })
  const { datos: municipios } = await callTool('listarMunicipios', { departamento: 'Guatemala', buscar: 'mixco' })
  expect(municipios.datos[0].nombre).toBe('Mixco')

  const newGuia = {
    telefono: '3148 1676',
    departamento: 'Guatemala',
    municipio: 'Mixco',
    external_ref: `PEDIDO-${Date.now()}`,
    recogida: RECOGIDA,
  }
  const { datos: createdGuia, estado } = await callTool('crearGuia', newGuia)
  expect([estado, createdGuia.estado, createdGuia.ubicacion.estado]).toEqual([201, 'aceptado', 'solicitada'])
  const { guia } = createdGuia
  expect(await callTool('crearGuia', newGuia)).toMatchObject({ estado: 200, datos: { guia } })

  const direccion = '4a calle 12-30, zona 4, Mixco'
  const refusedAnswer = await callTool('corregirGuia', { guia, confirmar: 'OTRA', direccion })
  expect(refusedAnswer).toMatchObject({ estado: 400, datos: { errores: [{ campo: 'confirmar', codigo: 'difiere' }] } })
  const correctedAnswer = await callTool('corregirGuia', {
    guia,
    confirmar: guia,
    direccion,
    clave_de_idempotencia: 'c-1',
  })
  expect(correctedAnswer).toMatchObject({ estado: 200, datos: { direccion } })
  const place = { guia, confirmar: guia, lat: 14.6308, lng: -90.6071 }
  expect(await callTool('confirmarUbicacion', place)).toMatchObject({ datos: { ubicacion: { estado: 'confirmada' } } })

  const { datos: etiqueta } = await callTool('obtenerEtiqueta', { guia })
  const pdf = await fetch(etiqueta.url)
  expect([pdf.status, pdf.headers.get('content-type')]).toEqual([200, 'application/pdf'])

  for (const next of ['recolectado', 'en_ruta'])
    expect(await callTool('simularAvance', { guia, confirmar: guia, estado: next })).toMatchObject({ estado: 200 })
  const { datos: onRoute } = await callTool('listarGuias', { estado: ['en_ruta'], external_ref: newGuia.external_ref })
  expect(onRoute.datos).toEqual([expect.objectContaining({ guia })])
  expect(await callTool('cancelarGuia', { guia, confirmar: guia })).toMatchObject({
    estado: 409,
    datos: { codigo: 'transicion_invalida' },
  })
  expect(await callTool('obtenerPruebaDeEntrega', { guia })).toMatchObject({ estado: 404 })
  await callTool('simularAvance', { guia, confirmar: guia, estado: 'entregado' })

  const prueba = await waitUntil(async () => {
    const { datos } = await callTool('obtenerPruebaDeEntrega', { guia })
    return datos.pdf && datos
  })
  expect((await fetch(prueba.pdf.url)).status).toBe(200)
  const { datos: history } = await callTool('listarEventosDeGuia', { guia })
  expect(history.datos.at(-1)).toMatchObject({ tipo: 'guia.entregado' })
  await waitUntil(async () => {
    const { datos } = await callTool('listarAvisosDeWebhook', { webhook: webhook.webhook, guia })
    return datos.datos.some(
      ({ tipo, estado }: Record<string, string>) => tipo === 'guia.entregado' && estado === 'entregado',
    )
  })
  return guia
}
