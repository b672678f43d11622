import { describe, expect, it } from 'vitest'
import { buildGuia, waitUntil } from '../../factories.ts'
import { hasTerminal, inTerminal, useCli } from './run.ts'

const cli = useCli()
const { write, guias, launch } = cli
const fresh = async () => (await cli.comercio.api.guias.crear(buildGuia())).guia
const estado = async (guia: string) => (await cli.comercio.api.guias.obtener(guia)).estado

describe('guias cancelar', () => {
  it('cancels nothing unasked where there is nobody to ask, and with --si without asking', async () => {
    const guia = await fresh()
    const caseWithout = await guias(['cancelar', guia])
    expect([caseWithout.codigo, caseWithout.output, caseWithout.errores]).toEqual([
      2,
      '',
      expect.stringContaining('repita la orden con --si'),
    ])
    expect(await estado(guia)).toBe('aceptado')
    const withRazon = await guias(['cancelar', guia.toLowerCase(), '--si', '--razon', 'Desistió'])
    expect(withRazon).toEqual({ codigo: 0, output: `${guia}  cancelado\n`, errores: '' })
    const { eventos } = await cli.comercio.api.guias.obtener(guia)
    expect(eventos.datos.at(-1)).toMatchObject({ tipo: 'guia.cancelado', descripcion: 'Desistió' })
  })

  it('takes many, also from a file, and says of each that it could not', async () => {
    const [one, other, outgoing] = [await fresh(), await fresh(), await fresh()]
    await cli.comercio.api.simulador.avanzar(outgoing, { estado: 'recolectado' })
    const file = await write('codigos.txt', `${one}\n\n${outgoing} , 7K3M9QX2A1B4\n${other.toLowerCase()}\n${one}\n`)
    const { codigo, output, errores } = await guias(['cancelar', '--archivo', file, '--si'])
    expect([codigo, output]).toEqual([1, `${one}  cancelado\n${other}  cancelado\n`])
    expect(errores).toMatch(
      new RegExp(
        `^${outgoing} {2}La guía está en recolectado.*\\n7K3M9QX2A1B4 {2}«7K3M9QX2A1B4» no es el código ni la referencia`,
      ),
    )
    expect(errores).toMatch(/\n2 canceladas, 2 no\.\n$/)
    expect(await guias(['cancelar', '--archivo', file, one])).toMatchObject({ codigo: 2 })
    expect(await guias(['cancelar', '--archivo', '-', '--si'], { input: ' \n' })).toMatchObject({
      codigo: 2,
      errores: expect.stringContaining('La entrada no trae ningún código'),
    })
    expect(await guias(['cancelar'])).toMatchObject({ codigo: 2, errores: expect.stringContaining('Falta el código') })
  })

  it('takes references that differ only in letters that a code would not tell apart', async () => {
    const references = ['Pedido-O1', 'Pedido-01', 'pedido-01']
    const codes = await Promise.all(
      references.map(async (external_ref) => (await cli.comercio.api.guias.crear(buildGuia({ external_ref }))).guia),
    )
    const { codigo, output, errores } = await guias(['cancelar', ...references, '--si'])
    expect([codigo, output, errores]).toEqual([0, codes.map((code) => `${code}  cancelado\n`).join(''), ''])
  })

  describe.skipIf(!hasTerminal)('on a terminal', () => {
    const ask = async (guia: string) => {
      const child = launch([], { program: inTerminal(['cancelar', guia]), input: null })
      await waitUntil(async () => child.output.includes('[s/N]'))
      return child
    }
    it.each([
      ['s\n', 0, 'cancelado'],
      ['n\n', 130, 'aceptado'],
      ['\n', 130, 'aceptado'],
      ['\x04', 130, 'aceptado'],
      ['\x03', 130, 'aceptado'],
    ])('asks first; answered %j it ends with %i and the guide is %s', async (response, codigo, outcome) => {
      const guia = await fresh()
      const child = await ask(guia)
      child.child.stdin.write(response)
      expect(await child.fin).toBe(codigo)
      expect(child.output).toContain(`¿Cancelar la guía ${guia}? No se puede deshacer. [s/N]`)
      expect(await estado(guia)).toBe(outcome)
    })
  })
})
