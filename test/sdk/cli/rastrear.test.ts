import { describe, expect, it } from 'vitest'
import { buildGuia, waitUntil } from '../../factories.ts'
import { useCli } from './run.ts'

const cli = useCli()
const { guias, launch } = cli

describe('guias rastrear', () => {
  it('shows a history, and follows it to its end', async () => {
    const { guia } = await cli.comercio.api.guias.crear(buildGuia({ destinatario: 'Marisol\u200b' }))
    const one = await guias(['rastrear', guia.toLowerCase()])
    expect([one.codigo, one.errores]).toEqual([0, ''])
    expect(one.output).toMatch(
      new RegExp(`^${guia} {2}aceptado {2}Marisol.*, San Juan.*\\n {2}\\S+ \\S+ UTC-6 {2}guia.aceptado `),
    )
    const followRun = launch(['rastrear', guia, '--seguir', '--intervalo', '0.1', '--json'])
    await waitUntil(async () => followRun.output.includes('guia.aceptado'))
    for (const estado of ['recolectado', 'en_ruta', 'entregado'] as const)
      await cli.comercio.api.simulador.avanzar(guia, { estado })
    expect(await followRun.fin).toBe(0)
    expect(
      followRun.output
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line).tipo),
    ).toEqual(['guia.aceptado', 'guia.recolectado', 'guia.en_ruta', 'guia.entregado'])
    const { guia: other } = await cli.comercio.api.guias.crear(buildGuia())
    const cortada = launch(['rastrear', other, '--seguir', '--intervalo', '30'])
    await waitUntil(async () => cortada.output.includes('guia.aceptado'))
    cortada.child.kill('SIGINT')
    expect([await cortada.fin, cortada.errores]).toEqual([0, ''])
  })
})
