import { isPresent } from '../../api/http/authenticate.ts'
import type { Identities } from '../../api/http/identity.ts'
import { leerPendientes, presentarAprobacion } from '../../domain/aprobaciones/aprobacion.ts'
import { type DepsDeDecision, decidir, loDecideOtra } from '../../domain/aprobaciones/decidir.ts'
import { retirar } from '../../domain/aprobaciones/retirar.ts'
import type { Quien } from '../../domain/bitacora/bitacora.ts'
import { loQueSePide } from '../../domain/equipo/aprobable.ts'
import { llaveDeEmpresa } from '../../domain/equipo/sesion.ts'
import type { Aprobacion, LlavePorAprobar } from '../../generado/contrato/tipos/index.ts'
import { Problema } from '../../platform/errors.ts'
import { type Clock, createClock } from '../../platform/time/clock.ts'
import { type Html, html } from '../html.ts'
import type { Sheet } from '../page.ts'
import { field } from '../ui/components.ts'
import { askForPresence } from './presence.ts'
import { accountForm, backPage, enviar } from './view.ts'

type Person = Identities['sesionDePersona']

/** Maximum characters of the reason of a refusal, as in the contract. */
const MAX_REASON = 300
/** Reports whether the session's membership lets a person decide approvals. */
const administers = (person: Person) => llaveDeEmpresa(person, 'administrar') !== undefined

interface CardOptions {
  raiz: string
  aprobacion: Aprobacion
  propia: boolean
  reciente: boolean
  /** True if the approval is about the reader, so that another person must decide it. */
  ajena: boolean
  pide: string
  reloj: Clock
}

/** Describes in Spanish when an operator's key ends, and which networks may use it. */
function keyLimits({ vence_en, redes }: LlavePorAprobar, reloj: Clock): string {
  const end = vence_en === null ? 'La llave no vence' : `La llave vence el ${reloj.larga(vence_en)}`
  return `${end}, y vale desde ${redes.length === 0 ? 'cualquier red' : redes.join(', ')}. `
}

function approvalCard({ raiz, aprobacion, propia, reciente, ajena, pide, reloj }: CardOptions): Html {
  const { aprobacion: cual, tipo, contenido } = aprobacion
  const razon = field({
    id: `razon-${cual}`,
    label: 'Por qué no',
    control: (own) =>
      html`<input ${own} type="text" name="razon" required maxlength="${MAX_REASON}" autocomplete="off">`,
  })
  return html`<li class="tarjeta"><p><b>${pide}</b> pide ${contenido ? loQueSePide(tipo, contenido) : 'algo que ya no se puede leer'}.</p>
<p class="suave">${contenido?.llave && keyLimits(contenido.llave, reloj)}Se decide hasta el ${reloj.larga(aprobacion.vence_en)}.</p>
${ajena && html`<p>Es sobre usted: la decide otra persona.</p>`}${propia && accountForm(raiz, 'retirar', cual, enviar('Retirar', 'callado'))}${
  !propia &&
  !ajena &&
  reciente &&
  html`${accountForm(raiz, 'aprobar', cual, enviar('Aprobar'))}
${accountForm(raiz, 'rechazar', cual, html`${razon}${enviar('Rechazar', 'peligro')}`)}`
}</li>\n`
}

/** Draws the section of the account's page with the open approvals; undefined if none waits for this person. */
export async function approvalsPart(
  deps: DepsDeDecision,
  identidad: Person,
  { raiz, zona }: { raiz: string; zona: string },
): Promise<Html | undefined> {
  if (!administers(identidad)) return undefined
  const pendientes = await leerPendientes(deps)
  if (pendientes.length === 0) return undefined
  const quienes = pendientes.map(({ pide }) => pide)
  const filas = await deps.db.prisma.persona.findMany({ where: { persona: { in: quienes } } })
  const nombres = new Map(filas.map(({ persona, nombre }) => [persona, nombre]))
  const reloj = createClock(zona)
  const reciente = isPresent(identidad, deps.reloj())
  const tarjetas: Html[] = []
  for (const fila of pendientes) {
    const aprobacion = presentarAprobacion(deps, fila)
    const { tipo, pide } = fila
    const { persona: decide } = identidad
    const ajena = await loDecideOtra(deps, { tipo, pide, decide, sobre: aprobacion.contenido?.persona ?? null })
    const propia = pide === decide
    const de = { raiz, aprobacion, propia, reciente, ajena, pide: nombres.get(pide) ?? pide, reloj }
    tarjetas.push(approvalCard(de))
  }
  return html`<h2>Por aprobar</h2>
${!reciente && html`<p>Para decidir, <a href="${raiz}cuenta/presencia">confirme que es usted</a>.</p>`}
<ul class="lista">${tarjetas}</ul>
`
}

/** Takes the action of a form about an approval; undefined if the form is about something else. */
export async function decideByForm(
  deps: DepsDeDecision,
  quien: Quien & { identidad: Person },
  { accion, cual, razon }: Readonly<Record<'accion' | 'cual' | 'razon', string>>,
  raiz: string,
): Promise<Sheet | undefined> {
  if (!['aprobar', 'rechazar', 'retirar'].includes(accion)) return undefined
  const sheet: Sheet = { status: 303, a: `${raiz}cuenta` }
  if (accion === 'rechazar' && (razon === '' || razon.length > MAX_REASON))
    return {
      status: 422,
      ...backPage('Falta la razón', `Escriba por qué no, en ${MAX_REASON} letras como mucho.`, raiz),
    }
  try {
    if (accion === 'retirar') await retirar(deps, quien, cual)
    else if (!isPresent(quien.identidad, deps.reloj())) return askForPresence(raiz, '/cuenta')
    else if (accion === 'aprobar') await decidir(deps, quien, cual, { estado: 'aprobada', razon: null })
    else await decidir(deps, quien, cual, { estado: 'rechazada', razon })
    return sheet
  } catch (error) {
    if (!(error instanceof Problema) || ![403, 404, 409].includes(error.status)) throw error
    return { status: error.status, ...backPage('No se pudo', error.message, raiz) }
  }
}
