import { type CursorPosition, type CursorScope, createCursors } from '../../../server/api/lists/cursor.ts'
import { Problema } from '../../../server/platform/errors.ts'
import { createSecrets } from '../../../server/platform/secrets.ts'
import { catchExpected, type FuzzTarget, requireHolds } from '../target.ts'

const [CURRENT_KEY, PREVIOUS_KEY] = [Buffer.alloc(32, 1), Buffer.alloc(32, 2)]
const cursors = createCursors(createSecrets([CURRENT_KEY, PREVIOUS_KEY]))
const previousCursors = createCursors(createSecrets([PREVIOUS_KEY]))
const SCOPES: readonly CursorScope[] = [
  { operacion: 'listarGuias', dueno: 'uno/test', filters: { estado: ['aceptado'] } },
  { operacion: 'listarGuias', dueno: 'dos/test', filters: { estado: ['aceptado'] } },
  { operacion: 'listarEventos', dueno: 'uno/test' },
]
const POSICION: CursorPosition = ['019a9d3e-0000-7000-8000-000000000001', 42]
const issuedCursors = SCOPES.map((scope) => [
  cursors.encrypt(scope, POSICION),
  previousCursors.encrypt(scope, POSICION),
])

/** A cursor opens only for the list for which it was given out, and only letter by letter as it was given out. */
export const target: FuzzTarget = {
  seeds: [...issuedCursors.flat(), '', 'AAAA', Buffer.alloc(60, 7).toString('base64url')],
  words: [
    '=',
    '==',
    '-',
    '_',
    '+',
    '/',
    'A',
    '\n',
    ' ',
    ...issuedCursors.flat().map((issuedCursor) => issuedCursor.slice(0, 6)),
  ],
  probar(input) {
    const cursor = input.toString('utf8')
    SCOPES.forEach((scope, i) => {
      const decrypted = catchExpected(() => cursors.decrypt(scope, cursor), Problema)
      requireHolds(
        !(decrypted instanceof Problema) || decrypted.codigo === 'cursor_invalido',
        'it is refused as a cursor',
      )
      requireHolds(
        decrypted instanceof Problema !== issuedCursors[i]!.includes(cursor),
        'it opens if, and only if, it was given out',
      )
    })
  },
}
