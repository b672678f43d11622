import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Reporter, TestModule } from 'vitest/node'
import { declarados } from './testigo.ts'

/**
 * Ends a run with a plain line of its counts and, when everything was run, fails it unless every answer that the contract
 * declares was seen at least once.
 */
export default class Reportero implements Reporter {
  onTestRunEnd(modulos: readonly TestModule[]) {
    const pruebas = modulos.flatMap((modulo) => [...modulo.children.allTests()])
    const contar = (estado: string) => pruebas.filter((prueba) => prueba.result().state === estado).length
    const faltan = esParcial() ? [] : noVistos()
    if (faltan.length > 0) {
      process.exitCode = 1
      console.error(`\nThe contract declares answers that no test has seen:\n  ${faltan.join('\n  ')}`)
    }
    console.log(
      `\n${contar('passed')} passed, ${contar('failed') + faltan.length} failed, ${contar('skipped')} skipped`,
    )
  }
}

/** A run of some files or names says nothing about the others. */
const esParcial = () =>
  process.argv.slice(2).some((argumento) => argumento !== 'run' && !argumento.startsWith('--coverage'))

function noVistos(): string[] {
  const carpeta = process.env.GUIAS_COBERTURA ?? ''
  const vistos = new Set(
    readdirSync(carpeta)
      .filter((archivo) => archivo.startsWith('respuestas-'))
      .flatMap((archivo) => readFileSync(join(carpeta, archivo), 'utf8').split('\n')),
  )
  return declarados().filter((par) => !vistos.has(par))
}
