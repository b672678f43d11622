import { buscarEnBitacora } from '../../server/domain/bitacora/buscar.ts'
import { type VerificationResult, verifyChains } from '../../server/domain/bitacora/verificar.ts'
import { cambiarComercio } from '../../server/domain/comercios/cambiar.ts'
import { crearComercio } from '../../server/domain/comercios/crear.ts'
import { listarComercios } from '../../server/domain/comercios/listar.ts'
import type { OperacionDeps } from '../../server/domain/deps.ts'
import { parseExpiry, readNetworks } from '../../server/domain/identities/llave.ts'
import { crearLlave } from '../../server/domain/llaves/crear.ts'
import { crearLlaveDeOperador } from '../../server/domain/llaves/crearDeOperador.ts'
import { listarLlaves } from '../../server/domain/llaves/listar.ts'
import { listarLlavesDeOperador } from '../../server/domain/llaves/listarDeOperador.ts'
import { revocarLlave } from '../../server/domain/llaves/revocar.ts'
import { rotarLlave } from '../../server/domain/llaves/rotar.ts'
import { crearOperador } from '../../server/domain/operadores/crear.ts'
import { listarOperadores } from '../../server/domain/operadores/listar.ts'
import { revocarOperador } from '../../server/domain/operadores/revocar.ts'
import { crearRepartidor } from '../../server/domain/repartidores/crear.ts'
import { desactivarRepartidor } from '../../server/domain/repartidores/desactivar.ts'
import { listarRepartidores } from '../../server/domain/repartidores/listar.ts'
import { renovarCodigo } from '../../server/domain/repartidores/renovarCodigo.ts'
import { obtenerServicio } from '../../server/domain/salud/obtenerServicio.ts'
import type {
  Alcance,
  AlcanceDeOperacion,
  EstadoDelServicio,
  LineaDeBitacoraDeOperacion,
  LlaveCreada,
  LlaveCualquieraCreada,
  LlaveDeOperadorCreada,
  Modo,
  Operador,
  PaginaDeBitacoraDeOperacion,
  Pais,
  PoliticaDeEvidencia,
  PoliticaDeIntentosParaCambiar,
  RitmosDeComercio,
} from '../../server/generated/contract/types/index.ts'
import { problemOfFaults } from '../../server/platform/errors.ts'

import { readInstant } from '../../server/platform/time/instant.ts'
import { faultOfInstant } from '../../server/platform/time/instantFault.ts'
import { BACKUP_COMMANDS } from './backups.ts'
import { CONSOLE_CONTEXT, type Command, type ConsoleOptions, type SeparateCommand, todas } from './command.ts'
import { CORREO_COMMANDS } from './correos.ts'
import { TEAM_COMMANDS } from './equipo.ts'
import { PERSONA_COMMANDS } from './personas.ts'
import { formatEstado } from './status.ts'

/**
 * Returns a merchant's settings in the form of the operation's body. Passes invalid values on, because the operation
 * reports them.
 */
const readSettings = ({
  pais,
  estricto,
  ritmos,
  evidencia,
  'politica-de-intentos': policy,
}: Pick<ConsoleOptions, 'pais' | 'estricto' | 'ritmos' | 'evidencia' | 'politica-de-intentos'>) => ({
  ...(pais === undefined ? {} : { pais: pais === 'ninguno' ? null : (pais as Pais) }),
  ...(estricto === undefined ? {} : { estricto: parseYesNo(estricto) }),
  ...(ritmos === undefined ? {} : { ritmos: parseRates(ritmos) }),
  ...(evidencia === undefined ? {} : { evidencia: parseEvidencePolicy(evidencia) }),
  ...(policy === undefined ? {} : { politica_de_intentos: parseIntentoPolicy(policy) }),
})

const parseYesNo = (text: string) => ({ sí: true, si: true, no: false })[text] ?? (text as unknown as boolean)

/** Parses rate limits such as `100,200`: requests and guides per second. */
function parseRates(text: string) {
  const [solicitudes, guias] = text.split(',').map(Number)
  return { solicitudes, guias } as RitmosDeComercio
}

/** Parses an evidence policy such as `2,obligatoria,no`: minimum photos, signature and document. */
function parseEvidencePolicy(text: string) {
  const [fotos_minimas, firma, documento] = text.split(',').map((part) => part.trim())
  return { fotos_minimas: Number(fotos_minimas), firma, documento } as PoliticaDeEvidencia
}

/**
 * Parses what follows a failed attempt, such as `3,1,5,devolver,sí`: attempts, days between them, days to decide,
 * outcome, and `sí` if recipients decide, too. If the last part is missing, that setting stays unchanged.
 */
function parseIntentoPolicy(text: string) {
  const [maximos, dias_entre, dias_para_decidir, al_vencer, decide] = text.split(',').map((part) => part.trim())
  return {
    maximos: Number(maximos),
    dias_entre: Number(dias_entre),
    dias_para_decidir: Number(dias_para_decidir),
    al_vencer,
    ...(decide === undefined ? {} : { destinatario_decide: parseYesNo(decide) }),
  } as PoliticaDeIntentosParaCambiar
}

/** Returns a new key without the timestamps that the console does not show. */
const withoutTimestamps = ({ creado_en: _1, revocado_en: _2, usado_en: _3, ...llave }: LlaveCualquieraCreada) => llave

/**
 * Returns the members common to requests for merchant and operator keys. Passes empty values on, because the operation
 * rejects them.
 */
const readLlaveOptions = <A>({
  alcances,
  vence: expiry,
  redes,
}: Pick<ConsoleOptions, 'alcances' | 'vence' | 'redes'>) => ({
  ...(alcances === undefined ? {} : { alcances: alcances.split(',').map((a) => a.trim()) as A[] }),
  ...(expiry === undefined ? {} : { vence_en: expiry }),
  ...(redes === undefined ? {} : { redes: redes.split(',').map((r) => r.trim()) }),
})

async function createOperadorLlave(deps: OperacionDeps, operador: string, options: ConsoleOptions) {
  const body = readLlaveOptions<AlcanceDeOperacion>(options)
  await deps.validacion.requireValidBody('crearLlaveDeOperador', body)
  const createdLlave = await crearLlaveDeOperador({ ...CONSOLE_CONTEXT, path: { operador }, body }, deps)
  return withoutTimestamps(createdLlave.body as LlaveDeOperadorCreada)
}

function requireInstant(option: 'desde' | 'hasta', text: string): Date {
  const instant = readInstant(text)
  if (instant) return instant
  const mensaje = faultOfInstant(text) ?? 'debe ser una fecha y hora según RFC 3339, AAAA-MM-DDThh:mm:ssZ'
  throw problemOfFaults('validacion', [{ campo: `/${option}`, codigo: 'formato_invalido', mensaje }])
}

const summarizeLine = ({ creado_en, accion, quien, sobre, comercio, campos, red }: LineaDeBitacoraDeOperacion) => ({
  creado_en,
  quien: quien.identificador ?? quien.tipo,
  accion,
  sobre: sobre?.identificador,
  comercio,
  campos: campos.join(' '),
  red,
})

/** Commands by group and verb. A command with a variant for operators has a second key that ends in `--operador`. */
export const COMMANDS: Record<string, Command | SeparateCommand> = {
  'comercios crear': {
    requires: ['nombre'],
    allows: ['pais', 'estricto', 'ritmos', 'evidencia', 'politica-de-intentos'],
    async run(deps, { nombre = '', ...settings }) {
      const body = { nombre, ...readSettings(settings) }
      await deps.validacion.requireValidBody('crearComercio', body)
      return (await crearComercio({ ...CONSOLE_CONTEXT, body }, deps)).body
    },
  },
  'bitacora listar': {
    requires: [],
    allows: ['quien', 'accion', 'sobre', 'comercio', 'desde', 'hasta'],
    async run(deps, { desde, hasta, ...filters }) {
      const instants = { ...(desde && { creado_desde: desde }), ...(hasta && { creado_hasta: hasta }) }
      const query = { limite: 100, ...filters, ...instants }
      const { body } = await buscarEnBitacora({ ...CONSOLE_CONTEXT, query }, deps)
      return (body as PaginaDeBitacoraDeOperacion).datos
    },
    summarize: summarizeLine,
  },
  'bitacora verificar': {
    requires: [],
    allows: ['desde', 'hasta'],
    run: (deps, { desde, hasta }) =>
      verifyChains(deps, {
        desde: requireInstant('desde', desde ?? '1970-01-01T00:00:00Z'),
        hasta: requireInstant('hasta', hasta ?? '9999-01-01T00:00:00Z'),
      }),
    hasFailed: ({ faltas }: VerificationResult) => faltas.length > 0,
  },
  'comercios cambiar': {
    requires: ['comercio'],
    allows: ['nombre', 'pais', 'estricto', 'ritmos', 'evidencia', 'politica-de-intentos'],
    object: 'comercio',
    async run(deps, { comercio = '', nombre, ...settings }) {
      const body = { ...(nombre === undefined ? {} : { nombre }), ...readSettings(settings) }
      await deps.validacion.requireValidBody('cambiarComercio', body)
      return (await cambiarComercio({ ...CONSOLE_CONTEXT, path: { comercio }, body }, deps)).body
    },
  },
  'comercios listar': {
    requires: [],
    run: (deps) => todas((query) => listarComercios({ ...CONSOLE_CONTEXT, query }, deps)),
  },
  estado: {
    requires: [],
    run: async (deps) => (await obtenerServicio(CONSOLE_CONTEXT, deps)).body,
    hasFailed: ({ bien }: EstadoDelServicio) => !bien,
    write: formatEstado,
  },
  'llaves crear': {
    requires: ['comercio', 'modo'],
    allows: ['alcances', 'vence', 'redes'],
    async run(deps, { comercio = '', modo, ...options }) {
      const body = { modo: modo as Modo, ...readLlaveOptions<Alcance>(options) }
      await deps.validacion.requireValidBody('crearLlave', body)
      return withoutTimestamps(
        (await crearLlave({ ...CONSOLE_CONTEXT, path: { comercio }, body }, deps)).body as LlaveCreada,
      )
    },
  },
  'llaves crear --operador': {
    requires: ['operador'],
    allows: ['alcances', 'vence', 'redes'],
    run: (deps, { operador = '', ...options }) => createOperadorLlave(deps, operador, options),
  },
  'llaves listar': {
    requires: ['comercio'],
    object: 'comercio',
    run: (deps, { comercio = '' }) =>
      todas((query) => listarLlaves({ ...CONSOLE_CONTEXT, path: { comercio }, query }, deps)),
  },
  'llaves listar --operador': {
    requires: ['operador'],
    run: (deps, { operador = '' }) =>
      todas((query) => listarLlavesDeOperador({ ...CONSOLE_CONTEXT, path: { operador }, query }, deps)),
  },
  'llaves rotar': {
    requires: ['llave'],
    allows: ['solapamiento'],
    object: 'llave',
    async run(deps, { llave = '', solapamiento: overlap }) {
      const hours = /^\d{1,6}$/.test(overlap ?? '') ? Number(overlap) : (overlap as unknown as number)
      const body = overlap === undefined ? {} : { solapamiento_horas: hours }
      await deps.validacion.requireValidBody('rotarLlave', body)
      return withoutTimestamps(
        (await rotarLlave({ ...CONSOLE_CONTEXT, path: { llave }, body }, deps)).body as LlaveCualquieraCreada,
      )
    },
  },
  'llaves revocar': {
    requires: ['llave'],
    object: 'llave',
    run: async (deps, { llave = '' }) => (await revocarLlave({ ...CONSOLE_CONTEXT, path: { llave } }, deps)).body,
  },
  'operadores crear': {
    requires: ['nombre'],
    allows: ['alcances', 'vence', 'redes'],
    async run(deps, { nombre = '', ...options }) {
      const body = { nombre: nombre.normalize('NFC') }
      await deps.validacion.requireValidBody('crearOperador', body)
      // The options of the operator's first API key are validated before the operator is created. An invalid option
      // therefore creates neither of them.
      await deps.validacion.requireValidBody('crearLlaveDeOperador', readLlaveOptions(options))
      parseExpiry(options.vence, deps.clock())
      readNetworks(readLlaveOptions(options).redes)
      const { operador, creado_en } = (await crearOperador({ ...CONSOLE_CONTEXT, body }, deps)).body as Operador
      return { ...body, creado_en, ...(await createOperadorLlave(deps, operador, options)) }
    },
  },
  'operadores listar': {
    requires: [],
    run: (deps) => todas((query) => listarOperadores({ ...CONSOLE_CONTEXT, query }, deps)),
  },
  'operadores revocar': {
    requires: ['operador'],
    object: 'operador',
    run: async (deps, { operador = '' }) =>
      (await revocarOperador({ ...CONSOLE_CONTEXT, path: { operador } }, deps)).body,
  },
  'repartidores crear': {
    requires: ['nombre'],
    allows: ['telefono'],
    async run(deps, { nombre = '', telefono }) {
      const body = { nombre: nombre.normalize('NFC'), ...(telefono === undefined ? {} : { telefono }) }
      await deps.validacion.requireValidBody('crearRepartidor', body)
      return (await crearRepartidor({ ...CONSOLE_CONTEXT, body }, deps)).body
    },
  },
  'repartidores listar': {
    requires: [],
    run: (deps) => todas((query) => listarRepartidores({ ...CONSOLE_CONTEXT, query }, deps)),
  },
  'repartidores codigo': {
    requires: ['repartidor'],
    object: 'repartidor',
    run: async (deps, { repartidor = '' }) =>
      (await renovarCodigo({ ...CONSOLE_CONTEXT, path: { repartidor } }, deps)).body,
  },
  'repartidores desactivar': {
    requires: ['repartidor'],
    object: 'repartidor',
    run: async (deps, { repartidor = '' }) =>
      (await desactivarRepartidor({ ...CONSOLE_CONTEXT, path: { repartidor } }, deps)).body,
  },
  ...PERSONA_COMMANDS,
  ...BACKUP_COMMANDS,
  ...CORREO_COMMANDS,
  ...TEAM_COMMANDS,
}
