import { describe, expect, it } from 'vitest'
import { shareEnvironment } from '../environment.ts'
import { buildGuia } from '../factories.ts'

const environment = shareEnvironment()

describe('GET /api/v1/guias/{guia}/eventos', () => {
  it('gives a guide’s history, oldest first, in pages that its guide’s own cursor goes on with', async () => {
    const { api } = await environment.createComercio()
    const { guia } = await api.guias.crear(buildGuia())
    await api.guias.cancelar(guia, { razon: 'Ya no' })
    const { datos, cursor_siguiente } = await api.guias.eventos(guia, { limite: 1 })
    expect(datos).toMatchObject([{ id: `evt_${guia}_1`, tipo: 'guia.aceptado', secuencia: 1 }])
    const rest = await api.guias.eventos(guia, { cursor: cursor_siguiente! })
    expect(rest).toMatchObject({ datos: [{ id: `evt_${guia}_2`, descripcion: 'Ya no' }], cursor_siguiente: null })
    expect((await api.guias.obtener(guia)).eventos.datos).toEqual([...datos, ...rest.datos])
  })

  it('is its merchant’s alone', async () => {
    const [one, other] = [await environment.createComercio(), await environment.createComercio()]
    const { guia } = await one.api.guias.crear(buildGuia())
    await expect(other.api.guias.eventos(guia)).rejects.toMatchObject({ estadoHttp: 404, codigo: 'guia_desconocida' })
  })
})
