import type { Authenticators, Identities, LookUp } from '../../api/http/identity.ts'
import { readRange } from '../../api/http/network.ts'
import { isDistributed } from '../../data/db.ts'
import { type GroupOwner, Groups } from '../../data/queue/groups.ts'
import { isToken, tokenHashText } from '../../platform/codes/token.ts'
import { presentarRitmos } from '../comercios/comercio.ts'
import type { Deps } from '../deps.ts'
import { buscarSesionesDePersona, estaAbierta, identidadDePersona } from '../equipo/sesion.ts'
import { buscarSesiones, type FilaSesion } from '../repartidores/repartidor.ts'
import { buscarLlaves, esLaPresentada, estaVigente, type FilaConDueno, leerLlave } from './llave.ts'
import { Recordadas } from './recordadas.ts'

/** Maximum number of rows of a statement. A statement with more rows would delay other requests noticeably. */
const POR_SENTENCIA = 250
/** Maximum number of concurrent statements. */
const A_LA_VEZ = 2

/**
 * Milliseconds for which a known key stays valid while its database is unreachable. Used only if merchants' rows are on
 * other machines, which may still be reachable. A key cannot be revoked meanwhile, unless only this process is cut off.
 */
const GRACIA = 60_000

const sinMas: LookUp = (leer) => leer()

/** Creates the function that reads a row by its key. Simultaneous calls share a statement. */
function juntando<Fila>(leer: (claves: readonly string[]) => Promise<ReadonlyMap<string, Fila>>) {
  const grupos = new Groups<GroupOwner, string, Fila | undefined>({
    maximo: POR_SENTENCIA,
    aLaVez: A_LA_VEZ,
    juntos: () => 'todas',
    async hacer(pedidos) {
      const claves = pedidos.flatMap(({ datos }) => datos)
      const filas = await leer([...new Set(claves)])
      return claves.map((clave) => filas.get(clave))
    },
    esDeUno: () => false,
  })
  return async (clave: string): Promise<Fila | undefined> => (await grupos.request({ clave }, [clave]))[0]
}

/**
 * Creates an authenticator for each security scheme of the contract.
 * @param ahoraMs monotonic clock, in milliseconds
 */
export function crearAutenticadores(
  { db, reloj, usos }: Pick<Deps, 'db' | 'reloj' | 'usos'>,
  ahoraMs = () => performance.now(),
): Authenticators {
  const leerFila = juntando((ids) => buscarLlaves(db, ids))
  const gracia = isDistributed(db) ? GRACIA : 0
  const llaves = new Recordadas(
    ahoraMs,
    (texto) => {
      const partes = leerLlave(texto)
      if (!partes) return undefined
      return async (pedida) => {
        const fila = await leerFila(partes.id)
        const ahora = reloj()
        // A key that has ended counts as unknown, so that its requests count against the rate of the client's network.
        if (!fila || !esLaPresentada(fila, partes) || !estaVigente(fila, ahora)) return undefined
        if (pedida) usos.anotar(fila, ahora)
        return { fila, identidad: identidadDe(fila) }
      }
    },
    gracia,
  )
  /** Identities of sessions by their tokens. A session that has ended counts as unknown. */
  const deSesiones = <Fila, Identidad extends { vence_en: Date; inactiva_en?: Date }>(
    buscar: (huellas: readonly string[]) => Promise<ReadonlyMap<string, Fila>>,
    identidadDe: (fila: Fila) => Identidad,
  ) => {
    const leerSesion = juntando(buscar)
    const vigente = (identidad: Identidad | undefined) =>
      identidad && estaAbierta({ inactiva_en: identidad.vence_en, ...identidad }, reloj()) ? identidad : undefined
    const recordadas = new Recordadas(ahoraMs, (token) => {
      if (!isToken(token)) return undefined
      return async () => {
        const fila = await leerSesion(tokenHashText(token))
        return vigente(fila && identidadDe(fila))
      }
    })
    const leer = async (token: string, averiguar = sinMas) => vigente(await recordadas.leer(token, averiguar))
    return { conoce: (token: string) => recordadas.conoce(token), leer }
  }
  const sesiones = deSesiones((huellas) => buscarSesiones(db, huellas), identidadDeSesion)
  const sesionesDePersona = deSesiones((huellas) => buscarSesionesDePersona(db, huellas), identidadDePersona)

  const verificar = async (texto: string, averiguar: LookUp) => {
    const leida = await llaves.leer(texto, averiguar)
    return leida && estaVigente(leida.fila, reloj()) ? leida.identidad : undefined
  }

  return {
    conoce: (texto) => llaves.conoce(texto) || sesiones.conoce(texto) || sesionesDePersona.conoce(texto),
    nombrar(texto) {
      const partes = leerLlave(texto)
      return partes && `llave_${partes.id}`
    },
    async llaveDeComercio(texto, averiguar = sinMas) {
      const identidad = await verificar(texto, averiguar)
      return identidad && 'comercio' in identidad ? identidad : undefined
    },
    async llaveDeOperacion(texto, averiguar = sinMas) {
      const identidad = await verificar(texto, averiguar)
      return identidad && 'operador' in identidad ? identidad : undefined
    },
    sesionDePersona: sesionesDePersona.leer,
    sesionDeRepartidor: sesiones.leer,
  }
}

/**
 * Returns the identity of a key's row. Called once for each time that the row is read, because `Limits` caches data by
 * identity.
 */
function identidadDe(fila: FilaConDueno): Identities['llaveDeComercio' | 'llaveDeOperacion'] {
  const { id: llave, dueno, nombre, demostracion } = fila
  const rangos = fila.redes.map(readRange)
  if (fila.tipo === 'oper')
    return { operadorId: fila.operador_id, operador: dueno, llave, alcances: fila.alcances, rangos, demostracion }
  return {
    comercioId: fila.comercio_id,
    comercio: dueno,
    modo: fila.tipo,
    llave,
    alcances: fila.alcances,
    nombre,
    pais: fila.pais,
    estricto: fila.estricto === true,
    ritmos: presentarRitmos(fila),
    vence_en: fila.vence_en,
    rangos,
    demostracion,
  }
}

/** Returns the identity of a session's row. */
function identidadDeSesion(fila: FilaSesion): Identities['sesionDeRepartidor'] {
  const { repartidor_id: repartidorId, repartidor, nombre, hash: sesion, vence_en, demostracion } = fila
  return { repartidorId, repartidor, nombre, sesion, vence_en, demostracion }
}
