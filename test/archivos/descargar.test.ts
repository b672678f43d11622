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

const environment = useEnvironment()
let comercio: Comercio
let guia: string
let foto: string
let firma: string
beforeAll(async () => {
  comercio = await environment.createComercio()
  ;({ guia, foto, firma } = await createDeliveredGuia(environment, comercio))
})

const readFoto = async () => (await comercio.api.guias.pruebaEntrega(guia)).fotos[0]!
const path = async () => (await readFoto()).url.slice(environment.url.length)

/** The target goes out as it is written: `fetch` would tidy it up. */
const download = (destino: string, method = 'GET', headers: Record<string, string> = {}) =>
  new Promise<{ status: number; headers: Record<string, unknown>; body: Buffer }>((resolve, reject) => {
    const { hostname, port } = new URL(environment.url)
    const solicitud = request({ hostname, port, path: destino, method, headers }, async (res) => {
      const body = Buffer.concat(await Array.fromAsync(res))
      resolve({ status: res.statusCode!, headers: res.headers, body })
    })
    solicitud.on('error', reject)
    solicitud.setTimeout(60_000, () => solicitud.destroy(new Error('no answer in a minute')))
    solicitud.end()
  })

/** An answer without what differs in every answer. */
const commonPart = ({ status, headers, body }: Awaited<ReturnType<typeof download>>) => {
  const { id_solicitud: _1, ...rest } = JSON.parse(body.toString())
  const { date: _3, 'x-request-id': _4, ratelimit: _5, ...otherHeaders } = headers
  return { status, otras: otherHeaders, rest }
}

describe('GET /archivos/{archivo}', () => {
  it('serves the file, for display only, to a client that has the link', async () => {
    const { url, bytes, sha256, vence_en } = await readFoto()
    expect(new Date(vence_en).getTime() - Date.now()).toBeLessThanOrEqual(15 * 60_000)
    expect(new Date(vence_en).getTime() - Date.now()).toBeGreaterThan(14 * 60_000)
    const response = await fetch(url)
    const body = Buffer.from(await response.arrayBuffer())
    expect([response.status, body.length]).toEqual([200, bytes])
    const { hash } = await import('node:crypto')
    expect(hash('sha256', body)).toBe(sha256)
    expect(Object.fromEntries(response.headers)).toMatchObject({
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
    const good = await path()
    const refusal = commonPart(await download(`/archivos/${foto}`))
    expect([refusal.status, refusal.rest.codigo]).toEqual([403, 'enlace_invalido'])
    const from = '/archivos/'.length
    for (let i = from; i < good.length; i++) {
      for (const other of ['0', 'A', 'z', '_', '=', '&', '+']) {
        if (good[i] === other) continue
        const altered = good.slice(0, i) + other + good.slice(i + 1)
        expect([altered, commonPart(await download(altered))]).toEqual([altered, refusal])
      }
      const caseWithout = good.slice(0, i) + good.slice(i + 1)
      if (i > from) expect([caseWithout, commonPart(await download(caseWithout))]).toEqual([caseWithout, refusal])
    }
    expect((await download(good)).status).toBe(200)
  })

  it('answers the same to what is missing, doubled, too much, foreign or nobody’s', async () => {
    const good = await path()
    const refusal = commonPart(await download(`/archivos/${foto}`))
    const [, query] = good.split('?')
    const pairs = query!.split('&')
    const bad = [
      ...pairs.map((pair) => `/archivos/${foto}?${pairs.filter((other) => other !== pair).join('&')}`),
      ...pairs.map((pair) => `${good}&${pair}`),
      ...pairs.map((pair) => `${good}&${pair.split('=')[0]}[]=1`),
      `${good}&x=1`,
      `${good}&v=2`,
      `/archivos/${firma}?${query}`,
      `/archivos/arch_0000000000000000?${query}`,
      `/archivos/..%2f..%2fmaster_keys?${query}`,
      `/archivos/%2e%2e%2f%2e%2e%2fetc%2fpasswd?${query}`,
      `/archivos/${'x'.repeat(3_000)}?${query}`,
      `/archivos/${foto}%00?${query}`,
      `/archivos/${foto}?${query}${'0'.repeat(9_000)}`,
      `/archivos/${foto.toLowerCase()}?${query}`,
      good.replace('disp=inline', 'disp=attachment'),
      good.replace(/exp=\d+/, 'exp=9999999999'),
    ]
    for (const badUrl of bad)
      expect([badUrl.slice(0, 300), commonPart(await download(badUrl))]).toEqual([badUrl.slice(0, 300), refusal])
    // No path out, however it is spelt; these name no file at all.
    for (const fuera of ['/archivos/../master_keys', '/archivos/', '/archivos/a/b'])
      expect([fuera, (await download(fuera)).status]).toEqual([fuera, 404])
  })

  it(
    'refuses a bad link without reading the database, whose time would tell which files exist',
    FULL_RUN_ONLY,
    async () => {
      const good = await path()
      const bad = {
        ultimo: `${good.slice(0, -1)}${good.endsWith('A') ? 'B' : 'A'}`,
        primero: good.replace(/firma=./, (url) => (url.endsWith('A') ? 'firma=B' : 'firma=A')),
        corta: good.slice(0, -20),
        ninguna: `/archivos/${foto}`,
        nadie: good.replace(foto, 'arch_0000000000000000'),
        vencido: good.replace(/exp=\d+/, 'exp=1000000000'),
      }
      const client = await environment.db.pool.connect()
      try {
        await client.query('begin')
        await client.query('lock table archivo, archivo_indice in access exclusive mode')
        for (const [name, badUrl] of Object.entries(bad))
          expect([name, (await download(badUrl)).status]).toEqual([name, 403])
        // A good link waits for the tables.
        const goodDownload = download(good)
        await waitForLock(environment.db)
        await client.query('rollback')
        expect((await goodDownload).status).toBe(200)
      } finally {
        client.release(true)
      }
    },
  )

  it('is good until it expires, and no link is good for more than a day', async () => {
    const linkOfMinutes = (minutes: number, key = MASTER_KEY) =>
      createSignedLinks({
        secretos: createSecrets([Buffer.from(key, 'base64')]),
        clock: () => new Date(),
        publicUrl: '',
        minutes,
        folder: 'archivos',
      }).create(foto, 'attachment').url
    const saved = await download(linkOfMinutes(1))
    expect([saved.status, saved.headers['content-disposition']]).toEqual([200, `attachment; filename="${foto}.jpg"`])
    expect((await download(linkOfMinutes(1_440))).status).toBe(200)
    expect((await download(linkOfMinutes(1_442))).status).toBe(403)
    expect((await download(linkOfMinutes(-1))).status).toBe(403)
    expect((await download(linkOfMinutes(0))).status).toBe(403)
    expect((await download(linkOfMinutes(1, Buffer.alloc(32, 9).toString('base64')))).status).toBe(403)
    const good = await path()
    environment.advance(15 * 60_000 + 1_000)
    const refusal = commonPart(await download(good))
    expect(refusal).toEqual(commonPart(await download(`/archivos/${foto}`)))
    expect((await download(await path())).status).toBe(200)
  })

  it('knows GET and HEAD, and says so before it looks at the link', async () => {
    const good = await path()
    for (const method of ['POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']) {
      for (const destino of [good, `/archivos/${foto}`]) {
        const { status, headers } = await download(destino, method)
        expect([method, status, headers.allow]).toEqual([method, 405, 'GET, HEAD'])
      }
    }
    const head = await download(good, 'HEAD')
    expect([head.status, head.body.length, Number(head.headers['content-length'])]).toEqual([
      200,
      0,
      (await readFoto()).bytes,
    ])
    expect((await download(`/archivos/${foto}`, 'HEAD')).status).toBe(403)
  })

  it('serves parts, and answers 304 to a client that already has the file', async () => {
    const good = await path()
    const { body: whole, headers } = await download(good)
    const n = whole.length
    const ETag = String(headers.etag)
    const parts: [string, number, number, number][] = [
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
    for (const [range, status, from, hasta] of parts) {
      const part = await download(good, 'GET', { range })
      expect([range, part.status, part.body.equals(whole.subarray(from, hasta))]).toEqual([range, status, true])
      expect(part.headers['content-range']).toBe(status === 206 ? `bytes ${from}-${hasta - 1}/${n}` : undefined)
    }
    for (const range of [`bytes=${n}-`, `bytes=${n * 2}-${n * 3}`, 'bytes=-0']) {
      const fuera = await download(good, 'GET', { range })
      expect([range, fuera.status, fuera.headers['content-range']]).toEqual([range, 416, `bytes */${n}`])
    }
    expect((await download(good, 'GET', { range: 'bytes=0-9', 'if-range': ETag })).status).toBe(206)
    expect((await download(good, 'GET', { range: 'bytes=0-9', 'if-range': '"otro"' })).status).toBe(200)
    for (const ifNoneMatch of [ETag, `W/${ETag}`, `"x", ${ETag}`, '*']) {
      const same = await download(good, 'GET', { 'if-none-match': ifNoneMatch })
      expect([ifNoneMatch, same.status, same.body.length, same.headers.etag]).toEqual([ifNoneMatch, 304, 0, ETag])
    }
    expect((await download(good, 'GET', { 'if-none-match': '"otro"' })).status).toBe(200)
    // A good ETag opens nothing.
    expect((await download(`/archivos/${foto}`, 'GET', { 'if-none-match': '*' })).status).toBe(403)
  })

  it('answers 503 when a file is missing, which must not happen, and 403 when it was deleted, which may', async () => {
    const good = await path()
    const file = join(environment.dataDir, 'archivos', foto.slice(-2), foto)
    await rename(file, `${file}.aparte`)
    expect((await download(good)).status).toBe(503)
    await rename(`${file}.aparte`, file)
    const other = await createDeliveredGuia(environment, comercio)
    const { url } = (await comercio.api.guias.pruebaEntrega(other.guia)).firma!
    await environment.db.pool.query('delete from archivo where archivo = $1', [other.firma])
    expect((await download(url.slice(environment.url.length))).status).toBe(403)
  })

  it('leaves links and signatures out of the log', async () => {
    const good = await path()
    await download(good)
    await download(`${good}x`)
    expect(environment.log.join('')).not.toContain(/firma=(.+)$/.exec(good)![1]!)
  })
})
