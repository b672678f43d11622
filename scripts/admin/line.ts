import { parseArgs } from 'node:util'
import { dayIn } from '../../server/platform/time/day.ts'
import { withRelativeDays } from '../../server/platform/time/relativeDays.ts'
import { type ConsoleOption, type ConsoleOptions, OPTION_NAMES } from './command.ts'
import { COMMANDS } from './commands.ts'
import { CommandLineError } from './error.ts'

/** Help text of the console, in Spanish. Its days are relative: `0001-01-01` is today. */
const HELP = `Uso: npm run --silent admin -- <comando> [opciones] [--json]

  estado                                                    lo que espera y lo que falla, en una pantalla; termina con 1 si algo falla
  comercios crear  --nombre "Tienda La Ceiba" [--pais GT] [--estricto sí|no] [--ritmos 50,100] [--evidencia 1,obligatoria,opcional] [--politica-de-intentos 3,1,5,devolver,no]
  comercios cambiar --comercio com_… [--nombre …] [--pais GT|ninguno] [--estricto sí|no] [--ritmos 50,100] [--evidencia 1,obligatoria,opcional] [--politica-de-intentos 3,1,5,devolver,no]
  comercios listar
  llaves crear     --comercio com_… --modo test|live [--alcances guias:leer,guias:escribir] [--vence 0001-04-01T06:00:00Z] [--redes 203.0.113.0/24,2001:db8::/48]
  llaves crear     --operador op_… [--alcances ver,operar] [--vence …] [--redes …]
  llaves listar    --comercio com_… | --operador op_…
  llaves rotar     --llave llave_… [--solapamiento 24]      horas, de 0 a 168
  llaves revocar   --llave llave_…
  operadores crear --nombre "Central" [--alcances ver,operar,caja,administrar] [--vence …] [--redes …]
                                                            con su primera llave
  operadores listar
  operadores revocar --operador op_…                        con él, todas sus llaves
  repartidores crear      --nombre "Carlos Méndez" [--telefono +50255551234]
  repartidores listar
  repartidores codigo     --repartidor rep_…                 otro código; el anterior y sus sesiones dejan de valer
  repartidores desactivar --repartidor rep_…                 «codigo» lo activa otra vez
  bitacora listar  [--quien op_…] [--accion revocarLlave] [--sobre wh_…] [--comercio com_…] [--desde 0000-12-31T06:00:00Z] [--hasta …]
                                                            las 100 líneas más recientes
  bitacora verificar [--desde …] [--hasta …]                  si alguien cambió, quitó o agregó líneas o eventos; termina con 1 si las hay
  persona exportar --telefono +50255551234 [--comercio com_…] [--carpeta expediente]
  persona exportar --guia 7K3M9QX2A1B4 [--carpeta expediente]
                                                            todo lo guardado de ese teléfono, o en esa guía, en JSON; con --carpeta
                                                            copia sus archivos
  persona olvidar  --telefono +50255551234 [--comercio com_…] [--si]
                                                            lo borra de las guías terminadas; termina con 1 si quedan guías en curso
  persona olvidar  --guia 7K3M9QX2A1B4 [--si]               borra a todos los que nombra la guía: un vecino, quien recibió
  personas invitar --correo ana@ejemplo.com --nombre "Ana Pérez" [--comercio com_…] [--alcances ver,operar | despacho]
                                                            le manda un enlace de 24 horas, y lo muestra; sin --alcances, todos
  personas listar                                           quiénes entran con su correo
  personas quitar   --membresia mem_…                        sale de la empresa o del comercio; sus sesiones allí terminan
  personas restablecer --persona per_… [--si]                quita su segundo factor, para quien perdió el teléfono
  personas eliminar --persona per_… [--si]                   borra su correo, su nombre y todo con lo que entra
  respaldo crear     --archivo guias.respaldo --clave /ruta/clave.txt
                                                            la base embebida y los archivos, cifrados, con el servicio en marcha o no
  respaldo restaurar --archivo guias.respaldo --clave /ruta/clave.txt --carpeta datos-nuevos
  respaldo restaurar --archivo BACKUP_DIR --clave /ruta/clave.txt --carpeta datos-nuevos [--hasta 0000-12-31T00:00:00-06:00]
                                                            en una carpeta vacía, que será el DATA_DIR
  respaldo probar    --clave /ruta/clave.txt                  restaura aparte el de BACKUP_DIR, o uno que hace, destruye esa copia
                                                            en marcha, la restaura y la compara; termina con 1 si difiere
  correos probar   --para ana@ejemplo.com                     le manda un correo, para ver si SMTP_URL sirve
  correos rebote   --archivo rebote.eml | /dev/stdin          anota qué correo rebotó, según el informe que llegó a MAIL_FROM

Usa la misma base que el servicio (DATABASE_URL, o la embebida de DATA_DIR), esté en marcha o no.
--pais: el de los teléfonos sin «+». --estricto: si se rechazan los lugares inverosímiles.
--ritmos: solicitudes y guías por segundo de cada llave suya.
--evidencia: qué piden sus entregas: fotos por lo menos (1 a 10), firma (obligatoria|opcional|no), documento (no|opcional|obligatoria).
--politica-de-intentos: cuántos se hacen, días entre uno y otro, días para decidir, qué pasa si nadie decide (devolver|esperar) y si
  también decide quien recibe (sí|no; sin decirlo, queda como estaba).
--alcances omitido: todos. --vence omitido: no vence. --redes omitido: desde cualquiera. --json: la respuesta como JSON en una línea. --si: sin preguntar.`

/** Returns the help text of the console, with days near today. */
export const renderHelp = (): string =>
  withRelativeDays(HELP, dayIn(new Date(), Intl.DateTimeFormat().resolvedOptions().timeZone))

/**
 * Parses and checks a command line, without access to the database. Returns undefined for `--help` or an empty line.
 * @throws {CommandLineError} if the command or an option is unknown or missing
 */
export function parseLine(args: string[]) {
  const { values, positionals } = splitArguments(args)
  const [group = '', verb = '', ...objects] = positionals
  if (values.help || values.ayuda || group === '') return undefined
  const operadorCommand = values.operador === undefined ? undefined : COMMANDS[`${group} ${verb} --operador`]
  const command = operadorCommand ?? COMMANDS[`${group} ${verb}`.trim()]
  if (!command) throw new CommandLineError(`No existe el comando «${`${group} ${verb}`.trim()}».`)
  const { json, ayuda: _1, help: _2, si: isConfirmed, ...givenOptions } = values
  const opciones: ConsoleOptions = { ...givenOptions, ...(isConfirmed && { si: 'sí' }) }
  if (command.object && objects.length === 1 && opciones[command.object] === undefined)
    opciones[command.object] = objects.pop()!
  if (objects.length > 0) throw new CommandLineError(`Sobra «${objects.join(' ')}».`)
  for (const option of Object.keys(opciones) as ConsoleOption[]) {
    if (![...command.requires, ...(command.allows ?? [])].includes(option))
      throw new CommandLineError(`«${group} ${verb}» no lleva --${option}.`)
  }
  for (const option of command.requires)
    if (opciones[option] === undefined) throw new CommandLineError(`Falta --${option}.`)
  return { command, opciones, json: json === true }
}

function splitArguments(args: string[]) {
  const textOptions = Object.fromEntries(OPTION_NAMES.map((name) => [name, { type: 'string' }])) as Record<
    (typeof OPTION_NAMES)[number],
    { type: 'string' }
  >
  try {
    const flag = { type: 'boolean' } as const
    const flags = { json: flag, ayuda: flag, help: flag, si: flag }
    return parseArgs({ args, allowPositionals: true, options: { ...textOptions, ...flags } })
  } catch (error) {
    const { code, message } = error as { code?: string; message: string }
    const [option = '?'] = /--?[\w-]+/.exec(message) ?? []
    if (code === 'ERR_PARSE_ARGS_UNKNOWN_OPTION') throw new CommandLineError(`No existe ${option}.`)
    if (code === 'ERR_PARSE_ARGS_INVALID_OPTION_VALUE')
      throw new CommandLineError(`El valor de ${option} falta o sobra.`)
    throw error
  }
}
