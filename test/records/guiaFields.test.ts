import { expect, it } from 'vitest'
import { digestsOf } from '../../server/domain/guias/digests.ts'
import { CAMPOS, derive } from '../../server/domain/records/guiaFields.ts'
import { createSecrets } from '../../server/platform/secrets.ts'

it('derives every list from the table, also for a field that is added', () => {
  const antes = derive(CAMPOS)
  const notas = {
    tipo: 'text',
    source: 'correccion',
    nuevo: true,
    digested: true,
    shown: true,
    personal: true,
  } as const
  const despues = derive({ ...CAMPOS, notas })
  expect(despues).toEqual({
    newColumns: [...antes.newColumns, 'notas'],
    recordset: `${antes.recordset}, notas text`,
    digestedColumns: [...antes.digestedColumns, 'notas'],
    shownColumns: [...antes.shownColumns, 'notas'],
    bodyColumns: [...antes.bodyColumns, 'notas'],
    fotoColumns: antes.fotoColumns,
    erasures: `${antes.erasures}, notas = null`,
    correctableColumns: [...antes.correctableColumns, 'notas'],
  })
  const enFoto = derive({ ...CAMPOS, turno: { tipo: 'int4', source: 'servicio', shown: true, inEvento: 'foto' } })
  expect(enFoto).toEqual({
    ...antes,
    shownColumns: [...antes.shownColumns, 'turno'],
    fotoColumns: [...antes.fotoColumns, 'turno'],
  })
  const secretos = createSecrets([Buffer.alloc(32, 7)])
  expect(digestsOf({ notas: 'Frágil' }, secretos, despues.digestedColumns)).toMatch(/^[0-9a-f]{8} notas:[\w-]{16}$/)
})
