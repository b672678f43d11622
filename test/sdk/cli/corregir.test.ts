import { describe, expect, it } from 'vitest'
import { buildGuia } from '../../factories.ts'
import { useCli } from './run.ts'

const cli = useCli()
const { guias } = cli
const fresh = async () => (await cli.comercio.api.guias.crear(buildGuia({ indicaciones: 'Portón verde' }))).guia

describe('guias corregir', () => {
  it('changes what the options say, and tells what to review', async () => {
    const guia = await fresh()
    const { codigo, output, errores } = await guias([
      'corregir',
      guia.toLowerCase(),
      '--telefono',
      '5987 1234',
      '--direccion',
      'Calle 2',
      '--borrar',
      'indicaciones',
      '--recogida-contacto',
      'Ana Tzul',
    ])
    expect([codigo, output]).toEqual([0, `${guia}  aceptado, secuencia 2\n`])
    expect(errores).toMatch(/^Revise .*conserva el lugar/)
    expect(await cli.comercio.api.guias.obtener(guia)).toMatchObject({
      telefono: '+50259871234',
      direccion: 'Calle 2',
      indicaciones: null,
      recogida: { contacto: 'Ana Tzul' },
    })
  })

  it('takes a reference in the place of the code', async () => {
    const external_ref = 'Pedido-C1'
    const { guia } = await cli.comercio.api.guias.crear(buildGuia({ external_ref }))
    const { codigo, output } = await guias(['corregir', external_ref, '--destinatario', 'Eva'])
    expect([codigo, output]).toEqual([0, `${guia}  aceptado, secuencia 2\n`])
  })

  it('clears several members, also those of the pickup', async () => {
    const recogida = { nombre: 'Bodega', lat: 14.58, lng: -90.54, contacto: 'Ana Tzul', indicaciones: 'Portón azul' }
    const { guia } = await cli.comercio.api.guias.crear(
      buildGuia({ direccion: 'Calle 1', contenido: 'Un libro', recogida }),
    )
    const remove = ['--borrar', 'direccion,recogida-contacto', '--borrar', 'contenido']
    expect(await guias(['corregir', guia, ...remove, '--recogida-indicaciones', 'Portón rojo'])).toMatchObject({
      codigo: 0,
    })
    expect(await cli.comercio.api.guias.obtener(guia)).toMatchObject({
      direccion: null,
      contenido: null,
      recogida: { nombre: 'Bodega', contacto: null, indicaciones: 'Portón rojo' },
    })
  })

  it('needs something to correct, and the sequence that it was told', async () => {
    const guia = await fresh()
    for (const nothing of [[], ['--pais', 'SV'], ['--secuencia', '1']])
      expect(await guias(['corregir', guia, ...nothing])).toMatchObject({
        codigo: 2,
        errores: expect.stringContaining('Falta qué'),
      })
    const { codigo, errores } = await guias(['corregir', guia, '--destinatario', 'Luis', '--secuencia', '7'])
    expect([codigo, errores]).toEqual([1, expect.stringContaining('va por la secuencia 1')])
    const corrected = await guias(['corregir', guia, '--destinatario', 'Luis', '--secuencia', '1', '--json'])
    expect(JSON.parse(corrected.output)).toMatchObject({ guia, destinatario: 'Luis', secuencia: 2 })
  })
})
