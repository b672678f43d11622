import { apiDeath, chaos, cutConnections, lostQueue, orderlyStop, postgresRestart, unansweredCommit } from './damage.ts'
import { deathAfterAnswer, deathUnderLoad } from './deadWorker.ts'
import { isolation, receiverDown } from './receivers.ts'
import type { Scenario, ScenarioScale } from './scenario.ts'
import { documentsWithDeadWorker, documentsWithoutPostgres } from './trials.ts'
import { fullDisk, noFreeConnections, readOnlyDatabase, saturatedService } from './writes.ts'

// What the sender of webhooks must survive. Each scenario does its harm `times` times and then closes the books.

const escenario = (
  clave: string,
  titulo: string,
  correr: Scenario['correr'],
  ci: ScenarioScale,
  completo: ScenarioScale,
): Scenario => ({ clave, titulo, correr, ci, complete: completo })

/** Those first that wait for something to lapse: beside them, in `npm test`, there is time for the others. */
export const SCENARIOS: readonly Scenario[] = [
  escenario(
    'worker-muerto',
    'a worker killed between the 2xx and settling',
    deathAfterAnswer,
    { times: 2 },
    { times: 20 },
  ),
  escenario('worker-cargado', 'a worker killed in the middle of its work', deathUnderLoad, { times: 2 }, { times: 8 }),
  escenario('caos', 'two APIs and two workers under every fault at random', chaos, { times: 8 }, { times: 32 }),
  escenario('postgres', 'PostgreSQL restarted under load', postgresRestart, { times: 2 }, { times: 20 }),
  escenario(
    'documentos',
    'PostgreSQL gone while proofs are made',
    documentsWithoutPostgres,
    { times: 2 },
    { times: 6 },
  ),
  escenario(
    'documentos-muertos',
    'a worker killed while proofs are made',
    documentsWithDeadWorker,
    { times: 1, size: 36 },
    { times: 3, size: 60 },
  ),
  escenario(
    'solo-lectura',
    'a database that is read-only for a while',
    readOnlyDatabase,
    { times: 1, size: 4 },
    { times: 3, size: 25 },
  ),
  escenario('disco-lleno', 'a disk that is full for a while', fullDisk, { times: 1, size: 4 }, { times: 3, size: 25 }),
  escenario(
    'sin-conexiones',
    'a server whose connections others have',
    noFreeConnections,
    { times: 1, size: 4 },
    { times: 3, size: 15 },
  ),
  escenario(
    'saturacion',
    'twice as many requests as can be answered',
    saturatedService,
    { times: 1, size: 8 },
    { times: 3, size: 30 },
  ),
  escenario(
    'conexiones',
    'all connections of the database cut under load',
    cutConnections,
    { times: 4 },
    { times: 40 },
  ),
  escenario(
    'receptor',
    'a receiver that is down for a while',
    receiverDown,
    { times: 1, size: 3 },
    { times: 2, size: 15 },
  ),
  escenario('api-muerta', 'an API killed before and after its commit', apiDeath, { times: 6 }, { times: 20 }),
  escenario('commit', "a settlement's COMMIT whose answer is lost", unansweredCommit, { times: 3 }, { times: 20 }),
  escenario('relevo', 'workers told to stop and replaced under load', orderlyStop, { times: 2 }, { times: 20 }),
  escenario('cola', 'the queue emptied under load', lostQueue, { times: 3 }, { times: 40 }),
  escenario(
    'aislamiento',
    'an endpoint that hangs beside healthy ones',
    isolation,
    { times: 20, size: 2_000 },
    { times: 250, size: 100_000 },
  ),
]
