import { isPresent } from '../../api/http/authenticate.ts'
import type { Identities } from '../../api/http/identity.ts'
import { type AprobacionDecisionDeps, decideAprobacion, needsOtherDecider } from '../../domain/aprobaciones/decidir.ts'
import { withdrawAprobacion } from '../../domain/aprobaciones/retirar.ts'
import type { PersonaActor } from '../../domain/bitacora/bitacora.ts'
import { describeRequest } from '../../domain/equipo/members/approvable.ts'
import { presentAprobacion, readPendingAprobaciones } from '../../domain/equipo/members/aprobacion.ts'
import { companyLlave } from '../../domain/equipo/sessions/sesion.ts'
import type { Aprobacion, LlavePorAprobar } from '../../generated/contract/types/index.ts'
import { Problema } from '../../platform/errors.ts'
import { type Html, html } from '../../platform/html.ts'
import { type Clock, createClock } from '../../platform/time/clock.ts'
import type { Sheet } from '../page.ts'
import { field } from '../ui/components.ts'
import { askForPresence } from './presence.ts'
import { accountForm, backPage, submitButton } from './view.ts'

type Person = Identities['sesionDePersona']

/** Maximum characters of the reason of a refusal, as in the contract. */
const MAX_REASON = 300
/** Reports whether the session's membership lets a person decide approvals. */
const administers = (person: Person) => companyLlave(person, 'administrar') !== undefined

interface CardOptions {
  root: string
  aprobacion: Aprobacion
  isOwn: boolean
  isRecent: boolean
  /** True if the approval is about the reader, so that another person must decide it. */
  isForeign: boolean
  pide: string
  clock: Clock
}

/** Describes in Spanish when an operator's key ends, and which networks may use it. */
function keyLimits({ vence_en, redes }: LlavePorAprobar, clock: Clock): string {
  const end = vence_en === null ? 'La llave no vence' : `La llave vence el ${clock.formatLong(vence_en)}`
  return `${end}, y vale desde ${redes.length === 0 ? 'cualquier red' : redes.join(', ')}. `
}

function approvalCard({ root, aprobacion, isOwn, isRecent, isForeign, pide, clock }: CardOptions): Html {
  const { aprobacion: code, tipo, contenido } = aprobacion
  const reason = field({
    id: `razon-${code}`,
    label: 'Por qué no',
    control: (own) =>
      html`<input ${own} type="text" name="razon" required maxlength="${MAX_REASON}" autocomplete="off">`,
  })
  return html`<li class="tarjeta"><p><b>${pide}</b> pide ${contenido ? describeRequest(tipo, contenido) : 'algo que ya no se puede leer'}.</p>
<p class="suave">${contenido?.llave && keyLimits(contenido.llave, clock)}Se decide hasta el ${clock.formatLong(aprobacion.vence_en)}.</p>
${isForeign && html`<p>Es sobre usted: la decide otra persona.</p>`}${isOwn && accountForm(root, 'retirar', code, submitButton('Retirar', 'callado'))}${
  !isOwn &&
  !isForeign &&
  isRecent &&
  html`${accountForm(root, 'aprobar', code, submitButton('Aprobar'))}
${accountForm(root, 'rechazar', code, html`${reason}${submitButton('Rechazar', 'peligro')}`)}`
}</li>\n`
}

/** Draws the section of the account's page with the open approvals; undefined if none waits for this person. */
export async function approvalsPart(
  deps: AprobacionDecisionDeps,
  identity: Person,
  { root, zona }: { root: string; zona: string },
): Promise<Html | undefined> {
  if (!administers(identity)) return undefined
  const pending = await readPendingAprobaciones(deps)
  if (pending.length === 0) return undefined
  const requesters = pending.map(({ pide }) => pide)
  const rows = await deps.db.prisma.persona.findMany({ where: { persona: { in: requesters } } })
  const names = new Map(rows.map(({ persona, nombre }) => [persona, nombre]))
  const clock = createClock(zona)
  const isRecent = isPresent(identity, deps.clock())
  const cards: Html[] = []
  for (const row of pending) {
    const aprobacion = presentAprobacion(deps, row)
    const { tipo, pide } = row
    const { persona: decide } = identity
    const isForeign = await needsOtherDecider(deps, {
      tipo,
      pide,
      decide,
      sobre: aprobacion.contenido?.persona ?? null,
    })
    const isOwn = pide === decide
    const de = { root, aprobacion, isOwn, isRecent, isForeign, pide: names.get(pide) ?? pide, clock }
    cards.push(approvalCard(de))
  }
  return html`<h2>Por aprobar</h2>
${!isRecent && html`<p>Para decidir, <a href="${root}cuenta/presencia">confirme que es usted</a>.</p>`}
<ul class="lista">${cards}</ul>
`
}

/** Takes the action of a form about an approval; undefined if the form is about something else. */
export async function decideByForm(
  deps: AprobacionDecisionDeps,
  actor: PersonaActor,
  { accion, cual: code, razon }: Readonly<Record<'accion' | 'cual' | 'razon', string>>,
  root: string,
): Promise<Sheet | undefined> {
  if (!['aprobar', 'rechazar', 'retirar'].includes(accion)) return undefined
  const sheet: Sheet = { status: 303, a: `${root}cuenta` }
  if (accion === 'rechazar' && (razon === '' || razon.length > MAX_REASON))
    return {
      status: 422,
      ...backPage('Falta la razón', `Escriba por qué no, en ${MAX_REASON} letras como mucho.`, root),
    }
  try {
    if (accion === 'retirar') await withdrawAprobacion(deps, actor, code)
    else if (!isPresent(actor.identity, deps.clock())) return askForPresence(root, '/cuenta')
    else if (accion === 'aprobar') await decideAprobacion(deps, actor, code, { estado: 'aprobada', razon: null })
    else await decideAprobacion(deps, actor, code, { estado: 'rechazada', razon })
    return sheet
  } catch (error) {
    if (!(error instanceof Problema) || ![403, 404, 409].includes(error.status)) throw error
    return { status: error.status, ...backPage('No se pudo', error.message, root) }
  }
}
