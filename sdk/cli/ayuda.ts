import { VERSION } from '@guias/sdk'
import { withRelativeDays } from '../src/generado/relativeDays.ts'
import type { Grupo, Opciones, Orden, Ordenes } from './orden.ts'

/** Width of the help text in columns. Every terminal has at least 80. */
const ANCHO = 80

export const esGrupo = (una: Orden | Grupo): una is Grupo => 'ordenes' in una

/** Options of every command that calls the service. */
const COMUNES: Opciones = {
  url: {
    valor: '<url>',
    dice: 'dirección del servicio; o la variable GUIAS_URL; si no, con una llave de prueba, la de esta máquina',
  },
  'llave-archivo': { valor: '<ruta>', dice: 'archivo con su llave; o la variable GUIAS_LLAVE' },
  json: { dice: 'escribe JSON, un objeto por línea' },
}
const AYUDA: Opciones = { help: { dice: 'esta ayuda' } }

/**
 * Returns all options of a command: its own, then the common options, then `--help`. Local commands have no common
 * options.
 */
export const opcionesDe = (orden: Orden): Opciones => ({ ...orden.opciones, ...(orden.local ? {} : COMUNES), ...AYUDA })

const TERMINA = `Termina con 0 si todo fue bien, 1 si el servicio rechazó algo, falló o no
contestó, 2 si la orden o sus datos no valen, y 130 si se interrumpe (Ctrl-C).`

/** Wraps a text at its spaces, so that each line has at most `ancho` characters. */
export function doblar(texto: string, ancho: number): string[] {
  const lineas: string[] = []
  let linea = ''
  for (const palabra of texto.split(' ')) {
    if (linea && linea.length + 1 + palabra.length > ancho) {
      lineas.push(linea)
      linea = palabra
    } else linea = linea ? `${linea} ${palabra}` : palabra
  }
  return [...lineas, linea]
}

/** Formats names and descriptions in two columns. A name that is too long has a line of its own. */
function columnas(filas: readonly (readonly [nombre: string, dice: string])[]): string {
  const sangria = Math.min(30, Math.max(...filas.map(([nombre]) => nombre.length)) + 4)
  return filas
    .flatMap(([nombre, dice]) => {
      const [primera = '', ...demas] = doblar(dice, ANCHO - sangria)
      const cabe = nombre.length + 4 <= sangria
      const inicio = cabe
        ? [`  ${nombre.padEnd(sangria - 2)}${primera}`]
        : [`  ${nombre}`, `${' '.repeat(sangria)}${primera}`]
      return [...inicio, ...demas.map((linea) => ' '.repeat(sangria) + linea)]
    })
    .join('\n')
}

const deOpciones = (opciones: Opciones) =>
  columnas(
    Object.entries(opciones).map(([nombre, { valor, dice }]) => [
      `${nombre === 'help' ? '-h, ' : ''}--${nombre}${valor ? ` ${valor}` : ''}`,
      dice,
    ]),
  )

const usos = (uso: readonly string[]) =>
  uso.map((forma, i) => `${i === 0 ? 'Uso: ' : '     '}guias ${forma}`).join('\n')

/** Wraps each paragraph to {@link ANCHO} columns. A paragraph with indented lines stays unchanged. */
const parrafos = (texto: string) =>
  texto
    .split('\n\n')
    .map((uno) => (/\n /.test(uno) || uno.startsWith(' ') ? uno : doblar(uno.replaceAll('\n', ' '), ANCHO).join('\n')))
    .join('\n\n')

/** Returns the present day by the machine's time zone, such as «2026-11-25». */
function today(): string {
  const now = new Date()
  return new Date(now.getTime() - now.getTimezoneOffset() * 60_000).toISOString().slice(0, '2026-11-25'.length)
}

/** Returns the help of one command. Its examples name days near today. */
export function ayudaDeOrden(orden: Orden): string {
  const { uso, explica, opciones, ejemplos = [], local } = orden
  return [
    usos(uso),
    parrafos(explica),
    ...(Object.keys(opciones).length > 0 ? [`Opciones:\n${deOpciones(opciones)}`] : []),
    `Opciones comunes:\n${deOpciones(local ? AYUDA : { ...COMUNES, ...AYUDA })}`,
    ...(ejemplos.length > 0
      ? [`Ejemplos:\n${ejemplos.map((uno) => `  guias ${withRelativeDays(uno, today())}`).join('\n')}`]
      : []),
    TERMINA,
  ].join('\n\n')
}

const listaDe = (ordenes: Ordenes) =>
  columnas(Object.entries(ordenes).map(([nombre, { resumen }]) => [nombre, resumen]))

/** Returns the help of a group: its description and its commands. */
export const ayudaDeGrupo = (nombre: string, { resumen, ordenes }: Grupo) =>
  `Uso: guias ${nombre} <orden> [opciones]

${resumen[0]?.toUpperCase()}${resumen.slice(1)}.

Órdenes:
${listaDe(ordenes)}

«guias ${nombre} <orden> --help» explica cada una.

${TERMINA}`

/** Returns the help of the whole program. */
export const ayudaDeTodo = (ordenes: Ordenes) => `guias ${VERSION}: guías de envío desde la terminal

Uso: guias <orden> [opciones]

Órdenes:
${listaDe(ordenes)}

«guias <orden> --help» explica cada una. «guias --version» da la versión.

Opciones comunes:
${deOpciones({ ...COMUNES, ...AYUDA })}

${TERMINA}`
