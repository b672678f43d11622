import { randomUUID } from 'node:crypto'
import type { Request } from 'express'
import type { CallOperation } from '../../api/contract/calls.ts'
import type { InvitacionAbierta, RepartidorConCodigo } from '../../generated/contract/types/index.ts'
import { Problema } from '../../platform/errors.ts'
import { FOREIGN_FORM } from '../form.ts'
import type { PageContent } from '../frame.ts'
import type { PageRequest, Sheet } from '../page.ts'
import { type Done, orProblem, perform, refusal, trimmedText, type Values, valuesOf } from './forms.ts'
import { KEY_ACTIONS } from './merchantActions.ts'
import { secretOf } from './merchantRoutes.ts'
import { type Rows, secretPage } from './merchants.ts'
import { showService } from './service.ts'
import { notThere, type Office } from './shell.ts'
import { colleaguePage, courierAccessPage, type FormOutcome, systemPage, systemsPage, teamPage } from './team.ts'
import {
  COLLEAGUE_ACTIONS,
  COURIER_ACTIONS,
  COURIERS_ACTIONS,
  type Colleague,
  INVITATION_ACTIONS,
  SYSTEM_ACTIONS,
  SYSTEMS_ACTIONS,
  TEAM_ACTIONS,
  TEAM_FIELDS,
} from './teamActions.ts'

/** Maximum number of rows that a page reads of one kind. */
const MAX_ROWS = '100'

const nothing = (office: Office): Sheet => notThere(office, 'equipo')

/** Sentence beside the code of an invitation. */
const INVITED =
  'Déselo a quien invitó, en persona o por teléfono, y no por correo: la invitación que le llega no lo tiene, y lo pide.'

/** Request to a page about the team. */
interface TeamRequest {
  call: CallOperation
  pageRequest: PageRequest
  office: Office
  /** Path of the page from the service root. */
  here: string
}

/** Answers a request below `/central/equipo`, for persons with the scope `administrar`. */
export async function showTeam(
  call: CallOperation,
  pageRequest: PageRequest,
  office: Office,
  parts: readonly string[],
): Promise<Sheet> {
  const [which, code, ...more] = parts
  if (!office.scopes.includes('administrar') || more.length > 0) return nothing(office)
  const request = { call, pageRequest, office, here: ['central/equipo', ...parts].join('/') }
  if (which === undefined) return showColleagues(request)
  if (which === 'sistemas') return code === undefined ? showSystems(request) : showSystem(request, code)
  if (code !== undefined) return nothing(office)
  if (which === 'servicio') return showService(call, pageRequest, office)
  return which === 'repartidores' ? showCouriers(request) : showColleague(request, which)
}

type Form = Values<(typeof TEAM_FIELDS)[number]>

interface PageOptions {
  /** All actions of the page by name, each with the sentence to show afterwards. */
  actions: Readonly<Record<string, { done: string }>>
  /** Takes the action that a form asks for; undefined if the page has no such action. */
  act(values: Form): Promise<{ name: string; answer: Done | Problema } | undefined>
  /** Returns the page, with rows that are read anew. */
  page(outcome: FormOutcome): Promise<PageContent>
  /** Person that the page is about. */
  about?: string
  /** Path to which the browser is redirected after an action, if not to the page itself. */
  after?: Readonly<Record<string, string>>
}

/** Returns a page about the team, or takes the action that its form asks for. */
async function answerTeam(
  { call, pageRequest, office, here }: TeamRequest,
  { actions, act, page, about, after = {} }: PageOptions,
): Promise<Sheet> {
  const { req, root, reading } = pageRequest
  const key = randomUUID()
  if (reading) {
    const done = trimmedText(req.query.hecho)
    const deciders = req.query.espera === undefined ? undefined : await decidersOf(call, req, office, about)
    return {
      status: 200,
      ...(await page({ key, deciders, done: Object.hasOwn(actions, done) ? actions[done]!.done : undefined })),
    }
  }
  const values = await valuesOf(req, TEAM_FIELDS)
  const performed = values && (await act(values))
  if (!performed) return { status: 400, ...FOREIGN_FORM }
  const { name, answer } = performed
  if (answer instanceof Problema)
    return { status: answer.status, ...(await page({ key, refused: refusal(values, answer) })) }
  const pending = answer.status === 202
  const secret = secretOf(answer)
  if (secret !== undefined)
    return { status: 200, ...secretPage(office, { title: 'La llave', secret, back: here, place: 'equipo', pending }) }
  const code = (answer.body as Partial<RepartidorConCodigo> | undefined)?.codigo
  if (code !== undefined) {
    const note = name.startsWith('invitar') ? INVITED : undefined
    const shown = { title: 'El código', secret: code, back: here, place: 'equipo', pending, note } as const
    return { status: 200, ...secretPage(office, shown) }
  }
  return { status: 303, a: pending ? `${root}${here}?espera=${name}` : `${root}${after[name] ?? here}?hecho=${name}` }
}

async function readColleagues(call: CallOperation, req: Request): Promise<Rows<Colleague>> {
  const { body } = await call(req, 'listarPersonas', { query: { ambito: 'empresa', limite: MAX_ROWS } })
  return { rows: body.datos.flatMap(colleagueOf), more: body.cursor_siguiente !== null }
}

async function readInvitations(call: CallOperation, req: Request): Promise<Rows<InvitacionAbierta>> {
  const { body } = await call(req, 'listarInvitaciones', { query: { ambito: 'empresa', limite: MAX_ROWS } })
  return { rows: body.datos, more: body.cursor_siguiente !== null }
}

const colleagueOf = (person: Omit<Colleague, 'membership'>): Colleague[] => {
  const membership = person.membresias.find(({ comercio }) => comercio === null)
  return membership ? [{ ...person, membership }] : []
}

/**
 * Returns the names of the other persons with the scope `administrar`. The person that the request is about is named
 * only if nobody else can decide.
 */
async function decidersOf(call: CallOperation, req: Request, { persona }: Office, about?: string) {
  const { rows } = await readColleagues(call, req)
  const others = rows.filter((one) => one.persona !== persona && one.membership.alcances.includes('administrar'))
  const unconcerned = others.filter((one) => one.persona !== about)
  return (unconcerned.length > 0 ? unconcerned : others).map(({ nombre }) => nombre)
}

const showColleagues = (request: TeamRequest): Promise<Sheet> => {
  const { call, pageRequest, office } = request
  return answerTeam(request, {
    actions: { ...TEAM_ACTIONS, ...INVITATION_ACTIONS, ...COLLEAGUE_ACTIONS },
    act: async (values) =>
      (await perform(call, pageRequest.req, TEAM_ACTIONS, values, () => null)) ??
      perform(call, pageRequest.req, INVITATION_ACTIONS, values, async () =>
        (await readInvitations(call, pageRequest.req)).rows.find(({ invitacion }) => invitacion === values.cual),
      ),
    async page(outcome) {
      const [colleagues, invitations, { body }] = await Promise.all([
        readColleagues(call, pageRequest.req),
        readInvitations(call, pageRequest.req),
        call(pageRequest.req, 'listarAprobaciones', { query: { limite: MAX_ROWS } }),
      ])
      const pending = body.datos.filter(({ estado }) => estado === 'pendiente').length
      return teamPage({ office, colleagues, invitations, pending, ...outcome })
    },
  })
}

async function showColleague(request: TeamRequest, persona: string): Promise<Sheet> {
  const { call, pageRequest, office } = request
  const read = async () => {
    const found = await orProblem(call(pageRequest.req, 'obtenerPersona', { path: { persona } }))
    return found instanceof Problema ? undefined : colleagueOf(found.body)[0]
  }
  const colleague = await read()
  if (!colleague) return nothing(office)
  return answerTeam(request, {
    actions: COLLEAGUE_ACTIONS,
    act: (values) => perform(call, pageRequest.req, COLLEAGUE_ACTIONS, values, () => colleague),
    page: async (outcome) => colleaguePage({ office, colleague, ...outcome }),
    about: persona,
    after: { quitar: 'central/equipo', eliminar: 'central/equipo' },
  })
}

function showSystems(request: TeamRequest): Promise<Sheet> {
  const { call, pageRequest, office } = request
  const cursor = trimmedText(pageRequest.req.query.cursor)
  return answerTeam(request, {
    actions: SYSTEMS_ACTIONS,
    act: (values) => perform(call, pageRequest.req, SYSTEMS_ACTIONS, values, () => null),
    async page(outcome) {
      const query = { limite: MAX_ROWS, ...(cursor && { cursor }) }
      const { body } = await call(pageRequest.req, 'listarOperadores', { query })
      return systemsPage({ office, systems: body.datos, next: body.cursor_siguiente, ...outcome })
    },
  })
}

async function showSystem(request: TeamRequest, operador: string): Promise<Sheet> {
  const { call, pageRequest, office } = request
  const readKeys = () =>
    orProblem(call(pageRequest.req, 'listarLlavesDeOperador', { path: { operador }, query: { limite: MAX_ROWS } }))
  const [{ body }, keys] = await Promise.all([
    call(pageRequest.req, 'listarOperadores', { query: { limite: MAX_ROWS } }),
    readKeys(),
  ])
  if (keys instanceof Problema) return nothing(office)
  // A system older than the newest hundred is shown by its code, because its name was not read.
  const unnamed = { operador, nombre: operador, creado_en: '', revocado_en: null }
  const system = body.datos.find((one) => one.operador === operador) ?? unnamed
  return answerTeam(request, {
    actions: { ...SYSTEM_ACTIONS, ...KEY_ACTIONS },
    act: async (values) =>
      (await perform(call, pageRequest.req, SYSTEM_ACTIONS, values, () => ({ ...system, clock: office.clock }))) ??
      perform(call, pageRequest.req, KEY_ACTIONS, values, () => {
        const found = keys.body.datos.find(({ id }) => id === values.cual)
        return found && { ...found, now: office.now }
      }),
    page: async (outcome) =>
      systemPage({
        office,
        system,
        ...outcome,
        keys: { rows: keys.body.datos, more: keys.body.cursor_siguiente !== null },
      }),
  })
}

function showCouriers(request: TeamRequest): Promise<Sheet> {
  const { call, pageRequest, office } = request
  const cursor = trimmedText(pageRequest.req.query.cursor)
  const read = async () => {
    const query = { limite: MAX_ROWS, ...(cursor && { cursor }) }
    return (await call(pageRequest.req, 'listarRepartidores', { query })).body
  }
  return answerTeam(request, {
    actions: { ...COURIERS_ACTIONS, ...COURIER_ACTIONS },
    act: async (values) =>
      (await perform(call, pageRequest.req, COURIERS_ACTIONS, values, () => null)) ??
      perform(call, pageRequest.req, COURIER_ACTIONS, values, async () =>
        (await read()).datos.find(({ repartidor }) => repartidor === values.cual),
      ),
    async page(outcome) {
      const { datos, cursor_siguiente } = await read()
      return courierAccessPage({ office, couriers: datos, next: cursor_siguiente, ...outcome })
    },
  })
}
