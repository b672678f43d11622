/**
 * Entry point of `npm run demo`: exercises the service with real input and a new database. It creates a hundred guides
 * twice and a batch with errors, takes ten guides through their states, and sends every event to a merchant's server.
 * One server is healthy, one fails for a while, and one registers late. Then a telephone is corrected, a recipient
 * chooses another day, and a parcel returns by policy. At the end, a courier delivers without coverage, and the proof is
 * verified offline. Prints the results on one screen, and exits with 1 unless all checks pass; CI runs the demo as a
 * test.
 */
import { readFileSync } from 'node:fs'
import { chmod, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { styleText } from 'node:util'
import { type Estado, Guias, type LoteCreado, type LoteParaCrear, verificarWebhook } from '@guias/sdk'
import { verificarPrueba } from '@guias/sdk/verificar'
import { readConfig } from '../server/platform/config/config.ts'
import { createLog } from '../server/platform/log.ts'
import { type Service, startService } from '../server/startup/service.ts'
import { confirmAsDestinatario } from './demo/destinatario.ts'
import { createOperatorApi, type OperatorApi } from './demo/operatorApi.ts'
import { deliverAsRepartidor } from './demo/repartidor.ts'
import { chooseOtherDay, correctTelefono, exhaustIntentos, type Mishaps, setIntentoPolicy } from './demo/stumbles.ts'
import { readUntil } from './demo/wait.ts'

const title = (text: string) => console.log(`\n${styleText('bold', text)}`)
let faults = 0
/** Prints a check of the demo, and counts it as a failure if it is false. */
function check(description: string, isTrue: boolean) {
  if (!isTrue) faults++
  console.log(`  ${isTrue ? styleText('green', '✔') : styleText('red', '✘')} ${description}`)
}
const formatColumns = (rows: readonly (readonly (string | number)[])[]) => {
  const widths = rows[0]!.map((_, i) => Math.max(...rows.map((row) => String(row[i]).length)))
  for (const row of rows)
    console.log(
      `  ${row
        .map((cell, i) => String(cell).padEnd(widths[i]!))
        .join('  ')
        .trimEnd()}`,
    )
}
const truncate = (text: string) => (text.length > 62 ? `${text.slice(0, 61)}…` : text)
const codes = ({ resultados }: LoteCreado) => resultados.map((r) => (r.ok ? r.guia : null))

const lote = JSON.parse(readFileSync(new URL('../test/data/lote-100.json', import.meta.url), 'utf8')) as LoteParaCrear

const LIFE_CYCLES: Estado[][] = [
  ['recolectado', 'en_ruta', 'entregado'],
  ['recolectado', 'en_bodega', 'en_ruta', 'entregado'],
  ['recolectado', 'en_bodega', 'en_transito', 'en_bodega', 'en_ruta', 'entregado'],
  ['recolectado', 'en_bodega', 'entregado'],
  ['recolectado', 'en_ruta', 'intento_fallido', 'en_ruta', 'entregado'],
  ['recolectado', 'en_ruta', 'intento_fallido', 'en_ruta', 'intento_fallido', 'en_devolucion', 'devuelto'],
  ['recolectado', 'en_transito', 'extraviado', 'en_bodega', 'en_ruta', 'entregado'],
  ['recolectado', 'en_devolucion', 'devuelto'],
  ['cancelado'],
  ['cancelado'],
]

async function createHundred(api: Guias) {
  title('1. Cien guías reales, dos veces')
  const firstAnswer = await api.guias.crearLote(lote)
  const secondAnswer = await api.guias.crearLote(lote)
  const guias = await Array.fromAsync(api.guias.listar({ limite: 100 }))
  const confirmedGuias = Map.groupBy(guias, ({ ubicacion }) => ubicacion.origen ?? 'se pregunta al destinatario')
  const sample = firstAnswer.resultados
    .slice(0, 3)
    .flatMap((r, i) => (r.ok ? [[r.indice, r.guia, r.estado, r.external_ref ?? '', lote.guias[i]!.municipio]] : []))
  formatColumns([['indice', 'guia', 'estado', 'external_ref', 'municipio'], ...sample])
  check(
    `primera vez: ${firstAnswer.creadas} creadas, ${firstAnswer.fallidas} fallidas`,
    firstAnswer.ok && firstAnswer.creadas === 100,
  )
  const isSameAnswer = JSON.stringify(codes(secondAnswer)) === JSON.stringify(codes(firstAnswer))
  check(
    `segunda vez: ${secondAnswer.creadas} creadas, ${secondAnswer.repetidas} repetidas, con los mismos identificadores`,
    isSameAnswer &&
      secondAnswer.ok &&
      secondAnswer.repetidas === 100 &&
      secondAnswer.resultados.every((r) => r.ok && r.repetida),
  )
  check(
    `hay ${guias.length} guías; ubicación por ${[...confirmedGuias].map(([origin, originGuias]) => `${origin}: ${originGuias.length}`).join(', ')}`,
    guias.length === 100,
  )
  return codes(firstAnswer) as string[]
}

/** Maximum number of faulty guides that are printed. All are checked. */
const MAX_PRINTED_FAULTS = 6

async function createWithFaults(api: Guias) {
  title('2. Doce guías defectuosas entre doce buenas')
  const [validGuia, conflictingGuia] = [lote.guias[0]!, lote.guias[1]!]
  const invalidGuias: [string, unknown][] = [
    ['no es un objeto', 'guía'],
    ['está vacía', {}],
    ['teléfono sin +', { ...validGuia, telefono: '5555 1234' }],
    ['país que no existe', { ...validGuia, telefono: '+999 5555 1234' }],
    ['latitud de 91', { ...validGuia, lat: 91 }],
    ['lat sin lng', { ...validGuia, lng: undefined }],
    ['enlace a otro sitio', { ...validGuia, maps_url: 'https://ejemplo.com/mapa' }],
    ['campo mal escrito', { ...validGuia, externalRef: 'X-1' }],
    ['recogida sin lugar', { ...validGuia, recogida: { nombre: 'Bodega' } }],
    ['municipio en blanco', { ...validGuia, municipio: '  ' }],
    ['referencia con otros datos', { ...conflictingGuia, telefono: '+50255551234' }],
    ['departamento nulo', { ...validGuia, departamento: null }],
  ]
  const guias = invalidGuias.flatMap(([, invalidGuia], i) => [{ ...validGuia, external_ref: `DEMO-${i}` }, invalidGuia])
  const result = await api.guias.crearLote({
    ...(lote.recogida ? { recogida: lote.recogida } : {}),
    guias: guias as LoteParaCrear['guias'],
  })
  const rows = invalidGuias.map(([fault], i) => {
    const r = result.resultados[2 * i + 1]!
    const [error] = r.ok ? [] : r.error.errores
    return [
      r.indice,
      fault,
      r.ok ? '—' : r.error.estado_http,
      error?.campo || '(la guía)',
      truncate(error?.mensaje ?? ''),
    ]
  })
  formatColumns([['indice', 'falla', 'status', 'campo', 'qué hacer'], ...rows.slice(0, MAX_PRINTED_FAULTS)])
  check(
    `${result.creadas} creadas y ${result.fallidas} fallidas, cada una en su índice`,
    result.creadas === 12 && result.fallidas === 12 && result.resultados.every((r, i) => r.ok === (i % 2 === 0)),
  )
}

/** Function that reports a state change of a guide, as the courier company's own system would. */
type Operate = ReturnType<typeof createOperate>
const createOperate = (operatorApi: OperatorApi) => async (guia: string, estado: Estado) => {
  const motivo = {
    intento_fallido: 'destinatario_ausente',
    en_devolucion: 'intentos_agotados',
    extraviado: 'perdida',
  }[estado as string]
  await operatorApi('POST', `guias/${guia}/eventos`, { estado, ...(motivo ? { motivo } : {}) })
}

async function advanceGuias(api: Guias, operate: Operate, guias: readonly string[]) {
  title('3. Diez vidas')
  const countsByFinalEstado = new Map<string, number>()
  for (const [i, lifeCycle] of LIFE_CYCLES.entries()) {
    const guia = guias[i]!
    for (const estado of lifeCycle) {
      if (estado === 'cancelado') await api.guias.cancelar(guia)
      // The simulator delivers with a sample proof.
      else if (estado === 'entregado') await api.simulador.avanzar(guia, { estado: 'entregado' })
      else await operate(guia, estado)
    }
    const history: string[] = []
    // Pages have two events each, so that the demo reads several pages, as a merchant would.
    for await (const evento of api.guias.eventos(guia, { limite: 2 }))
      if (evento.tipo === `guia.${evento.estado}`) history.push(evento.estado)
    const lastEstado = history.at(-1)!
    countsByFinalEstado.set(lastEstado, (countsByFinalEstado.get(lastEstado) ?? 0) + 1)
    console.log(`  ${guia}  ${history.join(' → ')}`)
    if (history.join() !== ['aceptado', ...lifeCycle].join()) check(`la historia de ${guia} es la que fue`, false)
  }
  check(
    `terminaron: ${[...countsByFinalEstado].map(([estado, n]) => `${estado} ${n}`).join(', ')}`,
    ['entregado', 'devuelto', 'cancelado'].every((estado) => countsByFinalEstado.has(estado)),
  )
}

async function followEventos(api: Guias) {
  title('4. El flujo de eventos, de principio a fin')
  const countsByType = new Map<string, number>()
  const seen = new Set<string>()
  for (const limit = Date.now() + 5_000; Date.now() < limit && (countsByType.get('ubicacion.solicitada') ?? 0) < 20; ) {
    seen.clear()
    countsByType.clear()
    for await (const { id, tipo } of api.eventos.listar({ limite: 50 })) {
      seen.add(id)
      countsByType.set(tipo, (countsByType.get(tipo) ?? 0) + 1)
    }
  }
  const types = [...countsByType].map(([type, n]) => `${type} ${n}`)
  for (let i = 0; i < types.length; i += 5) console.log(`  ${types.slice(i, i + 5).join(' · ')}`)
  const total = [...countsByType.values()].reduce((a, b) => a + b, 0)
  check(
    `${total} eventos, ninguno dos veces; un mensaje por cada guía sin destino`,
    seen.size === total && countsByType.get('guia.aceptado') === 112 && countsByType.get('ubicacion.solicitada') === 20,
  )
}

async function confirmUbicacion(api: Guias, url: string) {
  title('5. Un destinatario dice dónde es')
  const buzon = await (await fetch(`${url}/buzon`)).text()
  const [, link = ''] = /href="(u\/[^"]+)"/.exec(buzon) ?? []
  console.log(`  abre el enlace de su mensaje (/buzon → /${link.slice(0, 7)}…) y confirma`)
  const usedMethod = await confirmAsDestinatario(`${url}/${link}`)
  const guias = await Array.fromAsync(api.guias.listar({ limite: 100 }))
  const [guia, ...otherGuias] = guias.filter(({ ubicacion }) => ubicacion.origen === 'destinatario')
  check(
    `${usedMethod}: ${guia?.guia} con ${guia?.ubicacion.precision_m} m de precisión, «${guia?.ubicacion.referencia}»`,
    guia !== undefined && otherGuias.length === 0,
  )
}

/** Starts a merchant's server, which verifies each webhook and answers with `status`. */
async function openReceiver() {
  const receiver = { url: '', secreto: '', status: 204, avisos: new Map<string, string>(), intentos: 0, rejected: 0 }
  const server = createServer(async (req, res) => {
    const chunks: Buffer[] = []
    for await (const chunk of req) chunks.push(chunk as Buffer)
    receiver.intentos++
    // The demo may change `status` once `intentos` counts this attempt, so the handler keeps the current value.
    const { status } = receiver
    try {
      const aviso = await verificarWebhook(Buffer.concat(chunks), req.headers, receiver.secreto)
      if (status < 300) receiver.avisos.set(aviso.id, aviso.tipo)
    } catch {
      receiver.rejected++
    }
    res.writeHead(status).end()
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  receiver.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/avisos`
  receiverClosers.push(() => {
    server.closeAllConnections()
    server.close()
  })
  return receiver
}
const receiverClosers: (() => void)[] = []

async function until(condition: () => boolean, seconds: number) {
  const startedAt = performance.now()
  while (!condition() && performance.now() - startedAt < seconds * 1000)
    await new Promise((resolve) => setTimeout(resolve, 5))
  return ((performance.now() - startedAt) / 1000).toFixed(1)
}

type Receptor = Awaited<ReturnType<typeof openReceiver>>

async function sendAvisos(api: Guias, healthyReceiver: Receptor, from: Date) {
  title('6. Cada evento, en el servidor del comercio')
  const eventos = (await Array.fromAsync(api.eventos.listar({ limite: 100 }))).length
  await until(() => healthyReceiver.avisos.size >= eventos, 10)
  check(
    `${healthyReceiver.avisos.size} avisos firmados para ${eventos} eventos, ninguno dos veces`,
    healthyReceiver.avisos.size === eventos && healthyReceiver.intentos === eventos && healthyReceiver.rejected === 0,
  )

  const failingReceiver = await openReceiver()
  failingReceiver.status = 503
  const { webhook, secreto } = await api.webhooks.crear({ url: failingReceiver.url, tipos: ['guia.*'] })
  failingReceiver.secreto = secreto
  for (let i = 0; i < 2; i++)
    await api.guias.crear({ ...lote.guias[0]!, recogida: lote.recogida!, external_ref: `CAIDA-${i}` })
  await until(() => failingReceiver.intentos === 2, 10)
  failingReceiver.status = 204
  console.log('  un servidor contestó 503 a 2 avisos; vuelve a estar en línea, y se espera el reintento…')
  const waitSeconds = await until(() => failingReceiver.avisos.size === 2, 20)
  // The service settles a delivery shortly after the merchant's server has received it.
  const entregas = await readUntil(
    () => Array.fromAsync(api.webhooks.avisos(webhook)),
    (receivedAvisos) => receivedAvisos.every(({ estado }) => estado !== 'pendiente'),
  )
  check(
    `llegaron solos ${waitSeconds} s después, al segundo intento`,
    entregas.length === 2 && entregas.every((e) => e.estado === 'entregado' && e.intentos === 2),
  )

  const newReceiver = await openReceiver()
  const tardio = await api.webhooks.crear({ url: newReceiver.url })
  newReceiver.secreto = tardio.secreto
  const missingAvisos = await api.webhooks.ensayarRecuperacion(tardio.webhook, { desde: from.toISOString() })
  const { recuperacion } = await api.webhooks.recuperar(tardio.webhook, { desde: from.toISOString() })
  const seconds = await until(() => newReceiver.avisos.size >= missingAvisos.avisos, 10)
  const { estado, avisos: queuedAvisos } = await api.webhooks.obtenerRecuperacion(tardio.webhook, recuperacion)
  check(
    `un servidor nuevo pidió todo lo anterior: ensayo ${missingAvisos.avisos}, recibidos ${newReceiver.avisos.size} en ${seconds} s (${estado})`,
    missingAvisos.avisos === eventos + 2 &&
      newReceiver.avisos.size === missingAvisos.avisos &&
      queuedAvisos === missingAvisos.avisos,
  )
}

async function runMishaps(mishaps: Mishaps) {
  title('7. Lo que sale mal, y cómo sigue')
  const { guia, tipos } = await correctTelefono(mishaps)
  check(
    `${guia}: teléfono corregido, y un mensaje al nuevo`,
    tipos.join() === 'guia.aceptado,ubicacion.solicitada,guia.corregida,ubicacion.solicitada',
  )
  await setIntentoPolicy(mishaps)
  const { decidedGuia, deliveredGuia } = await chooseOtherDay(mishaps)
  check(
    `${decidedGuia.guia}: tras un intento fallido, el destinatario escogió el ${decidedGuia.decision?.fecha}; ${deliveredGuia.estado}`,
    decidedGuia.decision?.por === 'destinatario' &&
      decidedGuia.decision.fecha === decidedGuia.decision.fecha_desde &&
      deliveredGuia.decision?.estado === 'aplicada' &&
      deliveredGuia.estado === 'entregado',
  )
  const { guia: returningGuia, estado, intentos, motivo, decision } = await exhaustIntentos(mishaps)
  check(
    `${returningGuia}: tras ${intentos} intentos vuelve por la política (${motivo})`,
    estado === 'en_devolucion' && motivo === 'intentos_agotados' && decision?.por === 'politica',
  )
}

async function checkPrueba(api: Guias, url: string, codigo: string, operate: Operate) {
  title('8. Una entrega sin cobertura, y su prueba')
  const { guia, ubicacion } = await api.guias.crear({
    ...lote.guias[0]!,
    recogida: lote.recogida!,
    external_ref: 'PRUEBA-1',
    destinatario: 'María José Ajú',
    direccion: '5a avenida norte 12, casa 3',
  })
  await operate(guia, 'recolectado')
  const { usedMethod, meanwhile } = await deliverAsRepartidor({
    url,
    codigo,
    guia,
    lat: ubicacion.lat! + 0.0001,
    lng: ubicacion.lng!,
    estado: async () => (await api.guias.obtener(guia)).estado,
  })
  const { recibido_por, distancia_m, fotos, firma, pdf, manifiesto } = await readUntil(
    async () => api.guias.pruebaEntrega(guia),
    ({ pdf }) => pdf !== null,
  )
  check(
    `${usedMethod}: recibió ${recibido_por.nombre}, a ${distancia_m} m`,
    meanwhile === 'en_ruta' && distancia_m === 11 && fotos.length === 1 && firma !== null,
  )
  // From here on the merchant uses only its own copies of the keys and files, and no service.
  const claves = await api.guias.clavesPublicas()
  const download = async (direccion: string) => new Uint8Array(await (await fetch(direccion)).arrayBuffer())
  const archivos = await Promise.all([pdf!, firma!, ...fotos].map((file) => download(file.url)))
  const where = join(tmpdir(), `prueba-de-entrega-${guia}.pdf`)
  await writeFile(where, archivos[0]!)
  const verifiedPrueba = await verificarPrueba({ guia, manifiesto: manifiesto!, claves, archivos })
  check(
    `verificada sin red: ${verifiedPrueba.archivos.map(({ tipo }) => tipo).join(', ')}; el PDF está en ${where}`,
    verifiedPrueba.archivos.length === 3,
  )
  archivos[0]![1_000]! ^= 1
  const alteredResult = await verificarPrueba({ manifiesto: manifiesto!, claves, archivos }).catch(
    ({ codigo }) => codigo,
  )
  check(`con un bit cambiado en el PDF, no: ${alteredResult}`, typeof alteredResult === 'string')
}

const dataDir = await mkdtemp(join(tmpdir(), 'guias-demo-'))
// As root, PostgreSQL runs as another user, who must be able to enter this folder.
await chmod(dataDir, 0o755)
const config = readConfig({ DATA_DIR: dataDir, PORT: '0' }, process.cwd())
let service: Service | undefined
try {
  service = await startService(config, createLog('error'))
  const startedAt = performance.now()
  const { llave, llave_operaciones, codigo_repartidor } = JSON.parse(await readFile(join(dataDir, 'demo.json'), 'utf8'))
  const operatorApi = createOperatorApi(service.url, llave_operaciones)
  const operate = createOperate(operatorApi)
  const api = new Guias({ llave, baseUrl: service.url })
  const from = new Date()
  const healthyReceiver = await openReceiver()
  healthyReceiver.secreto = (await api.webhooks.crear({ url: healthyReceiver.url })).secreto
  const guias = await createHundred(api)
  await createWithFaults(api)
  // Only guides with known coordinates. The other guides need the confirmation of their recipient first.
  const confirmedGuias = guias.filter((_, i) => lote.guias[i]!.lat !== undefined)
  await advanceGuias(api, operate, confirmedGuias)
  await followEventos(api)
  await confirmUbicacion(api, service.url)
  await sendAvisos(api, healthyReceiver, from)
  await runMishaps({
    api,
    url: service.url,
    operatorApi,
    operate,
    create: (external_ref, hasPlace) => {
      const { lat, lng, maps_url: _, ...guia } = lote.guias[0]!
      return api.guias.crear({
        ...guia,
        ...(hasPlace && { lat, lng }),
        recogida: lote.recogida!,
        external_ref,
      } as Parameters<typeof api.guias.crear>[0])
    },
  })
  await checkPrueba(api, service.url, codigo_repartidor, operate)
  const seconds = ((performance.now() - startedAt) / 1000).toFixed(1)
  console.log(
    `\n${faults === 0 ? styleText('green', `Todo salió como se esperaba, en ${seconds} s.`) : styleText('red', `${faults} comprobaciones fallaron.`)}`,
  )
} finally {
  await service?.stop()
  for (const closeReceiver of receiverClosers) closeReceiver()
  await rm(dataDir, { recursive: true, force: true })
}
process.exitCode = faults === 0 ? 0 : 1
