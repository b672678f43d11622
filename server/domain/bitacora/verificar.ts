import { createHash } from 'node:crypto'
import { collectAudit } from '../../data/audit.ts'
import { type Db, statement } from '../../data/db.ts'
import type { eslabon } from '../../generado/contrato/prisma/client.ts'
import type { Secrets } from '../../platform/secrets.ts'
import { ownPublicKeys, readSigned } from '../../platform/signing/jws.ts'
import type { Deps } from '../deps.ts'
import {
  type Chain,
  type ChainRow,
  DIGEST_BYTES,
  KEY_BYTES,
  partOfChain,
  readChainRows,
  readChains,
  readUnchained,
} from './chain.ts'
import { SEAL_TYPE, type Seal, sealDigest } from './seal.ts'

type FilaEslabon = Pick<eslabon, 'numero' | 'lineas' | 'claves' | 'huellas' | 'hash'>

const ESLABONES = statement<{ registro: string; desde: Date; hasta: Date; tras: number }, FilaEslabon>(
  'bitacora.eslabones',
  `select numero, lineas, claves, huellas, hash from eslabon where registro = :registro and numero > :tras
     and creado_en >= :desde and creado_en < :hasta order by numero limit 100`,
)
const HASH = statement<{ registro: string; numero: number }, Pick<eslabon, 'hash'>>(
  'bitacora.hashDeEslabon',
  'select hash from eslabon where registro = :registro and numero = :numero',
)
const SELLOS = statement<{ desde: Date; hasta: Date }, { dia: string; jws: string }>(
  'sellos.leer',
  'select dia::text as dia, jws from sello where sello.dia >= :desde::timestamptz and sello.dia < :hasta::timestamptz order by sello.dia',
)
const NOMBRE = {
  bitacora: statement<{ id: string }, { nombre: string }>(
    'bitacora.nombre',
    'select linea as nombre from bitacora where id = :id::uuid',
  ),
  evento: statement<{ id: string }, { nombre: string }>(
    'bitacora.nombreDeEvento',
    `select 'evt_' || guia as nombre from guia_indice where (comercio_id, modo, id) = (
       select comercio_id, modo, id from guia where modo in ('live', 'test') and id = :id::uuid and guia <> '')`,
    { alcance: 'parte' },
  ),
}

/**
 * Result of a verification: the number of checked lines, links and seals, and a Spanish description of each fault
 * (`faltas`).
 */
export interface Verificada {
  lineas: number
  eslabones: number
  sellos: number
  faltas: string[]
}

interface Tiempo {
  desde: Date
  hasta: Date
}

/**
 * Age in milliseconds from which an audit line without a link counts as a fault. Lines are normally chained every half
 * minute.
 */
const SIN_ENCADENAR = 3_600_000

/**
 * Recomputes the chains of a period and reports each difference as a fault.
 * Faults of lines: changed, removed, added or moved after they were chained. Faults of links: a hash that does not
 * match the lines. Faults of seals: a different chain, or a signature by none of the service's keys.
 * Also reports lines of any time that have no link, or whose transaction number no link can include.
 */
export async function verificarCadenas(
  { db, secretos, reloj }: Pick<Deps, 'db' | 'secretos' | 'reloj'>,
  tiempo: Tiempo,
): Promise<Verificada> {
  await collectAudit(db)
  const hecho: Verificada = { lineas: 0, eslabones: 0, sellos: 0, faltas: [] }
  for (const cadena of await readChains(db, true)) {
    await verificarCadena(db, cadena, tiempo, hecho)
    await verificarSueltas(db, cadena, new Date(reloj().getTime() - SIN_ENCADENAR), hecho)
  }
  await verificarSellos(db, secretos, tiempo, hecho)
  return hecho
}

async function verificarCadena(db: Db, cadena: Chain, tiempo: Tiempo, hecho: Verificada): Promise<void> {
  const { registro } = cadena
  let previo: Uint8Array | undefined
  for (let tras = 0; ; ) {
    const eslabones = await db.consultar(ESLABONES, { registro, ...tiempo, tras })
    for (const uno of eslabones) {
      if (uno.numero !== tras + 1) previo = undefined
      // The link before the period is trusted without verification, like the seal before the period.
      const anterior = previo ?? (await hashDe(db, registro, uno.numero - 1))
      if (anterior === undefined && uno.numero > 1) hecho.faltas.push(`${registro}: falta el eslabón ${uno.numero - 1}`)
      else hecho.faltas.push(...(await compararEslabon(db, cadena, uno, anterior ?? new Uint8Array())))
      hecho.lineas += uno.lineas
      hecho.eslabones++
      previo = uno.hash
      tras = uno.numero
    }
    if (eslabones.length === 0) return
  }
}

async function verificarSueltas(db: Db, cadena: Chain, antes_de: Date, hecho: Verificada): Promise<void> {
  for (const { clave, futura } of await readUnchained(db, cadena, antes_de)) {
    const nombre = await nombreDe(partOfChain(db, cadena), cadena.de, clave.toString('hex'))
    const que = futura ? 'es de una transacción que aún no existe' : 'sigue sin eslabón más de una hora después'
    hecho.faltas.push(`${cadena.de}: ${nombre} ${que}`)
  }
}

async function hashDe(db: Db, registro: string, numero: number): Promise<Uint8Array | undefined> {
  return (await db.consultar(HASH, { registro, numero }))[0]?.hash
}

async function compararEslabon(
  db: Db,
  cadena: Chain,
  { numero, claves, huellas, hash }: FilaEslabon,
  anterior: Uint8Array,
): Promise<string[]> {
  const lineas: ChainRow[] = await readChainRows(db, cadena, numero)
  const dichas = partir(claves, KEY_BYTES)
  const huellaDe = new Map(partir(huellas, DIGEST_BYTES).map((huella, i) => [dichas[i], huella]))
  const hay = new Map(lineas.map((linea) => [linea.clave.toString('hex'), linea.huella]))
  const nombrar = (que: string) => async (clave: string) =>
    `${cadena.de}: ${que} ${await nombreDe(partOfChain(db, cadena), cadena.de, clave)} (eslabón ${numero})`
  const faltan = dichas.filter((clave) => !hay.has(clave))
  const sobran = [...hay.keys()].filter((clave) => !huellaDe.has(clave))
  const cambiaron = dichas.filter(
    (clave) => hay.has(clave) && hay.get(clave)!.subarray(0, DIGEST_BYTES).toString('hex') !== huellaDe.get(clave),
  )
  const enSuOrden = [...hay.keys()].filter((clave) => huellaDe.has(clave))
  const movidas = dichas.filter((clave) => hay.has(clave)).filter((clave, i) => clave !== enSuOrden[i])
  const faltas = await Promise.all([
    ...faltan.map(nombrar('falta')),
    ...sobran.map(nombrar('se agregó')),
    ...cambiaron.map(nombrar('cambió')),
    ...movidas.filter((clave) => !cambiaron.includes(clave)).map(nombrar('está en otro lugar')),
  ])
  if (faltas.length > 0) return faltas
  const suma = createHash('sha256').update(anterior)
  for (const { huella } of lineas) suma.update(huella)
  return suma.digest().equals(hash) ? [] : [`${cadena.registro}: el eslabón ${numero} no es el de sus líneas`]
}

const partir = (bytes: Uint8Array, largo: number): string[] =>
  Array.from({ length: bytes.length / largo }, (_nada, i) =>
    Buffer.from(bytes.subarray(i * largo, (i + 1) * largo)).toString('hex'),
  )

/**
 * Returns the public identifier of an audit line. For a missing line, takes the identifier from the key that its link
 * stores.
 */
async function nombreDe(db: Db, registro: Chain['de'], clave: string): Promise<string> {
  const id = clave.slice(0, 32).replace(/(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-')
  const [fila] = await db.consultar(NOMBRE[registro], { id })
  if (registro === 'bitacora') return fila?.nombre ?? id
  return `${fila?.nombre ?? id}_${Number.parseInt(clave.slice(32), 16)}`
}

async function verificarSellos(db: Db, secretos: Secrets, tiempo: Tiempo, hecho: Verificada): Promise<void> {
  const claves = await ownPublicKeys(secretos)
  let anterior: string | undefined
  for (const { dia, jws } of await db.consultar(SELLOS, tiempo)) {
    hecho.sellos++
    const sello = await readSigned<Seal>(claves, SEAL_TYPE, jws)
    if (!sello || sello.dia !== dia) {
      hecho.faltas.push(`sello del ${dia}: la firma no es del servicio`)
      continue
    }
    if (anterior !== undefined && sello.anterior !== anterior)
      hecho.faltas.push(`sello del ${dia}: falta el anterior, o es otro`)
    anterior = sealDigest(jws)
    for (const [registro, dicho] of Object.entries(sello.eslabones)) {
      const hash = await hashDe(db, registro, dicho.numero)
      if (!hash || Buffer.from(hash).toString('hex') !== dicho.hash)
        hecho.faltas.push(`sello del ${dia}: el eslabón ${dicho.numero} de ${registro} es otro`)
    }
  }
}
