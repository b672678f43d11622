import { randomUUID } from 'node:crypto'
import type { Express, Request } from 'express'
import type { CallOperation } from '../../api/contract/calls.ts'
import { createLimit } from '../../api/limits/buckets.ts'
import { companyTimeZone } from '../../domain/catalogo/timeZone.ts'
import type { Deps } from '../../domain/deps.ts'
import { isFinalState, ONGOING_STATES } from '../../domain/estados/estados.ts'
import type { GuiaDeOperacion, GuiaDeOperacionConEventos } from '../../generated/contract/types/index.ts'
import { normalizeGuideCode } from '../../platform/codes/guideCode.ts'
import { Problema } from '../../platform/errors.ts'
import { Html } from '../../platform/html.ts'
import { createClock } from '../../platform/time/clock.ts'
import { addDays, beginningOf, isDay } from '../../platform/time/day.ts'
import { readGenerated } from '../assets.ts'
import { FOREIGN_FORM, FORM_REFERRER } from '../form.ts'
import { ownHead } from '../frame.ts'
import type { Front } from '../front.ts'
import { type Tiles, tileOrigin } from '../location/tiles.ts'
import { type PageRequest, type RenderedPage, type Sheet, servePage, waitSheet } from '../page.ts'
import { byDigest } from '../response.ts'
import { signInSheet } from '../signIn/session.ts'
import { ACTIONS, FIELD_OF, FIELDS } from './actions.ts'
import { showAssign, showCourier, showCouriers } from './assignRoute.ts'
import { showBulk } from './bulkRoute.ts'
import { namesOf, newestMerchants, readCouriers, readPages } from './calls.ts'
import { type Evidence, mayHaveAttempts, wasDelivered, wasUndone } from './evidence.ts'
import { EXPORTED_PAGES, toCsv } from './export.ts'
import { orProblem, perform, type Refused, refusal, sentenceOf, trimmedText, valuesOf } from './forms.ts'
import { guidePage } from './guide.ts'
import { type Filters, listPage, MAX_PAGE_SIZE, MISSING, PAGE_SIZE } from './list.ts'
import { serveLive } from './live.ts'
import { showMerchants } from './merchantRoutes.ts'
import { noticesPage } from './notices.ts'
import { CENTRAL_FAILED, NO_GUIDE, NOT_OFFICE, notThere, type Office } from './shell.ts'
import { showTeam } from './teamRoutes.ts'
import { todayPage } from './today.ts'

/** Maximum requests per minute from one network to these pages. A whole office is one network. */
const REQUESTS_PER_MINUTE = 1_200

type OfficeDeps = Pick<Deps, 'browser' | 'store' | 'clock' | 'settings' | 'db' | 'log'>

/** Parts of the pages that are the same for every request. */
interface Parts {
  call: CallOperation
  /** Name of the courier company. */
  brand: string
  /** Source of the map tiles; null if the service offers no map. */
  tiles: Tiles | null
  /** Returns the headers of a page that shows pictures and a map. */
  pictures: () => Promise<Readonly<Record<string, string>>>
}

/** Serves `/central`, the pages of the courier company's office. The pages also work without JavaScript. */
export function serveOffice(app: Express, front: Front, deps: OfficeDeps, call: CallOperation) {
  const { browser, store, clock, settings } = deps
  const { tiles } = settings
  const file = (name: string) => readGenerated(`pages/central/${name}`).toString()
  const [style, program] = [file('estilo.css'), file('navegador.js')]
  const head = ownHead(new Html(style))
  const limit = createLimit(REQUESTS_PER_MINUTE)
  const live = serveLive(app, deps)
  const common = { program: new Html(program), clock: createClock(companyTimeZone(settings.timeZone)) }
  const permits = (images: string) =>
    front.policyHeaders({
      'style-src': byDigest(style),
      'script-src': byDigest(program),
      'connect-src': "'self'",
      'form-action': "'self'",
      'img-src': images,
    })
  let withPictures: Readonly<Record<string, string>> | undefined
  const pictures = async () => {
    withPictures ??= permits([await storageOrigin(store), tileOrigin(tiles)].filter(Boolean).join(' '))
    return withPictures
  }
  const parts = { call, brand: front.brand.nombre, tiles, pictures }
  async function read(pageRequest: PageRequest): Promise<Sheet> {
    if (!pageRequest.reading && !browser.isOwnRequest(pageRequest.req)) return { status: 403, ...FOREIGN_FORM }
    const office = await officeOf(call, { ...common, now: clock() }, deps, pageRequest)
    if (!('scopes' in office)) return office
    const [place = '', which] = pageRequest.rest.split('/')
    if (pageRequest.reading && LIVE_PLACES.includes(place))
      office.cursor = await live.cursor(place === 'guias' && which ? normalizeGuideCode(which) : undefined)
    return answer(pageRequest, office)
  }
  const page: RenderedPage = {
    methods: ['POST'],
    headers: { ...permits(''), ...FORM_REFERRER },
    head: () => head,
    front,
    failure: CENTRAL_FAILED,
    waitSeconds: ({ red }) => limit(red),
    handle: (pageRequest) => read(pageRequest).catch(waitOrThrow),
  }
  function answer(pageRequest: PageRequest, office: Office): Sheet | Promise<Sheet> {
    const [place, which, ...more] = pageRequest.rest.split('/')
    if (place === 'comercios')
      return showMerchants(call, pageRequest, office, which === undefined ? [] : [which, ...more])
    if (place === 'equipo') return showTeam(call, pageRequest, office, which === undefined ? [] : [which, ...more])
    if (more.length > 0) return nothing(office)
    if (place === 'guias')
      return which === undefined ? showList(call, pageRequest, office) : showGuide(parts, pageRequest, office, which)
    if (pageRequest.rest === 'guias.csv') return downloadList(call, pageRequest, office)
    if (place === 'reparto') return showCarrying(call, pageRequest, office, which)
    if (pageRequest.rest === 'avisos') return showNotices(call, pageRequest, office)
    if (pageRequest.rest === 'varias') return showBulk(call, pageRequest, office)
    return pageRequest.rest === '' ? showToday(call, pageRequest, office) : nothing(office)
  }
  servePage(app, '/central', page)
}

/** Returns the origin to which links to pictures redirect; empty if the service sends the pictures itself. */
async function storageOrigin({ link: createLink }: Deps['store']): Promise<string> {
  const anyFile = { method: 'GET', mime: 'image/jpeg', disposition: 'inline' } as const
  return createLink ? new URL(await createLink('arch_0000000000000000', anyFile)).origin : ''
}

/** Returns the page for a session that exceeds the rate limit of the operations. Throws other errors again. */
function waitOrThrow(error: unknown): Sheet {
  const sheet = waitSheet(error)
  if (!sheet) throw error
  return sheet
}

const nothing = (office: Office): Sheet => notThere(office, 'guias', NO_GUIDE)

/** Returns the person who reads the page. Returns a response instead if the person may not see these pages. */
async function officeOf(
  call: CallOperation,
  common: Pick<Office, 'program' | 'clock' | 'now'>,
  deps: OfficeDeps,
  pageRequest: PageRequest,
): Promise<Office | Sheet> {
  const { req, root } = pageRequest
  const sesion = await orProblem(call(req, 'obtenerSesionDePersona'))
  if (sesion instanceof Problema) return signInSheet(deps, pageRequest)
  const { persona, nombre, membresia, membresias, falta_segundo_factor, presencia_en } = sesion.body
  if (falta_segundo_factor) return { status: 303, a: `${root}cuenta` }
  const current = membresias.find((candidate) => candidate.membresia === membresia)
  if (!current || current.comercio !== null || !(current.alcances as string[]).includes('ver'))
    return { status: 403, ...NOT_OFFICE }
  return { ...common, root, nombre, scopes: current.alcances, persona, presence: new Date(presencia_en) }
}

/** Sections whose pages follow changes through a stream. */
const LIVE_PLACES = ['', 'guias', 'reparto']

/** Maximum number of guides of each kind that the first page shows. */
const SHOWN_LIMIT = '25'

async function showToday(call: CallOperation, { req }: PageRequest, office: Office): Promise<Sheet> {
  const list = async (query: Record<string, string>) =>
    (await call(req, 'buscarGuias', { query: { modo: 'live', limite: SHOWN_LIMIT, ...query } })).body.datos
  const [{ body: jornada }, detained, webhooks, undecided, expired, failed] = await Promise.all([
    call(req, 'obtenerJornada'),
    call(req, 'listarGuiasDetenidas'),
    call(req, 'listarWebhooksConFallas'),
    list({ decision: 'pendiente' }),
    list({ ubicacion: 'vencida' }),
    list({ ubicacion: 'fallida' }),
  ])
  const open = [...failed, ...expired].filter(({ estado }) => !isFinalState(estado))
  const stuck = detained.body.datos.slice(0, Number(SHOWN_LIMIT))
  const failing = webhooks.body.datos.slice(0, Number(SHOWN_LIMIT))
  const needed = { undecided, withoutPlace: open, stuck, webhooks: failing }
  const names = await namesOf(call, req, [...open, ...undecided, ...stuck])
  return { status: 200, ...todayPage({ office, jornada, names, ...needed }) }
}

/** Answers with the list of couriers, the page of one, or the guides that can be assigned. */
async function showCarrying(
  call: CallOperation,
  pageRequest: PageRequest,
  office: Office,
  which?: string,
): Promise<Sheet> {
  if (which === undefined) return showCouriers(call, pageRequest, office)
  if (which === 'asignar') return showAssign(call, pageRequest, office)
  return (await showCourier(call, pageRequest, office, which)) ?? nothing(office)
}

async function showNotices(call: CallOperation, { req }: PageRequest, office: Office): Promise<Sheet> {
  const [webhooks, { body: unasked }, failed] = await Promise.all([
    call(req, 'listarWebhooksConFallas'),
    call(req, 'listarDecisionesNoPreguntadas'),
    call(req, 'buscarGuias', { query: { modo: 'live', ubicacion: 'fallida', limite: '100' } }),
  ])
  const { datos, hay_mas } = webhooks.body
  const unreached = failed.body.datos.filter(({ estado }) => !isFinalState(estado))
  const names = await namesOf(call, req, [...unreached, ...unasked.datos])
  return { status: 200, ...noticesPage({ office, webhooks: datos, more: hay_mas, unreached, unasked, names }) }
}

/** Returns the filters of the list in the page's address. */
function filtersOf(req: Request): Filters {
  const { q, estado, comercio, lugar, dia, cuantas } = req.query
  return {
    q: trimmedText(q),
    estado: trimmedText(estado),
    comercio: trimmedText(comercio),
    lugar: lugar === MISSING ? MISSING : '',
    dia: isDay(trimmedText(dia)) ? trimmedText(dia) : '',
    cuantas: cuantas === MAX_PAGE_SIZE ? MAX_PAGE_SIZE : '',
  }
}

async function showList(call: CallOperation, { req, root }: PageRequest, office: Office): Promise<Sheet> {
  const { cursor } = req.query
  const filters = filtersOf(req)
  const code = normalizeGuideCode(filters.q)
  if (code) return { status: 303, a: `${root}central/guias/${code}` }
  const [choices, found] = await Promise.all([
    newestMerchants(call, req),
    orProblem(find(call, req, office, { filters, cursor: trimmedText(cursor) })),
  ])
  const guias = found instanceof Problema ? [] : found.guias
  const chosen = filters.comercio === '' ? [] : [{ comercio: filters.comercio }]
  const others = await namesOf(
    call,
    req,
    [...guias, ...chosen].filter(({ comercio }) => !choices.has(comercio)),
  )
  const common = { office, filters, cursor: trimmedText(cursor), choices, names: new Map([...choices, ...others]) }
  return found instanceof Problema
    ? { status: 422, ...listPage({ ...common, guias, next: null, refused: sentenceOf(found) }) }
    : { status: 200, ...listPage({ ...common, ...found }) }
}

/** Returns the parameters of the operation that lists guides, for the filters of the page. */
const listQuery = ({ clock }: Office, { estado, comercio, lugar, dia }: Filters) => ({
  // A guide in a final state needs no place.
  ...(estado ? { estado } : lugar && { estado: ONGOING_STATES }),
  ...(comercio && { comercio }),
  ...(lugar && { ubicacion: ['solicitada', 'vencida', 'fallida'] }),
  ...(dia && {
    creado_desde: beginningOf(dia, clock).toISOString(),
    creado_hasta: beginningOf(addDays(dia, 1), clock).toISOString(),
  }),
})

/** Searches guides by a typed text, or lists them by state, merchant and day. */
async function find(
  call: CallOperation,
  req: Request,
  office: Office,
  { filters, cursor }: { filters: Filters; cursor: string },
) {
  const { q: texto, cuantas } = filters
  if (texto !== '') {
    const { body } = await call(req, 'encontrarGuias', { query: { texto, limite: '50' } })
    return { guias: body.datos, next: null, more: body.hay_mas }
  }
  const query = { ...listQuery(office, filters), ...(cursor && { cursor }), limite: cuantas || PAGE_SIZE }
  const { body } = await call(req, 'buscarGuias', { query })
  return { guias: body.datos, next: body.cursor_siguiente }
}

/** Returns the list as a file for a spreadsheet. */
async function downloadList(call: CallOperation, { req, root }: PageRequest, office: Office): Promise<Sheet> {
  const filters = listQuery(office, filtersOf(req))
  const read = await orProblem(
    readPages<GuiaDeOperacion>(EXPORTED_PAGES, (query) =>
      call(req, 'buscarGuias', { query: { ...filters, ...query } }),
    ),
  )
  if (read instanceof Problema) return { status: 303, a: `${root}central/guias` }
  const names = await namesOf(call, req, read.datos)
  const name = `guias-${office.clock.dia(office.now.toISOString())}.csv`
  return {
    status: 200,
    headers: { 'Content-Disposition': `attachment; filename="${name}"` },
    archivo: { texto: toCsv(read.datos, names), mime: 'text/csv; charset=utf-8' },
  }
}

async function showGuide(parts: Parts, pageRequest: PageRequest, office: Office, typed: string): Promise<Sheet> {
  const { call, brand, tiles, pictures } = parts
  const { req, root, reading } = pageRequest
  const code = normalizeGuideCode(typed)
  const path = { guia: code ?? '' }
  const read = code && (await orProblem(call(req, 'consultarGuia', { path, query: { limite: '100' } })))
  if (!read || read instanceof Problema) return nothing(office)
  let refused: Refused | undefined
  let status = 200
  if (!reading) {
    const values = await valuesOf(req, FIELDS)
    const performed = values && (await perform(call, req, ACTIONS, values, () => ({ ...read.body, couriers: [] })))
    if (!performed) return { status: 400, ...FOREIGN_FORM }
    const { name, answer } = performed
    if (!(answer instanceof Problema)) return { status: 303, a: `${root}central/guias/${code}?hecho=${name}` }
    status = answer.status
    refused = refusal(values, answer, FIELD_OF)
  }
  const { comercio } = read.body
  const [{ body: merchant }, couriers, evidence, mensajes, notas] = await Promise.all([
    call(req, 'obtenerComercio', { path: { comercio } }),
    readCouriers(call, req),
    readEvidence(call, req, read.body),
    call(req, 'listarMensajes', { query: { guia: code, limite: '50' } }),
    call(req, 'listarNotas', { path, query: { limite: '100' } }),
  ])
  return {
    status,
    headers: await pictures(),
    ...guidePage({
      office,
      guia: read.body,
      brand,
      evidence,
      mensajes: mensajes.body.datos,
      notas: notas.body.datos,
      comercio: merchant.nombre,
      couriers,
      tiles,
      key: randomUUID(),
      ...(refused ? { refused } : { done: trimmedText(req.query.hecho) }),
    }),
  }
}

/** Reads the proof of delivery and the failed attempts, if the guide can have any. */
async function readEvidence(call: CallOperation, req: Request, guia: GuiaDeOperacionConEventos): Promise<Evidence> {
  const path = { guia: guia.guia }
  const [prueba, rectificadas, intentos] = await Promise.all([
    wasDelivered(guia) ? orProblem(call(req, 'obtenerPruebaDeEntregaPorOperador', { path })) : undefined,
    wasUndone(guia) ? call(req, 'listarPruebasRectificadas', { path }) : undefined,
    mayHaveAttempts(guia) ? call(req, 'listarIntentosPorOperador', { path, query: { limite: '100' } }) : undefined,
  ])
  return {
    prueba: prueba instanceof Problema ? prueba.message : prueba?.body,
    rectificadas: rectificadas?.body.datos ?? [],
    intentos: intentos?.body.datos ?? [],
  }
}
