import type { Identities } from '../../api/http/identity.ts'
import { type Query, statement } from '../../data/db.ts'
import type { Aprobacion, ContenidoDeAprobacion } from '../../generado/contrato/tipos/index.ts'
import { Problema } from '../../platform/errors.ts'
import {
  abrirAprobacion,
  aprobacionCerrada,
  type ContenidoGuardado,
  HORAS_DE_APROBACION,
  presentarAprobacion,
  soloDecideUnaTercera,
  type TipoDeAprobacion,
} from '../aprobaciones/aprobacion.ts'
import type { Anotacion, Quien } from '../bitacora/bitacora.ts'
import { guardarCorreo } from '../correos/correo.ts'
import type { Deps } from '../deps.ts'
import { exigirAlcancesPropios } from '../llaves/llave.ts'
import { borrarPersona } from './borrar.ts'
import { escribirInvitacion, yaEsta } from './invitacion.ts'
import { crearLlaveAprobada, REMEDIO_DE_APROBAR, rotarLlaveAprobada } from './llaveAprobada.ts'
import { buscarMembresia, cambiarAlcances, quitarLaMembresia } from './membresia.ts'
import { nombresDePermisos } from './permisos.ts'
import { ADMINISTRADORAS, alcancesDeEmpresa, EMPRESA, type FilaPersona } from './persona.ts'
import { restablecerFactores } from './restablecer.ts'

/** Maximum persons who get a mail about one approval. */
const MAX_AVISOS = 20
/** Minutes in which the notice of a decision must leave. */
const MINUTOS_DE_DECISION = 1_440

/** Returns the scopes that a caller may not give to others, because the caller does not have them. */
export const REMEDIO_DE_ALCANCES = 'Pida en «alcances» solo los suyos.'

type DepsDeEfecto = Pick<Deps, 'reloj' | 'secretos' | 'nuevoId' | 'ajustes'>

/**
 * Carries out an approved change, in the transaction of the decision.
 * @returns lines about the change for the audit record: the company's, and those of merchants
 * @throws Problema 403 if the person who decides lacks a scope that the change would give; 409 if the change is no
 *   longer possible
 */
type Efecto = (
  consultar: Query,
  deps: DepsDeEfecto,
  de: { identidad: Pick<Identities['llaveDeOperacion'], 'alcances'>; contenido: ContenidoGuardado },
) => Promise<readonly Omit<Anotacion, 'accion'>[]>

const PERSONA = statement<{ persona: string }, Pick<FilaPersona, 'id' | 'nombre' | 'correo'>>(
  'equipo.personaAprobada',
  'select id, nombre, correo from persona where persona = :persona',
)

/** Functions that carry out an approved change, by kind of approval. */
export const EFECTOS: Readonly<Record<TipoDeAprobacion, Efecto>> = {
  async invitar_persona(consultar, deps, { identidad, contenido }) {
    const { nombre, alcances } = contenido
    const [correo, codigo] = [contenido.correo!, contenido.codigo!]
    exigirAlcancesPropios(identidad, alcancesDeEmpresa(alcances), REMEDIO_DE_APROBAR)
    if (await yaEsta(consultar, { correo, ambito: EMPRESA })) throw aprobacionCerrada('Esa persona ya está.')
    const invitada = { correo, nombre, ambito: EMPRESA, alcances: [...alcances], lugar: null, codigo }
    return [(await escribirInvitacion(consultar, deps, invitada)).linea]
  },
  async cambiar_membresia(consultar, _deps, { identidad, contenido: { membresia, alcances } }) {
    exigirAlcancesPropios(identidad, alcancesDeEmpresa(alcances), REMEDIO_DE_APROBAR)
    const antes = await buscarMembresia(consultar, membresia!)
    const cambiada = antes && (await cambiarAlcances(consultar, { id: antes.id, alcances: [...alcances] }))
    if (!cambiada) throw aprobacionCerrada('Esa membresía ya no está.')
    return [{ sobre: ['persona', antes.persona], antes: { alcances: antes.alcances }, despues: { alcances } }]
  },
  async quitar_membresia(consultar, _deps, { contenido: { membresia } }) {
    const antes = await buscarMembresia(consultar, membresia!)
    if (!antes || !(await quitarLaMembresia(consultar, antes))) throw aprobacionCerrada('Esa membresía ya no está.')
    return [{ sobre: ['persona', antes.persona], antes: { alcances: antes.alcances }, despues: {} }]
  },
  async eliminar_persona(consultar, { secretos }, { contenido }) {
    const persona = contenido.persona!
    const [antes] = await consultar(PERSONA, { persona })
    const correo = antes?.correo
    const lineas = antes && correo && (await borrarPersona(consultar, secretos, { ...antes, correo, persona }))
    if (!lineas) throw aprobacionCerrada('Esa persona ya no está.')
    return lineas
  },
  async restablecer_segundo_factor(consultar, deps, { contenido }) {
    const persona = contenido.persona!
    const [antes] = await consultar(PERSONA, { persona })
    const correo = antes?.correo
    if (!antes || !correo) throw aprobacionCerrada('Esa persona ya no está.')
    return [await restablecerFactores(consultar, deps, { ...antes, correo, persona })]
  },
  crear_llave: async (consultar, { reloj }, de) => [await crearLlaveAprobada(consultar, { ...de, ahora: reloj() })],
  rotar_llave: async (consultar, { reloj }, de) => [await rotarLlaveAprobada(consultar, { ...de, ahora: reloj() })],
}

/** Returns a sentence in Spanish that says what an approval asks for: «Ana pide …». */
export function loQueSePide(tipo: TipoDeAprobacion, contenido: ContenidoDeAprobacion): string {
  const { nombre, correo, llave, alcances } = contenido
  const quien = `${nombre} (${correo ?? llave?.operador})`
  const permisos = nombresDePermisos(alcances)
  switch (tipo) {
    case 'invitar_persona':
      return `invitar a ${quien}, con estos permisos: ${permisos}`
    case 'cambiar_membresia':
      return `cambiar los permisos de ${quien}, que serán: ${permisos}`
    case 'quitar_membresia':
      return `quitar de la empresa a ${quien}`
    case 'eliminar_persona':
      return `borrar la cuenta de ${quien}`
    case 'restablecer_segundo_factor':
      return `restablecer el segundo factor de ${quien}, que entrará con su correo y agregará otro`
    case 'crear_llave':
      return `una llave del operador ${quien}, con estos permisos: ${permisos}`
    case 'rotar_llave':
      return `rotar la llave ${llave?.rota} del operador ${quien}, con estos permisos: ${permisos}`
  }
}

const QUIEN_PIDIO = statement<{ pide: string }, Pick<FilaPersona, 'nombre' | 'correo'>>(
  'equipo.quienPidio',
  'select nombre, correo from persona where persona = :pide and correo is not null',
)

/**
 * Tells the person who asked by mail how an approval ended. The caller calls `avisarTrabajo` after the commit.
 * @param quien name of the person who decided; null if the approval expired
 */
export async function avisarDecision(
  consultar: Query,
  deps: DepsDeEfecto,
  { tipo, pide, contenido }: { tipo: TipoDeAprobacion; pide: string; contenido: ContenidoDeAprobacion },
  { quien, razon }: { quien: string | null; razon: string | null },
): Promise<void> {
  const [suya] = await consultar(QUIEN_PIDIO, { pide })
  if (!suya) return
  const enlace = `${deps.ajustes.urlDePersonas}/cuenta`
  const datos = { nombre: suya.nombre, quien, que: loQueSePide(tipo, contenido), razon, enlace }
  await guardarCorreo(consultar, deps, { tipo: 'decision', para: suya.correo!, datos, minutos: MINUTOS_DE_DECISION })
}

const QUIENES = statement<object, Pick<FilaPersona, 'persona' | 'nombre' | 'correo'>>(
  'equipo.quienesAdministran',
  `with ${ADMINISTRADORAS}
   select p.persona, p.nombre, p.correo from administradoras a join persona p on p.id = a.persona_id
   order by p.id`,
)

/** Returns the 409 for a request that a third person has to approve, if none administers. */
const sinQuienApruebe = () =>
  new Problema(
    'sin_quien_apruebe',
    'Hace falta otra persona que administre, que no sea usted ni la persona de quien se trata. Lo hace quien opera el servicio, en su consola.',
  )

/** Dependencies of a request that may need an approval. */
export type DepsDeAprobacion = DepsDeEfecto & Pick<Deps, 'bitacora'>
/** Caller whose request may need an approval. */
export type PideAprobacion = Pick<Identities['llaveDeOperacion'], 'persona'>

/**
 * Opens an approval if the caller is a person, the change is about another person, and another person also has the
 * scope `administrar`. Mails the persons who may decide. The caller calls `avisarTrabajo` after the commit.
 *
 * A kind that only a third person decides needs an approval from any person, also about the person itself.
 * @returns undefined if no approval is needed
 * @throws Problema 409 if a third person has to decide and none administers
 */
export async function pedirAprobacion(
  consultar: Query,
  deps: DepsDeAprobacion,
  quien: Quien & { identidad: PideAprobacion },
  { accion, tipo, contenido }: { accion: string; tipo: TipoDeAprobacion; contenido: ContenidoGuardado },
): Promise<Aprobacion | undefined> {
  const { persona: pide } = quien.identidad
  const tercera = soloDecideUnaTercera(tipo)
  if (pide === undefined || (pide === contenido.persona && !tercera)) return undefined
  const quienes = await consultar(QUIENES)
  const otras = quienes.filter(({ persona }) => persona !== pide)
  // The person that the approval is about decides only if no third person has the scope `administrar`.
  const ajenas = otras.filter(({ persona }) => persona !== contenido.persona)
  if (tercera && ajenas.length === 0) throw sinQuienApruebe()
  if (otras.length === 0) return undefined
  const fila = await abrirAprobacion(consultar, deps, { tipo, contenido, pide })
  const comun = {
    quien: quienes.find(({ persona }) => persona === pide)?.nombre ?? pide,
    que: loQueSePide(tipo, contenido),
    enlace: `${deps.ajustes.urlDePersonas}/cuenta`,
    horas: HORAS_DE_APROBACION,
  }
  for (const { nombre, correo } of (ajenas.length > 0 ? ajenas : otras).slice(0, MAX_AVISOS)) {
    const datos = { ...comun, nombre }
    const minutos = HORAS_DE_APROBACION * 60
    // A person with the scope `administrar` has an address, because erasing a person removes its memberships.
    await guardarCorreo(consultar, deps, { tipo: 'aprobacion', para: correo!, datos, minutos })
  }
  const { alcances, llave } = contenido
  await deps.bitacora.anotar(consultar, quien, {
    accion,
    sobre: ['aprobacion', fila.aprobacion],
    campos: llave ? ['llave', 'alcances'] : ['correo', 'nombre', 'alcances'],
    despues: { estado: 'pendiente', tipo, alcances, ...(llave && { llave: llave.id }) },
  })
  return presentarAprobacion(deps, fila)
}
