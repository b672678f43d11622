import { once } from 'node:events'
import { type IncomingMessage, request } from 'node:http'
import { describe, expect, it } from 'vitest'
import { type Operation, readDocument, readOperations } from '../../server/api/contract/contract.ts'
import { type Comercio, shareEnvironment } from '../environment.ts'
import { buildGuia } from '../factories.ts'

const environment = shareEnvironment()
const operaciones = readOperations(readDocument())
/** NUL, half of a surrogate pair, a byte that begins nothing. */
const ILEGIBLES = ['%00', 'a%00b', '%ED%A0%80', '%ff']

const sendTarget = (path: string, method: string, { llave }: Comercio, { security }: Operation) =>
  environment.request(method.toUpperCase(), path, {
    llave: security?.scheme === 'llaveDeOperacion' ? environment.llaveDeOperacion : llave,
  })

/** The paths of an operation with something unreadable in each of its parameters, and that parameter's name. */
function* ilegibles({ path, parameters }: Operation): Generator<readonly [campo: string, destino: string]> {
  for (const bad of ILEGIBLES) {
    for (const { name, in: place } of parameters) {
      const filledText = path.replace(/\{(\w+)\}/g, (_match, nombre) => (nombre === name ? bad : 'x'))
      if (place !== 'header') yield [name, place === 'query' ? `${filledText}?${name}=${bad}` : filledText]
    }
  }
}

describe('a target with the address of the service', () => {
  it('is the same as without it, with its query', async () => {
    const { llave, api } = await environment.createComercio()
    await api.guias.crearLote({ guias: [buildGuia(), buildGuia()] })
    const { port } = new URL(environment.url)
    const ask = async (path: string) => {
      const req = request({ port, path, headers: { Authorization: `Bearer ${llave}` } }).end()
      const [res] = (await once(req, 'response')) as [IncomingMessage]
      return JSON.parse(Buffer.concat(await res.toArray()).toString()) as { datos: object[] }
    }
    const path = '/api/v1/guias?limite=1'
    const plain = await ask(path)
    expect(plain.datos).toHaveLength(1)
    expect(await ask(environment.url + path)).toEqual(plain)
  })
})

describe('a target that stands for no text', () => {
  it.each(operaciones.filter(({ parameters }) => parameters.length > 0).map((o) => [o.id, o] as const))(
    '%s: 400 that names the parameter, of path and query',
    async (_id, operacion) => {
      const comercio = await environment.createComercio()
      for (const [field, destino] of ilegibles(operacion)) {
        const { status, body } = await sendTarget(destino, operacion.method, comercio, operacion)
        // Of what a signed link opens nothing may be told apart.
        if (operacion.rechazo) expect([destino, body.codigo, body.errores]).toEqual([destino, operacion.rechazo, []])
        else
          expect([destino, status, body.errores.map((fault: { campo: string }) => fault.campo)]).toEqual([
            destino,
            400,
            [field],
          ])
      }
    },
  )

  it('is refused in Spanish by pages and unknown paths, too, and a lone % is none', async () => {
    for (const path of ['/r/', '/u/', '/d/', '/verificar/', '/nada/', '/docs/', '/repartidor/']) {
      const { status, body } = await environment.request('GET', `${path}%00`)
      expect([path, status, body.mensaje]).toEqual([path, 400, 'Corrija 1 parámetro y vuelva a enviar: ruta.'])
    }
    const { body } = await environment.request('GET', '/r?guia=%00&%00=x')
    expect(body.errores).toEqual(
      ['guia', 'consulta'].map((field) => ({
        campo: field,
        codigo: 'formato_invalido',
        mensaje: 'lleva un carácter nulo (%00) o bytes que no son UTF-8; quítelos',
      })),
    )
    expect((await fetch(`${environment.url}/r?guia=100%&a=%C3%B1&b=%2500`)).status).toBe(404)
  })

  it('is one with two Host headers', async () => {
    const { port } = new URL(environment.url)
    const status = (...hosts: string[]) =>
      new Promise((resolve, reject) => {
        const headers = ['Connection', 'close', ...hosts.flatMap((host) => ['Host', host])]
        request({ port, path: '/healthz', headers }, (res) => resolve(res.resume().statusCode))
          .once('error', reject)
          .end()
      })
    expect(await status('uno')).toBe(200)
    expect(await status('uno', 'dos')).toBe(400)
  })
})
