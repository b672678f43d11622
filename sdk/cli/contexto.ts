import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { ErrorGuias, Guias } from '@guias/sdk'
import type { Valores } from './argumentos.ts'
import { type Direccion, leerDireccion } from './direccion.ts'
import { decirError, whyAway } from './errores.ts'
import { type Contexto, ErrorDeUso, SALIDA } from './orden.ts'
import { porque } from './porque.ts'
import { avisar, limpio } from './terminal.ts'

/** Builds the context of a command: its arguments and options, the client and the signal. */
export function crearContexto(valores: Valores, posicionales: string[], dadas: readonly string[]): Contexto {
  const texto = <T extends string>(opcion: string) => valores[opcion] as T | undefined
  const llave = () => leerLlave(texto('llave-archivo'))
  const direccion = leerDireccion(valores)
  const { url, de } = direccion
  return {
    api: () => abrir(llave(), url, de, valores.json === true),
    cuenta: () => createHash('sha256').update(`${url} ${llave()}`).digest('hex').slice(0, 16),
    posicionales,
    dadas,
    texto,
    textos: <T extends string>(opcion: string) =>
      (valores[opcion] as string[] | undefined)?.flatMap((uno) => uno.split(',').map((parte) => parte.trim() as T)),
    si: (opcion) => valores[opcion] === true,
    json: valores.json === true,
    decirError: (error) => decirError(error, { direccion, dadas }),
    whyAway: (error) => whyAway(error, direccion),
    signal: interrupcion(),
  }
}

function abrir(llave: string, url: string, de: Direccion['de'], json: boolean): Guias {
  // Guides made with a live key are real. They must not go to an unknown program that listens on this machine.
  if (de === undefined && !llave.startsWith('guia_test_')) {
    throw new ErrorDeUso(
      'Falta la dirección del servicio: póngala en --url o en la variable GUIAS_URL. Solo con una llave de prueba, guia_test_…, se toma la de esta máquina.',
    )
  }
  try {
    return new Guias({
      llave,
      baseUrl: url,
      alAvisar: (aviso) => avisar(json ? JSON.stringify({ aviso }) : limpio(aviso)),
    })
  } catch (error) {
    if (!(error instanceof ErrorGuias)) throw error
    throw new ErrorDeUso(error.message.replace(/\bbaseUrl\b/g, de ?? '--url'))
  }
}

function leerLlave(archivo: string | undefined): string {
  if (archivo === undefined) {
    const llave = process.env.GUIAS_LLAVE?.trim()
    if (llave) return llave
    throw new ErrorDeUso('Falta su llave: póngala en la variable GUIAS_LLAVE, o en un archivo con --llave-archivo.')
  }
  let llave: string
  try {
    llave = readFileSync(archivo, 'utf8').trim()
  } catch (error) {
    throw new ErrorDeUso(`No se pudo leer la llave de ${archivo}: ${porque(error)}.`)
  }
  if (llave) return llave
  throw new ErrorDeUso(`${archivo} está vacío: debe llevar su llave, guia_test_… o guia_live_….`)
}

/**
 * Creates the signal that Ctrl-C (SIGINT) and SIGTERM abort. A second signal ends the process at once, with exit code
 * 130.
 */
function interrupcion(): AbortSignal {
  const corte = new AbortController()
  for (const senal of ['SIGINT', 'SIGTERM'] as const) {
    process.on(senal, () => {
      if (corte.signal.aborted) process.exit(SALIDA.interrumpida)
      corte.abort()
    })
  }
  return corte.signal
}
