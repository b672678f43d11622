import { statement } from '../../data/db.ts'
import { inEach } from '../../data/spread.ts'
import { keyIdOf } from '../../platform/sealing.ts'
import type { DepsDeTrabajo } from '../deps.ts'
import type { FilaEvento } from '../eventos/evento.ts'
import { cifrarCambios, descifrarCambios } from './correcciones.ts'

const LOTE = 500

type ClaveDeCorreccion = Pick<FilaEvento, 'comercio_id' | 'modo' | 'guia_id' | 'secuencia'>

const CON_OTRA_CLAVE = statement<{ kid: Buffer }, ClaveDeCorreccion & Pick<FilaEvento, 'cambios'>>(
  'correcciones.conOtraClave',
  `select comercio_id, modo, guia_id, secuencia, cambios from evento
   where cambios is not null and substring(cambios from 1 for 4) <> :kid limit ${LOTE}`,
  { alcance: 'parte' },
)

/** The erasure of a person may have come between, so only an unchanged value is replaced. */
const GUARDAR = statement<ClaveDeCorreccion & { antes: Uint8Array; despues: Uint8Array }>(
  'correcciones.recifrar',
  `update evento set cambios = :despues where comercio_id = :comercio_id and modo = :modo and guia_id = :guia_id
     and secuencia = :secuencia and cambios = :antes`,
)

type Partes = Pick<DepsDeTrabajo, 'db' | 'log' | 'secretos'>

/**
 * Encrypts corrections of an older master key with the present master key, so that the older key is no longer needed.
 * @returns true if there may be more
 */
export async function reencryptCorrections({ db, ...deps }: Partes): Promise<boolean> {
  return (await inEach(db, (suya) => reencryptPart({ db: suya, ...deps }))).includes(true)
}

async function reencryptPart({ db, log, secretos }: Partes): Promise<boolean> {
  const kid = Buffer.from(secretos.presente('correcciones').kid, 'hex')
  const filas = await db.consultar(CON_OTRA_CLAVE, { kid })
  const legibles = filas.flatMap(({ cambios, ...clave }) =>
    cambios && secretos.de('correcciones', keyIdOf(cambios)) ? [{ cambios, clave }] : [],
  )
  for (const { cambios, clave } of legibles) {
    const despues = cifrarCambios(secretos, clave, descifrarCambios(secretos, clave, cambios))
    await db.consultar(GUARDAR, { ...clave, antes: cambios, despues })
  }
  if (legibles.length > 0)
    log.info({ correcciones: legibles.length }, 'corrections encrypted with the present master key')
  const perdidas = filas.length - legibles.length
  if (perdidas > 0) log.error({ correcciones: perdidas }, 'MASTER_KEYS lacks the key of corrections')
  // Unreadable corrections come first for ever, so a full batch of them would be read again at once.
  return filas.length === LOTE && legibles.length > 0
}
