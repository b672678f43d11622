import { describe, expect, it } from 'vitest'
import { newGuideCode } from '../../server/platform/codes/codes.ts'
import { shareEnvironment } from '../environment.ts'
import { buildGuia } from '../factories.ts'

const entorno = shareEnvironment()
const pagina = async (guia: string, consulta: string) =>
  (await entorno.operar('GET', `/guias/${guia}/notas?${consulta}`)).cuerpo
const textos = ({ datos }: { datos: { texto: string }[] }) => datos.map(({ texto }) => texto)

describe('GET /operaciones/v1/guias/{guia}/notas', () => {
  it('lists a guide’s own notes in pages, the oldest first', async () => {
    const { api } = await entorno.nuevoComercio()
    const [{ guia }, otra] = [await api.guias.crear(buildGuia()), await api.guias.crear(buildGuia())]
    for (const texto of ['una', 'dos', 'tres']) await entorno.operar('POST', `/guias/${guia}/notas`, { texto })
    await entorno.operar('POST', `/guias/${otra.guia}/notas`, { texto: 'de otra' })
    const primera = await pagina(guia, 'limite=2')
    expect(textos(primera)).toEqual(['una', 'dos'])
    const segunda = await pagina(guia, `limite=2&cursor=${primera.cursor_siguiente}`)
    expect([textos(segunda), segunda.cursor_siguiente]).toEqual([['tres'], null])
    expect((await pagina(otra.guia, `cursor=${primera.cursor_siguiente}`)).codigo).toBe('cursor_invalido')
  })

  it('returns 404 for an unknown guide', async () => {
    expect((await pagina(newGuideCode(), '')).codigo).toBe('guia_desconocida')
  })
})
