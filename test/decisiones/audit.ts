// An audit of guides after a burst of requests: rows, events, messages and webhooks against the answers that were given.

import { nextStates, nextUbicacionStates } from '../../server/domain/estados/estados.ts'
import type { EventoRow } from '../../server/domain/eventos/evento.ts'
import type { MensajeRow } from '../../server/domain/mensajeria/row.ts'
import { type CorrectionChanges, decryptChanges } from '../../server/domain/records/correccionCipher.ts'
import type { GuiaRow } from '../../server/domain/records/guiaFields.ts'
import { STATE_MACHINE } from '../../server/generated/contract/vocabulary.ts'
import type { Comercio, TestEnvironment } from '../environment.ts'
import type { TestProvider } from '../mensajeria/provider.ts'
import { SECRETOS } from '../ubicacion/requests.ts'
import type { ReceivedWebhook } from '../webhooks/receiver.ts'
import type { AnsweredRequest, BurstCase } from './burst.ts'

type Evento = Omit<EventoRow, 'cambios'> & { cambios: CorrectionChanges | undefined }

/** Values of a guide that the burst corrects. */
type Valores = Pick<GuiaRow, 'telefono' | 'direccion' | 'indicaciones'>

/** Guide of the burst, with its rows. */
interface GuiaAccount extends BurstCase {
  row: GuiaRow
  eventos: Evento[]
  mensajes: (MensajeRow & { decision_secuencia: number | null })[]
}

/** Faults of one kind that are told with their details. */
const DETAILED_FAULTS_PER_KIND = 3

type Falla = (text: string, ...details: unknown[]) => void

/** Problem codes with which the service may refuse each kind of request. */
const ALLOWED_REFUSALS: Readonly<Record<AnsweredRequest['kind'], readonly string[]>> = {
  correccion: ['no_corregible'],
  lectura: ['transicion_invalida', 'carrera_perdida', 'ubicacion_sin_confirmar'],
  lugar: ['carrera_perdida', 'ubicacion_cerrada'],
  reintento: ['decision_tomada', 'decision_no_admitida', 'no_corregible'],
  devolucion: ['decision_tomada', 'transicion_invalida'],
  destinatario: [],
}
/** Answers of the recipient's page: taken, unknown link, too late, another request changed the guide three times. */
const DE_PAGINA = [303, 404, 409, 503]

const aceptado = ({ status }: AnsweredRequest) => status < 400
const filterByKind = ({ deliveries }: BurstCase, ...kinds: AnsweredRequest['kind'][]) =>
  deliveries.filter(({ kind }) => kinds.includes(kind))

/** Reads everything that the database has about the guides. */
export async function readGuiaAccounts(
  { db }: TestEnvironment,
  { id }: Comercio,
  burstCases: readonly BurstCase[],
): Promise<GuiaAccount[]> {
  const read = async <Row extends { guia: string }>(text: string) =>
    Map.groupBy((await db.pool.query<Row>(text, [id])).rows, ({ guia }) => guia)
  const guiaRows = await read<GuiaRow>('select * from guia where comercio_id = $1')
  const eventos = await read<EventoRow>('select * from evento where comercio_id = $1 order by guia_id, secuencia')
  const mensajes = await read<GuiaAccount['mensajes'][number]>(
    'select * from mensaje where comercio_id = $1 order by guia_id, numero',
  )
  return burstCases.map((burstCase) => ({
    ...burstCase,
    row: guiaRows.get(burstCase.guia)![0]!,
    eventos: eventos.get(burstCase.guia)!.map(({ cambios, ...evento }) => ({
      ...evento,
      cambios: cambios ? decryptChanges(SECRETOS, evento, cambios) : undefined,
    })),
    mensajes: mensajes.get(burstCase.guia) ?? [],
  }))
}

/** Compares all guides with the answers; returns a sample of the faults, and the figures of the run. */
export function reconcileAccounts(
  accounts: readonly GuiaAccount[],
  provider: TestProvider,
  receivedWebhooks: readonly ReceivedWebhook[],
) {
  const faults: string[] = []
  const figures = {
    guias: accounts.length,
    corrected: 0,
    rejected: 0,
    won: 0,
    lost: 0,
    scans: 0,
    openings: 0,
    politica: 0,
    mensajes: 0,
    accepted: provider.acceptedMensajes.length,
    eventos: 0,
    webhooks: receivedWebhooks.length,
  }
  const webhooksByGuia = Map.groupBy(receivedWebhooks, ({ json }) => json.datos.guia.guia as string)
  const acceptedById = Map.groupBy(provider.acceptedMensajes, ({ ownId }) => ownId)
  const idsWithRow = new Set<string>()
  const faultCounts = new Map<string, number>()
  for (const account of accounts) {
    const fault: Falla = (text, ...details) => {
      const count = (faultCounts.get(text) ?? 0) + 1
      faultCounts.set(text, count)
      const { guia, modo, destino } = account
      if (count <= DETAILED_FAULTS_PER_KIND)
        faults.push(`${text}: ${guia} (${modo}, ${destino}) ${JSON.stringify(details)}`)
    }
    checkAnswers(account, fault)
    checkHistory(account, fault)
    const { after: valuesAfter, ...correctionFigures } = checkCorrections(account, fault)
    checkMensajes(account, acceptedById, fault)
    if (account.modo === 'test') checkWebhooks(account, webhooksByGuia.get(account.guia) ?? [], valuesAfter, fault)
    const guiaFigures = { ...correctionFigures, ...checkDecisions(account, fault), scans: checkScans(account, fault) }
    const { length: eventos } = account.eventos
    for (const [figureName, amount] of Object.entries({ ...guiaFigures, eventos, mensajes: account.mensajes.length }))
      figures[figureName as keyof typeof figures] += amount
    for (const { id } of account.mensajes) idsWithRow.add(id)
  }
  const idsWithoutRow = [...acceptedById.keys()].filter((id) => !idsWithRow.has(id))
  if (idsWithoutRow.length > 0) faults.push(`the provider took ${idsWithoutRow.length} messages without a row`)
  for (const [text, count] of faultCounts)
    if (count > DETAILED_FAULTS_PER_KIND) faults.push(`${text}: ${count} times in all`)
  return { fallas: faults, figures }
}

function checkAnswers({ deliveries }: GuiaAccount, fault: Falla) {
  for (const answeredRequest of deliveries) {
    const { kind, status, codigo, isConditional } = answeredRequest
    const allowedRefusals = isConditional ? ['carrera_perdida', ...ALLOWED_REFUSALS[kind]] : ALLOWED_REFUSALS[kind]
    const isExpected =
      kind === 'destinatario'
        ? DE_PAGINA.includes(status)
        : // 503: the service was too busy and did nothing.
          [200, 201, 503].includes(status) || (status === 409 && allowedRefusals.includes(codigo!))
    if (!isExpected) fault('an answer that the service may not give', answeredRequest)
  }
}

const DE_ESTADO = new Set(Object.keys(STATE_MACHINE.transiciones).map((estado) => `guia.${estado}`))

/** Sequences without a gap, legal steps of both state machines, and a row that says the same as the last event. */
function checkHistory({ eventos, row, hasPlace }: GuiaAccount, fault: Falla) {
  let anterior: Evento | undefined
  let intentos = 0
  for (const [i, evento] of eventos.entries()) {
    const { secuencia, tipo, estado, estado_anterior, foto, registrado_en } = evento
    if (secuencia !== i + 1) fault('a gap in the sequences', secuencia, i + 1)
    if (estado_anterior !== (anterior?.estado ?? null)) fault('another state before', secuencia, estado_anterior)
    if (anterior && registrado_en < anterior.registrado_en) fault('an earlier time', secuencia)
    const step = anterior && DE_ESTADO.has(tipo)
    if (step && (tipo !== `guia.${estado}` || !nextStates(anterior!.estado).includes(estado)))
      fault('a step that no transition allows', secuencia, anterior!.estado, tipo)
    if (anterior && !step && estado !== anterior.estado) fault('a step without its type', secuencia, tipo, estado)
    if (tipo === 'guia.intento_fallido') intentos++
    if (foto.intentos !== intentos) fault('another number of attempts', secuencia, foto.intentos, intentos)
    const before = anterior?.foto.ubicacion_estado ?? (hasPlace ? 'confirmada' : 'solicitada')
    const after = foto.ubicacion_estado!
    if (after !== before && (!tipo.startsWith('ubicacion.') || !nextUbicacionStates(before).includes(after)))
      fault('a step of the location that no transition allows', secuencia, before, after)
    anterior = evento
  }
  const { foto, estado } = anterior!
  const [eventValues, rowValues] = [
    [eventos.length, estado, foto.intentos, foto.ubicacion_estado, foto.decision],
    [row.secuencia, row.estado, row.intentos, row.ubicacion_estado, row.decision],
  ].map((values) => JSON.stringify(values))
  if (eventValues !== rowValues) fault('the row is not as the last event', eventValues, rowValues)
}

/** Each accepted scan has one event, and each event one scan; a repeated report names the event of the first one. */
function checkScans(account: GuiaAccount, fault: Falla): number {
  const scans = filterByKind(account, 'lectura') as (AnsweredRequest & { kind: 'lectura' })[]
  const newScans = scans.filter(({ status }) => status === 201)
  const ids = newScans.map(({ evento }) => evento)
  if (new Set(ids).size !== ids.length) fault('two scans have one event', ids)
  for (const { status, evento } of scans)
    if (status === 200 && !ids.includes(evento)) fault('a repeated scan names another event', evento)
  const expectedScans = newScans.map(({ evento, estado }) => `${evento} guia.${estado}`).sort()
  const recordedScans = account.eventos
    .filter(({ tipo, autor }) => DE_ESTADO.has(tipo) && tipo !== 'guia.en_devolucion' && autor?.startsWith('op_'))
    .map(({ secuencia, tipo }) => `evt_${account.guia}_${secuencia} ${tipo}`)
    .sort()
  if (expectedScans.join() !== recordedScans.join()) fault('scans and events differ', expectedScans, recordedScans)
  return newScans.length
}

/**
 * Each accepted correction has one event with its values, and each refused one none. Replaying the requests in the order
 * of their events gives the guide's values. Returns the values after each event, too.
 */
function checkCorrections(account: GuiaAccount, fault: Falla) {
  const { eventos, createdFields, row } = account
  const corrections = (
    filterByKind(account, 'correccion', 'reintento') as (AnsweredRequest & { kind: 'correccion' })[]
  ).filter(({ campos: fields }) => Object.keys(fields).length > 0)
  const byEvento = new Map<number, AnsweredRequest & { kind: 'correccion' }>()
  for (const correction of corrections) {
    const values = Object.values(correction.campos)
    const ownEvents = eventos.filter(({ cambios = {} }) =>
      Object.values(cambios).some(({ despues }) => values.includes(despues as string)),
    )
    if (ownEvents.length !== (aceptado(correction) ? 1 : 0))
      fault('a correction without its one event', correction, ownEvents.length)
    const [ownEvent] = ownEvents
    if (!ownEvent) continue
    byEvento.set(ownEvent.secuencia, correction)
    if (Object.keys(ownEvent.cambios!).sort().join() !== Object.keys(correction.campos).sort().join())
      fault('an event with other fields than its correction', correction, ownEvent.cambios)
    if (correction.kind === 'correccion' && correction.secuencia !== ownEvent.secuencia)
      fault('a correction whose answer has another sequence', correction, ownEvent.secuencia)
  }
  const values: Valores = { ...createdFields, indicaciones: null }
  const valuesAfter: Valores[] = []
  for (const { secuencia, tipo, autor, cambios } of eventos) {
    if ((tipo === 'guia.corregida') !== (cambios !== undefined)) fault('an event without its changes', secuencia, tipo)
    const correction = byEvento.get(secuencia)
    // The recipient corrects the indications alone.
    if (cambios && !correction && (autor !== null || Object.keys(cambios).join() !== 'indicaciones'))
      fault('a correction that nobody asked for', secuencia, cambios)
    for (const [column, { antes: before }] of Object.entries(cambios ?? {}))
      if (before !== values[column as keyof Valores]) fault('a lost correction', secuencia, column, before, values)
    Object.assign(values, correction?.campos ?? (cambios && { indicaciones: cambios.indicaciones?.despues }))
    valuesAfter.push({ ...values })
  }
  for (const column of ['telefono', 'direccion', 'indicaciones'] as const)
    if (row[column] !== values[column]) fault('a lost update', column, row[column], values[column])
  const correctedCount = corrections.filter(aceptado).length
  return { corrected: correctedCount, rejected: corrections.length - correctedCount, after: valuesAfter }
}

/** At most one decision wins per opening, each answer names it, and the policy decides each due opening once. */
function checkDecisions(account: GuiaAccount, fault: Falla) {
  const { guia, eventos, deadlines, row, destino } = account
  const takenDecisions = eventos.filter(({ tipo }) => tipo === 'guia.decision_tomada')
  const filterDecisionsBy = (por: string) => takenDecisions.filter(({ datos }) => datos!.decision!.por === por)
  const compareCounts = (decisionKind: string, requested: number, found: number) => {
    if (requested !== found)
      fault(`decisions of ${decisionKind}: accepted requests and events differ`, requested, found)
  }
  const reintentos = filterByKind(account, 'reintento')
  const returnRequests = filterByKind(account, 'devolucion') as (AnsweredRequest & { kind: 'devolucion' })[]
  const byComercio = filterDecisionsBy('comercio')
  compareCounts(
    'another attempt',
    reintentos.filter(aceptado).length,
    byComercio.filter(({ datos }) => datos!.decision!.accion === 'reintentar').length,
  )
  for (const answeredRequest of reintentos.filter(aceptado)) {
    const evento = eventos[answeredRequest.secuencia - 1]
    if (evento?.tipo !== 'guia.decision_tomada')
      fault('an answer that names no decision', answeredRequest, evento?.tipo)
  }
  let returnDecisionCount = 0
  for (const answeredRequest of returnRequests) {
    const ownDecisions = byComercio.filter(({ descripcion }) => descripcion === answeredRequest.razon).length
    returnDecisionCount += ownDecisions
    // A parcel that returns already stays as it is, and the answer is the same.
    const isExpected = aceptado(answeredRequest)
      ? ownDecisions === 1 || (ownDecisions === 0 && answeredRequest.estado === 'en_devolucion')
      : ownDecisions === 0
    if (!isExpected) fault('a return without its one decision', answeredRequest, ownDecisions)
  }
  compareCounts(
    'a return',
    returnDecisionCount,
    byComercio.filter(({ datos }) => datos!.decision!.accion === 'devolver').length,
  )
  const destinatarioAnswers = filterByKind(account, 'destinatario')
  compareCounts('the recipient', destinatarioAnswers.filter(aceptado).length, filterDecisionsBy('destinatario').length)
  compareCounts('nobody', 0, takenDecisions.filter(({ datos }) => datos!.decision!.por === 'operador').length)

  let openQuestion: { secuencia: number; vence_en: string; decidedGuia: boolean } | undefined
  let openings = 0
  const expired = ({ secuencia, vence_en }: NonNullable<typeof openQuestion>, hasta: Evento) =>
    vence_en <= hasta.registrado_en.toISOString() ||
    deadlines.some((deadline) => secuencia <= deadline && deadline < hasta.secuencia)
  for (const [i, evento] of eventos.entries()) {
    const { secuencia, tipo, datos, estado, foto } = evento
    const before = (eventos[i - 1]?.foto.decision as GuiaRow['decision'] | undefined)?.estado
    if (tipo === 'guia.decision_pendiente') {
      openings++
      openQuestion = { secuencia, vence_en: datos!.decision!.vence_en!, decidedGuia: false }
    }
    if (tipo !== 'guia.decision_tomada') continue
    if (before === 'tomada') fault('a decision over a decision', secuencia)
    if (before === 'pendiente') {
      if (!openQuestion || openQuestion.decidedGuia) fault('two decisions of one opening', secuencia)
      else openQuestion.decidedGuia = true
    }
    const { por, accion } = datos!.decision!
    if (por === 'politica' && !(before === 'pendiente' && openQuestion && expired(openQuestion, evento)))
      fault('the policy decided before its time', secuencia)
    const beginsReturn = eventos[i + 1]?.tipo === 'guia.en_devolucion'
    if (accion === 'devolver' && ['en_bodega', 'intento_fallido'].includes(estado) && !beginsReturn)
      fault('a decided return that did not begin', secuencia, foto)
  }
  if (deadlines.some((deadline) => eventos[deadline - 1]?.foto.decision === null))
    fault('a deadline without a decision', deadlines)
  if (row.decision?.estado === 'pendiente' && row.decision_vence && row.decision_vence <= new Date())
    fault('a due decision that the policy did not take', row.decision)
  const politica = filterDecisionsBy('politica').length
  if (destino === 'politica' && (politica !== 1 || row.estado !== 'en_devolucion'))
    fault('a guide of the policy alone', politica, row.estado)
  if (destino === 'nadie' && (takenDecisions.length > 0 || row.decision?.estado !== 'pendiente'))
    fault('a guide about which nobody decides', takenDecisions.length, guia)
  const requestCount = reintentos.length + returnRequests.length + destinatarioAnswers.length
  const decidedCount = takenDecisions.length - politica
  return { won: decidedCount, lost: requestCount - decidedCount, politica, openings }
}

/** The messages that the rules ask for, each once in the outbox, and at the provider at most once. */
function checkMensajes(
  { eventos, mensajes, hasPlace, modo }: GuiaAccount,
  acceptedById: ReadonlyMap<string, TestProvider['acceptedMensajes']>,
  fault: Falla,
) {
  const ubicacionRequests = mensajes.filter(({ tipo }) => tipo === 'solicitud_ubicacion')
  const questions = mensajes.filter(({ tipo }) => tipo === 'solicitud_decision')
  if (ubicacionRequests.length + questions.length !== mensajes.length) fault('a message of another type', mensajes)
  const telefonoCorrections = eventos.filter(
    ({ cambios }, i) => cambios?.telefono && eventos[i - 1]!.foto.ubicacion_estado !== 'confirmada',
  )
  const telefonos = [
    ...(hasPlace ? [] : [eventos[0]!.guia]),
    ...telefonoCorrections.map(({ cambios }) => cambios!.telefono!.despues),
  ]
  if (ubicacionRequests.length !== telefonos.length)
    fault('other messages about the location', ubicacionRequests.length, telefonos.length)
  if (new Set(ubicacionRequests.map(({ telefono }) => telefono)).size !== ubicacionRequests.length)
    fault('two messages about the location to one telephone', ubicacionRequests)
  const requestedCount = eventos.filter(({ tipo }) => tipo === 'ubicacion.solicitada').length
  const sentCount = ubicacionRequests.filter(({ estado }) => estado === 'enviado').length
  // The provider may take a message while the location is confirmed; then no event tells of it.
  if (modo === 'test' ? requestedCount !== sentCount : requestedCount > sentCount)
    fault('other events of messages than messages', requestedCount, sentCount)
  const openedDecisions = eventos
    .filter(({ tipo, datos, registrado_en }) => {
      if (tipo !== 'guia.decision_pendiente') return false
      return datos!.decision!.vence_en! > registrado_en.toISOString()
    })
    .map(({ secuencia }) => secuencia)
  const askedDecisions = questions.map(({ decision_secuencia }) => decision_secuencia)
  if (askedDecisions.join() !== openedDecisions.join())
    fault('other messages about decisions', askedDecisions, openedDecisions)
  for (const { id, estado, telefono, tipo } of mensajes) {
    if (estado !== 'enviado' && estado !== 'descartado') fault('a message that is not over', tipo, estado)
    const acceptedMensajes = acceptedById.get(id) ?? []
    const expectedCount = modo === 'live' && estado === 'enviado' ? 1 : 0
    if (acceptedMensajes.length !== expectedCount)
      fault('the provider took a message more or less than once', tipo, estado, acceptedMensajes.length)
    if (acceptedMensajes.some(({ recipient }) => `+${recipient}` !== telefono))
      fault('a message to another telephone', id)
  }
}

/** One webhook for each event, in their order, with the guide as it was at the event; all of them again, byte for byte. */
function checkWebhooks(
  { eventos }: GuiaAccount,
  receivedWebhooks: readonly ReceivedWebhook[],
  valuesAfter: readonly Valores[],
  fault: Falla,
) {
  const byId = Map.groupBy(receivedWebhooks, ({ id }) => id)
  if (byId.size !== eventos.length) fault('other webhooks than events', byId.size, eventos.length)
  const firstSequences = receivedWebhooks
    .slice(0, eventos.length)
    .map(({ json }) => json.datos.evento.secuencia as number)
  if (firstSequences.some((secuencia, i) => secuencia !== i + 1))
    fault(
      'webhooks out of order',
      firstSequences,
      eventos.map(({ tipo }) => tipo),
    )
  for (const [i, { guia, secuencia, tipo, estado, foto }] of eventos.entries()) {
    const [firstDelivery, other, ...extraDeliveries] = byId.get(`evt_${guia}_${secuencia}`) ?? []
    if (!firstDelivery || !other || extraDeliveries.length > 0)
      fault('a webhook that did not come twice', secuencia, firstDelivery && extraDeliveries.length)
    if (!firstDelivery || !other) continue
    if (firstDelivery.body !== other.body) fault('a body that changed', secuencia, tipo)
    const { guia: guiaView } = firstDelivery.json.datos
    const expectedGuia = { ...valuesAfter[i]!, secuencia, estado, intentos: foto.intentos }
    for (const [member, value] of Object.entries(expectedGuia))
      if (guiaView[member] !== value)
        fault('a body with another value', secuencia, tipo, member, guiaView[member], value)
  }
}
