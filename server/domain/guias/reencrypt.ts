import { statement } from '../../data/db.ts'
import { inEach } from '../../data/spread.ts'
import type { DepsDeTrabajo } from '../deps.ts'
import type { FilaEvento } from '../eventos/evento.ts'
import { recifrarCambios } from './correcciones.ts'

const LOTE = 500

type ClaveDeCorreccion = Pick<FilaEvento, 'comercio_id' | 'modo' | 'guia_id' | 'secuencia'>

const CON_OTRA_CLAVE = statement<{ kid: Buffer }, ClaveDeCorreccion & Pick<FilaEvento, 'cambios'>>(
  'correcciones.conOtraClave',
  `select comercio_id, modo, guia_id, secuencia, cambios from evento
   where cambios is not null and substring(cambios from 1 for 4) <> :kid order by random() limit ${LOTE}`,
  { alcance: 'parte' },
)

/** A person's data may have been erased meanwhile, so the value is replaced only if it is unchanged. */
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
  let hechas = 0
  for (const { cambios, ...clave } of filas) {
    const despues = recifrarCambios(secretos, clave, cambios!)
    if (!despues) continue
    await db.consultar(GUARDAR, { ...clave, antes: cambios!, despues })
    hechas++
  }
  if (hechas > 0) log.info({ correcciones: hechas }, 'corrections encrypted with the present master key')
  const perdidas = filas.length - hechas
  if (perdidas > 0) log.error({ correcciones: perdidas }, 'MASTER_KEYS lacks the key of corrections')
  // Stops if no row of the batch was readable, because the next round would read the same rows again.
  return filas.length === LOTE && hechas > 0
}
