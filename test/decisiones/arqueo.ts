// An audit of guides after a burst of requests: rows, events, messages and webhooks against the answers that were given.

import { nextUbicacionStates, siguientes } from '../../server/domain/estados/estados.ts'
import type { FilaEvento } from '../../server/domain/eventos/evento.ts'
import type { FilaGuia } from '../../server/domain/guias/campos.ts'
import { type CorrectionChanges, decryptChanges } from '../../server/domain/guias/correcciones.ts'
import type { FilaMensaje } from '../../server/domain/mensajeria/row.ts'
import { MAQUINA_DE_ESTADOS } from '../../server/generado/contrato/vocabulario.ts'
import type { Comercio, TestEnvironment } from '../entorno.ts'
import type { TestProvider } from '../mensajeria/proveedor.ts'
import { SECRETOS } from '../ubicacion/solicitudes.ts'
import type { ReceivedWebhook } from '../webhooks/receptor.ts'
import type { AnsweredRequest, BurstCase } from './rafaga.ts'

type Evento = Omit<FilaEvento, 'cambios'> & { cambios: CorrectionChanges | undefined }

/** Values of a guide that the burst corrects. */
type Valores = Pick<FilaGuia, 'telefono' | 'direccion' | 'indicaciones'>

/** Guide of the burst, with its rows. */
interface Cuenta extends BurstCase {
  fila: FilaGuia
  eventos: Evento[]
  mensajes: (FilaMensaje & { decision_secuencia: number | null })[]
}

/** Faults of one kind that are told with their details. */
const MUESTRA = 3

type Falla = (texto: string, ...detalles: unknown[]) => void

/** Problem codes with which the service may refuse each kind of request. */
const REPAROS: Readonly<Record<AnsweredRequest['clase'], readonly string[]>> = {
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
const deClase = ({ deliveries: hechos }: BurstCase, ...clases: AnsweredRequest['clase'][]) =>
  hechos.filter(({ clase }) => clases.includes(clase))

/** Reads everything that the database has about the guides. */
export async function readGuiaAccounts(
  { db }: TestEnvironment,
  { id }: Comercio,
  casos: readonly BurstCase[],
): Promise<Cuenta[]> {
  const leer = async <Fila extends { guia: string }>(texto: string) =>
    Map.groupBy((await db.pool.query<Fila>(texto, [id])).rows, ({ guia }) => guia)
  const filas = await leer<FilaGuia>('select * from guia where comercio_id = $1')
  const eventos = await leer<FilaEvento>('select * from evento where comercio_id = $1 order by guia_id, secuencia')
  const mensajes = await leer<Cuenta['mensajes'][number]>(
    'select * from mensaje where comercio_id = $1 order by guia_id, numero',
  )
  return casos.map((caso) => ({
    ...caso,
    fila: filas.get(caso.guia)![0]!,
    eventos: eventos.get(caso.guia)!.map(({ cambios, ...evento }) => ({
      ...evento,
      cambios: cambios ? decryptChanges(SECRETOS, evento, cambios) : undefined,
    })),
    mensajes: mensajes.get(caso.guia) ?? [],
  }))
}

/** Compares all guides with the answers; returns a sample of the faults, and the figures of the run. */
export function reconcileAccounts(
  cuentas: readonly Cuenta[],
  proveedor: TestProvider,
  recibidos: readonly ReceivedWebhook[],
) {
  const fallas: string[] = []
  const cifras = {
    guias: cuentas.length,
    corregidas: 0,
    rechazadas: 0,
    ganadas: 0,
    perdidas: 0,
    scans: 0,
    aperturas: 0,
    politica: 0,
    mensajes: 0,
    aceptados: proveedor.aceptados.length,
    eventos: 0,
    webhooks: recibidos.length,
  }
  const entregados = Map.groupBy(recibidos, ({ json }) => json.datos.guia.guia as string)
  const aceptados = Map.groupBy(proveedor.aceptados, ({ ownId: nuestroId }) => nuestroId)
  const enviados = new Set<string>()
  const vistas = new Map<string, number>()
  for (const cuenta of cuentas) {
    const falla: Falla = (texto, ...detalles) => {
      const veces = (vistas.get(texto) ?? 0) + 1
      vistas.set(texto, veces)
      const { guia, modo, destino } = cuenta
      if (veces <= MUESTRA) fallas.push(`${texto}: ${guia} (${modo}, ${destino}) ${JSON.stringify(detalles)}`)
    }
    revisarRespuestas(cuenta, falla)
    revisarHistoria(cuenta, falla)
    const { after: tras, ...corregidas } = revisarCorrecciones(cuenta, falla)
    revisarMensajes(cuenta, aceptados, falla)
    if (cuenta.modo === 'test') revisarWebhooks(cuenta, entregados.get(cuenta.guia) ?? [], tras, falla)
    const suyas = { ...corregidas, ...revisarDecisiones(cuenta, falla), scans: revisarLecturas(cuenta, falla) }
    const { length: eventos } = cuenta.eventos
    for (const [cifra, cuantas] of Object.entries({ ...suyas, eventos, mensajes: cuenta.mensajes.length }))
      cifras[cifra as keyof typeof cifras] += cuantas
    for (const { id } of cuenta.mensajes) enviados.add(id)
  }
  const sinFila = [...aceptados.keys()].filter((id) => !enviados.has(id))
  if (sinFila.length > 0) fallas.push(`the provider took ${sinFila.length} messages without a row`)
  for (const [texto, veces] of vistas) if (veces > MUESTRA) fallas.push(`${texto}: ${veces} times in all`)
  return { fallas, cifras }
}

function revisarRespuestas({ deliveries: hechos }: Cuenta, falla: Falla) {
  for (const hecho of hechos) {
    const { clase, status, codigo, condicionada } = hecho
    const admitidos = condicionada ? ['carrera_perdida', ...REPAROS[clase]] : REPAROS[clase]
    const bien =
      clase === 'destinatario'
        ? DE_PAGINA.includes(status)
        : // 503: the service was too busy and did nothing.
          [200, 201, 503].includes(status) || (status === 409 && admitidos.includes(codigo!))
    if (!bien) falla('an answer that the service may not give', hecho)
  }
}

const DE_ESTADO = new Set(Object.keys(MAQUINA_DE_ESTADOS.transiciones).map((estado) => `guia.${estado}`))

/** Sequences without a gap, legal steps of both state machines, and a row that says the same as the last event. */
function revisarHistoria({ eventos, fila, hasPlace: conLugar }: Cuenta, falla: Falla) {
  let anterior: Evento | undefined
  let intentos = 0
  for (const [i, evento] of eventos.entries()) {
    const { secuencia, tipo, estado, estado_anterior, foto, registrado_en } = evento
    if (secuencia !== i + 1) falla('a gap in the sequences', secuencia, i + 1)
    if (estado_anterior !== (anterior?.estado ?? null)) falla('another state before', secuencia, estado_anterior)
    if (anterior && registrado_en < anterior.registrado_en) falla('an earlier time', secuencia)
    const paso = anterior && DE_ESTADO.has(tipo)
    if (paso && (tipo !== `guia.${estado}` || !siguientes(anterior!.estado).includes(estado)))
      falla('a step that no transition allows', secuencia, anterior!.estado, tipo)
    if (anterior && !paso && estado !== anterior.estado) falla('a step without its type', secuencia, tipo, estado)
    if (tipo === 'guia.intento_fallido') intentos++
    if (foto.intentos !== intentos) falla('another number of attempts', secuencia, foto.intentos, intentos)
    const antes = anterior?.foto.ubicacion_estado ?? (conLugar ? 'confirmada' : 'solicitada')
    const despues = foto.ubicacion_estado!
    if (despues !== antes && (!tipo.startsWith('ubicacion.') || !nextUbicacionStates(antes).includes(despues)))
      falla('a step of the location that no transition allows', secuencia, antes, despues)
    anterior = evento
  }
  const { foto, estado } = anterior!
  const [vista, escrita] = [
    [eventos.length, estado, foto.intentos, foto.ubicacion_estado, foto.decision],
    [fila.secuencia, fila.estado, fila.intentos, fila.ubicacion_estado, fila.decision],
  ].map((valores) => JSON.stringify(valores))
  if (vista !== escrita) falla('the row is not as the last event', vista, escrita)
}

/** Each accepted scan has one event, and each event one scan; a repeated report names the event of the first one. */
function revisarLecturas(cuenta: Cuenta, falla: Falla): number {
  const lecturas = deClase(cuenta, 'lectura') as (AnsweredRequest & { clase: 'lectura' })[]
  const nuevas = lecturas.filter(({ status }) => status === 201)
  const ids = nuevas.map(({ evento }) => evento)
  if (new Set(ids).size !== ids.length) falla('two scans have one event', ids)
  for (const { status, evento } of lecturas)
    if (status === 200 && !ids.includes(evento)) falla('a repeated scan names another event', evento)
  const esperados = nuevas.map(({ evento, estado }) => `${evento} guia.${estado}`).sort()
  const hay = cuenta.eventos
    .filter(({ tipo, autor }) => DE_ESTADO.has(tipo) && tipo !== 'guia.en_devolucion' && autor?.startsWith('op_'))
    .map(({ secuencia, tipo }) => `evt_${cuenta.guia}_${secuencia} ${tipo}`)
    .sort()
  if (esperados.join() !== hay.join()) falla('scans and events differ', esperados, hay)
  return nuevas.length
}

/**
 * Each accepted correction has one event with its values, and each refused one none. Replaying the requests in the order
 * of their events gives the guide's values. Returns the values after each event, too.
 */
function revisarCorrecciones(cuenta: Cuenta, falla: Falla) {
  const { eventos, creada, fila } = cuenta
  const pedidas = (deClase(cuenta, 'correccion', 'reintento') as (AnsweredRequest & { clase: 'correccion' })[]).filter(
    ({ campos }) => Object.keys(campos).length > 0,
  )
  const porEvento = new Map<number, AnsweredRequest & { clase: 'correccion' }>()
  for (const pedida of pedidas) {
    const valores = Object.values(pedida.campos)
    const suyos = eventos.filter(({ cambios = {} }) =>
      Object.values(cambios).some(({ despues }) => valores.includes(despues as string)),
    )
    if (suyos.length !== (aceptado(pedida) ? 1 : 0)) falla('a correction without its one event', pedida, suyos.length)
    const [suyo] = suyos
    if (!suyo) continue
    porEvento.set(suyo.secuencia, pedida)
    if (Object.keys(suyo.cambios!).sort().join() !== Object.keys(pedida.campos).sort().join())
      falla('an event with other fields than its correction', pedida, suyo.cambios)
    if (pedida.clase === 'correccion' && pedida.secuencia !== suyo.secuencia)
      falla('a correction whose answer has another sequence', pedida, suyo.secuencia)
  }
  const valores: Valores = { ...creada, indicaciones: null }
  const tras: Valores[] = []
  for (const { secuencia, tipo, autor, cambios } of eventos) {
    if ((tipo === 'guia.corregida') !== (cambios !== undefined)) falla('an event without its changes', secuencia, tipo)
    const pedida = porEvento.get(secuencia)
    // The recipient corrects the indications alone.
    if (cambios && !pedida && (autor !== null || Object.keys(cambios).join() !== 'indicaciones'))
      falla('a correction that nobody asked for', secuencia, cambios)
    for (const [columna, { antes }] of Object.entries(cambios ?? {}))
      if (antes !== valores[columna as keyof Valores]) falla('a lost correction', secuencia, columna, antes, valores)
    Object.assign(valores, pedida?.campos ?? (cambios && { indicaciones: cambios.indicaciones?.despues }))
    tras.push({ ...valores })
  }
  for (const columna of ['telefono', 'direccion', 'indicaciones'] as const)
    if (fila[columna] !== valores[columna]) falla('a lost update', columna, fila[columna], valores[columna])
  const corregidas = pedidas.filter(aceptado).length
  return { corregidas, rechazadas: pedidas.length - corregidas, after: tras }
}

/** At most one decision wins per opening, each answer names it, and the policy decides each due opening once. */
function revisarDecisiones(cuenta: Cuenta, falla: Falla) {
  const { guia, eventos, deadlines: plazos, fila, destino } = cuenta
  const tomadas = eventos.filter(({ tipo }) => tipo === 'guia.decision_tomada')
  const ganadas = (por: string) => tomadas.filter(({ datos }) => datos!.decision!.por === por)
  const contar = (que: string, pedidas: number, hay: number) => {
    if (pedidas !== hay) falla(`decisions of ${que}: accepted requests and events differ`, pedidas, hay)
  }
  const reintentos = deClase(cuenta, 'reintento')
  const devoluciones = deClase(cuenta, 'devolucion') as (AnsweredRequest & { clase: 'devolucion' })[]
  const deComercio = ganadas('comercio')
  contar(
    'another attempt',
    reintentos.filter(aceptado).length,
    deComercio.filter(({ datos }) => datos!.decision!.accion === 'reintentar').length,
  )
  for (const hecho of reintentos.filter(aceptado)) {
    const evento = eventos[hecho.secuencia - 1]
    if (evento?.tipo !== 'guia.decision_tomada') falla('an answer that names no decision', hecho, evento?.tipo)
  }
  let devueltas = 0
  for (const hecho of devoluciones) {
    const suyas = deComercio.filter(({ descripcion }) => descripcion === hecho.razon).length
    devueltas += suyas
    // A parcel that returns already stays as it is, and the answer is the same.
    const bien = aceptado(hecho) ? suyas === 1 || (suyas === 0 && hecho.estado === 'en_devolucion') : suyas === 0
    if (!bien) falla('a return without its one decision', hecho, suyas)
  }
  contar('a return', devueltas, deComercio.filter(({ datos }) => datos!.decision!.accion === 'devolver').length)
  const destinatarios = deClase(cuenta, 'destinatario')
  contar('the recipient', destinatarios.filter(aceptado).length, ganadas('destinatario').length)
  contar('nobody', 0, tomadas.filter(({ datos }) => datos!.decision!.por === 'operador').length)

  let abierta: { secuencia: number; vence_en: string; decidedGuia: boolean } | undefined
  let aperturas = 0
  const vencida = ({ secuencia, vence_en }: NonNullable<typeof abierta>, hasta: Evento) =>
    vence_en <= hasta.registrado_en.toISOString() ||
    plazos.some((plazo) => secuencia <= plazo && plazo < hasta.secuencia)
  for (const [i, evento] of eventos.entries()) {
    const { secuencia, tipo, datos, estado, foto } = evento
    const antes = (eventos[i - 1]?.foto.decision as FilaGuia['decision'] | undefined)?.estado
    if (tipo === 'guia.decision_pendiente') {
      aperturas++
      abierta = { secuencia, vence_en: datos!.decision!.vence_en!, decidedGuia: false }
    }
    if (tipo !== 'guia.decision_tomada') continue
    if (antes === 'tomada') falla('a decision over a decision', secuencia)
    if (antes === 'pendiente') {
      if (!abierta || abierta.decidedGuia) falla('two decisions of one opening', secuencia)
      else abierta.decidedGuia = true
    }
    const { por, accion } = datos!.decision!
    if (por === 'politica' && !(antes === 'pendiente' && abierta && vencida(abierta, evento)))
      falla('the policy decided before its time', secuencia)
    const vuelve = eventos[i + 1]?.tipo === 'guia.en_devolucion'
    if (accion === 'devolver' && ['en_bodega', 'intento_fallido'].includes(estado) && !vuelve)
      falla('a decided return that did not begin', secuencia, foto)
  }
  if (plazos.some((plazo) => eventos[plazo - 1]?.foto.decision === null)) falla('a deadline without a decision', plazos)
  if (fila.decision?.estado === 'pendiente' && fila.decision_vence && fila.decision_vence <= new Date())
    falla('a due decision that the policy did not take', fila.decision)
  const politica = ganadas('politica').length
  if (destino === 'politica' && (politica !== 1 || fila.estado !== 'en_devolucion'))
    falla('a guide of the policy alone', politica, fila.estado)
  if (destino === 'nadie' && (tomadas.length > 0 || fila.decision?.estado !== 'pendiente'))
    falla('a guide about which nobody decides', tomadas.length, guia)
  const pedidas = reintentos.length + devoluciones.length + destinatarios.length
  const decididas = tomadas.length - politica
  return { ganadas: decididas, perdidas: pedidas - decididas, politica, aperturas }
}

/** The messages that the rules ask for, each once in the outbox, and at the provider at most once. */
function revisarMensajes(
  { eventos, mensajes, hasPlace: conLugar, modo }: Cuenta,
  aceptados: ReadonlyMap<string, TestProvider['aceptados']>,
  falla: Falla,
) {
  const pedidos = mensajes.filter(({ tipo }) => tipo === 'solicitud_ubicacion')
  const preguntas = mensajes.filter(({ tipo }) => tipo === 'solicitud_decision')
  if (pedidos.length + preguntas.length !== mensajes.length) falla('a message of another type', mensajes)
  const corregidos = eventos.filter(
    ({ cambios }, i) => cambios?.telefono && eventos[i - 1]!.foto.ubicacion_estado !== 'confirmada',
  )
  const telefonos = [
    ...(conLugar ? [] : [eventos[0]!.guia]),
    ...corregidos.map(({ cambios }) => cambios!.telefono!.despues),
  ]
  if (pedidos.length !== telefonos.length) falla('other messages about the location', pedidos.length, telefonos.length)
  if (new Set(pedidos.map(({ telefono }) => telefono)).size !== pedidos.length)
    falla('two messages about the location to one telephone', pedidos)
  const solicitadas = eventos.filter(({ tipo }) => tipo === 'ubicacion.solicitada').length
  const enviados = pedidos.filter(({ estado }) => estado === 'enviado').length
  // The provider may take a message while the location is confirmed; then no event tells of it.
  if (modo === 'test' ? solicitadas !== enviados : solicitadas > enviados)
    falla('other events of messages than messages', solicitadas, enviados)
  const abiertas = eventos
    .filter(({ tipo, datos, registrado_en }) => {
      if (tipo !== 'guia.decision_pendiente') return false
      return datos!.decision!.vence_en! > registrado_en.toISOString()
    })
    .map(({ secuencia }) => secuencia)
  const preguntadas = preguntas.map(({ decision_secuencia }) => decision_secuencia)
  if (preguntadas.join() !== abiertas.join()) falla('other messages about decisions', preguntadas, abiertas)
  for (const { id, estado, telefono, tipo } of mensajes) {
    if (estado !== 'enviado' && estado !== 'descartado') falla('a message that is not over', tipo, estado)
    const suyos = aceptados.get(id) ?? []
    const veces = modo === 'live' && estado === 'enviado' ? 1 : 0
    if (suyos.length !== veces) falla('the provider took a message more or less than once', tipo, estado, suyos.length)
    if (suyos.some(({ para }) => `+${para}` !== telefono)) falla('a message to another telephone', id)
  }
}

/** One webhook for each event, in their order, with the guide as it was at the event; all of them again, byte for byte. */
function revisarWebhooks(
  { eventos }: Cuenta,
  recibidos: readonly ReceivedWebhook[],
  tras: readonly Valores[],
  falla: Falla,
) {
  const porId = Map.groupBy(recibidos, ({ id }) => id)
  if (porId.size !== eventos.length) falla('other webhooks than events', porId.size, eventos.length)
  const primeros = recibidos.slice(0, eventos.length).map(({ json }) => json.datos.evento.secuencia as number)
  if (primeros.some((secuencia, i) => secuencia !== i + 1))
    falla(
      'webhooks out of order',
      primeros,
      eventos.map(({ tipo }) => tipo),
    )
  for (const [i, { guia, secuencia, tipo, estado, foto }] of eventos.entries()) {
    const [primero, otro, ...mas] = porId.get(`evt_${guia}_${secuencia}`) ?? []
    if (!primero || !otro || mas.length > 0)
      falla('a webhook that did not come twice', secuencia, primero && mas.length)
    if (!primero || !otro) continue
    if (primero.cuerpo !== otro.cuerpo) falla('a body that changed', secuencia, tipo)
    const { guia: vista } = primero.json.datos
    const esperada = { ...tras[i]!, secuencia, estado, intentos: foto.intentos }
    for (const [miembro, valor] of Object.entries(esperada))
      if (vista[miembro] !== valor) falla('a body with another value', secuencia, tipo, miembro, vista[miembro], valor)
  }
}
