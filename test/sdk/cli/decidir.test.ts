import { describe, expect, it } from 'vitest'
import { buildGuia } from '../../factories.ts'
import { useCli } from './run.ts'

const cli = useCli()
const { guias } = cli
const fallida = async () => {
  const { api } = cli.comercio
  const { guia } = await api.guias.crear(buildGuia())
  for (const estado of ['recolectado', 'en_ruta', 'intento_fallido'] as const)
    await api.simulador.avanzar(guia, { estado })
  return guia
}

describe('guias reintentar', () => {
  it('decides the window, corrects what the options say, and shows the decision', async () => {
    const guia = await fallida()
    const { codigo, output, errores } = await guias([
      'reintentar',
      guia.toLowerCase(),
      '--franja',
      '14:00-18:00',
      '--telefono',
      '5987 1234',
    ])
    expect([codigo, errores, output]).toEqual([
      0,
      '',
      expect.stringMatching(new RegExp(`^${guia}  intento_fallido, reintentar \\d{4}-\\d{2}-\\d{2}\n$`)),
    ])
    expect(await cli.comercio.api.guias.obtener(guia)).toMatchObject({
      telefono: '+50259871234',
      decision: { estado: 'tomada', franja: { desde: '14:00', hasta: '18:00' } },
    })
    expect((await guias(['ver', guia])).output).toMatch(
      /Decisión +tomada por comercio, reintentar, [\d-]+, de 14:00 a 18:00/,
    )
    expect(await guias(['reintentar', guia])).toMatchObject({
      codigo: 1,
      errores: expect.stringContaining('ya decidió'),
    })
  })

  it('explains a window that it cannot read', async () => {
    expect(await guias(['reintentar', '7K3M9QX2A1B4', '--franja', 'tarde'])).toMatchObject({
      codigo: 2,
      errores: expect.stringContaining('--franja va como 14:00-18:00'),
    })
  })
})

describe('guias devolver', () => {
  it('needs a reason and an answer, and returns several', async () => {
    const dos = [await fallida(), await fallida()]
    expect(await guias(['devolver', ...dos])).toMatchObject({ codigo: 2, errores: expect.stringContaining('--razon') })
    const { codigo, output } = await guias(['devolver', ...dos, '--razon', 'No lo quiere', '--si'])
    expect([codigo, output]).toEqual([0, dos.map((guia) => `${guia}  en_devolucion, devolver aplicada\n`).join('')])
  })

  it('fails if one of several cannot return, and returns the others', async () => {
    const [good, other] = [await fallida(), (await cli.comercio.api.guias.crear(buildGuia())).guia]
    const { codigo, output, errores } = await guias(['devolver', other, good, '--razon', 'No lo quiere', '--si'])
    expect([codigo, output]).toEqual([1, `${good}  en_devolucion, devolver aplicada\n`])
    expect(errores).toMatch(new RegExp(`^${other} .*\n1 decididas, 1 no\\.\n$`, 's'))
  })
})

describe('guias listar', () => {
  it('writes the state of the decision as CSV', async () => {
    const guia = await fallida()
    await cli.comercio.api.guias.reintentar(guia)
    const { output } = await guias(['listar', '--csv', '--decision', 'tomada', '--limite', '1'])
    const [header = '', row = ''] = output.split('\r\n')
    expect(row.split(',')[0]).toBe(guia)
    expect(row.split(',')[header.split(',').indexOf('decision')]).toBe('tomada')
  })
})
