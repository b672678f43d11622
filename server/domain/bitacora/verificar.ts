import { createHash } from 'node:crypto'
import { collectAudit } from '../../data/audit.ts'
import { type Db, statement } from '../../data/db.ts'
import type { eslabon } from '../../generated/contract/prisma/client.ts'
import type { Secrets } from '../../platform/secrets.ts'
import { ownPublicKeys, readSigned } from '../../platform/signing/jws.ts'
import { HOUR_MS } from '../../platform/time/units.ts'
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

type LinkRow = Pick<eslabon, 'numero' | 'lineas' | 'claves' | 'huellas' | 'hash'>

const LINKS = statement<{ registro: string; desde: Date; hasta: Date; after: number }, LinkRow>(
  'bitacora.links',
  'central',
  `select numero, lineas, claves, huellas, hash from eslabon where registro = :registro and numero > :after
     and creado_en >= :desde and creado_en < :hasta order by numero limit 100`,
)
const HASH = statement<{ registro: string; numero: number }, Pick<eslabon, 'hash'>>(
  'bitacora.hash',
  'central',
  'select hash from eslabon where registro = :registro and numero = :numero',
)
const SEALS = statement<{ desde: Date; hasta: Date }, { dia: string; jws: string }>(
  'sellos.seals',
  'central',
  'select dia::text as dia, jws from sello where sello.dia >= :desde::timestamptz and sello.dia < :hasta::timestamptz order by sello.dia',
)
const NAME = {
  bitacora: statement<{ id: string }, { nombre: string }>(
    'bitacora.name',
    'central',
    'select linea as nombre from bitacora where id = :id::uuid',
  ),
  evento: statement<{ id: string }, { nombre: string }>(
    'bitacora.eventName',
    'part',
    `select 'evt_' || guia as nombre from guia_indice where (comercio_id, modo, id) = (
       select comercio_id, modo, id from guia where modo in ('live', 'test') and id = :id::uuid and guia <> '')`,
  ),
}

/**
 * Result of a verification: the number of checked lines, links and seals, and a Spanish description of each fault
 * (`faltas`).
 */
export interface VerificationResult {
  lineas: number
  eslabones: number
  seals: number
  faltas: string[]
}

interface TimeRange {
  desde: Date
  hasta: Date
}

/**
 * Age in milliseconds from which an audit line without a link counts as a fault. Lines are normally chained every half
 * minute.
 */
const UNCHAINED_MS = HOUR_MS

/**
 * Recomputes the chains of a period and reports each difference as a fault.
 * Faults of lines: changed, removed, added or moved after they were chained. Faults of links: a hash that does not
 * match the lines. Faults of seals: a different chain, or a signature by none of the service's keys.
 * Also reports lines of any time that have no link, or whose transaction number no link can include.
 */
export async function verifyChains(
  { db, secretos, clock }: Pick<Deps, 'db' | 'secretos' | 'clock'>,
  range: TimeRange,
): Promise<VerificationResult> {
  await collectAudit(db)
  const result: VerificationResult = { lineas: 0, eslabones: 0, seals: 0, faltas: [] }
  for (const chain of await readChains(db, true)) {
    await verifyChain(db, chain, range, result)
    await verifyUnchained(db, chain, new Date(clock().getTime() - UNCHAINED_MS), result)
  }
  await verifySeals(db, secretos, range, result)
  return result
}

async function verifyChain(db: Db, chain: Chain, range: TimeRange, result: VerificationResult): Promise<void> {
  const { registro } = chain
  let previousHash: Uint8Array | undefined
  for (let after = 0; ; ) {
    const links = await db.query(LINKS, { registro, ...range, after })
    for (const link of links) {
      if (link.numero !== after + 1) previousHash = undefined
      // The link before the period is trusted without verification, like the seal before the period.
      const previous = previousHash ?? (await hashOf(db, registro, link.numero - 1))
      if (previous === undefined && link.numero > 1)
        result.faltas.push(`${registro}: falta el eslabón ${link.numero - 1}`)
      else result.faltas.push(...(await compareLink(db, chain, link, previous ?? new Uint8Array())))
      result.lineas += link.lineas
      result.eslabones++
      previousHash = link.hash
      after = link.numero
    }
    if (links.length === 0) return
  }
}

async function verifyUnchained(db: Db, chain: Chain, before: Date, result: VerificationResult): Promise<void> {
  for (const { clave, future } of await readUnchained(db, chain, before)) {
    const name = await nameOf(partOfChain(db, chain), chain.de, clave.toString('hex'))
    const fault = future ? 'es de una transacción que aún no existe' : 'sigue sin eslabón más de una hora después'
    result.faltas.push(`${chain.de}: ${name} ${fault}`)
  }
}

async function hashOf(db: Db, registro: string, numero: number): Promise<Uint8Array | undefined> {
  return (await db.query(HASH, { registro, numero }))[0]?.hash
}

async function compareLink(
  db: Db,
  chain: Chain,
  { numero, claves, huellas, hash }: LinkRow,
  previous: Uint8Array,
): Promise<string[]> {
  const lines: ChainRow[] = await readChainRows(db, chain, numero)
  const chainedKeys = splitHex(claves, KEY_BYTES)
  const digestByKey = new Map(splitHex(huellas, DIGEST_BYTES).map((digest, i) => [chainedKeys[i], digest]))
  const currentDigests = new Map(lines.map((line) => [line.clave.toString('hex'), line.huella]))
  const describe = (fault: string) => async (key: string) =>
    `${chain.de}: ${fault} ${await nameOf(partOfChain(db, chain), chain.de, key)} (eslabón ${numero})`
  const missingKeys = chainedKeys.filter((key) => !currentDigests.has(key))
  const addedKeys = [...currentDigests.keys()].filter((key) => !digestByKey.has(key))
  const changedKeys = chainedKeys.filter(
    (key) =>
      currentDigests.has(key) &&
      currentDigests.get(key)!.subarray(0, DIGEST_BYTES).toString('hex') !== digestByKey.get(key),
  )
  const keysInOrder = [...currentDigests.keys()].filter((key) => digestByKey.has(key))
  const movedKeys = chainedKeys.filter((key) => currentDigests.has(key)).filter((key, i) => key !== keysInOrder[i])
  const faltas = await Promise.all([
    ...missingKeys.map(describe('falta')),
    ...addedKeys.map(describe('se agregó')),
    ...changedKeys.map(describe('cambió')),
    ...movedKeys.filter((key) => !changedKeys.includes(key)).map(describe('está en otro lugar')),
  ])
  if (faltas.length > 0) return faltas
  const linkHash = createHash('sha256').update(previous)
  for (const { huella } of lines) linkHash.update(huella)
  return linkHash.digest().equals(hash) ? [] : [`${chain.registro}: el eslabón ${numero} no es el de sus líneas`]
}

const splitHex = (bytes: Uint8Array, length: number): string[] =>
  Array.from({ length: bytes.length / length }, (_item, i) =>
    Buffer.from(bytes.subarray(i * length, (i + 1) * length)).toString('hex'),
  )

/**
 * Returns the public identifier of an audit line. For a missing line, takes the identifier from the key that its link
 * stores.
 */
async function nameOf(db: Db, registro: Chain['de'], key: string): Promise<string> {
  const id = key.slice(0, 32).replace(/(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-')
  const [row] = await db.query(NAME[registro], { id })
  if (registro === 'bitacora') return row?.nombre ?? id
  return `${row?.nombre ?? id}_${Number.parseInt(key.slice(32), 16)}`
}

async function verifySeals(db: Db, secrets: Secrets, range: TimeRange, result: VerificationResult): Promise<void> {
  const keys = await ownPublicKeys(secrets)
  let previous: string | undefined
  for (const { dia, jws } of await db.query(SEALS, range)) {
    result.seals++
    const sello = await readSigned<Seal>(keys, SEAL_TYPE, jws)
    if (!sello || sello.dia !== dia) {
      result.faltas.push(`sello del ${dia}: la firma no es del servicio`)
      continue
    }
    if (previous !== undefined && sello.anterior !== previous)
      result.faltas.push(`sello del ${dia}: falta el anterior, o es otro`)
    previous = sealDigest(jws)
    for (const [registro, sealedLink] of Object.entries(sello.eslabones)) {
      const hash = await hashOf(db, registro, sealedLink.numero)
      if (!hash || Buffer.from(hash).toString('hex') !== sealedLink.hash)
        result.faltas.push(`sello del ${dia}: el eslabón ${sealedLink.numero} de ${registro} es otro`)
    }
  }
}
