import type { Db } from '../../server/data/db.ts'
import {
  type CorrectableColumn,
  type CorrectionChanges,
  encryptChanges,
} from '../../server/domain/records/correccionCipher.ts'
import type { GuiaRow } from '../../server/domain/records/guiaFields.ts'
import { createSecrets } from '../../server/platform/secrets.ts'
import { MASTER_KEY } from '../environment.ts'

/**
 * Corrects columns of a guide as the service will: in the guide's row, with an event of its own.
 * @param masterKey the service's master key, in base64
 */
export async function correctColumns(
  { pool }: Pick<Db, 'pool'>,
  guia: string,
  newValues: Partial<Pick<GuiaRow, CorrectableColumn>>,
  masterKey = MASTER_KEY,
): Promise<void> {
  const secrets = createSecrets([Buffer.from(masterKey, 'base64')])
  const { rows } = await pool.query<GuiaRow>('select * from guia where guia = $1', [guia])
  const before = rows[0]!
  const secuencia = before.secuencia + 1
  const columns = Object.keys(newValues) as CorrectableColumn[]
  const cambios = Object.fromEntries(
    columns.map((column) => [column, { antes: before[column], despues: newValues[column] }]),
  ) as CorrectionChanges
  const asignadas = columns.map((column, i) => `${column} = $${i + 5}`).join(', ')
  const key = [before.comercio_id, before.modo, before.id, secuencia]
  await pool.query(
    `update guia set secuencia = $4, ultima_correccion = $4, ${asignadas}
     where comercio_id = $1 and modo = $2 and id = $3`,
    [...key, ...columns.map((column) => newValues[column])],
  )
  await pool.query(
    `insert into evento (comercio_id, modo, guia_id, secuencia, guia, external_ref, tipo, estado, foto, cambios, ocurrido_en,
       registrado_en)
     select comercio_id, modo, guia_id, $4, guia, external_ref, 'guia.nota', estado, foto, $5, ocurrido_en, registrado_en
     from evento where comercio_id = $1 and modo = $2 and guia_id = $3 and secuencia = $4 - 1`,
    [...key, encryptChanges(secrets, { guia_id: before.id, secuencia }, cambios)],
  )
}
