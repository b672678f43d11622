/** The console: merchants, keys and operators of the same database as the service, whether it runs or not. */
import { parseArgs } from 'node:util'
import { cargarContrato, crearDeps } from '../server/app.ts'
import { clavesDeLaCasa } from '../server/claves.ts'
import { crearComercio } from '../server/comercios/crear.ts'
import { listarComercios } from '../server/comercios/listar.ts'
import { ErrorConfig, leerConfig } from '../server/config.ts'
import type { Alcance, Modo } from '../server/contrato/generado/tipos/index.ts'
import { abrirDb } from '../server/db.ts'
import type { Deps } from '../server/deps.ts'
import { Problema } from '../server/errores.ts'
import { crearLlave } from '../server/llaves/crear.ts'
import { listarLlaves } from '../server/llaves/listar.ts'
import { revocarLlave } from '../server/llaves/revocar.ts'
import { rotarLlave } from '../server/llaves/rotar.ts'
import { crearLog } from '../server/log.ts'
import { ErrorDeMigracion, migrar } from '../server/migraciones.ts'
import { crearOperador } from '../server/operadores/operador.ts'
import { ErrorPostgresEmbebido, tomarPostgres } from '../server/postgresEmbebido.ts'

const AYUDA = `Uso: npm run --silent admin -- <comando> [opciones] [--json]

  comercios crear  --nombre "Tienda La Ceiba"
  comercios listar
  llaves crear     --comercio com_… --modo test|live [--alcances guias:leer,guias:escribir] [--vence 2027-01-31T06:00:00Z]
  llaves listar    --comercio com_…
  llaves rotar     --llave llave_… [--solapamiento 24]      horas, de 0 a 168
  llaves revocar   --llave llave_…
  operadores crear --nombre "Central"

Usa la misma base que el servicio (DATABASE_URL, o la embebida de DATA_DIR), esté en marcha o no.
--alcances omitido: todos. --vence omitido: no vence. --json: la respuesta como JSON en una línea.`

/** What was typed is wrong: said with the help, exit code 2. */
class ErrorDeUso extends Error {}

const OPCIONES = ['nombre', 'comercio', 'modo', 'alcances', 'vence', 'llave', 'solapamiento'] as const
type Opciones = Partial<Record<(typeof OPCIONES)[number], string>>

const exigir = (opciones: Opciones, nombre: keyof Opciones): string => {
  const valor = opciones[nombre]?.trim()
  if (!valor) throw new ErrorDeUso(`Falta --${nombre}.`)
  return valor
}

/** The operations' own handlers do the work, so that the console and the API can't drift apart. */
const comoOperador = (deps: Deps) => ({
  ...deps,
  identidad: { operadorId: '', operador: 'consola', llave: '' },
  idSolicitud: 'consola',
})

/** Every page of a list. */
async function todas<Dato>(
  pagina: (cursor?: string) => Promise<{ datos: Dato[]; cursor_siguiente: string | null }>,
): Promise<Dato[]> {
  const datos: Dato[] = []
  for (let cursor: string | null | undefined; cursor !== null; ) {
    const leida = await pagina(cursor)
    datos.push(...leida.datos)
    cursor = leida.cursor_siguiente
  }
  return datos
}

const COMANDOS: Record<string, (deps: Deps, opciones: Opciones) => Promise<unknown>> = {
  async 'comercios crear'(deps, opciones) {
    const body = { nombre: exigir(opciones, 'nombre') }
    deps.validacion.exigirCuerpo('crearComercio', body)
    return (await crearComercio({ path: undefined, query: undefined, body }, comoOperador(deps))).body
  },
  'comercios listar': (deps) =>
    todas(async (cursor) => {
      const query = { limite: 100, ...(cursor ? { cursor } : {}) }
      return (await listarComercios({ path: undefined, query, body: undefined }, comoOperador(deps))).body as never
    }),
  async 'llaves crear'(deps, opciones) {
    const body = {
      modo: exigir(opciones, 'modo') as Modo,
      ...(opciones.alcances ? { alcances: opciones.alcances.split(',').map((a) => a.trim()) as Alcance[] } : {}),
      ...(opciones.vence ? { vence_en: opciones.vence } : {}),
    }
    deps.validacion.exigirCuerpo('crearLlave', body)
    return (
      await crearLlave({ path: { comercio: exigir(opciones, 'comercio') }, query: undefined, body }, comoOperador(deps))
    ).body
  },
  'llaves listar': (deps, opciones) =>
    todas(async (cursor) => {
      const query = { limite: 100, ...(cursor ? { cursor } : {}) }
      const path = { comercio: exigir(opciones, 'comercio') }
      return (await listarLlaves({ path, query, body: undefined }, comoOperador(deps))).body as never
    }),
  async 'llaves rotar'(deps, opciones) {
    const body = opciones.solapamiento === undefined ? {} : { solapamiento_horas: Number(opciones.solapamiento) }
    deps.validacion.exigirCuerpo('rotarLlave', body)
    return (
      await rotarLlave({ path: { llave: exigir(opciones, 'llave') }, query: undefined, body }, comoOperador(deps))
    ).body
  },
  'llaves revocar': async (deps, opciones) =>
    (
      await revocarLlave(
        { path: { llave: exigir(opciones, 'llave') }, query: undefined, body: undefined },
        comoOperador(deps),
      )
    ).body,
  async 'operadores crear'(deps, opciones) {
    const body = { nombre: exigir(opciones, 'nombre') }
    deps.validacion.exigirCuerpo('crearComercio', body)
    return crearOperador(deps.db, deps.nuevoId(), body.nombre.normalize('NFC'))
  },
}

function leerLinea(args: string[]) {
  const opciones = Object.fromEntries(OPCIONES.map((nombre) => [nombre, { type: 'string' as const }]))
  const { values, positionals } = parseArgs({
    args,
    allowPositionals: true,
    options: { ...opciones, json: { type: 'boolean' }, ayuda: { type: 'boolean' }, help: { type: 'boolean' } },
  })
  const [grupo = '', verbo = '', objeto, ...sobran] = positionals
  if (values.help || values.ayuda || grupo === '') return undefined
  const comando = COMANDOS[`${grupo} ${verbo}`]
  if (!comando) throw new ErrorDeUso(`No existe el comando «${`${grupo} ${verbo}`.trim()}».`)
  if (sobran.length > 0) throw new ErrorDeUso(`Sobra «${sobran.join(' ')}».`)
  const dadas = values as Opciones & { json?: boolean }
  // `llaves revocar llave_…` reads as well as `--llave llave_…`.
  return {
    comando,
    opciones: objeto ? { llave: objeto, comercio: objeto, ...dadas } : dadas,
    json: dadas.json ?? false,
  }
}

/** Opens the service's database; `cerrar` leaves it as it was found. */
async function abrir(): Promise<{ deps: Deps; cerrar: () => Promise<void> }> {
  const config = leerConfig(process.env, process.cwd())
  const postgres =
    config.baseDeDatos.tipo === 'embebida'
      ? await tomarPostgres({ dataDir: config.dataDir, exclusivo: false })
      : undefined
  const url = config.baseDeDatos.tipo === 'externa' ? config.baseDeDatos.url : postgres!.url
  await migrar(url)
  const db = abrirDb(url, { conexiones: 2 })
  const deps = crearDeps(await cargarContrato(), {
    db,
    log: crearLog('silent'),
    masterKeys: config.masterKeys ?? (await clavesDeLaCasa(config.dataDir)),
    salud: async () => ({ ok: true, base_de_datos: true, cola: true, migraciones: true }),
    avisarTrabajo: () => {},
  })
  return {
    deps,
    async cerrar() {
      await db.cerrar()
      await postgres?.soltar()
    },
  }
}

function mostrar(resultado: unknown, json: boolean) {
  if (json) return console.log(JSON.stringify(resultado))
  if (Array.isArray(resultado)) return resultado.length > 0 ? console.table(resultado) : console.log('No hay ninguno.')
  for (const [clave, valor] of Object.entries(resultado as object))
    console.log(`${clave.padEnd(12)} ${Array.isArray(valor) ? valor.join(', ') : (valor ?? '—')}`)
}

function explicar(error: unknown): { texto: string; codigo: number } {
  if (error instanceof ErrorDeUso || (error as { code?: string }).code?.startsWith('ERR_PARSE_ARGS')) {
    return { texto: `${(error as Error).message}\n\n${AYUDA}`, codigo: 2 }
  }
  if (error instanceof Problema) {
    const fallas = (error.detalles.errores ?? []).map(
      ({ campo, mensaje }) => `\n  ${campo.replace(/^\//, '')}: ${mensaje}`,
    )
    return { texto: error.message + fallas.join(''), codigo: 1 }
  }
  if (error instanceof ErrorConfig || error instanceof ErrorPostgresEmbebido || error instanceof ErrorDeMigracion)
    return { texto: error.message, codigo: 1 }
  return { texto: error instanceof Error ? (error.stack ?? error.message) : String(error), codigo: 1 }
}

let cerrar = async () => {}
try {
  const linea = leerLinea(process.argv.slice(2))
  if (!linea) console.log(AYUDA)
  else {
    const abierto = await abrir()
    cerrar = abierto.cerrar
    mostrar(await linea.comando(abierto.deps, linea.opciones), linea.json)
  }
} catch (error) {
  const { texto, codigo } = explicar(error)
  process.stderr.write(`${texto}\n`)
  process.exitCode = codigo
} finally {
  await cerrar()
}
