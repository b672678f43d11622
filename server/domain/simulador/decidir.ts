import { statement } from '../../data/db.ts'
import type { DecisionSimulada, Falla } from '../../generated/contract/types/index.ts'
import { Problema, problemOfFaults } from '../../platform/errors.ts'
import { answerLockedGuia, expireLockedGuia, type RecipientAnswer, requireNotTaken } from '../decisiones/decidir.ts'
import { isAwaitingDecision } from '../estados/decision.ts'
import { doOnce } from '../idempotencia/idempotencia.ts'
import type { Handler } from '../operation.ts'
import { type GuiaRow, guiaKeyOf } from '../records/guiaFields.ts'
import { findGuia } from '../records/guiaLookup.ts'
import { present } from '../records/guiaPresentation.ts'
import { type LockedGuiaWriter, withLockedGuia } from '../records/lockedGuia.ts'
import { type PlaceProposal, type ProposedPlace, proposeUbicacion } from '../ubicacion/ubicacion.ts'
import { flushMensajes } from './request.ts'
import { requireTestModo } from './simulador.ts'

export const simularDecision: Handler<'simularDecision'> = async (input, deps) => {
  const { path, identity } = input
  requireTestModo(identity)
  const { result: guia, headers } = await doOnce(deps, 'simularDecision', input, {
    async perform(remember) {
      const response = read(input.body)
      const proposal = response?.eleccion === 'otro_lugar' ? proposePlace(response.lugar) : undefined
      await flushMensajes(deps, await findGuia(deps.db, identity, path.guia))
      return withLockedGuia(deps, identity, path.guia, undefined, remember, async (writer, tomada) => {
        if (!response) return expireDeadline(writer, tomada)
        requireAwaiting(tomada, writer.clock())
        return answerLockedGuia(deps, writer, tomada, response, proposal)
      })
    },
    reread: (guia) => findGuia(deps.db, identity, guia),
  })
  return { status: 200, headers, body: present(deps.settings, guia) }
}

/** Members that each choice needs or allows, besides `eleccion`. */
const ADMITTED_MEMBERS: Readonly<Record<DecisionSimulada['eleccion'], readonly ('fecha' | 'lugar' | 'vecino')[]>> = {
  otro_dia: ['fecha'],
  otro_lugar: ['fecha', 'lugar'],
  vecino: ['fecha', 'vecino'],
  rechazo: [],
  ninguna: [],
}

/**
 * Returns the answer that the recipient's page would send; undefined if the simulated recipient does not decide.
 * @throws Problema 422 that names each member that is missing, or that does not belong to the choice
 */
function read({ eleccion, ...rest }: DecisionSimulada): RecipientAnswer | undefined {
  const { fecha, lugar, vecino } = rest
  const faults = (['fecha', 'lugar', 'vecino'] as const)
    .filter((field) => rest[field] !== undefined && !ADMITTED_MEMBERS[eleccion].includes(field))
    .map(
      (field): Falla => ({
        campo: `/${field}`,
        codigo: 'incompatible',
        mensaje: `no va con la elección ${eleccion}; omítalo`,
      }),
    )
  const addMissing = (campo: string, missingText: string) =>
    faults.push({ campo, codigo: 'requerido', mensaje: `falta: con esa elección diga ${missingText}` })
  if (eleccion === 'otro_lugar' && !lugar) addMissing('/lugar', 'a qué lugar se lleva')
  if (eleccion === 'vecino' && !vecino) addMissing('/vecino', 'qué vecino lo recibe')
  if (faults.length > 0) throw problemOfFaults('validacion', faults)
  switch (eleccion) {
    case 'otro_dia':
      return { eleccion, fecha }
    case 'otro_lugar':
      return { eleccion, fecha, lugar: placeOf(lugar!) }
    case 'vecino':
      return { eleccion, fecha, vecino: { nombre: vecino!.nombre.trim(), donde: vecino!.donde?.trim() ?? '' } }
    case 'rechazo':
      return { eleccion }
    case 'ninguna':
      return undefined
  }
}

/**
 * Converts the requested place to the recipient's form. The simulated recipient has confirmed the place, however far
 * away it is.
 */
const placeOf = ({ maps_url, ...place }: NonNullable<DecisionSimulada['lugar']>): ProposedPlace => ({
  ...place,
  ...(maps_url === undefined ? {} : { enlace: maps_url }),
  acceptsDistance: true,
  cambiar: true,
  method: place.lat !== undefined ? 'mapa' : maps_url !== undefined ? 'enlace' : 'descripcion',
})

/**
 * Converts the place as the recipient's page would.
 * @throws Problema 422 if the page would not accept the place
 */
function proposePlace(place: ProposedPlace): PlaceProposal {
  const proposal = proposeUbicacion(place)
  if (!('motivo' in proposal)) return proposal
  const campo = place.method === 'enlace' ? '/lugar/maps_url' : '/lugar/referencia'
  throw problemOfFaults('validacion', [{ campo, codigo: 'formato_invalido', mensaje: proposal.mensaje }])
}

/**
 * Requires that the recipient may still decide.
 * @throws Problema 409
 */
function requireAwaiting(tomada: GuiaRow, now: Date): void {
  requireNotTaken(tomada)
  const { decision, estado } = tomada
  if (!isAwaitingDecision(decision)) throw notAwaited(tomada)
  if (estado === 'extraviado')
    throw decisionNotAdmitted(tomada, 'El paquete está extraviado: el destinatario no decide hasta que aparezca.')
  if (hasExpired(decision, now))
    throw decisionNotAdmitted(tomada, `El plazo venció el ${decision.vence_en}; el destinatario ya no puede decidir.`)
}

const hasExpired = ({ vence_en }: NonNullable<GuiaRow['decision']>, now: Date) =>
  vence_en !== null && Date.parse(vence_en) <= now.getTime()

const decisionNotAdmitted = ({ estado }: GuiaRow, mensaje: string) =>
  new Problema('decision_no_admitida', mensaje, { estado, opciones: [] })

const notAwaited = (tomada: GuiaRow) =>
  decisionNotAdmitted(tomada, `La guía está en ${tomada.estado} y no espera una decisión del destinatario.`)

/** Ends a guide's open decision, and its link, at `:now`. `:expiry` is the same instant in the contract's format. */
const SHORTEN = statement<ReturnType<typeof guiaKeyOf> & { now: Date; expiry: string }, GuiaRow>(
  'simulador.shortenDecision',
  'merchant',
  `with m as (
     update mensaje set vence_en = :now::timestamptz
     where comercio_id = :comercio_id and modo = :modo and guia_id = :guia_id and tipo = 'solicitud_decision'
       and vence_en > :now
   ), l as (
     update enlace_ubicacion l set vence_en = :now from mensaje o
     where l.comercio_id = :comercio_id and l.modo = :modo and l.guia_id = :guia_id and l.vence_en > :now
       and o.comercio_id = l.comercio_id and o.modo = l.modo and o.guia_id = l.guia_id and o.numero = l.numero
       and o.tipo = 'solicitud_decision'
   )
   update guia set decision = jsonb_set(decision, '{vence_en}', to_jsonb(:expiry::text)),
     decision_vence = case when decision_vence is not null then :now end
   where comercio_id = :comercio_id and modo = :modo and id = :guia_id returning *`,
)

/**
 * Lets the deadline of a locked guide's decision pass now, and applies the merchant's policy as the job would. A
 * deadline that has already passed stays the same.
 * @throws Problema 409 if the decision was taken, or if none is open
 */
async function expireDeadline(writer: LockedGuiaWriter, tomada: GuiaRow): Promise<GuiaRow> {
  const { decision } = tomada
  if (decision?.por === 'politica') return tomada
  requireNotTaken(tomada)
  if (!isAwaitingDecision(decision)) throw notAwaited(tomada)
  const now = writer.clock()
  if (hasExpired(decision, now)) return expireLockedGuia(writer, tomada)
  const [isExpired] = await writer.query(SHORTEN, { ...guiaKeyOf(tomada), now, expiry: now.toISOString() })
  return expireLockedGuia(writer, isExpired!)
}
