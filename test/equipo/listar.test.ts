import { describe, expect, it } from 'vitest'
import { useEnvironment } from '../environment.ts'
import { createTestPersona, signInFully } from './persona.ts'

const entorno = useEnvironment()
const personas = async (ruta = '') => (await entorno.operar('GET', `/personas${ruta}`)).cuerpo

describe('persons', () => {
  it('are listed newest first, with their memberships, in pages', async () => {
    const { comercio } = await entorno.nuevoComercio()
    const [una, otra] = [
      await createTestPersona(entorno),
      await createTestPersona(entorno, { comercio, alcances: ['cobros'] }),
    ]
    const pagina = await personas('?limite=1')
    expect(pagina.datos).toMatchObject([
      {
        persona: otra.persona,
        nombre: 'Ana Pérez',
        correo: otra.correo,
        membresias: [{ membresia: otra.membresia, comercio, alcances: ['cobros'] }],
      },
    ])
    const siguiente = await personas(`?limite=1&cursor=${pagina.cursor_siguiente}`)
    expect(siguiente.datos[0].persona).toBe(una.persona)
    expect(await personas(`/${una.persona}`)).toEqual(siguiente.datos[0])
  })

  it('are listed for the courier company, or for one merchant, page by page', async () => {
    const { comercio } = await entorno.nuevoComercio()
    const [ana, eva] = [
      await createTestPersona(entorno, { comercio, alcances: ['cobros'] }),
      await createTestPersona(entorno, { comercio, alcances: ['lectura'] }),
    ]
    const luis = await createTestPersona(entorno)
    const codigos = ({ datos }: { datos: { persona: string }[] }) => datos.map(({ persona }) => persona)
    const primera = await personas(`?ambito=${comercio}&limite=1`)
    const segunda = await personas(`?ambito=${comercio}&limite=1&cursor=${primera.cursor_siguiente}`)
    expect([...codigos(primera), ...codigos(segunda)]).toEqual([eva.persona, ana.persona])
    expect(segunda.cursor_siguiente).toBeNull()
    const empresa = codigos(await personas('?ambito=empresa'))
    expect(empresa).toContain(luis.persona)
    expect(empresa).not.toContain(ana.persona)
    expect(codigos(await personas('?ambito=com_000000000000'))).toEqual([])
  })

  it('show a second factor, the open sessions, and when the newest began', async () => {
    const [luis, rosa] = [await createTestPersona(entorno), await createTestPersona(entorno, { conApp: false })]
    const de = ({ persona }: { persona: string }) => personas(`/${persona}`)
    expect(await de(rosa)).toMatchObject({ segundo_factor: false, sesiones: 1, entrado_en: expect.any(String) })
    expect(await de(luis)).toMatchObject({ segundo_factor: true, sesiones: 1 })
    expect((await signInFully(entorno, luis)).status).toBe(201)
    const dos = await de(luis)
    expect(dos).toMatchObject({ sesiones: 2 })
    expect(dos.entrado_en > (await de(rosa)).entrado_en).toBe(true)
    await entorno.operar('DELETE', `/personas/${luis.persona}/sesiones`)
    expect(await de(luis)).toMatchObject({ segundo_factor: true, sesiones: 0, entrado_en: null })
  })
})
