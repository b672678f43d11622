import type { CorreccionDeGuia } from '@guias/sdk'
import { describe, expect, it } from 'vitest'
import { readEtiquetas, recordEtiquetas } from '../../server/domain/etiquetas/etiqueta.ts'
import { createGuiaForEtiqueta, downloadEtiquetas, etiquetasComercio, useEtiquetas } from '../etiquetas/etiquetas.ts'
import { parsePdf } from '../pruebasEntrega/readPdf.ts'

const environment = useEtiquetas()

const api = () => etiquetasComercio.api.guias
const codigos = async (guia: string) => (await api().obtener(guia)).advertencias.map(({ codigo }) => codigo)
const printEtiqueta = async (guia: string, init?: RequestInit) =>
  downloadEtiquetas((await api().etiqueta(guia)).url, init)

describe('a label that was made before a correction', () => {
  it('is out of date until it is made again', async () => {
    const guia = await createGuiaForEtiqueta({ destinatario: 'Ana Pérez' })
    await printEtiqueta(guia)
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
    const { pdf } = await printEtiqueta(guia)
    expect(parsePdf(pdf).texto).toContain('Luis Ajú')
    expect(await codigos(guia)).toEqual([])
  })

  it.each<CorreccionDeGuia>([
    { telefono: '5987 1234' },
    { destinatario: 'Luis Ajú' },
    { departamento: 'Petén' },
    { municipio: 'Mixco' },
    { direccion: 'Calle 2' },
    { indicaciones: 'Portón azul' },
    { contenido: 'Un libro' },
    { recogida: { contacto: 'Luis Batz' } },
  ])('is out of date after the correction %o', async (correccion) => {
    const guia = await createGuiaForEtiqueta()
    await printEtiqueta(guia)
    await api().corregir(guia, correccion)
    expect(await codigos(guia)).toContain('etiqueta_desactualizada')
  })

  it('is out of date at once if the first correction comes while it is made', async () => {
    const guia = await createGuiaForEtiqueta()
    const rows = await readEtiquetas(environment.db, 'todos', [guia])
    await api().corregir(guia, { destinatario: 'Luis Ajú' })
    await recordEtiquetas(environment.db, rows, environment.clock())
    expect(await codigos(guia)).toEqual(['etiqueta_desactualizada'])
    await printEtiqueta(guia)
    expect(await codigos(guia)).toEqual([])
  })

  it('is none if no label was made, if nothing that it shows changed, or if only its headers were asked for', async () => {
    const guia = await createGuiaForEtiqueta()
    await api().etiqueta(guia)
    await printEtiqueta(guia, { method: 'HEAD' })
    await api().corregir(guia, { destinatario: 'Luis Ajú' })
    expect(await codigos(guia)).toEqual([])
    await printEtiqueta(guia)
    await api().corregir(guia, { lat: 14.72, lng: -90.64 })
    expect(await codigos(guia)).toEqual([])
  })

  it('is up to date again for a client that has the present one', async () => {
    const guia = await createGuiaForEtiqueta({ destinatario: 'Ana Pérez' })
    const { headers } = await printEtiqueta(guia)
    await api().corregir(guia, { destinatario: 'Luis Ajú' })
    await api().corregir(guia, { destinatario: 'Ana Pérez' })
    expect(await codigos(guia)).toEqual(['etiqueta_desactualizada'])
    const { status } = await printEtiqueta(guia, { headers: { 'If-None-Match': headers.get('etag')! } })
    expect([status, await codigos(guia)]).toEqual([304, []])
  })
})
