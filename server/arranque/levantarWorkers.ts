import { PgBoss } from 'pg-boss'
import { abrirPool, preparada } from '../db.ts'
import type { Deps } from '../deps.ts'
import type { Deshacer } from './deshacer.ts'
import type { Metricas } from './metricas.ts'
import type { Vida } from './vida.ts'

interface ParaWorkers {
  databaseUrl: string
  vida: Vida
  metricas: Metricas
  /** From 0 to 1; only tests set it. */
  azar?: () => number
}

/** The queue and its workers. */
export async function levantarWorkers(
  deps: Deps,
  { databaseUrl, vida, metricas, azar = Math.random }: ParaWorkers,
  deshacer: Deshacer,
): Promise<void> {
  // Loaded here alone: a process without workers doesn't pay for what they need.
  const [{ iniciarWorkers }, { crearEnviador }, { crearClienteDeWhatsapp }, { crearResolutorDeEnlaces }] =
    await Promise.all([
      import('../cola/workers.ts'),
      import('../webhooks/envio.ts'),
      import('../mensajeria/whatsapp.ts'),
      import('../mapas/enlacesCortos.ts'),
    ])
  const boss = await abrirCola(deps, databaseUrl, vida, deshacer)
  const { resolver } = deps.destinos
  const { mensajeria } = deps.ajustes
  const clienteDeWhatsapp = mensajeria.tipo === 'whatsapp' ? crearClienteDeWhatsapp(mensajeria) : undefined
  const enlacesCortos = crearResolutorDeEnlaces({ resolver })
  deshacer.al(() => Promise.all([clienteDeWhatsapp?.cerrar(), enlacesCortos.cerrar()]))
  const enviador = crearEnviador({ resolver })
  const workers = await iniciarWorkers(boss, { ...deps, azar, enviador, metricas, clienteDeWhatsapp, enlacesCortos })
  deshacer.al(() => workers.detener())
  metricas.observar(deps)
  vida.workers = workers
}

async function abrirCola({ log }: Deps, databaseUrl: string, { alPerder }: Vida, deshacer: Deshacer): Promise<PgBoss> {
  // Jobs are made of rows, and can be made of them again: the queue need not wait for the disk.
  const cola = abrirPool(databaseUrl, 4, `guias cola pid=${process.pid}`, '-c synchronous_commit=off')
  cola.on('error', alPerder)
  deshacer.al(() => cola.end())
  const boss = new PgBoss({
    // pg-boss's own pool would wait for ever for a connection that is half open.
    db: { executeSql: (text, values) => cola.query(preparada(text, values)) },
    schedule: false,
    // A dead worker's claims lapse soon, and what is over goes soon.
    superviseIntervalSeconds: 5,
    monitorIntervalSeconds: 5,
    maintenanceIntervalSeconds: 60,
  })
  boss.on('error', (err) => log.warn({ err }, 'queue'))
  await boss.start()
  return boss
}
