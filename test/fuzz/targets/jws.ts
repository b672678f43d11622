import { isDeepStrictEqual } from 'node:util'
import { ErrorPrueba, verificarPrueba } from '@guias/sdk/verificar'
import { createSecrets } from '../../../server/platform/secrets.ts'
import { readSigned, signJws } from '../../../server/platform/signing/jws.ts'
import { type FuzzTarget, requireHolds } from '../target.ts'

const TIPO = 'prueba-entrega+jws'
const MANIFIESTO = {
  version: 1,
  emisor: 'https://guias.example',
  guia: '7K3M9QX2A1B4',
  modo: 'test',
  external_ref: null,
  entregado_en: '2026-11-20T15:04:05.000Z',
  registrado_en: '2026-11-20T15:04:06.000Z',
  hecho_en: '2026-11-20T15:04:07.000Z',
  posicion: null,
  recibido_por_sha256: '0'.repeat(64),
  archivos: [],
}
const ownSecrets = createSecrets([Buffer.alloc(32, 1)])
const ownSigned = await signJws(ownSecrets, TIPO, MANIFIESTO)
const otherKindJws = await signJws(ownSecrets, 'sello-de-bitacora+jws', MANIFIESTO)
const foreignSigned = await signJws(createSecrets([Buffer.alloc(32, 3)]), TIPO, { ...MANIFIESTO, guia: 'AJENA' })
const keys = [ownSigned.publicKey]

const decodeBase64url = (text: string) => Buffer.from(text, 'base64url').toString()
/** As three lines, so that mutations reach what its parts say. */
const toLines = (jws: string) => {
  const [header = '', body = '', firma = ''] = jws.split('.')
  return [decodeBase64url(header), decodeBase64url(body), firma].join('\n')
}
const fromLines = (text: string) => {
  const [header = '', body = '', firma = ''] = text.split('\n')
  return [Buffer.from(header).toString('base64url'), Buffer.from(body).toString('base64url'), firma].join('.')
}

/** What our key didn't sign as a proof says nothing: to the server, and to the SDK, which asks for every letter. */
export const target: FuzzTarget = {
  seeds: [ownSigned, otherKindJws, foreignSigned].flatMap(({ jws }) => [jws, toLines(jws)]),
  words: [
    '"alg":"none"',
    '"alg":"HS256"',
    '"alg":"Ed25519"',
    '"alg":"EdDSA"',
    '"crit":["b64"],"b64":false',
    `"${TIPO}"`,
    '"kid":',
    '"typ":',
    '"jwk":',
    '"zip":"DEF"',
    ownSigned.publicKey.kid,
    ownSigned.publicKey.x,
    '.',
    '..',
    '\n',
    '=',
    '{',
    '}',
  ],
  async probar(input) {
    const text = input.toString('utf8')
    const jws = text.startsWith('{') ? fromLines(text) : text
    const reading = await readSigned(keys, TIPO, jws)
    requireHolds(
      reading === undefined || isDeepStrictEqual(reading, MANIFIESTO),
      'the server believes what was signed, or nothing',
    )
    const verified = await verificarPrueba({ manifiesto: jws, claves: { keys } }).catch((error: unknown) => {
      if (error instanceof ErrorPrueba) return undefined
      throw error
    })
    requireHolds(
      (verified !== undefined) === (jws === ownSigned.jws),
      'the SDK believes what was signed as it was signed',
    )
  },
}
