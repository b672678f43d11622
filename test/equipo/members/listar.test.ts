import { describe, expect, it } from 'vitest'
import { useEnvironment } from '../../environment.ts'
import { createTestPersona, signInFully } from '../persona.ts'

const environment = useEnvironment()
const personas = async (path = '') => (await environment.asOperador('GET', `/personas${path}`)).body

describe('persons', () => {
  it('are listed newest first, with their memberships, in pages', async () => {
    const { comercio } = await environment.createComercio()
    const [one, other] = [
      await createTestPersona(environment),
      await createTestPersona(environment, { comercio, alcances: ['cobros'] }),
    ]
    const page = await personas('?limite=1')
    expect(page.datos).toMatchObject([
      {
        persona: other.persona,
        nombre: 'Ana Pérez',
        correo: other.correo,
        membresias: [{ membresia: other.membresia, comercio, alcances: ['cobros'] }],
      },
    ])
    const next = await personas(`?limite=1&cursor=${page.cursor_siguiente}`)
    expect(next.datos[0].persona).toBe(one.persona)
    expect(await personas(`/${one.persona}`)).toEqual(next.datos[0])
  })

  it('are listed for the courier company, or for one merchant, page by page', async () => {
    const { comercio } = await environment.createComercio()
    const [ana, eva] = [
      await createTestPersona(environment, { comercio, alcances: ['cobros'] }),
      await createTestPersona(environment, { comercio, alcances: ['lectura'] }),
    ]
    const luis = await createTestPersona(environment)
    const codigos = ({ datos }: { datos: { persona: string }[] }) => datos.map(({ persona }) => persona)
    const first = await personas(`?ambito=${comercio}&limite=1`)
    const second = await personas(`?ambito=${comercio}&limite=1&cursor=${first.cursor_siguiente}`)
    expect([...codigos(first), ...codigos(second)]).toEqual([eva.persona, ana.persona])
    expect(second.cursor_siguiente).toBeNull()
    const company = codigos(await personas('?ambito=empresa'))
    expect(company).toContain(luis.persona)
    expect(company).not.toContain(ana.persona)
    expect(codigos(await personas('?ambito=com_000000000000'))).toEqual([])
  })

  it('show a second factor, the open sessions, and when the newest began', async () => {
    const [luis, rosa] = [
      await createTestPersona(environment),
      await createTestPersona(environment, { withApp: false }),
    ]
    const readPersona = ({ persona }: { persona: string }) => personas(`/${persona}`)
    expect(await readPersona(rosa)).toMatchObject({
      segundo_factor: false,
      sesiones: 1,
      entrado_en: expect.any(String),
    })
    expect(await readPersona(luis)).toMatchObject({ segundo_factor: true, sesiones: 1 })
    expect((await signInFully(environment, luis)).status).toBe(201)
    const dos = await readPersona(luis)
    expect(dos).toMatchObject({ sesiones: 2 })
    expect(dos.entrado_en > (await readPersona(rosa)).entrado_en).toBe(true)
    await environment.asOperador('DELETE', `/personas/${luis.persona}/sesiones`)
    expect(await readPersona(luis)).toMatchObject({ segundo_factor: true, sesiones: 0, entrado_en: null })
  })
})
