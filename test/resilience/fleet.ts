import type { Arnes } from './harness.ts'
import type { ScenarioProcess } from './processes.ts'
import { handleSlowly } from './scenario.ts'

/** Two endpoints, one of all events and one of some, and a receiver that takes its time. */
export async function prepareEndpoints(arnes: Arnes, api: ScenarioProcess) {
  arnes.receptor.handle = handleSlowly
  await arnes.registrar(api, '/todo')
  await arnes.registrar(api, '/canceladas', ['guia.cancelado'])
}

/** What is killed is started anew, as a supervisor would. */
export function createFleet(apis: ScenarioProcess[], workers: ScenarioProcess[], arnes: Arnes) {
  const reemplazar = async (flota: ScenarioProcess[], senal: NodeJS.Signals, nuevo: () => Promise<ScenarioProcess>) => {
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
