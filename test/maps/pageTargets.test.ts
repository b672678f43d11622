import { gzipSync } from 'node:zlib'
import { describe, expect, test } from 'vitest'
import { pageTargets } from '../../server/platform/maps/pageTargets.ts'
import { measureGrowth } from '../cost.ts'
import { G } from './linkTable.ts'
import { buildHtmlPage, COORDINATES_RESULT, NO_COORDINATES, POINT_LINK, SHORT_LINK, useMaps } from './maps.ts'

const { readString: chain, resolver, paths, listVisitedUrls, seen } = useMaps()

describe('pages that carry the target', () => {
  const FIN = `${G}/fin?cid=7`
  test.each([
    ['meta refresh', `<meta http-equiv="refresh" content="0; url=${FIN}">`],
    ['meta refresh, the other way round', `<META content='0;URL="${FIN}"' HTTP-EQUIV='Refresh'/>`],
    ['meta refresh, relative', '<meta http-equiv=refresh content="0;url=fin?cid=7">'],
    ['window.location', `<script>window.location = "${FIN}"</script>`],
    ['location.href', `<script>window.location.href='${FIN}';</script>`],
    [
      'location.replace with escapes',
      '<script>location.replace("https:\\/\\/www.google.com\\/maps\\/fin\\x3fcid\\u003d7")</script>',
    ],
    ['canonical', `<link href="${FIN}" rel="canonical">`],
    [
      'after others that are of no use',
      `<meta http-equiv="refresh" content="0;url=/httpservice/retry/enablejs"><script>window.location='https://evil.example/'</script><link rel="canonical" href="${FIN}">`,
    ],
  ])('%s', async (_case, body) => {
    chain(SHORT_LINK, `${G}/inicio`)
    paths.set(`${G}/inicio`, buildHtmlPage(`<!doctype html><html><head>${body}</head></html>`))
    paths.set(FIN, POINT_LINK)
    expect(await resolver(SHORT_LINK)).toEqual(COORDINATES_RESULT)
    expect(listVisitedUrls()).toEqual([SHORT_LINK, `${G}/inicio`, FIN])
  })

  test('the target that names the point wins over the others', async () => {
    const refreshTag = `<meta http-equiv="refresh" content="0;url=${FIN}">`
    paths.set(SHORT_LINK, buildHtmlPage(`${refreshTag}<link rel="canonical" href="${POINT_LINK}">`))
    expect(await resolver(SHORT_LINK)).toEqual(COORDINATES_RESULT)
    expect(listVisitedUrls()).toEqual([SHORT_LINK])
  })

  test('entities in the target', async () => {
    paths.set(
      SHORT_LINK,
      buildHtmlPage('<link rel="canonical" href="https://www.google.com/maps?cid=1&amp;q=14.6349,-90.5069">'),
    )
    expect(await resolver(SHORT_LINK)).toEqual(COORDINATES_RESULT)
  })

  test.each([
    ['itself', `<link rel="canonical" href="${SHORT_LINK}">`],
    ['the bare map', `<link rel="canonical" href="${G}">`],
    ['the surroundings of who asks', `<link rel="canonical" href="${G}/@50.1,8.6,11z">`],
    ['another site', '<meta http-equiv="refresh" content="0;url=https://evil.example/?q=14.6,-90.5">'],
    ['http', '<meta http-equiv="refresh" content="0;url=http://www.google.com/maps?q=14.6,-90.5">'],
    ['a private address', '<script>location="https://169.254.169.254/"</script>'],
    ['nothing', '<p>14.6,-90.5</p>'],
  ])('no target: %s', async (_case, body) => {
    paths.set(SHORT_LINK, buildHtmlPage(body))
    expect(await resolver(SHORT_LINK)).toEqual(NO_COORDINATES)
    expect(seen).toHaveLength(1)
  })

  test('two pages that lead to each other', async () => {
    paths.set(SHORT_LINK, buildHtmlPage(`<meta http-equiv="refresh" content="0;url=${FIN}">`))
    paths.set(FIN, buildHtmlPage(`<meta http-equiv="refresh" content="0;url=${SHORT_LINK}">`))
    expect(await resolver(SHORT_LINK)).toEqual(NO_COORDINATES)
    expect(seen).toHaveLength(2)
  })

  test('compressed or not HTML: not read', async () => {
    const body = `<meta http-equiv="refresh" content="0;url=${POINT_LINK}">`
    paths.set(SHORT_LINK, (_req, res) =>
      res.writeHead(200, { 'content-type': 'text/html', 'content-encoding': 'gzip' }).end(gzipSync(body)),
    )
    expect(await resolver(SHORT_LINK)).toEqual(NO_COORDINATES)
    paths.set(SHORT_LINK, [200, { 'content-type': 'text/plain' }, body])
    expect(await resolver(SHORT_LINK)).toEqual(NO_COORDINATES)
    paths.set(SHORT_LINK, buildHtmlPage(body))
    expect(await resolver(SHORT_LINK)).toEqual(COORDINATES_RESULT)
  })

  test('a compressed redirection is a redirection', async () => {
    paths.set(SHORT_LINK, (_req, res) =>
      res.writeHead(302, { location: POINT_LINK, 'content-encoding': 'gzip' }).end(gzipSync('hola')),
    )
    expect(await resolver(SHORT_LINK)).toEqual(COORDINATES_RESULT)
  })

  test('hostile pages are read in linear time', () => {
    const base = new URL(SHORT_LINK)
    for (const chunk of [
      '<meta ',
      '<meta http-equiv=refresh content="',
      '<link rel=canonical ',
      'location',
      'location="',
      "location = '",
      '<meta content=\t',
      '&amp',
      'location.replace (',
      ' ',
      '\\x',
      '<meta http-equiv=refresh content="0;url=x">',
    ]) {
      const times = measureGrowth(65_536, (size) => {
        const page = chunk.repeat(Math.ceil(size / chunk.length))
        expect(pageTargets(page, base).length).toBeLessThanOrEqual(20)
      })
      expect(times, chunk).toBeLessThan(20)
    }
  })
})
