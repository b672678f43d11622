import { beforeAll, describe, expect, it } from 'vitest'
import { type Operation, readDocument, readOperations } from '../../server/api/contract/contract.ts'
import { type Comercio, useEnvironment } from '../environment.ts'
import { createMobile, type Mobile } from '../repartidores/phone.ts'

// Nothing comes back while the limits' clock stands.
const entorno = useEnvironment({ limitsClock: () => 0 }, () => ({
  REQUESTS_PER_NETWORK: '1',
  REQUESTS_PER_OPERATOR_KEY: '1',
}))
const operaciones = readOperations(readDocument())

let comercio: Comercio
let movil: Mobile

/** A request of the operation, by somebody who may ask for it. What it says is looked at by nobody. */
function pedir({ method: metodo, path: ruta, security: seguridad }: Operation) {
  const llaves: Record<string, string> = {
    llaveDeComercio: comercio.llave,
    llaveDeOperacion: entorno.llaveDeOperacion,
  }
  const llave = llaves[seguridad?.scheme ?? '']
  const cabeceras = { Origin: entorno.url, ...(seguridad?.enCookie ? { Cookie: movil.cookie } : {}) }
  return entorno.request(metodo.toUpperCase(), ruta.replace(/\{\w+\}/g, 'x'), {
    ...(llave ? { llave } : {}),
    cabeceras,
  })
}

beforeAll(async () => {
  comercio = await entorno.nuevoComercio('test', { solicitudes: 1, guias: 1 })
  movil = await createMobile(entorno)
  const porEsquema = Map.groupBy(operaciones, ({ security: seguridad }) => seguridad?.scheme)
  for (const [operacion] of porEsquema.values()) while ((await pedir(operacion!)).status !== 429);
})

describe('a caller that has no tokens left', () => {
  it.each(operaciones.map((operacion) => [operacion.id, operacion] as const))(
    'is told so by %s',
    async (_id, operacion) => {
      const { status, cuerpo, cabeceras } = await pedir(operacion)
      expect([status, cuerpo.codigo]).toEqual([429, 'demasiadas_solicitudes'])
      expect(cabeceras.get('ratelimit')).toMatch(/^"solicitudes";r=0;t=\d+/)
      expect(cabeceras.get('ratelimit-policy')).toMatch(/^"solicitudes";q=\d+;w=\d+/)
      expect(Number(cabeceras.get('retry-after'))).toBeGreaterThan(0)
    },
  )
})
