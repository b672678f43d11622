import { apiDeath, chaos, cutConnections, lostQueue, orderlyStop, postgresRestart, unansweredCommit } from './damage.ts'
import { deathAfterAnswer, deathUnderLoad } from './deadWorker.ts'
import { isolation, receiverDown } from './receivers.ts'
import type { Scenario, ScenarioScale } from './scenario.ts'
import { documentsWithDeadWorker, documentsWithoutPostgres } from './trials.ts'
import { fullDisk, noFreeConnections, readOnlyDatabase, saturatedService } from './writes.ts'

// What the sender of webhooks must survive. Each scenario does its harm `times` times and then closes the books.

const defineScenario = (
  key: string,
  titulo: string,
  run: Scenario['run'],
  ci: ScenarioScale,
  complete: ScenarioScale,
): Scenario => ({ clave: key, titulo, run, ci, complete })

/** Those first that wait for something to lapse: beside them, in `npm test`, there is time for the others. */
export const SCENARIOS: readonly Scenario[] = [
  defineScenario(
    'worker-muerto',
    'a worker killed between the 2xx and settling',
    deathAfterAnswer,
    { times: 2 },
    { times: 20 },
  ),
  defineScenario(
    'worker-cargado',
    'a worker killed in the middle of its work',
    deathUnderLoad,
    { times: 2 },
    { times: 8 },
  ),
  defineScenario('caos', 'two APIs and two workers under every fault at random', chaos, { times: 8 }, { times: 32 }),
  defineScenario('postgres', 'PostgreSQL restarted under load', postgresRestart, { times: 2 }, { times: 20 }),
  defineScenario(
    'documentos',
    'PostgreSQL gone while proofs are made',
    documentsWithoutPostgres,
    { times: 2 },
    { times: 6 },
  ),
  defineScenario(
    'documentos-muertos',
    'a worker killed while proofs are made',
    documentsWithDeadWorker,
    { times: 1, size: 36 },
    { times: 3, size: 60 },
  ),
  defineScenario(
    'solo-lectura',
    'a database that is read-only for a while',
    readOnlyDatabase,
    { times: 1, size: 4 },
    { times: 3, size: 25 },
  ),
  defineScenario(
    'disco-lleno',
    'a disk that is full for a while',
    fullDisk,
    { times: 1, size: 4 },
    { times: 3, size: 25 },
  ),
  defineScenario(
    'sin-conexiones',
    'a server whose connections others have',
    noFreeConnections,
    { times: 1, size: 4 },
    { times: 3, size: 15 },
  ),
  defineScenario(
    'saturacion',
    'twice as many requests as can be answered',
    saturatedService,
    { times: 1, size: 8 },
    { times: 3, size: 30 },
  ),
  defineScenario(
    'conexiones',
    'all connections of the database cut under load',
    cutConnections,
    { times: 4 },
    { times: 40 },
  ),
  defineScenario(
    'receptor',
    'a receiver that is down for a while',
    receiverDown,
    { times: 1, size: 3 },
    { times: 2, size: 15 },
  ),
  defineScenario('api-muerta', 'an API killed before and after its commit', apiDeath, { times: 6 }, { times: 20 }),
  defineScenario('commit', "a settlement's COMMIT whose answer is lost", unansweredCommit, { times: 3 }, { times: 20 }),
  defineScenario('relevo', 'workers told to stop and replaced under load', orderlyStop, { times: 2 }, { times: 20 }),
  defineScenario('cola', 'the queue emptied under load', lostQueue, { times: 3 }, { times: 40 }),
  defineScenario(
    'aislamiento',
    'an endpoint that hangs beside healthy ones',
    isolation,
    { times: 20, size: 2_000 },
    { times: 250, size: 100_000 },
  ),
]
