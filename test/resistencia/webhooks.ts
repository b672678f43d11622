import { setTimeout as dormir } from 'node:timers/promises'
import { azarDe } from '../azar.ts'
import { type Arnes, conArnes, esperar } from './arnes.ts'
import { type Carga, cargar } from './carga.ts'
import { type Escenario, entre, LENTO } from './escenario.ts'
import { discoLleno, saturada, sinConexiones, soloLectura } from './escrituras.ts'
import { cerrarLibro } from './libro.ts'
import type { Proceso } from './procesos.ts'
import { documentosConWorkerMuerto, documentosSinPostgres } from './pruebas.ts'
import { muerteBajoCarga, muerteTrasContestar } from './workerMuerto.ts'

// What the sender of webhooks must survive. Each scenario does its harm `veces` times and then closes the books.

/** Two endpoints, one of all events and one of some, and a receiver that takes its time. */
async function preparar(arnes: Arnes, api: Proceso) {
  arnes.receptor.atender = LENTO
  await arnes.registrar(api, '/todo')
  await arnes.registrar(api, '/canceladas', ['guia.cancelado'])
}

/** What is killed is started anew, as a supervisor would. */
function crearFlota(apis: Proceso[], workers: Proceso[], arnes: Arnes) {
  const reemplazar = async (flota: Proceso[], senal: NodeJS.Signals, nuevo: () => Promise<Proceso>) => {
    const viejo = flota.shift()!
    const inicio = performance.now()
    viejo.matar(senal)
    const fin = await viejo.fin
    const segundos = (performance.now() - inicio) / 1000
    if (senal === 'SIGTERM' && (fin.codigo !== 0 || segundos > 30))
      arnes.quejas.push(`${viejo.nombre}: ${JSON.stringify(fin)} ${segundos.toFixed(1)} s after SIGTERM`)
    flota.push(await nuevo())
    return segundos
  }
  return {
    reemplazarApi: (senal: NodeJS.Signals) => reemplazar(apis, senal, () => arnes.api()),
    reemplazarWorker: (senal: NodeJS.Signals) => reemplazar(workers, senal, () => arnes.worker()),
  }
}

/** From now until the service takes something again, in seconds. */
async function vuelta(carga: Carga): Promise<number> {
  const desde = Date.now()
  await esperar(async () => carga.ultima > desde, 30_000, 10)
  return (Date.now() - desde) / 1000
}

const mayor = (numeros: readonly number[]) => Math.max(0, ...numeros).toFixed(1)

const muerteDeApi: Escenario['correr'] = ({ veces }) =>
  conArnes(async (arnes) => {
    const apis = [await arnes.api(), await arnes.api()]
    const workers = [await arnes.worker()]
    await preparar(arnes, apis[0]!)
    const flota = crearFlota(apis, workers, arnes)
    const carga = cargar(arnes, { apis: () => apis })
    // On until what is to be tried has happened, which is a matter of chance.
    const faltan = (i: number) => i < veces || (carga.repetidas === 0 && i < 10 * veces)
    for (let i = 0; faltan(i); i++) {
      await dormir(entre(200, 600))
      // Its writes are held up, so it dies for certain between asking and hearing that they are committed.
      await arnes.conCliente(async (cliente) => {
        const quien = `guias pid=${apis[0]!.pid}`
        await cliente.query('begin')
        await cliente.query('lock table guia in exclusive mode')
        await esperar(
          async () =>
            (
              await cliente.query(
                `select from pg_stat_activity where application_name = $1 and wait_event_type = 'Lock'`,
                [quien],
              )
            ).rowCount! > 0,
          3_000,
          10,
        )
        const reemplazo = flota.reemplazarApi('SIGKILL')
        await dormir(50)
        // Every second time the statement dies with its process; else it is committed and nobody hears of it.
        if (i % 2 === 0)
          await cliente.query('select pg_terminate_backend(pid) from pg_stat_activity where application_name = $1', [
            quien,
          ])
        await cliente.query('commit')
        await reemplazo
      })
    }
    const danado = Date.now()
    await dormir(500)
    await carga.parar()
    const resultado = await cerrarLibro(arnes, {
      escenario: 'API muerta antes y después del commit',
      probado: `${veces} SIGKILL`,
      carga,
      danado,
      notas: [`${carga.repetidas} repeated creations found their guide`],
    })
    if (carga.repetidas === 0) resultado.fallas.push('no creation was committed without its answer: nothing was tried')
    return resultado
  })

const postgresReiniciado: Escenario['correr'] = ({ veces }) =>
  conArnes(async (arnes) => {
    const apis = [await arnes.api()]
    await arnes.worker()
    await preparar(arnes, apis[0]!)
    const carga = cargar(arnes, { apis: () => apis })
    const vueltas: number[] = []
    for (let i = 0; i < veces; i++) {
      await dormir(entre(700, 1_500))
      await arnes.reiniciarPostgres(i % 2 === 0 ? 'immediate' : 'fast')
      vueltas.push(await vuelta(carga))
    }
    const danado = Date.now()
    await dormir(500)
    await carga.parar()
    const resultado = await cerrarLibro(arnes, {
      escenario: 'PostgreSQL reiniciado',
      probado: `${veces} reinicios`,
      carga,
      danado,
      repeticiones: veces,
      notas: [`the API was back ${mayor(vueltas)} s after PostgreSQL at the latest`],
    })
    if (Math.max(...vueltas) > 10) resultado.fallas.push(`the API took ${mayor(vueltas)} s to come back`)
    return resultado
  })

const conexionesCortadas: Escenario['correr'] = ({ veces }) =>
  conArnes(async (arnes) => {
    const apis = [await arnes.api()]
    await arnes.worker()
    await preparar(arnes, apis[0]!)
    const carga = cargar(arnes, { apis: () => apis })
    let cortadas = 0
    for (let i = 0; i < veces; i++) {
      await dormir(entre(300, 900))
      cortadas += await arnes.cortarConexiones()
    }
    const danado = Date.now()
    await dormir(500)
    await carga.parar()
    return cerrarLibro(arnes, {
      escenario: 'conexiones cortadas',
      probado: `${veces} veces todas, ${cortadas} sesiones`,
      carga,
      danado,
      repeticiones: veces,
    })
  })

const commitSinRespuesta: Escenario['correr'] = ({ veces }) =>
  conArnes(async (arnes) => {
    const apis = [await arnes.api()]
    const intermediario = await arnes.intermediario()
    await arnes.worker({ databaseUrl: intermediario.databaseUrl })
    await preparar(arnes, apis[0]!)
    const carga = cargar(arnes, { apis: () => apis })
    for (let i = 1; i <= veces; i++) {
      await dormir(entre(200, 500))
      intermediario.perder(1)
      await esperar(async () => intermediario.perdidas() >= i, 10_000, 10)
    }
    const danado = Date.now()
    await dormir(500)
    await carga.parar()
    const resultado = await cerrarLibro(arnes, {
      escenario: 'commit del saldo sin respuesta',
      probado: `${intermediario.perdidas()} commits`,
      carga,
      danado,
    })
    if (intermediario.perdidas() < veces) resultado.fallas.push(`only ${intermediario.perdidas()} commits came by`)
    return resultado
  })

const paradaOrdenada: Escenario['correr'] = ({ veces }) =>
  conArnes(async (arnes) => {
    const apis = [await arnes.api()]
    const workers = [await arnes.worker(), await arnes.worker()]
    await preparar(arnes, apis[0]!)
    // Now and then one that is long under way when its worker is told to stop.
    arnes.receptor.atender = async () => {
      await dormir(Math.random() < 0.005 ? 3_000 : entre(0, 60))
      return 204
    }
    const flota = crearFlota(apis, workers, arnes)
    const carga = cargar(arnes, { apis: () => apis, ritmo: 25 })
    const salidas: number[] = []
    for (let i = 0; i < veces; i++) {
      await dormir(entre(300, 900))
      salidas.push(await flota.reemplazarWorker('SIGTERM'))
    }
    const danado = Date.now()
    await carga.parar()
    return cerrarLibro(arnes, {
      escenario: 'SIGTERM y relevo de workers',
      probado: `${veces} SIGTERM`,
      carga,
      danado,
      recuperacion: 30,
      notas: [`the slowest exit took ${mayor(salidas)} s`],
    })
  })

const caos: Escenario['correr'] = ({ veces }) =>
  conArnes(async (arnes) => {
    const semilla = Number(process.env.SEMILLA ?? Math.floor(Math.random() * 1e9))
    const azar = azarDe(semilla)
    const [api, ...resto] = await Promise.all([arnes.api(), arnes.api(), arnes.worker(), arnes.worker()])
    const apis = [api, resto[0]!]
    const workers = resto.slice(1)
    await preparar(arnes, api)
    const flota = crearFlota(apis, workers, arnes)
    const danos: Record<string, () => Promise<unknown>> = {
      'kill worker': () => flota.reemplazarWorker('SIGKILL'),
      'kill API': () => flota.reemplazarApi('SIGKILL'),
      'TERM worker': () => flota.reemplazarWorker('SIGTERM'),
      'TERM API': () => flota.reemplazarApi('SIGTERM'),
      'PostgreSQL immediate': () => arnes.reiniciarPostgres('immediate'),
      'PostgreSQL fast': () => arnes.reiniciarPostgres('fast'),
      conexiones: () => arnes.cortarConexiones(),
      cola: () => arnes.conCliente((cliente) => cliente.query('delete from pgboss.job')),
    }
    const carga = cargar(arnes, { apis: () => apis })
    const hechos: string[] = []
    const nombres = Object.keys(danos)
    while (hechos.length < veces) {
      // Each kind once before any comes again.
      if (nombres.length === 0) nombres.push(...Object.keys(danos))
      const [nombre] = nombres.splice(Math.floor(azar() * nombres.length), 1)
      await dormir(entre(200, 1_200, azar))
      await danos[nombre!]!()
      hechos.push(nombre!)
    }
    const danado = Date.now()
    await dormir(500)
    await carga.parar()
    return cerrarLibro(arnes, {
      escenario: 'de todo al azar, 2 API y 2 workers',
      probado: `${veces} daños`,
      carga,
      danado,
      plazo: 90_000,
      repeticiones: veces,
      notas: [`SEMILLA=${semilla}`, hechos.join(', ')],
    })
  })

const colaPerdida: Escenario['correr'] = ({ veces }) =>
  conArnes(async (arnes) => {
    const apis = [await arnes.api()]
    await arnes.worker()
    await preparar(arnes, apis[0]!)
    // Slow enough that there is something under way.
    arnes.receptor.atender = async () => {
      await dormir(entre(50, 250))
      return 204
    }
    // An endpoint gets four at a time: about 25 a second.
    const carga = cargar(arnes, { apis: () => apis, ritmo: 10 })
    let perdidos = 0
    for (let i = 0; i < veces; i++) {
      await dormir(entre(200, 600))
      await esperar(
        async () => (await arnes.db.pool.query(`select from pgboss.job where name = 'arriendos' limit 1`)).rowCount,
        2_000,
        5,
      )
      perdidos += (await arnes.db.pool.query('delete from pgboss.job')).rowCount ?? 0
    }
    const danado = Date.now()
    await carga.parar()
    return cerrarLibro(arnes, {
      escenario: 'cola borrada',
      probado: `${veces} veces, ${perdidos} trabajos`,
      carga,
      danado,
      recuperacion: 30,
      repeticiones: veces,
    })
  })

const SANOS = 19

const aislamiento: Escenario['correr'] = ({ veces, tamano = 1_000 }) =>
  conArnes(async (arnes) => {
    const { receptor } = arnes
    const apis = [await arnes.api()]
    await arnes.worker()
    const rutas = Array.from({ length: SANOS }, (_, i) => `/sano-${i + 1}`)
    for (const ruta of rutas) await arnes.registrar(apis[0]!, ruta)
    receptor.atender = (ruta) => (ruta === '/colgado' ? null : 204)
    const guias = new Map<string, string>()
    const canceladas = new Set<string>()
    const fallas: string[] = []
    const respuestas = new Map<number, number>()
    /** How long each delivery of a load took to reach its receiver, sorted, in milliseconds. */
    const medir = async (cuantas: number) => {
      const carga = cargar(arnes, { apis: () => apis, ritmo: 10, hilos: 2, simple: true })
      await esperar(async () => carga.guias.size >= cuantas, 120_000, 20)
      await carga.parar()
      for (const [ref, guia] of carga.guias) guias.set(ref, guia)
      fallas.push(...carga.fallas)
      for (const [status, n] of carga.respuestas) respuestas.set(status, (respuestas.get(status) ?? 0) + n)
      const eventos = new Set([...carga.guias.values()].map((guia) => `evt_${guia}_1`))
      const { rows } = await arnes.db.pool.query<{ evento: string; en: Date }>(
        `select 'evt_' || guia || '_1' as evento, registrado_en as en from evento where secuencia = 1`,
      )
      const suyos = rows.filter(({ evento }) => eventos.has(evento))
      const recibidas = (evento: string) =>
        rutas.flatMap((ruta) => receptor.recibidas.get(`${ruta} ${evento}`)?.[0]?.en ?? [])
      await esperar(async () => suyos.every(({ evento }) => recibidas(evento).length === SANOS), 60_000, 100)
      return suyos.flatMap(({ evento, en }) => recibidas(evento).map((r) => r - en.getTime())).sort((a, b) => a - b)
    }
    await medir(Math.ceil(veces / 5))
    const solos = await medir(veces)
    const colgado = await arnes.registrar(apis[0]!, '/colgado')
    await arnes.conCliente((cliente) =>
      cliente.query(
        `insert into webhook_entrega (comercio_id, modo, webhook, guia_id, secuencia, evento, tipo, estado, causa, proximo_en,
           datos, creado_en)
         select $1, 'test', $2, gen_random_uuid(), 0, 'evt_' || i || '_0', 'webhook.prueba', 'pendiente', 'automatica',
           now(), '{"webhook":{}}', now() from generate_series(1, $3::int) i`,
        [arnes.comercioId, colgado, tamano],
      ),
    )
    await esperar(async () => [...receptor.recibidas.keys()].some((clave) => clave.startsWith('/colgado')), 20_000)
    const juntos = await medir(veces)
    const p = (ordenadas: number[], parte: number) => ordenadas[Math.floor(ordenadas.length * parte)] ?? Number.NaN
    const razon = (parte: number) =>
      `p${parte * 100} ${p(solos, parte)} → ${p(juntos, parte)} ms (×${(p(juntos, parte) / p(solos, parte)).toFixed(2)})`
    const resultado = await cerrarLibro(arnes, {
      escenario: `${SANOS} sanos junto a uno colgado`,
      probado: `${tamano} en espera`,
      carga: { guias, canceladas, fallas, respuestas },
      plazo: 30_000,
      recuperacion: 10,
      aparte: [colgado],
      notas: [`${razon(0.5)}, ${razon(0.99)}`],
    })
    const colgadas = [...receptor.recibidas].filter(([clave]) => clave.startsWith('/colgado')).length
    resultado.notas.push(`the hanging endpoint was sent ${colgadas}`)
    if (juntos.length < veces * SANOS) resultado.fallas.push(`only ${juntos.length} reached a healthy endpoint in time`)
    return resultado
  })

const receptorCaido: Escenario['correr'] = ({ veces, tamano = 3 }) =>
  conArnes(async (arnes) => {
    const apis = [await arnes.api()]
    await arnes.worker()
    await preparar(arnes, apis[0]!)
    const carga = cargar(arnes, { apis: () => apis, ritmo: 20 })
    let regreso = 0
    for (let i = 0; i < veces; i++) {
      await dormir(1_000)
      // Every second time it answers, but nothing good.
      if (i % 2 === 0) await arnes.receptor.caer()
      else arnes.receptor.atender = () => 503
      await dormir(tamano * 1_000)
      if (i % 2 === 0) await arnes.receptor.volver()
      else arnes.receptor.atender = LENTO
      regreso = Date.now()
    }
    await dormir(1_000)
    await carga.parar()
    const { rows } = await arnes.db.pool.query<{ n: number }>(
      'select count(*)::int as n from webhook_intento where error is not null',
    )
    // The brake holds an endpoint back for a minute at most; what failed twice waits a minute and a fifth more.
    const plazo = (tamano < 5 ? 75 : 150) * veces
    return cerrarLibro(arnes, {
      escenario: 'receptor caído que vuelve',
      probado: `${veces} caídas de ${tamano} s`,
      carga,
      danado: regreso,
      plazo: plazo * 1_000,
      recuperacion: plazo,
      // An answer may be on its way when the receiver goes down: it says that it took what we never heard of.
      repeticiones: veces,
      fallaron: true,
      notas: [`${rows[0]!.n} attempts failed`],
    })
  })

/** Those first that wait for something to lapse: beside them, in `npm test`, there is time for the others. */
export const ESCENARIOS: readonly Escenario[] = [
  {
    clave: 'worker-muerto',
    titulo: 'a worker killed between the 2xx and settling',
    correr: muerteTrasContestar,
    ci: { veces: 2 },
    completo: { veces: 20 },
  },
  {
    clave: 'worker-cargado',
    titulo: 'a worker killed in the middle of its work',
    correr: muerteBajoCarga,
    ci: { veces: 2 },
    completo: { veces: 8 },
  },
  {
    clave: 'caos',
    titulo: 'two APIs and two workers under every fault at random',
    correr: caos,
    ci: { veces: 8 },
    completo: { veces: 32 },
  },
  {
    clave: 'postgres',
    titulo: 'PostgreSQL restarted under load',
    correr: postgresReiniciado,
    ci: { veces: 2 },
    completo: { veces: 20 },
  },
  {
    clave: 'documentos',
    titulo: 'PostgreSQL gone while proofs are made',
    correr: documentosSinPostgres,
    ci: { veces: 2 },
    completo: { veces: 6 },
  },
  {
    clave: 'documentos-muertos',
    titulo: 'a worker killed while proofs are made',
    correr: documentosConWorkerMuerto,
    ci: { veces: 1, tamano: 36 },
    completo: { veces: 3, tamano: 60 },
  },
  {
    clave: 'solo-lectura',
    titulo: 'a database that is read-only for a while',
    correr: soloLectura,
    ci: { veces: 1, tamano: 4 },
    completo: { veces: 3, tamano: 25 },
  },
  {
    clave: 'disco-lleno',
    titulo: 'a disk that is full for a while',
    correr: discoLleno,
    ci: { veces: 1, tamano: 4 },
    completo: { veces: 3, tamano: 25 },
  },
  {
    clave: 'sin-conexiones',
    titulo: 'a server whose connections others have',
    correr: sinConexiones,
    ci: { veces: 1, tamano: 4 },
    completo: { veces: 3, tamano: 15 },
  },
  {
    clave: 'saturacion',
    titulo: 'twice as many requests as can be answered',
    correr: saturada,
    ci: { veces: 1, tamano: 8 },
    completo: { veces: 3, tamano: 30 },
  },
  {
    clave: 'conexiones',
    titulo: 'all connections of the database cut under load',
    correr: conexionesCortadas,
    ci: { veces: 4 },
    completo: { veces: 40 },
  },
  {
    clave: 'receptor',
    titulo: 'a receiver that is down for a while',
    correr: receptorCaido,
    ci: { veces: 1, tamano: 3 },
    completo: { veces: 2, tamano: 15 },
  },
  {
    clave: 'api-muerta',
    titulo: 'an API killed before and after its commit',
    correr: muerteDeApi,
    ci: { veces: 6 },
    completo: { veces: 20 },
  },
  {
    clave: 'commit',
    titulo: "a settlement's COMMIT whose answer is lost",
    correr: commitSinRespuesta,
    ci: { veces: 3 },
    completo: { veces: 20 },
  },
  {
    clave: 'relevo',
    titulo: 'workers told to stop and replaced under load',
    correr: paradaOrdenada,
    ci: { veces: 2 },
    completo: { veces: 20 },
  },
  {
    clave: 'cola',
    titulo: 'the queue emptied under load',
    correr: colaPerdida,
    ci: { veces: 3 },
    completo: { veces: 40 },
  },
  {
    clave: 'aislamiento',
    titulo: 'an endpoint that hangs beside healthy ones',
    correr: aislamiento,
    ci: { veces: 20, tamano: 2_000 },
    completo: { veces: 250, tamano: 100_000 },
  },
]
