import type { Harness } from './harness.ts'
import type { ScenarioProcess } from './processes.ts'
import { handleSlowly } from './scenario.ts'

/** Two endpoints, one of all events and one of some, and a receiver that takes its time. */
export async function prepareEndpoints(harness: Harness, api: ScenarioProcess) {
  harness.receptor.handle = handleSlowly
  await harness.registrar(api, '/todo')
  await harness.registrar(api, '/canceladas', ['guia.cancelado'])
}

/** What is killed is started anew, as a supervisor would. */
export function createFleet(apis: ScenarioProcess[], workers: ScenarioProcess[], harness: Harness) {
  const replaceOldest = async (
    fleet: ScenarioProcess[],
    signal: NodeJS.Signals,
    startNext: () => Promise<ScenarioProcess>,
  ) => {
    const oldProcess = fleet.shift()!
    const startedAt = performance.now()
    oldProcess.kill(signal)
    const end = await oldProcess.fin
    const seconds = (performance.now() - startedAt) / 1000
    if (signal === 'SIGTERM' && (end.codigo !== 0 || seconds > 30))
      harness.complaints.push(`${oldProcess.nombre}: ${JSON.stringify(end)} ${seconds.toFixed(1)} s after SIGTERM`)
    fleet.push(await startNext())
    return seconds
  }
  return {
    replaceApi: (signal: NodeJS.Signals) => replaceOldest(apis, signal, () => harness.api()),
    replaceWorker: (signal: NodeJS.Signals) => replaceOldest(workers, signal, () => harness.worker()),
  }
}
