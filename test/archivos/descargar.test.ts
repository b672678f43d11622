import { rename } from 'node:fs/promises'
import { request } from 'node:http'
import { join } from 'node:path'
import { beforeAll, describe, expect, it } from 'vitest'
import { createSignedLinks } from '../../server/domain/archivos/links.ts'
import { createSecrets } from '../../server/platform/secrets.ts'
import { type Comercio, MASTER_KEY, useEnvironment } from '../environment.ts'
import { FULL_RUN_ONLY } from '../factories.ts'
import { waitForLock } from '../quiescence.ts'
import { createDeliveredGuia } from './images.ts'

const entorno = useEnvironment()
let comercio: Comercio
let guia: string
let foto: string
let firma: string
beforeAll(async () => {
  comercio = await entorno.nuevoComercio()
  ;({ guia, foto, firma } = await createDeliveredGuia(entorno, comercio))
})

const nuevo = async () => (await comercio.api.guias.pruebaEntrega(guia)).fotos[0]!
const ruta = async () => (await nuevo()).url.slice(entorno.url.length)

/** The target goes out as it is written: `fetch` would tidy it up. */
const pedir = (destino: string, metodo = 'GET', headers: Record<string, string> = {}) =>
  new Promise<{ status: number; cabeceras: Record<string, unknown>; cuerpo: Buffer }>((resolve, reject) => {
    const { hostname, port } = new URL(entorno.url)
    const solicitud = request({ hostname, port, path: destino, method: metodo, headers }, async (res) => {
      const cuerpo = Buffer.concat(await Array.fromAsync(res))
      resolve({ status: res.statusCode!, cabeceras: res.headers, cuerpo })
    })
    solicitud.on('error', reject)
    solicitud.setTimeout(60_000, () => solicitud.destroy(new Error('no answer in a minute')))
    solicitud.end()
  })

/** An answer without what differs in every answer. */
const comun = ({ status, cabeceras, cuerpo }: Awaited<ReturnType<typeof pedir>>) => {
  const { id_solicitud: _1, ...resto } = JSON.parse(cuerpo.toString())
  const { date: _3, 'x-request-id': _4, ratelimit: _5, ...otras } = cabeceras
  return { status, otras, rest: resto }
}

describe('GET /archivos/{archivo}', () => {
  it('serves the file, for display only, to a client that has the link', async () => {
    const { url, bytes, sha256, vence_en } = await nuevo()
    expect(new Date(vence_en).getTime() - Date.now()).toBeLessThanOrEqual(15 * 60_000)
    expect(new Date(vence_en).getTime() - Date.now()).toBeGreaterThan(14 * 60_000)
    const respuesta = await fetch(url)
    const cuerpo = Buffer.from(await respuesta.arrayBuffer())
    expect([respuesta.status, cuerpo.length]).toEqual([200, bytes])
    const { hash } = await import('node:crypto')
    expect(hash('sha256', cuerpo)).toBe(sha256)
    expect(Object.fromEntries(respuesta.headers)).toMatchObject({
      'content-type': 'image/jpeg',
      'content-disposition': `inline; filename="${foto}.jpg"`,
      'cache-control': 'no-store',
      'x-content-type-options': 'nosniff',
      'content-security-policy': "default-src 'none'; sandbox; frame-ancestors 'none'",
      'referrer-policy': 'no-referrer',
      'cross-origin-resource-policy': 'cross-origin',
      'accept-ranges': 'bytes',
    })
  })

  it('answers every altered byte the same', FULL_RUN_ONLY, async () => {
    const bueno = await ruta()
    const negada = comun(await pedir(`/archivos/${foto}`))
    expect([negada.status, negada.rest.codigo]).toEqual([403, 'enlace_invalido'])
    const desde = '/archivos/'.length
    for (let i = desde; i < bueno.length; i++) {
      for (const otra of ['0', 'A', 'z', '_', '=', '&', '+']) {
        if (bueno[i] === otra) continue
        const alterado = bueno.slice(0, i) + otra + bueno.slice(i + 1)
        expect([alterado, comun(await pedir(alterado))]).toEqual([alterado, negada])
      }
      const sin = bueno.slice(0, i) + bueno.slice(i + 1)
      if (i > desde) expect([sin, comun(await pedir(sin))]).toEqual([sin, negada])
    }
    expect((await pedir(bueno)).status).toBe(200)
  })

  it('answers the same to what is missing, doubled, too much, foreign or nobody’s', async () => {
    const bueno = await ruta()
    const negada = comun(await pedir(`/archivos/${foto}`))
    const [, consulta] = bueno.split('?')
    const pares = consulta!.split('&')
    const malos = [
      ...pares.map((par) => `/archivos/${foto}?${pares.filter((otro) => otro !== par).join('&')}`),
      ...pares.map((par) => `${bueno}&${par}`),
      ...pares.map((par) => `${bueno}&${par.split('=')[0]}[]=1`),
      `${bueno}&x=1`,
      `${bueno}&v=2`,
      `/archivos/${firma}?${consulta}`,
      `/archivos/arch_0000000000000000?${consulta}`,
      `/archivos/..%2f..%2fmaster_keys?${consulta}`,
      `/archivos/%2e%2e%2f%2e%2e%2fetc%2fpasswd?${consulta}`,
      `/archivos/${'x'.repeat(3_000)}?${consulta}`,
      `/archivos/${foto}%00?${consulta}`,
      `/archivos/${foto}?${consulta}${'0'.repeat(9_000)}`,
      `/archivos/${foto.toLowerCase()}?${consulta}`,
      bueno.replace('disp=inline', 'disp=attachment'),
      bueno.replace(/exp=\d+/, 'exp=9999999999'),
    ]
    for (const malo of malos)
      expect([malo.slice(0, 300), comun(await pedir(malo))]).toEqual([malo.slice(0, 300), negada])
    // No path out, however it is spelt; these name no file at all.
    for (const fuera of ['/archivos/../master_keys', '/archivos/', '/archivos/a/b'])
      expect([fuera, (await pedir(fuera)).status]).toEqual([fuera, 404])
  })

  it(
    'refuses a bad link without reading the database, whose time would tell which files exist',
    FULL_RUN_ONLY,
    async () => {
      const bueno = await ruta()
      const malos = {
        ultimo: `${bueno.slice(0, -1)}${bueno.endsWith('A') ? 'B' : 'A'}`,
        primero: bueno.replace(/firma=./, (con) => (con.endsWith('A') ? 'firma=B' : 'firma=A')),
        corta: bueno.slice(0, -20),
        ninguna: `/archivos/${foto}`,
        nadie: bueno.replace(foto, 'arch_0000000000000000'),
        vencido: bueno.replace(/exp=\d+/, 'exp=1000000000'),
      }
      const cliente = await entorno.db.pool.connect()
      try {
        await cliente.query('begin')
        await cliente.query('lock table archivo, archivo_indice in access exclusive mode')
        for (const [nombre, malo] of Object.entries(malos))
          expect([nombre, (await pedir(malo)).status]).toEqual([nombre, 403])
        // A good link waits for the tables.
        const buena = pedir(bueno)
        await waitForLock(entorno.db)
        await cliente.query('rollback')
        expect((await buena).status).toBe(200)
      } finally {
        cliente.release(true)
      }
    },
  )

  it('is good until it expires, and no link is good for more than a day', async () => {
    const deUnMinuto = (minutos: number, clave = MASTER_KEY) =>
      createSignedLinks({
        secretos: createSecrets([Buffer.from(clave, 'base64')]),
        clock: () => new Date(),
        publicUrl: '',
        minutes: minutos,
        folder: 'archivos',
      }).create(foto, 'attachment').url
    const guardada = await pedir(deUnMinuto(1))
    expect([guardada.status, guardada.cabeceras['content-disposition']]).toEqual([
      200,
      `attachment; filename="${foto}.jpg"`,
    ])
    expect((await pedir(deUnMinuto(1_440))).status).toBe(200)
    expect((await pedir(deUnMinuto(1_442))).status).toBe(403)
    expect((await pedir(deUnMinuto(-1))).status).toBe(403)
    expect((await pedir(deUnMinuto(0))).status).toBe(403)
    expect((await pedir(deUnMinuto(1, Buffer.alloc(32, 9).toString('base64')))).status).toBe(403)
    const bueno = await ruta()
    entorno.advance(15 * 60_000 + 1_000)
    const negada = comun(await pedir(bueno))
    expect(negada).toEqual(comun(await pedir(`/archivos/${foto}`)))
    expect((await pedir(await ruta())).status).toBe(200)
  })

  it('knows GET and HEAD, and says so before it looks at the link', async () => {
    const bueno = await ruta()
    for (const metodo of ['POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']) {
      for (const destino of [bueno, `/archivos/${foto}`]) {
        const { status, cabeceras } = await pedir(destino, metodo)
        expect([metodo, status, cabeceras.allow]).toEqual([metodo, 405, 'GET, HEAD'])
      }
    }
    const cabeza = await pedir(bueno, 'HEAD')
    expect([cabeza.status, cabeza.cuerpo.length, Number(cabeza.cabeceras['content-length'])]).toEqual([
      200,
      0,
      (await nuevo()).bytes,
    ])
    expect((await pedir(`/archivos/${foto}`, 'HEAD')).status).toBe(403)
  })

  it('serves parts, and answers 304 to a client that already has the file', async () => {
    const bueno = await ruta()
    const { cuerpo: entero, cabeceras } = await pedir(bueno)
    const n = entero.length
    const ETag = String(cabeceras.etag)
    const partes: [string, number, number, number][] = [
      ['bytes=0-99', 206, 0, 100],
      ['bytes=0-0', 206, 0, 1],
      [`bytes=${n - 1}-`, 206, n - 1, n],
      ['bytes=-10', 206, n - 10, n],
      [`bytes=-${n * 9}`, 206, 0, n],
      [`bytes=10-${n * 9}`, 206, 10, n],
      // As if nobody had asked: several, upside down, of another kind.
      ['bytes=0-1,5-6', 200, 0, n],
      ['bytes=9-1', 200, 0, n],
      ['lines=1-2', 200, 0, n],
      ['bytes=-', 200, 0, n],
      ['bytes=a-b', 200, 0, n],
    ]
    for (const [range, status, desde, hasta] of partes) {
      const parte = await pedir(bueno, 'GET', { range })
      expect([range, parte.status, parte.cuerpo.equals(entero.subarray(desde, hasta))]).toEqual([range, status, true])
      expect(parte.cabeceras['content-range']).toBe(status === 206 ? `bytes ${desde}-${hasta - 1}/${n}` : undefined)
    }
    for (const range of [`bytes=${n}-`, `bytes=${n * 2}-${n * 3}`, 'bytes=-0']) {
      const fuera = await pedir(bueno, 'GET', { range })
      expect([range, fuera.status, fuera.cabeceras['content-range']]).toEqual([range, 416, `bytes */${n}`])
    }
    expect((await pedir(bueno, 'GET', { range: 'bytes=0-9', 'if-range': ETag })).status).toBe(206)
    expect((await pedir(bueno, 'GET', { range: 'bytes=0-9', 'if-range': '"otro"' })).status).toBe(200)
    for (const suyo of [ETag, `W/${ETag}`, `"x", ${ETag}`, '*']) {
      const igual = await pedir(bueno, 'GET', { 'if-none-match': suyo })
      expect([suyo, igual.status, igual.cuerpo.length, igual.cabeceras.etag]).toEqual([suyo, 304, 0, ETag])
    }
    expect((await pedir(bueno, 'GET', { 'if-none-match': '"otro"' })).status).toBe(200)
    // A good ETag opens nothing.
    expect((await pedir(`/archivos/${foto}`, 'GET', { 'if-none-match': '*' })).status).toBe(403)
  })

  it('answers 503 when a file is missing, which must not happen, and 403 when it was deleted, which may', async () => {
    const bueno = await ruta()
    const archivo = join(entorno.dataDir, 'archivos', foto.slice(-2), foto)
    await rename(archivo, `${archivo}.aparte`)
    expect((await pedir(bueno)).status).toBe(503)
    await rename(`${archivo}.aparte`, archivo)
    const otra = await createDeliveredGuia(entorno, comercio)
    const { url } = (await comercio.api.guias.pruebaEntrega(otra.guia)).firma!
    await entorno.db.pool.query('delete from archivo where archivo = $1', [otra.firma])
    expect((await pedir(url.slice(entorno.url.length))).status).toBe(403)
  })

  it('leaves links and signatures out of the log', async () => {
    const bueno = await ruta()
    await pedir(bueno)
    await pedir(`${bueno}x`)
    expect(entorno.log.join('')).not.toContain(/firma=(.+)$/.exec(bueno)![1]!)
  })
})
