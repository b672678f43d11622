import { beforeAll, describe, expect, it } from 'vitest'
import { type Operation, readDocument, readOperations } from '../../server/api/contract/contract.ts'
import { type Comercio, useEnvironment } from '../environment.ts'
import { createMobile, type Mobile } from '../repartidores/phone.ts'

// Nothing comes back while the limits' clock stands.
const environment = useEnvironment({ limitsClock: () => 0 }, () => ({
  REQUESTS_PER_NETWORK: '1',
  REQUESTS_PER_OPERATOR_KEY: '1',
}))
const operaciones = readOperations(readDocument())

let comercio: Comercio
let phone: Mobile

/** A request of the operation, by somebody who may ask for it. What it says is looked at by nobody. */
function request({ method, path, security }: Operation) {
  const llaves: Record<string, string> = {
    llaveDeComercio: comercio.llave,
    llaveDeOperacion: environment.llaveDeOperacion,
  }
  const llave = llaves[security?.scheme ?? '']
  const headers = { Origin: environment.url, ...(security?.inCookie ? { Cookie: phone.cookie } : {}) }
  return environment.request(method.toUpperCase(), path.replace(/\{\w+\}/g, 'x'), {
    ...(llave ? { llave } : {}),
    headers,
  })
}

beforeAll(async () => {
  comercio = await environment.createComercio('test', { solicitudes: 1, guias: 1 })
  phone = await createMobile(environment)
  const byScheme = Map.groupBy(operaciones, ({ security }) => security?.scheme)
  for (const [operacion] of byScheme.values()) while ((await request(operacion!)).status !== 429);
})

describe('a caller that has no tokens left', () => {
  it.each(operaciones.map((operacion) => [operacion.id, operacion] as const))(
    'is told so by %s',
    async (_id, operacion) => {
      const { status, body, headers } = await request(operacion)
      expect([status, body.codigo]).toEqual([429, 'demasiadas_solicitudes'])
      expect(headers.get('ratelimit')).toMatch(/^"solicitudes";r=0;t=\d+/)
      expect(headers.get('ratelimit-policy')).toMatch(/^"solicitudes";q=\d+;w=\d+/)
      expect(Number(headers.get('retry-after'))).toBeGreaterThan(0)
    },
  )
})
