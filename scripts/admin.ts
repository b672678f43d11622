/** The console: merchants, keys, operators and couriers of the same database as the service, whether it runs or not. */
import { parseArgs } from 'node:util'
import { almacenDe } from '../server/archivos/abrir.ts'
import { ErrorDeClaves } from '../server/arranque/clavesMaestras.ts'
import { crearDeps } from '../server/arranque/crearDeps.ts'
import { Deshacer } from '../server/arranque/deshacer.ts'
import { ErrorDeMigracion } from '../server/arranque/migraciones.ts'
import { levantarBase } from '../server/arranque/plataforma.ts'
import { Vida } from '../server/arranque/vida.ts'
import { crearComercio } from '../server/comercios/crear.ts'
import { listarComercios } from '../server/comercios/listar.ts'
import { ErrorConfig, leerConfig } from '../server/config/config.ts'
import { cargarContrato } from '../server/contrato/cargar.ts'
import type { Alcance, LlaveCreada, Modo } from '../server/contrato/generado/tipos/index.ts'
import { abrirDb } from '../server/db.ts'
import type { DepsDeOperacion } from '../server/deps.ts'
import { explicarBase, Problema } from '../server/errores.ts'
import { crearLlave } from '../server/llaves/crear.ts'
import { listarLlaves } from '../server/llaves/listar.ts'
import { revocarLlave } from '../server/llaves/revocar.ts'
import { rotarLlave } from '../server/llaves/rotar.ts'
import { crearLog } from '../server/log.ts'
import { crearOperador } from '../server/operadores/operador.ts'
import { ErrorPostgresEmbebido } from '../server/postgresEmbebido/postgresEmbebido.ts'
import { crearRepartidor } from '../server/repartidores/crear.ts'
import { desactivarRepartidor } from '../server/repartidores/desactivar.ts'
import { listarRepartidores } from '../server/repartidores/listar.ts'
import { renovarCodigo } from '../server/repartidores/renovarCodigo.ts'

const AYUDA = `Uso: npm run --silent admin -- <comando> [opciones] [--json]

  comercios crear  --nombre "Tienda La Ceiba"
  comercios listar
  llaves crear     --comercio com_… --modo test|live [--alcances guias:leer,guias:escribir] [--vence 2027-01-31T06:00:00Z]
  llaves listar    --comercio com_…
  llaves rotar     --llave llave_… [--solapamiento 24]      horas, de 0 a 168
  llaves revocar   --llave llave_…
  operadores crear --nombre "Central"
  repartidores crear      --nombre "Carlos Méndez" [--telefono +50255551234]
  repartidores listar
  repartidores codigo     --repartidor rep_…                 otro código; el anterior y sus sesiones dejan de valer
  repartidores desactivar --repartidor rep_…                 «codigo» lo activa otra vez

Usa la misma base que el servicio (DATABASE_URL, o la embebida de DATA_DIR), esté en marcha o no.
--alcances omitido: todos. --vence omitido: no vence. --json: la respuesta como JSON en una línea.`

/** What was typed is wrong: said with the help, exit code 2. */
class ErrorDeUso extends Error {}

const OPCIONES = [
  'nombre',
  'comercio',
  'modo',
  'alcances',
  'vence',
  'llave',
  'solapamiento',
  'telefono',
  'repartidor',
] as const
type Opcion = (typeof OPCIONES)[number]
type Opciones = Partial<Record<Opcion, string>>

interface Comando {
  exige: readonly Opcion[]
  admite?: readonly Opcion[]
  /** `llaves revocar llave_…` reads as well as `--llave llave_…`. */
  objeto?: Opcion
  ejecutar: (deps: DepsDeOperacion, opciones: Opciones) => Promise<unknown>
}

/** Which option a field of the operation came from. */
const DE_CAMPO: Record<string, Opcion> = { vence_en: 'vence', solapamiento_horas: 'solapamiento' }
const DE_CODIGO: Record<string, Opcion> = {
  comercio_desconocido: 'comercio',
  llave_desconocida: 'llave',
  llave_inactiva: 'llave',
  repartidor_desconocido: 'repartidor',
}

/** The console is an operator: the operations' own handlers do its work, so that the two can't drift apart. */
const CONSOLA = {
  path: undefined,
  query: undefined,
  body: undefined,
  identidad: { operadorId: '', operador: 'consola', llave: '' },
  idSolicitud: 'consola',
  red: '',
  soloCabeceras: false,
}

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

/** The members that the console's interface fixes for a new key. */
const nueva = ({ creado_en: _1, revocado_en: _2, ...llave }: LlaveCreada) => llave

const COMANDOS: Record<string, Comando> = {
  'comercios crear': {
    exige: ['nombre'],
    async ejecutar(deps, { nombre = '' }) {
      const body = { nombre }
      deps.validacion.exigirCuerpo('crearComercio', body)
      return (await crearComercio({ ...CONSOLA, body }, deps)).body
    },
  },
  'comercios listar': {
    exige: [],
    ejecutar: (deps) =>
      todas(async (cursor) => {
        const query = { limite: 100, ...(cursor ? { cursor } : {}) }
        return (await listarComercios({ ...CONSOLA, query }, deps)).body as never
      }),
  },
  'llaves crear': {
    exige: ['comercio', 'modo'],
    admite: ['alcances', 'vence'],
    async ejecutar(deps, { comercio = '', modo, alcances, vence }) {
      const body = {
        modo: modo as Modo,
        ...(alcances === undefined ? {} : { alcances: alcances.split(',').map((a) => a.trim()) as Alcance[] }),
        ...(vence === undefined ? {} : { vence_en: vence }),
      }
      deps.validacion.exigirCuerpo('crearLlave', body)
      const creada = (await crearLlave({ ...CONSOLA, path: { comercio }, body }, deps)).body as LlaveCreada
      const { creado_en: _1, revocado_en: _2, ...llave } = creada
      return llave
    },
  },
  'llaves listar': {
    exige: ['comercio'],
    objeto: 'comercio',
    ejecutar: (deps, { comercio = '' }) =>
      todas(async (cursor) => {
        const query = { limite: 100, ...(cursor ? { cursor } : {}) }
        return (await listarLlaves({ ...CONSOLA, path: { comercio }, query }, deps)).body as never
      }),
  },
  'llaves rotar': {
    exige: ['llave'],
    admite: ['solapamiento'],
    objeto: 'llave',
    async ejecutar(deps, { llave = '', solapamiento }) {
      const horas = /^\d{1,6}$/.test(solapamiento ?? '') ? Number(solapamiento) : (solapamiento as unknown as number)
      const body = solapamiento === undefined ? {} : { solapamiento_horas: horas }
      deps.validacion.exigirCuerpo('rotarLlave', body)
      return nueva((await rotarLlave({ ...CONSOLA, path: { llave }, body }, deps)).body as LlaveCreada)
    },
  },
  'llaves revocar': {
    exige: ['llave'],
    objeto: 'llave',
    ejecutar: async (deps, { llave = '' }) => (await revocarLlave({ ...CONSOLA, path: { llave } }, deps)).body,
  },
  'operadores crear': {
    exige: ['nombre'],
    async ejecutar(deps, { nombre = '' }) {
      deps.validacion.exigirCuerpo('crearComercio', { nombre })
      return crearOperador(deps.db, deps.nuevoId(), nombre.normalize('NFC'))
    },
  },
  'repartidores crear': {
    exige: ['nombre'],
    admite: ['telefono'],
    async ejecutar(deps, { nombre = '', telefono }) {
      const body = { nombre: nombre.normalize('NFC'), ...(telefono === undefined ? {} : { telefono }) }
      deps.validacion.exigirCuerpo('crearRepartidor', body)
      return (await crearRepartidor({ ...CONSOLA, body }, deps)).body
    },
  },
  'repartidores listar': {
    exige: [],
    ejecutar: (deps) =>
      todas(async (cursor) => {
        const query = { limite: 100, ...(cursor ? { cursor } : {}) }
        return (await listarRepartidores({ ...CONSOLA, query }, deps)).body as never
      }),
  },
  'repartidores codigo': {
    exige: ['repartidor'],
    objeto: 'repartidor',
    ejecutar: async (deps, { repartidor = '' }) =>
      (await renovarCodigo({ ...CONSOLA, path: { repartidor } }, deps)).body,
  },
  'repartidores desactivar': {
    exige: ['repartidor'],
    objeto: 'repartidor',
    ejecutar: async (deps, { repartidor = '' }) =>
      (await desactivarRepartidor({ ...CONSOLA, path: { repartidor } }, deps)).body,
  },
}

/** All that can be said of a line before anything is opened. */
function leerLinea(args: string[]) {
  const { values, positionals } = separar(args)
  const [grupo = '', verbo = '', ...objetos] = positionals
  if (values.help || values.ayuda || grupo === '') return undefined
  const comando = COMANDOS[`${grupo} ${verbo}`]
  if (!comando) throw new ErrorDeUso(`No existe el comando «${`${grupo} ${verbo}`.trim()}».`)
  const { json, ayuda: _1, help: _2, ...dadas } = values
  const opciones: Opciones = { ...dadas }
  if (comando.objeto && objetos.length === 1 && opciones[comando.objeto] === undefined)
    opciones[comando.objeto] = objetos.pop()!
  if (objetos.length > 0) throw new ErrorDeUso(`Sobra «${objetos.join(' ')}».`)
  for (const opcion of Object.keys(opciones) as Opcion[]) {
    if (![...comando.exige, ...(comando.admite ?? [])].includes(opcion))
      throw new ErrorDeUso(`«${grupo} ${verbo}» no lleva --${opcion}.`)
  }
  for (const opcion of comando.exige) if (opciones[opcion] === undefined) throw new ErrorDeUso(`Falta --${opcion}.`)
  return { comando, opciones, json: json === true }
}

function separar(args: string[]) {
  const textos = Object.fromEntries(OPCIONES.map((nombre) => [nombre, { type: 'string' }])) as Record<
    Opcion,
    { type: 'string' }
  >
  try {
    const banderas = { json: { type: 'boolean' }, ayuda: { type: 'boolean' }, help: { type: 'boolean' } } as const
    return parseArgs({ args, allowPositionals: true, options: { ...textos, ...banderas } })
  } catch (error) {
    const { code, message } = error as { code?: string; message: string }
    const [opcion = '?'] = /--?[\w-]+/.exec(message) ?? []
    if (code === 'ERR_PARSE_ARGS_UNKNOWN_OPTION') throw new ErrorDeUso(`No existe ${opcion}.`)
    if (code === 'ERR_PARSE_ARGS_INVALID_OPTION_VALUE') throw new ErrorDeUso(`El valor de ${opcion} falta o sobra.`)
    throw error
  }
}

/** Opens the service's database for one piece of work, and leaves it as it was found, however that ends. */
async function conDeps<T>(hacer: (deps: DepsDeOperacion) => Promise<T>): Promise<T> {
  const config = leerConfig(process.env, process.cwd())
  const log = crearLog('silent')
  const { validacion } = await cargarContrato()
  const deshacer = new Deshacer(log)
  try {
    const { databaseUrl, masterKeys } = await levantarBase(config, deshacer, false)
    const db = abrirDb(databaseUrl, { conexiones: 2 })
    deshacer.al(() => db.cerrar())
    const almacen = almacenDe(config.dataDir)
    const deps = crearDeps(config, { db, masterKeys, almacen, log, vida: new Vida(log, false), urlPublica: '' })
    return await hacer({ ...deps, validacion })
  } finally {
    await deshacer.todo()
  }
}

function mostrar(resultado: unknown, json: boolean) {
  if (json) return console.log(JSON.stringify(resultado))
  if (Array.isArray(resultado)) return resultado.length > 0 ? console.table(resultado) : console.log('No hay ninguno.')
  for (const [clave, valor] of Object.entries(resultado as object))
    console.log(`${clave.padEnd(12)} ${Array.isArray(valor) ? valor.join(', ') : (valor ?? '—')}`)
}

function explicar(error: unknown): { texto: string; codigo: number } {
  if (error instanceof ErrorDeUso) return { texto: `${error.message}\n\n${AYUDA}`, codigo: 2 }
  if (error instanceof Problema) {
    const fallas = (error.detalles.errores ?? []).map(({ campo, mensaje }) => {
      const [, nombre = ''] = campo.split('/')
      return `--${DE_CAMPO[nombre] ?? nombre}: ${mensaje}`
    })
    const opcion = DE_CODIGO[error.codigo]
    return {
      texto: fallas.length > 0 ? fallas.join('\n') : `${opcion ? `--${opcion}: ` : ''}${error.message}`,
      codigo: 1,
    }
  }
  const conocido = [ErrorConfig, ErrorDeClaves, ErrorPostgresEmbebido, ErrorDeMigracion].some(
    (clase) => error instanceof clase,
  )
  const texto = conocido ? (error as Error).message : explicarBase(error)
  return { texto: texto ?? (error instanceof Error ? (error.stack ?? error.message) : String(error)), codigo: 1 }
}

try {
  const linea = leerLinea(process.argv.slice(2))
  if (linea) mostrar(await conDeps((deps) => linea.comando.ejecutar(deps, linea.opciones)), linea.json)
  else console.log(AYUDA)
} catch (error) {
  const { texto, codigo } = explicar(error)
  process.stderr.write(`${texto}\n`)
  process.exitCode = codigo
}
