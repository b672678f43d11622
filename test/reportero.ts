import { readdirSync, readFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import type { Reporter, TestModule } from 'vitest/node'
import { declarados } from './testigo.ts'

const ARGUMENTOS = process.argv.slice(2)
/** What `npm test` and `npm run test:completo` run: the tests without and with the tag. */
const FILTRO = /^--tags-filter=(!?)completo$/
const filtro = ARGUMENTOS.map((argumento) => FILTRO.exec(argumento)).find((hallado) => hallado)

/**
 * Ends a run with its slowest files and a plain line of its counts and, when everything of `npm test` was run, fails it
 * unless every answer that the contract declares was seen at least once.
 */
export default class Reportero implements Reporter {
  onTestRunEnd(modulos: readonly TestModule[]) {
    const pruebas = modulos
      .flatMap((modulo) => [...modulo.children.allTests()])
      // What belongs to the other command isn't skipped.
      .filter(({ tags }) => !filtro || tags.includes('completo') !== (filtro[1] === '!'))
    const contar = (estado: string) => pruebas.filter((prueba) => prueba.result().state === estado).length
    const faltan = esParcial() ? [] : noVistos()
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
    console.log(
      `\n${contar('passed')} passed, ${contar('failed') + faltan.length} failed, ${contar('skipped')} skipped`,
    )
  }
}

/** A run of some files or names, or of what is not in `npm test`, says nothing about the others. */
const esParcial = () =>
  filtro?.[1] === '' ||
  ARGUMENTOS.some((argumento) => argumento !== 'run' && !argumento.startsWith('--coverage') && !FILTRO.test(argumento))

function noVistos(): string[] {
  const carpeta = process.env.GUIAS_CARPETA ?? ''
  const vistos = new Set(
    readdirSync(carpeta)
      .filter((archivo) => archivo.startsWith('respuestas-'))
      .flatMap((archivo) => readFileSync(join(carpeta, archivo), 'utf8').split('\n')),
  )
  return declarados().filter((par) => !vistos.has(par))
}
