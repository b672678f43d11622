import { expect, it } from 'vitest'
import { digestsOf } from '../../server/domain/guias/digests.ts'
import { CAMPOS, derive } from '../../server/domain/records/guiaFields.ts'
import { createSecrets } from '../../server/platform/secrets.ts'

it('derives every list from the table, also for a field that is added', () => {
  const before = derive(CAMPOS)
  const notas = {
    tipo: 'text',
    source: 'correccion',
    nuevo: true,
    digested: true,
    shown: true,
    personal: true,
  } as const
  const after = derive({ ...CAMPOS, notas })
  expect(after).toEqual({
    newColumns: [...before.newColumns, 'notas'],
    recordset: `${before.recordset}, notas text`,
    digestedColumns: [...before.digestedColumns, 'notas'],
    shownColumns: [...before.shownColumns, 'notas'],
    bodyColumns: [...before.bodyColumns, 'notas'],
    fotoColumns: before.fotoColumns,
    erasures: `${before.erasures}, notas = null`,
    correctableColumns: [...before.correctableColumns, 'notas'],
  })
  const inFoto = derive({ ...CAMPOS, turno: { tipo: 'int4', source: 'servicio', shown: true, inEvento: 'foto' } })
  expect(inFoto).toEqual({
    ...before,
    shownColumns: [...before.shownColumns, 'turno'],
    fotoColumns: [...before.fotoColumns, 'turno'],
  })
  const secrets = createSecrets([Buffer.alloc(32, 7)])
  expect(digestsOf({ notas: 'Frágil' }, secrets, after.digestedColumns)).toMatch(/^[0-9a-f]{8} notas:[\w-]{16}$/)
})
