import { type Query, statement } from '../../data/db.ts'
import type { Decision, Estado } from '../../generated/contract/types/index.ts'
import { Problema } from '../../platform/errors.ts'
import { DAY_MS } from '../../platform/time/units.ts'
import { readIntentosPolicy } from '../comercios/comercio.ts'
import { type DecisionDeGuia, isAwaitingDecision, isTaken } from '../estados/decision.ts'
import { isRectifiable } from '../estados/estados.ts'
import { type EventoRow, takeStep } from '../eventos/evento.ts'
import type { Handler } from '../operation.ts'
import { type GuiaRow, guiaKeyOf } from '../records/guiaFields.ts'
import { type LockedGuia, type LockedGuiaWriter, withLockedGuia } from '../records/lockedGuia.ts'
import { doOnceByOperador } from './doOnceByOperador.ts'

export const rectificarGuia: Handler<'rectificarGuia'> = (input, deps) => {
  const { path, body, identity } = input
  const { razon, secuencia } = body
  return doOnceByOperador(deps, 'rectificarGuia', input, (remember) =>
    withLockedGuia(deps, 'todos', path.guia, secuencia, remember, (writer, lockedGuia) =>
      rectifyLockedGuia(writer, lockedGuia, { autor: identity.operador, descripcion: razon }),
    ),
  )
}

/** Event in the guide's history that changed its state or its courier. */
type StateChange = Pick<
  EventoRow,
  'secuencia' | 'tipo' | 'estado' | 'estado_anterior' | 'custodio' | 'ocurrido_en' | 'registrado_en'
> & {
  /** Sequence of the event that this event undoes; null for other events. */
  undoneSequence: number | null
  decision: Decision | null
  /** Value of the guide's decision before the event. */
  decision_anterior: Decision | null
}

const CHANGES = statement<ReturnType<typeof guiaKeyOf>, StateChange>(
  'eventos.changes',
  'merchant',
  `select e.secuencia, e.tipo, e.estado, e.estado_anterior, e.custodio, e.ocurrido_en, e.registrado_en,
     (e.datos ->> 'rectifica')::int as "undoneSequence", e.foto -> 'decision' as decision,
     a.foto -> 'decision' as decision_anterior
   from evento e
   left join evento a on a.comercio_id = e.comercio_id and a.modo = e.modo and a.guia_id = e.guia_id
     and a.secuencia = e.secuencia - 1
   where e.comercio_id = :comercio_id and e.modo = :modo and e.guia_id = :guia_id
     and (e.estado is distinct from e.estado_anterior or e.custodio is not null)
   order by e.secuencia`,
)

const RECTIFY_PRUEBA = statement<ReturnType<typeof guiaKeyOf> & { secuencia: number; now: Date }>(
  'pruebas.rectifyPrueba',
  'merchant',
  `update prueba_entrega set rectificada_en = :now::timestamptz
   where comercio_id = :comercio_id and modo = :modo and guia_id = :guia_id and secuencia = :secuencia`,
)

/** Time after the registration of a delivery in which the delivery can be undone, in milliseconds. */
const ENTREGA_DEADLINE_MS = DAY_MS

/**
 * Undoes the guide's last change of state that is not undone yet, in the transaction that locks the guide.
 * @returns the guide's row afterwards
 * @throws Problema 409 `transicion_invalida`
 */
async function rectifyLockedGuia(
  { query, notifyJobs, clock }: LockedGuiaWriter,
  lockedGuia: LockedGuia,
  caller: { autor: string; descripcion: string },
): Promise<GuiaRow> {
  const now = clock()
  if (!isRectifiable(lockedGuia.estado)) throw cannotUndo(lockedGuia.estado, REMEDIES[lockedGuia.estado] ?? '')
  if (lockedGuia.datos_borrados_en) throw cannotUndo(lockedGuia.estado, ': los datos de la persona ya se borraron.')
  const { changeToUndo, estado_en, custodio } = findChangeToUndo(await query(CHANGES, guiaKeyOf(lockedGuia)))
  if (lockedGuia.estado === 'entregado') requireWithinDeadline(changeToUndo.registrado_en, now)
  const takenStep = await takeStep({ db: { query }, notifyJobs }, lockedGuia, {
    ...caller,
    tipo: 'guia.rectificada',
    estado: changeToUndo.estado_anterior!,
    ocurrido_en: now,
    registrado_en: now,
    datos: { rectifica: changeToUndo.secuencia },
    intentos: lockedGuia.intentos - (changeToUndo.tipo === 'guia.intento_fallido' ? 1 : 0),
    decision: await decisionWithout(query, lockedGuia, changeToUndo, now),
    restored: { estado_en, custodio },
  })
  if (lockedGuia.estado === 'entregado')
    await query(RECTIFY_PRUEBA, { ...guiaKeyOf(lockedGuia), secuencia: changeToUndo.secuencia, now })
  return takenStep!.guia
}

/**
 * Finds the last change of state that is not undone, and the courier and time that the guide had before it.
 * @param changes all changes of state and of courier, oldest first; the first one is the creation
 */
function findChangeToUndo(
  changes: readonly StateChange[],
): { changeToUndo: StateChange } & Pick<GuiaRow, 'estado_en' | 'custodio'> {
  const undoneSequences = new Set(changes.map(({ undoneSequence }) => undoneSequence))
  const validChanges = changes.filter(
    ({ secuencia, undoneSequence }) => undoneSequence === null && !undoneSequences.has(secuencia),
  )
  const [before, changeToUndo] = validChanges
    .filter(({ estado, estado_anterior }) => estado !== estado_anterior)
    .slice(-2)
  const custodio =
    validChanges.findLast((change) => change !== changeToUndo && change.custodio !== null)?.custodio ?? null
  return { changeToUndo: changeToUndo!, estado_en: before!.ocurrido_en, custodio }
}

/**
 * Returns the decision about the parcel after an event is undone; undefined if the decision does not change. Undoing a
 * failed attempt supersedes the decision that the attempt opened. Undoing an event that closed a decision opens it
 * again; a decision to return the parcel must then be taken again. A deadline that has passed meanwhile has no effect.
 */
async function decisionWithout(
  query: Query,
  { decision: currentDecision, comercio_id }: GuiaRow,
  { tipo, decision, decision_anterior: previous }: StateChange,
  now: Date,
): Promise<DecisionDeGuia | undefined> {
  if (tipo === 'guia.intento_fallido')
    return isAwaitingDecision(currentDecision) || isTaken(currentDecision) ? supersede(currentDecision) : undefined
  if (previous === null || areSameDecision(decision, previous) || !areSameDecision(decision, currentDecision))
    return undefined
  if (!isAwaitingDecision(previous) && tipo !== 'guia.en_devolucion') return { valor: previous, expiry: null }
  if (previous.vence_en === null) return supersede(previous)
  const vence_en = new Date(previous.vence_en)
  const { al_vencer } = await readIntentosPolicy({ query }, comercio_id)
  return {
    valor: { ...previous, estado: 'pendiente', accion: null, fecha: null, franja: null, por: null },
    expiry: al_vencer === 'devolver' && vence_en > now ? vence_en : null,
  }
}

const supersede = (decision: Decision): DecisionDeGuia => ({
  valor: { ...decision, estado: 'superada' },
  expiry: null,
})

/** Compares decisions as `jsonb` returns them, with their members in a fixed order. */
const areSameDecision = (decision: Decision | null, otherDecision: Decision | null) =>
  JSON.stringify(decision) === JSON.stringify(otherDecision)

function requireWithinDeadline(registrado_en: Date, now: Date): void {
  if (now.getTime() - registrado_en.getTime() <= ENTREGA_DEADLINE_MS) return
  const mensaje = `La entrega se registró el ${registrado_en.toISOString()}, y solo se deshace durante 24 h. Anote lo que pasó con una nota.`
  throw new Problema('transicion_invalida', mensaje, { estado: 'entregado', transiciones: [] })
}

/** Ends of the error message for states that cannot be undone. */
const REMEDIES: Readonly<Partial<Record<Estado, string>>> = {
  aceptado: ': todavía no hay ningún cambio que deshacer.',
  cancelado: ', que no se deshace. Si hace falta, cree otra guía.',
  devuelto: ', que no se deshace. Si hace falta, cree otra guía.',
}

const cannotUndo = (estado: Estado, reason: string) =>
  new Problema('transicion_invalida', `La guía está en ${estado}${reason}`, { estado, transiciones: [] })
