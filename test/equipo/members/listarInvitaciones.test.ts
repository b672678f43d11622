import { describe, expect, it } from 'vitest'
import { HOUR_MS } from '../../../server/platform/time/units.ts'
import { useEnvironment } from '../../environment.ts'
import { createCorreoAddress, useInvitaciones } from '../persona.ts'

const environment = useEnvironment()
const { aceptar, invitar, tokenOf } = useInvitaciones(environment)
const list = async (query = '') => (await environment.asOperador('GET', `/invitaciones${query}`)).body

describe('open invitations', () => {
  it('are listed newest first, in pages, without link and code, until they are accepted or end', async () => {
    const { comercio } = await environment.createComercio()
    const correos = [createCorreoAddress(), createCorreoAddress(), createCorreoAddress()]
    for (const correo of correos) await invitar({ correo, comercio, alcances: ['cobros'] })
    const first = await list(`?ambito=${comercio}&limite=2`)
    const second = await list(`?ambito=${comercio}&limite=2&cursor=${first.cursor_siguiente}`)
    const listed = [...first.datos, ...second.datos]
    expect(listed.map(({ correo }: { correo: string }) => correo).toSorted()).toEqual(correos.toSorted())
    expect(second.cursor_siguiente).toBeNull()
    expect(listed.map(({ vence_en }: { vence_en: string }) => vence_en)).toEqual(
      listed
        .map(({ vence_en }: { vence_en: string }) => vence_en)
        .toSorted()
        .reverse(),
    )
    expect(Object.keys(listed[0]).toSorted()).toEqual([
      'alcances',
      'comercio',
      'correo',
      'creado_en',
      'invitacion',
      'nombre',
      'vence_en',
    ])
    expect(listed[0]).toMatchObject({ comercio, alcances: ['cobros'], nombre: 'Ana Pérez' })
    expect((await aceptar(await tokenOf(correos[0]!))).status).toBe(201)
    expect((await list(`?ambito=${comercio}`)).datos).toHaveLength(2)
    expect((await list('?ambito=empresa')).datos).toEqual([])
    await environment.advance(25 * HOUR_MS)
    expect((await list()).datos).toEqual([])
  })
})
