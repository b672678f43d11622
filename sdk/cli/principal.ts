import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { type ParseArgsOptionsConfig, parseArgs } from 'node:util'
import {
  ErrorAbortado,
  ErrorApi,
  ErrorConexion,
  ErrorGuias,
  ErrorLimite,
  ErrorRespuesta,
  ErrorServicio,
  Guias,
  VERSION,
} from '@guias/sdk'
import { crear } from './crear.ts'
import { disparar } from './disparar.ts'
import { escuchar } from './escuchar.ts'
import { lote } from './lote.ts'
import { type Contexto, ErrorDeUso, type Orden, SALIDA, type Valores } from './orden.ts'
import { rastrear } from './rastrear.ts'
import { avisar, decir, pintarAviso } from './terminal.ts'

const ORDENES: Record<string, Orden> = { crear, lote, rastrear, escuchar, disparar }

const COMUNES: ParseArgsOptionsConfig = {
  'base-url': { type: 'string' },
  'llave-archivo': { type: 'string' },
  // Only to say that it isn't one: whoever else uses the machine sees the arguments, and the shell keeps them.
  llave: { type: 'string' },
  json: { type: 'boolean' },
  help: { type: 'boolean', short: 'h' },
}

const AYUDA_COMUN = `Opciones de todas las órdenes:
  --llave-archivo <ruta>   archivo con su llave; si falta, la variable GUIAS_LLAVE
  --base-url <url>         dirección del servicio; si falta, la variable GUIAS_URL, o http://127.0.0.1:3000
  --json                   escribe JSON, un objeto por línea
  -h, --help               esta ayuda

Termina con: 0 todo bien · 1 el servicio rechazó algo, o alguna guía falló · 2 la orden o sus datos no valen ·
3 no hubo respuesta, se puede repetir · 130 interrumpida con Ctrl-C`

const AYUDA = `guias ${VERSION}: guías de envío desde la terminal

Uso: guias <orden> [opciones]

Órdenes:
${Object.entries(ORDENES)
  .map(([nombre, { resumen }]) => `  ${nombre.padEnd(10)} ${resumen}`)
  .join('\n')}

«guias <orden> --help» explica cada una. «guias --version» da la versión.

${AYUDA_COMUN}`

async function principal([nombre, ...resto]: string[]): Promise<number> {
  if (nombre === undefined || nombre === '-h' || nombre === '--help') {
    if (nombre === undefined) avisar(AYUDA)
    else decir(AYUDA)
    return nombre === undefined ? SALIDA.uso : SALIDA.bien
  }
  if (nombre === '--version') {
    decir(VERSION)
    return SALIDA.bien
  }
  const orden = Object.hasOwn(ORDENES, nombre) ? ORDENES[nombre] : undefined
  if (!orden) throw new ErrorDeUso(`No conozco la orden «${nombre}». Las que hay: ${Object.keys(ORDENES).join(', ')}.`)
  if (resto.includes('--help') || resto.includes('-h')) {
    decir(`${orden.ayuda}\n\n${AYUDA_COMUN}`)
    return SALIDA.bien
  }
  return orden.ejecutar(contextoDe(nombre, orden, resto))
}

function contextoDe(nombre: string, orden: Orden, args: string[]): Contexto {
  const { values, positionals } = leer(nombre, orden, args)
  const [minimo, maximo] = orden.posicionales
  if (positionals.length < minimo) throw new ErrorDeUso(`Falta un argumento. Vea guias ${nombre} --help.`)
  if (positionals.length > maximo) {
    throw new ErrorDeUso(`Sobra «${positionals[maximo]}»: si lleva espacios, póngalo entre comillas.`)
  }
  if (values.llave !== undefined) {
    throw new ErrorDeUso(
      'La llave no se pasa como argumento, que otros usuarios de la máquina pueden ver: póngala en la variable GUIAS_LLAVE, o en un archivo con --llave-archivo.',
    )
  }
  const texto = (opcion: string) => values[opcion] as string | undefined
  const llave = () => leerLlave(texto('llave-archivo'))
  const baseUrl = texto('base-url') ?? (process.env.GUIAS_URL || undefined)
  return {
    api: () => new Guias({ llave: llave(), ...(baseUrl ? { baseUrl } : {}) }),
    cuenta: () => createHash('sha256').update(`${baseUrl} ${llave()}`).digest('hex').slice(0, 16),
    posicionales: positionals,
    texto,
    si: (opcion) => values[opcion] === true,
    json: values.json === true,
    signal: interrupcion(),
  }
}

function leer(nombre: string, orden: Orden, args: string[]): { values: Valores; positionals: string[] } {
  // A longitude is nearly always negative here, and is no option.
  const unidos = args.flatMap((arg, i) =>
    /^-\d/.test(arg) && args[i - 1]?.startsWith('--')
      ? []
      : /^--[^=]+$/.test(arg) && /^-\d/.test(args[i + 1] ?? '')
        ? [`${arg}=${args[i + 1]}`]
        : [arg],
  )
  try {
    return parseArgs({ args: unidos, options: { ...COMUNES, ...orden.opciones }, allowPositionals: true, strict: true })
  } catch (error) {
    const { code, message } = error as { code?: string; message: string }
    const cual = /'(-[^' =<]*)/.exec(message)?.[1] ?? ''
    const que = code === 'ERR_PARSE_ARGS_UNKNOWN_OPTION' ? 'No conozco la opción' : 'Le falta su valor, o le sobra, a'
    throw new ErrorDeUso(`${que} ${cual}. Vea guias ${nombre} --help.`)
  }
}

function leerLlave(archivo: string | undefined): string {
  if (archivo === undefined) {
    const llave = process.env.GUIAS_LLAVE?.trim()
    if (llave) return llave
    throw new ErrorDeUso('Falta su llave: póngala en la variable GUIAS_LLAVE, o en un archivo con --llave-archivo.')
  }
  try {
    return readFileSync(archivo, 'utf8').trim()
  } catch (error) {
    throw new ErrorDeUso(`No se pudo leer la llave de ${archivo}: ${(error as Error).message}`)
  }
}

/** The first asks for the end; who asks twice doesn't want to wait for it. */
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

function explicar(error: unknown, json: boolean): number {
  if (!(error instanceof ErrorDeUso || error instanceof ErrorGuias)) throw error
  if (json && error instanceof ErrorGuias) {
    const { name, message, intentos } = error
    const { codigo, status, idSolicitud, errores } = error as Partial<ErrorApi>
    avisar(
      JSON.stringify({ error: name, codigo, status, id_solicitud: idSolicitud, intentos, errores, mensaje: message }),
    )
  } else avisar(`${pintarAviso('rojo', 'Error:')} ${error.message}`)
  if (error instanceof ErrorAbortado) return SALIDA.interrumpida
  if (error instanceof ErrorConexion || error instanceof ErrorRespuesta) return SALIDA.conexion
  if (error instanceof ErrorServicio || error instanceof ErrorLimite) return SALIDA.conexion
  return error instanceof ErrorApi ? SALIDA.rechazo : SALIDA.uso
}

// Whoever reads only the beginning (`| head`) has closed the pipe, and that is no fault.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code === 'EPIPE') process.exit(SALIDA.bien)
  throw error
})
const args = process.argv.slice(2)
process.exitCode = await principal(args).catch((error: unknown) => explicar(error, args.includes('--json')))
