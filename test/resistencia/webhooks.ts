import {
  caos,
  colaPerdida,
  commitSinRespuesta,
  conexionesCortadas,
  muerteDeApi,
  paradaOrdenada,
  postgresReiniciado,
} from './danos.ts'
import type { Escenario, MedidaDeEscenario } from './escenario.ts'
import { discoLleno, saturada, sinConexiones, soloLectura } from './escrituras.ts'
import { documentosConWorkerMuerto, documentosSinPostgres } from './pruebas.ts'
import { aislamiento, receptorCaido } from './receptores.ts'
import { muerteBajoCarga, muerteTrasContestar } from './workerMuerto.ts'

// What the sender of webhooks must survive. Each scenario does its harm `veces` times and then closes the books.

const escenario = (
  clave: string,
  titulo: string,
  correr: Escenario['correr'],
  ci: MedidaDeEscenario,
  completo: MedidaDeEscenario,
): Escenario => ({ clave, titulo, correr, ci, completo })

/** Those first that wait for something to lapse: beside them, in `npm test`, there is time for the others. */
export const ESCENARIOS: readonly Escenario[] = [
  escenario(
    'worker-muerto',
    'a worker killed between the 2xx and settling',
    muerteTrasContestar,
    { veces: 2 },
    { veces: 20 },
  ),
  escenario('worker-cargado', 'a worker killed in the middle of its work', muerteBajoCarga, { veces: 2 }, { veces: 8 }),
  escenario('caos', 'two APIs and two workers under every fault at random', caos, { veces: 8 }, { veces: 32 }),
  escenario('postgres', 'PostgreSQL restarted under load', postgresReiniciado, { veces: 2 }, { veces: 20 }),
  escenario('documentos', 'PostgreSQL gone while proofs are made', documentosSinPostgres, { veces: 2 }, { veces: 6 }),
  escenario(
    'documentos-muertos',
    'a worker killed while proofs are made',
    documentosConWorkerMuerto,
    { veces: 1, tamano: 36 },
    { veces: 3, tamano: 60 },
  ),
  escenario(
    'solo-lectura',
    'a database that is read-only for a while',
    soloLectura,
    { veces: 1, tamano: 4 },
    { veces: 3, tamano: 25 },
  ),
  escenario(
    'disco-lleno',
    'a disk that is full for a while',
    discoLleno,
    { veces: 1, tamano: 4 },
    { veces: 3, tamano: 25 },
  ),
  escenario(
    'sin-conexiones',
    'a server whose connections others have',
    sinConexiones,
    { veces: 1, tamano: 4 },
    { veces: 3, tamano: 15 },
  ),
  escenario(
    'saturacion',
    'twice as many requests as can be answered',
    saturada,
    { veces: 1, tamano: 8 },
    { veces: 3, tamano: 30 },
  ),
  escenario(
    'conexiones',
    'all connections of the database cut under load',
    conexionesCortadas,
    { veces: 4 },
    { veces: 40 },
  ),
  escenario(
    'receptor',
    'a receiver that is down for a while',
    receptorCaido,
    { veces: 1, tamano: 3 },
    { veces: 2, tamano: 15 },
  ),
  escenario('api-muerta', 'an API killed before and after its commit', muerteDeApi, { veces: 6 }, { veces: 20 }),
  escenario('commit', "a settlement's COMMIT whose answer is lost", commitSinRespuesta, { veces: 3 }, { veces: 20 }),
  escenario('relevo', 'workers told to stop and replaced under load', paradaOrdenada, { veces: 2 }, { veces: 20 }),
  escenario('cola', 'the queue emptied under load', colaPerdida, { veces: 3 }, { veces: 40 }),
  escenario(
    'aislamiento',
    'an endpoint that hangs beside healthy ones',
    aislamiento,
    { veces: 20, tamano: 2_000 },
    { veces: 250, tamano: 100_000 },
  ),
]
