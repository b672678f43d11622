// The spelling of names in code (cspell.config.mjs).
import { spawn } from 'node:child_process'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import { expect, it } from 'vitest'
import { contractNames, pluralOf, splitName } from '../../scripts/spelling/contractNames.ts'
import { ROOT } from '../../server/platform/root.ts'

const folder = fileURLToPath(ROOT)

/** Returns the words that the check reports in the text of a file. */
async function reportedWords(path: string, source: string): Promise<string[]> {
  const args = ['node_modules/cspell/bin.mjs', 'lint', '--no-progress', '--no-summary', `stdin://${folder}${path}`]
  const child = spawn(process.execPath, args, { cwd: folder, env: { ...process.env, NO_COLOR: '1' } })
  child.stdin.end(source)
  return [...(await text(child.stdout)).matchAll(/word \((\S+)\)/g)].map(([, word]) => word!)
}

it('the check reports Spanish words, and words of the contract that name nothing', async () => {
  const source = `
    const suyos = 'algo suyo' // leído
    const otraGuia = 1, conjuntoDeGuias = 2, recurso = 3
    const guias = [creado_en, e_creado_en, enlace_corto_id]
    const hasLocation = ({ ubicacion }: LoteCreado) => ubicacion.leido_en !== null`
  expect(await reportedWords('server/planted.ts', source)).toEqual(['suyos', 'otra', 'conjunto', 'recurso'])
})

it('the check accepts the names that merchants read in the SDK alone', async () => {
  expect(await reportedWords('sdk/planted.ts', 'const recurso = new RecursoGuias(), suyos = 1')).toEqual(['suyos'])
})

it('names are those of the contract and of the Prisma schema, split into words', () => {
  expect(contractNames()).toEqual(
    expect.arrayContaining(['crearGuia', 'external_ref', 'LoteCreado', 'guia_indice', 'custodio', 'x-repetible']),
  )
  expect(splitName('LoteDeGuias')).toEqual(['lote', 'de', 'guias'])
  expect(splitName('guia_indice_2')).toEqual(['guia', 'indice'])
  expect(['guia', 'correccion'].map(pluralOf)).toEqual(['guias', 'correcciones'])
})
