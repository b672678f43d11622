import { randomUUID } from 'node:crypto'
import type { Request } from 'express'
import type { CallOperation } from '../../api/contract/calls.ts'
import { PRESENCE_MS } from '../../api/contract/contract.ts'
import { isPresent } from '../../api/http/authenticate.ts'
import type { Comercio, Llave, LlaveCreada } from '../../generated/contract/types/index.ts'
import { Problema } from '../../platform/errors.ts'
import { MINUTE_MS } from '../../platform/time/units.ts'
import { FOREIGN_FORM } from '../form.ts'
import type { PageRequest, Sheet } from '../page.ts'
import { showAudit } from './audit.ts'
import { type Done, orProblem, perform, type Refused, refusal, sentenceOf, trimmedText, valuesOf } from './forms.ts'
import {
  KEY_ACTIONS,
  MERCHANT_ACTIONS,
  MERCHANT_FIELDS,
  type Member,
  type Shop,
  type TimedKey,
} from './merchantActions.ts'
import {
  merchantPage,
  merchantsPage,
  NEW_FIELDS,
  newMerchantPage,
  type Rows,
  SAID,
  SHOP_MEMBER_ACTIONS,
  secretPage,
} from './merchants.ts'
import { notThere, type Office } from './shell.ts'
import { showWebhooks } from './webhooks.ts'

/** Maximum number of keys or persons that a page reads. */
const MAX_ROWS = '100'

const nothing = (office: Office): Sheet => notThere(office, 'comercios')

/** Answers a request below `/central/comercios`. */
export async function showMerchants(
  call: CallOperation,
  pageRequest: PageRequest,
  office: Office,
  [which, part, ...more]: readonly string[],
): Promise<Sheet> {
  if (which === undefined) return showList(call, pageRequest, office)
  if (which === 'nuevo' && part === undefined)
    return office.scopes.includes('administrar') ? showNew(call, pageRequest, office) : nothing(office)
  const read = await orProblem(call(pageRequest.req, 'obtenerComercio', { path: { comercio: which } }))
  if (read instanceof Problema) return nothing(office)
  if (part === undefined) return showMerchant(call, pageRequest, office, read.body)
  const answer =
    part === 'webhooks'
      ? await showWebhooks(call, pageRequest, office, read.body, more)
      : part === 'bitacora' && more.length === 0 && office.scopes.includes('administrar')
        ? await showAudit(call, pageRequest, office, read.body)
        : undefined
  return answer ?? nothing(office)
}

async function showList(call: CallOperation, { req }: PageRequest, office: Office): Promise<Sheet> {
  const [texto, cursor] = [trimmedText(req.query.texto), trimmedText(req.query.cursor)]
  const query = { ...(texto && { texto }), ...(cursor && { cursor }), limite: '50' }
  const found = await orProblem(call(req, 'listarComercios', { query }))
  return found instanceof Problema
    ? { status: 422, ...merchantsPage({ office, texto, comercios: [], next: null, refused: sentenceOf(found) }) }
    : {
        status: 200,
        ...merchantsPage({ office, texto, comercios: found.body.datos, next: found.body.cursor_siguiente }),
      }
}

/** Creates a merchant and invites its first person. Does neither if the proof of presence is missing. */
async function showNew(call: CallOperation, { req, root, reading }: PageRequest, office: Office): Promise<Sheet> {
  const present =
    office.now.getTime() - office.presence.getTime() < PRESENCE_MS - MINUTE_MS || req.query.confirmado !== undefined
  if (reading) return { status: 200, ...newMerchantPage(office, { refused: undefined, present }) }
  const values = await valuesOf(req, NEW_FIELDS)
  if (!values) return { status: 400, ...FOREIGN_FORM }
  const { nombre, pais, correo, persona } = values
  const refuse = (refused: Refused, status: number): Sheet => ({
    status,
    ...newMerchantPage(office, { refused, present }),
  })
  const invites = correo !== '' || persona !== ''
  if (invites && !isPresent({ presencia_en: office.presence }, office.now)) {
    const sentence = 'Todavía no se creó nada: invitar a una persona pide confirmar quién es usted.'
    return refuse({ values, sentence, faults: {}, presence: true }, 403)
  }
  const body = { nombre, pais: pais === '' ? null : pais }
  const created = await orProblem(call(req, 'crearComercio', { body }))
  if (created instanceof Problema) return refuse(refusal(values, created), created.status)
  const comercio = created.body
  const here = `${root}central/comercios/${comercio.comercio}`
  if (!invites) return { status: 303, a: `${here}?hecho=creado` }
  const invitation = { comercio: comercio.comercio, correo, nombre: persona, alcances: ['propietario'] }
  const invited = await orProblem(call(req, 'invitarPersona', { body: invitation }))
  if (!(invited instanceof Problema)) return { status: 303, a: `${here}?hecho=invitado` }
  const sent = { accion: 'invitar', cual: '', correo, nombre: persona, propietario: 'si' }
  const text = 'El comercio quedó creado, pero la invitación no salió. Revísela abajo y mándela otra vez.'
  return merchantSheet(call, req, office, comercio, {
    status: invited.status,
    refused: refusal(sent, invited),
    said: { text, good: false },
  })
}

interface Result {
  status: number
  refused?: Refused | undefined
  said?: { text: string; good: boolean } | undefined
}

/** Returns the page of a merchant. Reads keys and persons only for a person with the scope `administrar`. */
async function merchantSheet(
  call: CallOperation,
  req: Request,
  office: Office,
  comercio: Comercio,
  { status, ...result }: Result,
): Promise<Sheet> {
  const [keys, members] = office.scopes.includes('administrar')
    ? await Promise.all([readKeys(call, req, comercio), readMembers(call, req, comercio)])
    : []
  return { status, ...merchantPage({ office, comercio, keys, members, key: randomUUID(), ...result }) }
}

const readKeys = async (call: CallOperation, req: Request, { comercio }: Comercio): Promise<Rows<Llave>> => {
  const { body } = await call(req, 'listarLlaves', { path: { comercio }, query: { limite: MAX_ROWS } })
  return { rows: body.datos, more: body.cursor_siguiente !== null }
}

async function readMembers(call: CallOperation, req: Request, { comercio }: Comercio): Promise<Rows<Member>> {
  const { body } = await call(req, 'listarPersonas', { query: { ambito: comercio, limite: MAX_ROWS } })
  const rows = body.datos.flatMap(({ membresias, ...person }) => {
    const membership = membresias.find((one) => one.comercio === comercio)
    return membership ? [{ ...person, membership }] : []
  })
  return { rows, more: body.cursor_siguiente !== null }
}

const DONE = { ...MERCHANT_ACTIONS, ...KEY_ACTIONS, ...SHOP_MEMBER_ACTIONS }

/** Returns the sentence about an action that was just taken. */
function saidOf(name: string): Result['said'] {
  const text = Object.hasOwn(SAID, name) ? SAID[name] : Object.hasOwn(DONE, name) ? DONE[name]!.done : undefined
  return text === undefined ? undefined : { text, good: true }
}

async function showMerchant(
  call: CallOperation,
  pageRequest: PageRequest,
  office: Office,
  comercio: Comercio,
): Promise<Sheet> {
  const { req, root, reading } = pageRequest
  if (reading)
    return merchantSheet(call, req, office, comercio, { status: 200, said: saidOf(trimmedText(req.query.hecho)) })
  const values = await valuesOf(req, MERCHANT_FIELDS)
  const thing: Shop = { ...comercio, clock: office.clock }
  const performed =
    values &&
    ((await perform(call, req, MERCHANT_ACTIONS, values, () => thing)) ??
      (await perform(call, req, KEY_ACTIONS, values, () => keyOf(call, req, office, comercio, values.cual))) ??
      (await perform(call, req, SHOP_MEMBER_ACTIONS, values, () => memberOf(call, req, comercio, values.cual))))
  if (!performed) return { status: 400, ...FOREIGN_FORM }
  const { name, answer } = performed
  const here = `central/comercios/${comercio.comercio}`
  if (answer instanceof Problema)
    return merchantSheet(call, req, office, comercio, { status: answer.status, refused: refusal(values, answer) })
  const secret = secretOf(answer)
  return secret === undefined
    ? { status: 303, a: `${root}${here}?hecho=${name}` }
    : { status: 200, ...secretPage(office, { title: 'La llave', secret, back: here, place: 'comercios' }) }
}

/** Returns the secret in an answer; undefined if the answer has none. */
export const secretOf = ({ body }: Done): string | undefined => (body as Partial<LlaveCreada> | undefined)?.llave

/** Returns the merchant's key with this code; undefined if the merchant has no such key. */
async function keyOf(
  call: CallOperation,
  req: Request,
  { now }: Office,
  comercio: Comercio,
  code: string,
): Promise<TimedKey | Problema | undefined> {
  const read = await orProblem(readKeys(call, req, comercio))
  if (read instanceof Problema) return read
  const found = read.rows.find(({ id }) => id === code)
  return found && { ...found, now }
}

/** Returns the merchant's person whose membership has this code. */
async function memberOf(
  call: CallOperation,
  req: Request,
  comercio: Comercio,
  code: string,
): Promise<Member | Problema | undefined> {
  const read = await orProblem(readMembers(call, req, comercio))
  return read instanceof Problema ? read : read.rows.find(({ membership }) => membership.membresia === code)
}
