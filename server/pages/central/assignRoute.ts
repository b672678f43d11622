import type { Request } from 'express'
import type { CallOperation } from '../../api/contract/calls.ts'
import type { GuiaDeOperacion, ResultadosDeAsignar } from '../../generated/contract/types/index.ts'
import { Problema } from '../../platform/errors.ts'
import { dayInWords } from '../../platform/time/day.ts'
import { FOREIGN_FORM } from '../form.ts'
import type { PageRequest, Sheet } from '../page.ts'
import { ASSIGN_FIELDS, type AssignFilters, type Assignment, assignPage, type Choice, type Sent } from './assign.ts'
import { formOf, namesOf, newestMerchants, readCouriers, readPages } from './calls.ts'
import { courierPage, couriersPage } from './couriers.ts'
import { faultsOf, orProblem, sentenceOf, trimmedText } from './forms.ts'
import type { Office } from './shell.ts'

/** Maximum guides that one form can assign; the operation has the same limit. */
const MAX_GUIAS = 200
/** Maximum pages that are read to find as many guides. A page with filters may be short. */
const MAX_GUIA_PAGES = 5

export async function showCouriers(call: CallOperation, { req }: PageRequest, office: Office): Promise<Sheet> {
  const cursor = trimmedText(req.query.cursor)
  const page = await orProblem(call(req, 'listarReparto', { query: { limite: '100', ...(cursor && { cursor }) } }))
  if (page instanceof Problema) return { status: 303, a: `${office.root}central/reparto` }
  return { status: 200, ...couriersPage(office, page.body.datos, page.body.cursor_siguiente) }
}

/** Returns the page of a courier; undefined if the courier is unknown. */
export async function showCourier(
  call: CallOperation,
  pageRequest: PageRequest,
  office: Office,
  repartidor: string,
): Promise<Sheet | undefined> {
  const { req } = pageRequest
  const couriers = await readCouriers(call, req)
  const sent = await sendForm(call, pageRequest, couriers, repartidor)
  if (sent === 'foreign') return { status: 400, ...FOREIGN_FORM }
  const [carried, day] = await Promise.all([
    orProblem(call(req, 'listarGuiasDeRepartidor', { path: { repartidor } })),
    readDay(call, req, couriers),
  ])
  if (carried instanceof Problema) return undefined
  const address = `${office.root}central/reparto/${repartidor}`
  const ticked = trimmedText(req.query.marcar) === 'todos'
  const asignadas = carried.body.asignadas.slice(0, MAX_GUIAS)
  return {
    status: sent?.status ?? 200,
    ...courierPage({
      office,
      names: await namesOf(call, req, [...carried.body.datos, ...asignadas]),
      repartidor,
      nombre: couriers.find((courier) => courier.repartidor === repartidor)?.nombre ?? repartidor,
      guias: carried.body.datos,
      asignadas,
      address,
      tickAddress: ticked ? address : `${address}?marcar=todos`,
      ticked,
      sent,
      ...day,
    }),
  }
}

/** Returns the page with the guides that can be assigned, filtered by state, merchant and municipality. */
export async function showAssign(call: CallOperation, pageRequest: PageRequest, office: Office): Promise<Sheet> {
  const { req, root } = pageRequest
  const { estado, comercio, municipio, cuales, marcar: tickParameter } = req.query
  const filters: AssignFilters = {
    estado: trimmedText(estado) || 'en_bodega',
    comercio: trimmedText(comercio),
    municipio: trimmedText(municipio),
    cuales: trimmedText(cuales),
  }
  const couriers = await readCouriers(call, req)
  const sent = await sendForm(call, pageRequest, couriers)
  if (sent === 'foreign') return { status: 400, ...FOREIGN_FORM }
  const [found, counts, merchants, day] = await Promise.all([
    orProblem(readGuides(call, req, filters)),
    orProblem(countByMunicipality(call, req, filters)),
    newestMerchants(call, req),
    readDay(call, req, couriers),
  ])
  if (found instanceof Problema || counts instanceof Problema)
    return { status: 303, a: `${root}central/reparto/asignar` }
  const here = found.datos.slice(0, MAX_GUIAS)
  const chosen = filters.comercio === '' ? [] : [{ comercio: filters.comercio }]
  const address = `${root}central/reparto/asignar?${new URLSearchParams({ ...filters })}`
  const ticked = trimmedText(tickParameter) === 'todos'
  return {
    status: sent?.status ?? 200,
    ...assignPage({
      office,
      filters,
      municipios: counts,
      guias: here,
      names: await namesOf(call, req, [...here, ...chosen]),
      merchants,
      more: found.more || found.datos.length > here.length,
      address,
      tickAddress: ticked ? address : `${address}&marcar=todos`,
      ticked,
      sent,
      ...day,
    }),
  }
}

/** Returns the municipalities that have guides in a state, each with its number of guides. */
async function countByMunicipality(call: CallOperation, req: Request, { estado, comercio, cuales }: AssignFilters) {
  const query = { estado, ...(comercio && { comercio }) }
  const { datos } = (await call(req, 'contarGuiasPorMunicipio', { query })).body
  return datos
    .map(({ municipio, guias, sin_asignar }) => [municipio, cuales === 'todas' ? guias : sin_asignar] as const)
    .filter(([, guias]) => guias > 0)
}

/** Reads the newest guides that the filters match. Without `cuales`, leaves out guides that are already assigned. */
const readGuides = (call: CallOperation, req: Request, { estado, comercio, municipio, cuales }: AssignFilters) => {
  const filters = {
    estado,
    ...(comercio && { comercio }),
    ...(municipio && { municipio }),
    ...(cuales !== 'todas' && { asignada: 'no' }),
  }
  return readPages<GuiaDeOperacion>(
    MAX_GUIA_PAGES,
    (query) => call(req, 'buscarGuias', { query: { ...filters, ...query } }),
    MAX_GUIAS,
  )
}

type Couriers = Awaited<ReturnType<typeof readCouriers>>

/** Reads today's date at the company, and how many guides are assigned to each active courier for today. */
async function readDay(
  call: CallOperation,
  req: Request,
  couriers: Couriers,
): Promise<{ today: string; choices: Choice[] }> {
  const { fecha, repartidores } = (await call(req, 'listarAsignaciones')).body
  const counts = new Map(repartidores.map(({ repartidor, guias }) => [repartidor, guias]))
  const choices = couriers
    .filter(({ activo }) => activo)
    .map(({ repartidor, nombre }) => ({ repartidor, nombre, asignadas: counts.get(repartidor) ?? 0 }))
  return {
    today: fecha,
    choices: choices.toSorted((courier, other) => courier.nombre.localeCompare(other.nombre, 'es')),
  }
}

/**
 * Sends the form of a page to its operation.
 * @param de courier whose assignments the form may remove
 * @returns the form and its result; undefined if the page was only opened; `foreign` if the form belongs to another
 *   page
 */
async function sendForm(
  call: CallOperation,
  { req, reading }: PageRequest,
  couriers: Couriers,
  de?: string,
): Promise<(Sent & { status: number }) | 'foreign' | undefined> {
  if (reading) return undefined
  const values = await formOf(req, ASSIGN_FIELDS, ['guias'])
  if (!values || !(values.accion === 'asignar' || (de && values.accion === 'retirar'))) return 'foreign'
  const { guias, repartidor, fecha } = values
  if (guias.length === 0) return { status: 422, values, failed: [], faults: {}, refused: 'Marque al menos un paquete.' }
  const answer = await orProblem(
    values.accion === 'asignar'
      ? call(req, 'asignarGuias', { body: { guias, repartidor, fecha: fecha === '' ? undefined : fecha } })
      : call(req, 'retirarAsignaciones', { body: { guias, repartidor: de } }),
  )
  if (answer instanceof Problema)
    return { status: answer.status, values, failed: [], faults: faultsOf(answer), refused: sentenceOf(answer) }
  const name = couriers.find((courier) => courier.repartidor === repartidor)?.nombre ?? repartidor
  return { status: 200, values, faults: {}, ...outcomeOf(values, answer.body, name) }
}

const parcels = (n: number, one: string, many: string) => (n === 1 ? `Un paquete ${one}` : `${n} paquetes ${many}`)

/** Returns the texts for a sent form: a sentence about the guides that were assigned, and the message of each fault. */
function outcomeOf(
  { accion, fecha, guias }: Assignment,
  { resultados }: ResultadosDeAsignar,
  name: string,
): Pick<Sent, 'failed'> & { done?: string } {
  const good = resultados.flatMap((courier) => (courier.ok ? [courier] : []))
  const failed = resultados.flatMap((courier) =>
    courier.ok ? [] : [[guias[courier.indice]!, courier.error.mensaje] as const],
  )
  if (good.length === 0) return { failed }
  const done =
    accion === 'retirar'
      ? `${parcels(good.length, 'quedó', 'quedaron')} sin asignar.`
      : `${parcels(good.length, 'quedó asignado', 'quedaron asignados')} a ${name}${fecha && ` para el ${dayInWords(fecha)}`}.`
  return { done, failed }
}
