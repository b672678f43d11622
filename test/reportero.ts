import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import type { Reporter, TestModule } from 'vitest/node'
import { COUNTS_FILE, type Counts, lineOf } from '../scripts/tests/run.ts'
import { declarados } from './testigo.ts'

const ARGUMENTOS = process.argv.slice(2)
/** What `npm test` and `npm run test:completo` run: the tests without and with the tag. */
const FILTRO = /^--tags-filter=(!?)completo$/
const filtro = ARGUMENTOS.map((argumento) => FILTRO.exec(argumento)).find((hallado) => hallado)
/** Arguments that leave a run whole. */
const DE_UNA_ENTERA = /^(?:run|--(?:coverage|reporter|outputFile).*)$/

/**
 * Ends a run with its slowest files and its counts. Fails a whole run of `npm test` in which every test passed, if the
 * contract declares an answer that no test has seen.
 */
export default class Reportero implements Reporter {
  onTestRunEnd(modulos: readonly TestModule[]) {
    const pruebas = modulos
      .flatMap((modulo) => [...modulo.children.allTests()])
      // What belongs to the other command isn't skipped.
      .filter(({ tags }) => !filtro || tags.includes('completo') !== (filtro[1] === '!'))
    const contar = (estado: string) => pruebas.filter((prueba) => prueba.result().state === estado).length
    const fallidas = contar('failed')
    const faltan = esParcial() || fallidas > 0 ? [] : noVistos()
    if (faltan.length > 0) {
      process.exitCode = 1
      console.error(`\nThe contract declares answers that no test has seen:\n  ${faltan.join('\n  ')}`)
    }
    const lentos = modulos
      .map((modulo) => ({ archivo: relative('', modulo.moduleId), segundos: modulo.diagnostic().duration / 1_000 }))
      .sort((a, b) => b.segundos - a.segundos)
      .slice(0, 10)
    console.log('\nThe slowest files:')
    for (const { archivo, segundos } of lentos) console.log(`${segundos.toFixed(1).padStart(7)} s  ${archivo}`)
    const cuenta: Counts = { passed: contar('passed'), failed: fallidas + faltan.length, skipped: contar('skipped') }
    // The runner of `npm test` prints the line itself, after it has repeated the failed tests.
    const archivo = process.env[COUNTS_FILE]
    if (archivo) writeFileSync(archivo, JSON.stringify(cuenta))
    else console.log(`\n${lineOf(cuenta)}`)
  }
}

/** A run of some files or names, or of what is not in `npm test`, says nothing about the others. */
const esParcial = () =>
  filtro?.[1] === '' || ARGUMENTOS.some((argumento) => !DE_UNA_ENTERA.test(argumento) && !FILTRO.test(argumento))

function noVistos(): string[] {
  const carpeta = process.env.GUIAS_CARPETA ?? ''
  const vistos = new Set(
    readdirSync(carpeta)
      .filter((archivo) => archivo.startsWith('respuestas-'))
      .flatMap((archivo) => readFileSync(join(carpeta, archivo), 'utf8').split('\n')),
  )
  return declarados().filter((par) => !vistos.has(par))
}
