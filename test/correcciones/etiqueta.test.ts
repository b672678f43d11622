import { describe, expect, it } from 'vitest'
import { bajarEtiquetas, comercioDeEtiquetas, nueva, usarEtiquetas } from '../etiquetas/etiquetas.ts'
import { leerPdf } from '../pruebasEntrega/leerPdf.ts'

usarEtiquetas()

const api = () => comercioDeEtiquetas.api.guias
const codigos = async (guia: string) => (await api().obtener(guia)).advertencias.map(({ codigo }) => codigo)
const imprimir = async (guia: string, init?: RequestInit) => bajarEtiquetas((await api().etiqueta(guia)).url, init)

describe('a label that was made before a correction', () => {
  it('is out of date until it is made again', async () => {
    const guia = await nueva({ destinatario: 'Ana Pérez' })
    await imprimir(guia)
    expect(await codigos(guia)).toEqual([])
    const { advertencias } = await api().corregir(guia, { destinatario: 'Luis Ajú' })
    expect(advertencias).toEqual([
      expect.objectContaining({
        codigo: 'etiqueta_desactualizada',
        mensaje: expect.stringContaining('imprímala otra vez'),
      }),
    ])
    await api().corregir(guia, { contenido: 'Un libro' })
    expect(await codigos(guia)).toEqual(['etiqueta_desactualizada'])
    const { pdf } = await imprimir(guia)
    expect(leerPdf(pdf).texto).toContain('Luis Ajú')
    expect(await codigos(guia)).toEqual([])
  })

  it('is none if no label was made, if nothing that it shows changed, or if only its headers were asked for', async () => {
    const guia = await nueva()
    await api().etiqueta(guia)
    await imprimir(guia, { method: 'HEAD' })
    await api().corregir(guia, { destinatario: 'Luis Ajú' })
    expect(await codigos(guia)).toEqual([])
    await imprimir(guia)
    await api().corregir(guia, { lat: 14.72, lng: -90.64 })
    expect(await codigos(guia)).toEqual([])
  })

  it('is up to date again for a client that has the present one', async () => {
    const guia = await nueva({ destinatario: 'Ana Pérez' })
    const { cabeceras } = await imprimir(guia)
    await api().corregir(guia, { destinatario: 'Luis Ajú' })
    await api().corregir(guia, { destinatario: 'Ana Pérez' })
    expect(await codigos(guia)).toEqual(['etiqueta_desactualizada'])
    const { status } = await imprimir(guia, { headers: { 'If-None-Match': cabeceras.get('etag')! } })
    expect([status, await codigos(guia)]).toEqual([304, []])
  })
})
