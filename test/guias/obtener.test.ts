import { ErrorNoEncontrado } from '@guias/sdk'
import { describe, expect, it } from 'vitest'
import { compartirEntorno } from '../entorno.ts'
import { unaGuia } from '../fabricas.ts'
import { usarGuias } from './mover.ts'

const entorno = compartirEntorno()
const { mover } = usarGuias(entorno)

describe('GET /api/v1/guias/{guia}', () => {
  it('gives the guide and its history, oldest first, in pages', async () => {
    const { api } = await entorno.nuevoComercio()
    const { guia } = await api.guias.crear(unaGuia())
    await mover(guia, 'recolectado', 'en_bodega', 'en_ruta', 'entregado')
    const primera = await api.guias.obtener(guia, { limite: 2 })
    expect(primera).toMatchObject({ estado: 'entregado', secuencia: 5 })
    expect(primera.eventos.datos.map((e) => e.estado)).toEqual(['aceptado', 'recolectado'])
    const segunda = await api.guias.obtener(guia, { limite: 100, cursor: primera.eventos.cursor_siguiente! })
    expect(segunda.eventos.datos.map((e) => [e.estado_anterior, e.estado])).toEqual([
      ['recolectado', 'en_bodega'],
      ['en_bodega', 'en_ruta'],
      ['en_ruta', 'entregado'],
    ])
    expect(segunda.eventos.cursor_siguiente).toBeNull()
    // The history alone is the same page, and takes the same cursor.
    expect((await api.guias.eventos(guia, { limite: 100, cursor: primera.eventos.cursor_siguiente! })).datos).toEqual(
      segunda.eventos.datos,
    )
  })

  it('takes the code as people type it', async () => {
    const { api } = await entorno.nuevoComercio()
    const { guia } = await api.guias.crear(unaGuia())
    const escrito = `${guia.slice(0, 4)}-${guia.slice(4, 8)} ${guia.slice(8)}`
      .toLowerCase()
      .replaceAll('0', 'o')
      .replaceAll('1', 'l')
    expect((await api.guias.obtener(escrito)).guia).toBe(guia)
  })

  it.each(['000000000000', '7K3M9QX2A1BB', 'x', '¿?', '%00', '../guias', 'a'.repeat(64), 'A'.repeat(5_000)])(
    'answers 404 to %s',
    async (codigo) => {
      const { api } = await entorno.nuevoComercio()
      await expect(api.guias.obtener(codigo)).rejects.toBeInstanceOf(ErrorNoEncontrado)
    },
  )
})
