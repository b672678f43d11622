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
import { confirmarComoDestinatario } from './demo/destinatario.ts'
import { leerHasta } from './demo/esperar.ts'
import { entregarComoRepartidor } from './demo/repartidor.ts'
import { agotarIntentos, ajustarIntentos, corregirTelefono, escogerOtroDia, type Tropiezos } from './demo/tropiezos.ts'

const titulo = (texto: string) => console.log(`\n${styleText('bold', texto)}`)
let fallas = 0
/** Prints a check of the demo, and counts it as a failure if it is false. */
function comprobar(que: string, cierto: boolean) {
  if (!cierto) fallas++
  console.log(`  ${cierto ? styleText('green', '✔') : styleText('red', '✘')} ${que}`)
}
const columnas = (filas: readonly (readonly (string | number)[])[]) => {
  const anchos = filas[0]!.map((_, i) => Math.max(...filas.map((fila) => String(fila[i]).length)))
  for (const fila of filas)
    console.log(
      `  ${fila
        .map((celda, i) => String(celda).padEnd(anchos[i]!))
        .join('  ')
        .trimEnd()}`,
    )
}
const recortar = (texto: string) => (texto.length > 62 ? `${texto.slice(0, 61)}…` : texto)
const codigos = ({ resultados }: LoteCreado) => resultados.map((r) => (r.ok ? r.guia : null))

const lote = JSON.parse(readFileSync(new URL('../test/datos/lote-100.json', import.meta.url), 'utf8')) as LoteParaCrear

const VIDAS: Estado[][] = [
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

async function crearCien(api: Guias) {
  titulo('1. Cien guías reales, dos veces')
  const primero = await api.guias.crearLote(lote)
  const segundo = await api.guias.crearLote(lote)
  const guias = await Array.fromAsync(api.guias.listar({ limite: 100 }))
  const confirmadas = Map.groupBy(guias, ({ ubicacion }) => ubicacion.origen ?? 'se pregunta al destinatario')
  const muestra = primero.resultados
    .slice(0, 3)
    .flatMap((r, i) => (r.ok ? [[r.indice, r.guia, r.estado, r.external_ref ?? '', lote.guias[i]!.municipio]] : []))
  columnas([['indice', 'guia', 'estado', 'external_ref', 'municipio'], ...muestra])
  comprobar(
    `primera vez: ${primero.creadas} creadas, ${primero.fallidas} fallidas`,
    primero.ok && primero.creadas === 100,
  )
  const mismas = JSON.stringify(codigos(segundo)) === JSON.stringify(codigos(primero))
  comprobar(
    `segunda vez: ${segundo.creadas} creadas, ${segundo.repetidas} repetidas, con los mismos identificadores`,
    mismas && segundo.ok && segundo.repetidas === 100 && segundo.resultados.every((r) => r.ok && r.repetida),
  )
  comprobar(
    `hay ${guias.length} guías; ubicación por ${[...confirmadas].map(([origen, suyas]) => `${origen}: ${suyas.length}`).join(', ')}`,
    guias.length === 100,
  )
  return codigos(primero) as string[]
}

/** Maximum number of faulty guides that are printed. All are checked. */
const A_LA_VISTA = 6

async function crearConFallas(api: Guias) {
  titulo('2. Doce guías defectuosas entre doce buenas')
  const [buena, conflicto] = [lote.guias[0]!, lote.guias[1]!]
  const malas: [string, unknown][] = [
    ['no es un objeto', 'guía'],
    ['está vacía', {}],
    ['teléfono sin +', { ...buena, telefono: '5555 1234' }],
    ['país que no existe', { ...buena, telefono: '+999 5555 1234' }],
    ['latitud de 91', { ...buena, lat: 91 }],
    ['lat sin lng', { ...buena, lng: undefined }],
    ['enlace a otro sitio', { ...buena, maps_url: 'https://ejemplo.com/mapa' }],
    ['campo mal escrito', { ...buena, externalRef: 'X-1' }],
    ['recogida sin lugar', { ...buena, recogida: { nombre: 'Bodega' } }],
    ['municipio en blanco', { ...buena, municipio: '  ' }],
    ['referencia con otros datos', { ...conflicto, telefono: '+50255551234' }],
    ['departamento nulo', { ...buena, departamento: null }],
  ]
  const guias = malas.flatMap(([, mala], i) => [{ ...buena, external_ref: `DEMO-${i}` }, mala])
  const resultado = await api.guias.crearLote({
    ...(lote.recogida ? { recogida: lote.recogida } : {}),
    guias: guias as LoteParaCrear['guias'],
  })
  const filas = malas.map(([que], i) => {
    const r = resultado.resultados[2 * i + 1]!
    const [error] = r.ok ? [] : r.error.errores
    return [
      r.indice,
      que,
      r.ok ? '—' : r.error.estado_http,
      error?.campo || '(la guía)',
      recortar(error?.mensaje ?? ''),
    ]
  })
  columnas([['indice', 'falla', 'status', 'campo', 'qué hacer'], ...filas.slice(0, A_LA_VISTA)])
  comprobar(
    `${resultado.creadas} creadas y ${resultado.fallidas} fallidas, cada una en su índice`,
    resultado.creadas === 12 &&
      resultado.fallidas === 12 &&
      resultado.resultados.every((r, i) => r.ok === (i % 2 === 0)),
  )
}

/** Function that reports a state change of a guide, as the courier company's own system would. */
type Operar = ReturnType<typeof crearOperar>
const crearOperar = (url: string, llave: string) => async (guia: string, estado: Estado) => {
  const motivo = {
    intento_fallido: 'destinatario_ausente',
    en_devolucion: 'intentos_agotados',
    extraviado: 'perdida',
  }[estado as string]
  const respuesta = await fetch(`${url}/operaciones/v1/guias/${guia}/eventos`, {
    method: 'POST',
    headers: { Authorization: `Bearer ${llave}`, 'Content-Type': 'application/json' },
    body: JSON.stringify({ estado, ...(motivo ? { motivo } : {}) }),
  })
  if (respuesta.status !== 201) throw new Error(`${guia} → ${estado}: ${await respuesta.text()}`)
}

async function vivir(api: Guias, operar: Operar, guias: readonly string[]) {
  titulo('3. Diez vidas')
  const finales = new Map<string, number>()
  for (const [i, vida] of VIDAS.entries()) {
    const guia = guias[i]!
    for (const estado of vida) {
      if (estado === 'cancelado') await api.guias.cancelar(guia)
      // The simulator delivers with a sample proof.
      else if (estado === 'entregado') await api.simulador.avanzar(guia, { estado: 'entregado' })
      else await operar(guia, estado)
    }
    const historia: string[] = []
    // Pages have two events each, so that the demo reads several pages, as a merchant would.
    for await (const evento of api.guias.eventos(guia, { limite: 2 }))
      if (evento.tipo === `guia.${evento.estado}`) historia.push(evento.estado)
    const fin = historia.at(-1)!
    finales.set(fin, (finales.get(fin) ?? 0) + 1)
    console.log(`  ${guia}  ${historia.join(' → ')}`)
    if (historia.join() !== ['aceptado', ...vida].join()) comprobar(`la historia de ${guia} es la que fue`, false)
  }
  comprobar(
    `terminaron: ${[...finales].map(([estado, n]) => `${estado} ${n}`).join(', ')}`,
    ['entregado', 'devuelto', 'cancelado'].every((estado) => finales.has(estado)),
  )
}

async function seguir(api: Guias) {
  titulo('4. El flujo de eventos, de principio a fin')
  const porTipo = new Map<string, number>()
  const vistos = new Set<string>()
  for (const limite = Date.now() + 5_000; Date.now() < limite && (porTipo.get('ubicacion.solicitada') ?? 0) < 20; ) {
    vistos.clear()
    porTipo.clear()
    for await (const { id, tipo } of api.eventos.listar({ limite: 50 })) {
      vistos.add(id)
      porTipo.set(tipo, (porTipo.get(tipo) ?? 0) + 1)
    }
  }
  const tipos = [...porTipo].map(([tipo, n]) => `${tipo} ${n}`)
  for (let i = 0; i < tipos.length; i += 5) console.log(`  ${tipos.slice(i, i + 5).join(' · ')}`)
  const total = [...porTipo.values()].reduce((a, b) => a + b, 0)
  comprobar(
    `${total} eventos, ninguno dos veces; un mensaje por cada guía sin destino`,
    vistos.size === total && porTipo.get('guia.aceptado') === 112 && porTipo.get('ubicacion.solicitada') === 20,
  )
}

async function confirmar(api: Guias, url: string) {
  titulo('5. Un destinatario dice dónde es')
  const buzon = await (await fetch(`${url}/buzon`)).text()
  const [, enlace = ''] = /href="(u\/[^"]+)"/.exec(buzon) ?? []
  console.log(`  abre el enlace de su mensaje (/buzon → /${enlace.slice(0, 7)}…) y confirma`)
  const como = await confirmarComoDestinatario(`${url}/${enlace}`)
  const guias = await Array.fromAsync(api.guias.listar({ limite: 100 }))
  const [guia, ...otras] = guias.filter(({ ubicacion }) => ubicacion.origen === 'destinatario')
  comprobar(
    `${como}: ${guia?.guia} con ${guia?.ubicacion.precision_m} m de precisión, «${guia?.ubicacion.referencia}»`,
    guia !== undefined && otras.length === 0,
  )
}

/** Starts a merchant's server, which verifies each webhook and answers with `status`. */
async function abrirReceptor() {
  const receptor = { url: '', secreto: '', status: 204, avisos: new Map<string, string>(), intentos: 0, rechazados: 0 }
  const servidor = createServer(async (req, res) => {
    const trozos: Buffer[] = []
    for await (const trozo of req) trozos.push(trozo as Buffer)
    receptor.intentos++
    // The demo may change `status` once `intentos` counts this attempt, so the handler keeps the current value.
    const { status } = receptor
    try {
      const aviso = await verificarWebhook(Buffer.concat(trozos), req.headers, receptor.secreto)
      if (status < 300) receptor.avisos.set(aviso.id, aviso.tipo)
    } catch {
      receptor.rechazados++
    }
    res.writeHead(status).end()
  })
  await new Promise<void>((resolve) => servidor.listen(0, '127.0.0.1', resolve))
  receptor.url = `http://127.0.0.1:${(servidor.address() as AddressInfo).port}/avisos`
  receptores.push(() => {
    servidor.closeAllConnections()
    servidor.close()
  })
  return receptor
}
const receptores: (() => void)[] = []

async function hasta(que: () => boolean, segundos: number) {
  const inicio = performance.now()
  while (!que() && performance.now() - inicio < segundos * 1000) await new Promise((resolve) => setTimeout(resolve, 5))
  return ((performance.now() - inicio) / 1000).toFixed(1)
}

type Receptor = Awaited<ReturnType<typeof abrirReceptor>>

async function avisar(api: Guias, sano: Receptor, desde: Date) {
  titulo('6. Cada evento, en el servidor del comercio')
  const eventos = (await Array.fromAsync(api.eventos.listar({ limite: 100 }))).length
  await hasta(() => sano.avisos.size >= eventos, 10)
  comprobar(
    `${sano.avisos.size} avisos firmados para ${eventos} eventos, ninguno dos veces`,
    sano.avisos.size === eventos && sano.intentos === eventos && sano.rechazados === 0,
  )

  const caido = await abrirReceptor()
  caido.status = 503
  const { webhook, secreto } = await api.webhooks.crear({ url: caido.url, tipos: ['guia.*'] })
  caido.secreto = secreto
  for (let i = 0; i < 2; i++)
    await api.guias.crear({ ...lote.guias[0]!, recogida: lote.recogida!, external_ref: `CAIDA-${i}` })
  await hasta(() => caido.intentos === 2, 10)
  caido.status = 204
  console.log('  un servidor contestó 503 a 2 avisos; vuelve a estar en línea, y se espera el reintento…')
  const espera = await hasta(() => caido.avisos.size === 2, 20)
  // The service settles a delivery shortly after the merchant's server has received it.
  const entregas = await leerHasta(
    () => Array.fromAsync(api.webhooks.avisos(webhook)),
    (unas) => unas.every(({ estado }) => estado !== 'pendiente'),
  )
  comprobar(
    `llegaron solos ${espera} s después, al segundo intento`,
    entregas.length === 2 && entregas.every((e) => e.estado === 'entregado' && e.intentos === 2),
  )

  const nuevo = await abrirReceptor()
  const tardio = await api.webhooks.crear({ url: nuevo.url })
  nuevo.secreto = tardio.secreto
  const faltan = await api.webhooks.ensayarRecuperacion(tardio.webhook, { desde: desde.toISOString() })
  const { recuperacion } = await api.webhooks.recuperar(tardio.webhook, { desde: desde.toISOString() })
  const segundos = await hasta(() => nuevo.avisos.size >= faltan.avisos, 10)
  const { estado, avisos: puestas } = await api.webhooks.obtenerRecuperacion(tardio.webhook, recuperacion)
  comprobar(
    `un servidor nuevo pidió todo lo anterior: ensayo ${faltan.avisos}, recibidos ${nuevo.avisos.size} en ${segundos} s (${estado})`,
    faltan.avisos === eventos + 2 && nuevo.avisos.size === faltan.avisos && puestas === faltan.avisos,
  )
}

async function tropezar(tropiezos: Tropiezos) {
  titulo('7. Lo que sale mal, y cómo sigue')
  const { guia, tipos } = await corregirTelefono(tropiezos)
  comprobar(
    `${guia}: teléfono corregido, y un mensaje al nuevo`,
    tipos.join() === 'guia.aceptado,ubicacion.solicitada,guia.corregida,ubicacion.solicitada',
  )
  await ajustarIntentos(tropiezos)
  const { decidida, entregada } = await escogerOtroDia(tropiezos)
  comprobar(
    `${decidida.guia}: tras un intento fallido, el destinatario escogió el ${decidida.decision?.fecha}; ${entregada.estado}`,
    decidida.decision?.por === 'destinatario' &&
      decidida.decision.fecha === decidida.decision.fecha_desde &&
      entregada.decision?.estado === 'aplicada' &&
      entregada.estado === 'entregado',
  )
  const { guia: vuelve, estado, intentos, motivo, decision } = await agotarIntentos(tropiezos)
  comprobar(
    `${vuelve}: tras ${intentos} intentos vuelve por la política (${motivo})`,
    estado === 'en_devolucion' && motivo === 'intentos_agotados' && decision?.por === 'politica',
  )
}

async function probar(api: Guias, url: string, codigo: string, operar: Operar) {
  titulo('8. Una entrega sin cobertura, y su prueba')
  const { guia, ubicacion } = await api.guias.crear({
    ...lote.guias[0]!,
    recogida: lote.recogida!,
    external_ref: 'PRUEBA-1',
    destinatario: 'María José Ajú',
    direccion: '5a avenida norte 12, casa 3',
  })
  await operar(guia, 'recolectado')
  const { como, mientras } = await entregarComoRepartidor({
    url,
    codigo,
    guia,
    lat: ubicacion.lat! + 0.0001,
    lng: ubicacion.lng!,
    estado: async () => (await api.guias.obtener(guia)).estado,
  })
  const { recibido_por, distancia_m, fotos, firma, pdf, manifiesto } = await leerHasta(
    async () => api.guias.pruebaEntrega(guia),
    ({ pdf }) => pdf !== null,
  )
  comprobar(
    `${como}: recibió ${recibido_por.nombre}, a ${distancia_m} m`,
    mientras === 'en_ruta' && distancia_m === 11 && fotos.length === 1 && firma !== null,
  )
  // From here on the merchant uses only its own copies of the keys and files, and no service.
  const claves = await api.guias.clavesPublicas()
  const bajar = async (direccion: string) => new Uint8Array(await (await fetch(direccion)).arrayBuffer())
  const archivos = await Promise.all([pdf!, firma!, ...fotos].map((archivo) => bajar(archivo.url)))
  const donde = join(tmpdir(), `prueba-de-entrega-${guia}.pdf`)
  await writeFile(donde, archivos[0]!)
  const verificada = await verificarPrueba({ guia, manifiesto: manifiesto!, claves, archivos })
  comprobar(
    `verificada sin red: ${verificada.archivos.map(({ tipo }) => tipo).join(', ')}; el PDF está en ${donde}`,
    verificada.archivos.length === 3,
  )
  archivos[0]![1_000]! ^= 1
  const alterada = await verificarPrueba({ manifiesto: manifiesto!, claves, archivos }).catch(({ codigo }) => codigo)
  comprobar(`con un bit cambiado en el PDF, no: ${alterada}`, typeof alterada === 'string')
}

const dataDir = await mkdtemp(join(tmpdir(), 'guias-demo-'))
// As root, PostgreSQL runs as another user, who must be able to enter this folder.
await chmod(dataDir, 0o755)
const config = readConfig({ DATA_DIR: dataDir, PORT: '0' }, process.cwd())
let servicio: Service | undefined
try {
  servicio = await startService(config, createLog('error'))
  const inicio = performance.now()
  const { llave, llave_operaciones, codigo_repartidor } = JSON.parse(await readFile(join(dataDir, 'demo.json'), 'utf8'))
  const operar = crearOperar(servicio.url, llave_operaciones)
  const api = new Guias({ llave, baseUrl: servicio.url })
  const desde = new Date()
  const sano = await abrirReceptor()
  sano.secreto = (await api.webhooks.crear({ url: sano.url })).secreto
  const guias = await crearCien(api)
  await crearConFallas(api)
  // Only guides with known coordinates. The other guides need the confirmation of their recipient first.
  const confirmadas = guias.filter((_, i) => lote.guias[i]!.lat !== undefined)
  await vivir(api, operar, confirmadas)
  await seguir(api)
  await confirmar(api, servicio.url)
  await avisar(api, sano, desde)
  await tropezar({
    api,
    url: servicio.url,
    llaveDeOperaciones: llave_operaciones,
    operar,
    crear: (external_ref, conLugar) => {
      const { lat, lng, maps_url: _, ...guia } = lote.guias[0]!
      return api.guias.crear({
        ...guia,
        ...(conLugar && { lat, lng }),
        recogida: lote.recogida!,
        external_ref,
      } as Parameters<typeof api.guias.crear>[0])
    },
  })
  await probar(api, servicio.url, codigo_repartidor, operar)
  const segundos = ((performance.now() - inicio) / 1000).toFixed(1)
  console.log(
    `\n${fallas === 0 ? styleText('green', `Todo salió como se esperaba, en ${segundos} s.`) : styleText('red', `${fallas} comprobaciones fallaron.`)}`,
  )
} finally {
  await servicio?.detener()
  for (const cerrar of receptores) cerrar()
  await rm(dataDir, { recursive: true, force: true })
}
process.exitCode = fallas === 0 ? 0 : 1
