import { describe, expect, it } from 'vitest'
import { newGuideCode } from '../../server/platform/codes/codes.ts'
import { shareEnvironment } from '../environment.ts'
import { buildGuia } from '../factories.ts'

const environment = shareEnvironment()
const page = async (guia: string, query: string) =>
  (await environment.asOperador('GET', `/guias/${guia}/notas?${query}`)).body
const texts = ({ datos }: { datos: { texto: string }[] }) => datos.map(({ texto: text }) => text)

describe('GET /operaciones/v1/guias/{guia}/notas', () => {
  it('lists a guide’s own notes in pages, the oldest first', async () => {
    const { api } = await environment.createComercio()
    const [{ guia }, other] = [await api.guias.crear(buildGuia()), await api.guias.crear(buildGuia())]
    for (const text of ['una', 'dos', 'tres'])
      await environment.asOperador('POST', `/guias/${guia}/notas`, { texto: text })
    await environment.asOperador('POST', `/guias/${other.guia}/notas`, { texto: 'de otra' })
    const first = await page(guia, 'limite=2')
    expect(texts(first)).toEqual(['una', 'dos'])
    const second = await page(guia, `limite=2&cursor=${first.cursor_siguiente}`)
    expect([texts(second), second.cursor_siguiente]).toEqual([['tres'], null])
    expect((await page(other.guia, `cursor=${first.cursor_siguiente}`)).codigo).toBe('cursor_invalido')
  })

  it('returns 404 for an unknown guide', async () => {
    expect((await page(newGuideCode(), '')).codigo).toBe('guia_desconocida')
  })
})
