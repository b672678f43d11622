import { buscarEnBitacora } from '../../server/domain/bitacora/buscar.ts'
import { type Verificada, verificarCadenas } from '../../server/domain/bitacora/verificar.ts'
import { cambiarComercio } from '../../server/domain/comercios/cambiar.ts'
import { crearComercio } from '../../server/domain/comercios/crear.ts'
import { listarComercios } from '../../server/domain/comercios/listar.ts'
import type { DepsDeOperacion } from '../../server/domain/deps.ts'
import { crearLlave } from '../../server/domain/llaves/crear.ts'
import { crearLlaveDeOperador } from '../../server/domain/llaves/crearDeOperador.ts'
import { listarLlaves } from '../../server/domain/llaves/listar.ts'
import { listarLlavesDeOperador } from '../../server/domain/llaves/listarDeOperador.ts'
import { leerRedes, leerVencimiento } from '../../server/domain/llaves/llave.ts'
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
} from '../../server/generado/contrato/tipos/index.ts'
import { problemOfFaults } from '../../server/platform/errors.ts'

import { readInstant } from '../../server/platform/time/instant.ts'
import { faultOfInstant } from '../../server/platform/time/instantFault.ts'
import { CONTEXTO_DE_CONSOLA, type Comando, type ComandoAparte, type OpcionesDeConsola, todas } from './comando.ts'
import { COMANDOS_DE_CORREO } from './correos.ts'
import { COMANDOS_DE_EQUIPO } from './equipo.ts'
import { escribirEstado } from './estado.ts'
import { COMANDOS_DE_PERSONA } from './personas.ts'
import { COMANDOS_DE_RESPALDO } from './respaldos.ts'

/**
 * Returns a merchant's settings in the form of the operation's body. Passes invalid values on, because the operation
 * reports them.
 */
const leerAjustes = ({
  pais,
  estricto,
  ritmos,
  evidencia,
  'politica-de-intentos': politica,
}: Pick<OpcionesDeConsola, 'pais' | 'estricto' | 'ritmos' | 'evidencia' | 'politica-de-intentos'>) => ({
  ...(pais === undefined ? {} : { pais: pais === 'ninguno' ? null : (pais as Pais) }),
  ...(estricto === undefined ? {} : { estricto: leerSiONo(estricto) }),
  ...(ritmos === undefined ? {} : { ritmos: leerRitmos(ritmos) }),
  ...(evidencia === undefined ? {} : { evidencia: leerPolitica(evidencia) }),
  ...(politica === undefined ? {} : { politica_de_intentos: leerPoliticaDeIntentos(politica) }),
})

const leerSiONo = (texto: string) => ({ sí: true, si: true, no: false })[texto] ?? (texto as unknown as boolean)

/** Parses rate limits such as `100,200`: requests and guides per second. */
function leerRitmos(texto: string) {
  const [solicitudes, guias] = texto.split(',').map(Number)
  return { solicitudes, guias } as RitmosDeComercio
}

/** Parses an evidence policy such as `2,obligatoria,no`: minimum photos, signature and document. */
function leerPolitica(texto: string) {
  const [fotos_minimas, firma, documento] = texto.split(',').map((parte) => parte.trim())
  return { fotos_minimas: Number(fotos_minimas), firma, documento } as PoliticaDeEvidencia
}

/**
 * Parses what follows a failed attempt, such as `3,1,5,devolver,sí`: attempts, days between them, days to decide,
 * outcome, and `sí` if recipients decide, too. If the last part is missing, that setting stays unchanged.
 */
function leerPoliticaDeIntentos(texto: string) {
  const [maximos, dias_entre, dias_para_decidir, al_vencer, decide] = texto.split(',').map((parte) => parte.trim())
  return {
    maximos: Number(maximos),
    dias_entre: Number(dias_entre),
    dias_para_decidir: Number(dias_para_decidir),
    al_vencer,
    ...(decide === undefined ? {} : { destinatario_decide: leerSiONo(decide) }),
  } as PoliticaDeIntentosParaCambiar
}

/** Returns a new key without the timestamps that the console does not show. */
const nueva = ({ creado_en: _1, revocado_en: _2, usado_en: _3, ...llave }: LlaveCualquieraCreada) => llave

/**
 * Returns the members common to requests for merchant and operator keys. Passes empty values on, because the operation
 * rejects them.
 */
const leerOpcionesDeLlave = <A>({
  alcances,
  vence,
  redes,
}: Pick<OpcionesDeConsola, 'alcances' | 'vence' | 'redes'>) => ({
  ...(alcances === undefined ? {} : { alcances: alcances.split(',').map((a) => a.trim()) as A[] }),
  ...(vence === undefined ? {} : { vence_en: vence }),
  ...(redes === undefined ? {} : { redes: redes.split(',').map((r) => r.trim()) }),
})

async function nuevaLlaveDeOperador(deps: DepsDeOperacion, operador: string, opciones: OpcionesDeConsola) {
  const body = leerOpcionesDeLlave<AlcanceDeOperacion>(opciones)
  await deps.validacion.exigirCuerpo('crearLlaveDeOperador', body)
  const creada = await crearLlaveDeOperador({ ...CONTEXTO_DE_CONSOLA, path: { operador }, body }, deps)
  return nueva(creada.body as LlaveDeOperadorCreada)
}

function exigirInstante(opcion: 'desde' | 'hasta', texto: string): Date {
  const instante = readInstant(texto)
  if (instante) return instante
  const mensaje = faultOfInstant(texto) ?? 'debe ser una fecha y hora según RFC 3339, AAAA-MM-DDThh:mm:ssZ'
  throw problemOfFaults('validacion', [{ campo: `/${opcion}`, codigo: 'formato_invalido', mensaje }])
}

const resumirLinea = ({ creado_en, accion, quien, sobre, comercio, campos, red }: LineaDeBitacoraDeOperacion) => ({
  creado_en,
  quien: quien.identificador ?? quien.tipo,
  accion,
  sobre: sobre?.identificador,
  comercio,
  campos: campos.join(' '),
  red,
})

/** Commands by group and verb. A command with a variant for operators has a second key that ends in `--operador`. */
export const COMANDOS: Record<string, Comando | ComandoAparte> = {
  'comercios crear': {
    exige: ['nombre'],
    admite: ['pais', 'estricto', 'ritmos', 'evidencia', 'politica-de-intentos'],
    async ejecutar(deps, { nombre = '', ...ajustes }) {
      const body = { nombre, ...leerAjustes(ajustes) }
      await deps.validacion.exigirCuerpo('crearComercio', body)
      return (await crearComercio({ ...CONTEXTO_DE_CONSOLA, body }, deps)).body
    },
  },
  'bitacora listar': {
    exige: [],
    admite: ['quien', 'accion', 'sobre', 'comercio', 'desde', 'hasta'],
    async ejecutar(deps, { desde, hasta, ...filtros }) {
      const instantes = { ...(desde && { creado_desde: desde }), ...(hasta && { creado_hasta: hasta }) }
      const query = { limite: 100, ...filtros, ...instantes }
      const { body } = await buscarEnBitacora({ ...CONTEXTO_DE_CONSOLA, query }, deps)
      return (body as PaginaDeBitacoraDeOperacion).datos
    },
    resumir: resumirLinea,
  },
  'bitacora verificar': {
    exige: [],
    admite: ['desde', 'hasta'],
    ejecutar: (deps, { desde, hasta }) =>
      verificarCadenas(deps, {
        desde: exigirInstante('desde', desde ?? '1970-01-01T00:00:00Z'),
        hasta: exigirInstante('hasta', hasta ?? '9999-01-01T00:00:00Z'),
      }),
    falla: ({ faltas }: Verificada) => faltas.length > 0,
  },
  'comercios cambiar': {
    exige: ['comercio'],
    admite: ['nombre', 'pais', 'estricto', 'ritmos', 'evidencia', 'politica-de-intentos'],
    objeto: 'comercio',
    async ejecutar(deps, { comercio = '', nombre, ...ajustes }) {
      const body = { ...(nombre === undefined ? {} : { nombre }), ...leerAjustes(ajustes) }
      await deps.validacion.exigirCuerpo('cambiarComercio', body)
      return (await cambiarComercio({ ...CONTEXTO_DE_CONSOLA, path: { comercio }, body }, deps)).body
    },
  },
  'comercios listar': {
    exige: [],
    ejecutar: (deps) => todas((query) => listarComercios({ ...CONTEXTO_DE_CONSOLA, query }, deps)),
  },
  estado: {
    exige: [],
    ejecutar: async (deps) => (await obtenerServicio(CONTEXTO_DE_CONSOLA, deps)).body,
    falla: ({ bien }: EstadoDelServicio) => !bien,
    escribir: escribirEstado,
  },
  'llaves crear': {
    exige: ['comercio', 'modo'],
    admite: ['alcances', 'vence', 'redes'],
    async ejecutar(deps, { comercio = '', modo, ...opciones }) {
      const body = { modo: modo as Modo, ...leerOpcionesDeLlave<Alcance>(opciones) }
      await deps.validacion.exigirCuerpo('crearLlave', body)
      return nueva((await crearLlave({ ...CONTEXTO_DE_CONSOLA, path: { comercio }, body }, deps)).body as LlaveCreada)
    },
  },
  'llaves crear --operador': {
    exige: ['operador'],
    admite: ['alcances', 'vence', 'redes'],
    ejecutar: (deps, { operador = '', ...opciones }) => nuevaLlaveDeOperador(deps, operador, opciones),
  },
  'llaves listar': {
    exige: ['comercio'],
    objeto: 'comercio',
    ejecutar: (deps, { comercio = '' }) =>
      todas((query) => listarLlaves({ ...CONTEXTO_DE_CONSOLA, path: { comercio }, query }, deps)),
  },
  'llaves listar --operador': {
    exige: ['operador'],
    ejecutar: (deps, { operador = '' }) =>
      todas((query) => listarLlavesDeOperador({ ...CONTEXTO_DE_CONSOLA, path: { operador }, query }, deps)),
  },
  'llaves rotar': {
    exige: ['llave'],
    admite: ['solapamiento'],
    objeto: 'llave',
    async ejecutar(deps, { llave = '', solapamiento }) {
      const horas = /^\d{1,6}$/.test(solapamiento ?? '') ? Number(solapamiento) : (solapamiento as unknown as number)
      const body = solapamiento === undefined ? {} : { solapamiento_horas: horas }
      await deps.validacion.exigirCuerpo('rotarLlave', body)
      return nueva(
        (await rotarLlave({ ...CONTEXTO_DE_CONSOLA, path: { llave }, body }, deps)).body as LlaveCualquieraCreada,
      )
    },
  },
  'llaves revocar': {
    exige: ['llave'],
    objeto: 'llave',
    ejecutar: async (deps, { llave = '' }) =>
      (await revocarLlave({ ...CONTEXTO_DE_CONSOLA, path: { llave } }, deps)).body,
  },
  'operadores crear': {
    exige: ['nombre'],
    admite: ['alcances', 'vence', 'redes'],
    async ejecutar(deps, { nombre = '', ...opciones }) {
      const body = { nombre: nombre.normalize('NFC') }
      await deps.validacion.exigirCuerpo('crearOperador', body)
      // The options of the operator's first API key are validated before the operator is created. An invalid option
      // therefore creates neither of them.
      await deps.validacion.exigirCuerpo('crearLlaveDeOperador', leerOpcionesDeLlave(opciones))
      leerVencimiento(opciones.vence, deps.reloj())
      leerRedes(leerOpcionesDeLlave(opciones).redes)
      const { operador, creado_en } = (await crearOperador({ ...CONTEXTO_DE_CONSOLA, body }, deps)).body as Operador
      return { ...body, creado_en, ...(await nuevaLlaveDeOperador(deps, operador, opciones)) }
    },
  },
  'operadores listar': {
    exige: [],
    ejecutar: (deps) => todas((query) => listarOperadores({ ...CONTEXTO_DE_CONSOLA, query }, deps)),
  },
  'operadores revocar': {
    exige: ['operador'],
    objeto: 'operador',
    ejecutar: async (deps, { operador = '' }) =>
      (await revocarOperador({ ...CONTEXTO_DE_CONSOLA, path: { operador } }, deps)).body,
  },
  'repartidores crear': {
    exige: ['nombre'],
    admite: ['telefono'],
    async ejecutar(deps, { nombre = '', telefono }) {
      const body = { nombre: nombre.normalize('NFC'), ...(telefono === undefined ? {} : { telefono }) }
      await deps.validacion.exigirCuerpo('crearRepartidor', body)
      return (await crearRepartidor({ ...CONTEXTO_DE_CONSOLA, body }, deps)).body
    },
  },
  'repartidores listar': {
    exige: [],
    ejecutar: (deps) => todas((query) => listarRepartidores({ ...CONTEXTO_DE_CONSOLA, query }, deps)),
  },
  'repartidores codigo': {
    exige: ['repartidor'],
    objeto: 'repartidor',
    ejecutar: async (deps, { repartidor = '' }) =>
      (await renovarCodigo({ ...CONTEXTO_DE_CONSOLA, path: { repartidor } }, deps)).body,
  },
  'repartidores desactivar': {
    exige: ['repartidor'],
    objeto: 'repartidor',
    ejecutar: async (deps, { repartidor = '' }) =>
      (await desactivarRepartidor({ ...CONTEXTO_DE_CONSOLA, path: { repartidor } }, deps)).body,
  },
  ...COMANDOS_DE_PERSONA,
  ...COMANDOS_DE_RESPALDO,
  ...COMANDOS_DE_CORREO,
  ...COMANDOS_DE_EQUIPO,
}
