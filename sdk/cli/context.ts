import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { ErrorGuias, Guias } from '@guias/sdk'
import { readAddress, type ServiceAddress } from './address.ts'
import type { OptionValues } from './arguments.ts'
import { explainSystemError } from './cause.ts'
import { type Context, EXIT_CODE, UsageError } from './command.ts'
import { describeError, describeOutage } from './errors.ts'
import { notify, sanitize } from './terminal.ts'

/** Builds the context of a command: its arguments and options, the client and the signal. */
export function createContext(values: OptionValues, positionals: string[], givenOptions: readonly string[]): Context {
  const texto = <T extends string>(option: string) => values[option] as T | undefined
  const llave = () => readLlave(texto('llave-archivo'))
  const direccion = readAddress(values)
  const { url, source: de } = direccion
  return {
    api: () => openClient(llave(), url, de, values.json === true),
    cuenta: () => createHash('sha256').update(`${url} ${llave()}`).digest('hex').slice(0, 16),
    positionals,
    givenOptions,
    texto,
    texts: <T extends string>(option: string) =>
      (values[option] as string[] | undefined)?.flatMap((entry) => entry.split(',').map((part) => part.trim() as T)),
    isSet: (option) => values[option] === true,
    json: values.json === true,
    describeError: (error) => describeError(error, { direccion, givenOptions }),
    whyAway: (error) => describeOutage(error, direccion),
    signal: createInterruptSignal(),
  }
}

function openClient(llave: string, url: string, de: ServiceAddress['source'], json: boolean): Guias {
  // Guides made with a live key are real. They must not go to an unknown program that listens on this machine.
  if (de === undefined && !llave.startsWith('guia_test_')) {
    throw new UsageError(
      'Falta la dirección del servicio: póngala en --url o en la variable GUIAS_URL. Solo con una llave de prueba, guia_test_…, se toma la de esta máquina.',
    )
  }
  try {
    return new Guias({
      llave,
      baseUrl: url,
      alAvisar: (aviso) => notify(json ? JSON.stringify({ aviso }) : sanitize(aviso)),
    })
  } catch (error) {
    if (!(error instanceof ErrorGuias)) throw error
    throw new UsageError(error.message.replace(/\bbaseUrl\b/g, de ?? '--url'))
  }
}

function readLlave(file: string | undefined): string {
  if (file === undefined) {
    const llave = process.env.GUIAS_LLAVE?.trim()
    if (llave) return llave
    throw new UsageError('Falta su llave: póngala en la variable GUIAS_LLAVE, o en un archivo con --llave-archivo.')
  }
  let llave: string
  try {
    llave = readFileSync(file, 'utf8').trim()
  } catch (error) {
    throw new UsageError(`No se pudo leer la llave de ${file}: ${explainSystemError(error)}.`)
  }
  if (llave) return llave
  throw new UsageError(`${file} está vacío: debe llevar su llave, guia_test_… o guia_live_….`)
}

/**
 * Creates the signal that Ctrl-C (SIGINT) and SIGTERM abort. A second signal ends the process at once, with exit code
 * 130.
 */
function createInterruptSignal(): AbortSignal {
  const controller = new AbortController()
  for (const signalName of ['SIGINT', 'SIGTERM'] as const) {
    process.on(signalName, () => {
      if (controller.signal.aborted) process.exit(EXIT_CODE.interrupted)
      controller.abort()
    })
  }
  return controller.signal
}
