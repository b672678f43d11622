import { describe, expect, it } from 'vitest'
import { createSignedLinks } from '../../server/domain/archivos/links.ts'
import { readEtiquetas, recordEtiquetas } from '../../server/domain/etiquetas/etiqueta.ts'
import { createSecrets } from '../../server/platform/secrets.ts'
import { createDeliveredGuia } from '../archivos/images.ts'
import { buildLogoSvg, writeLogoFile } from '../brand/logos.ts'
import { type Comercio, MASTER_KEY } from '../environment.ts'
import { buildGuia, FULL_RUN_ONLY, RECOGIDA, waitUntil } from '../factories.ts'
import { findFreePort } from '../ports.ts'
import { parsePdf } from '../pruebasEntrega/readPdf.ts'
import {
  createGuiaForEtiqueta,
  downloadEtiquetas,
  etiquetasComercio,
  fetchRefusal,
  guia,
  useEtiquetas,
} from './etiquetas.ts'

const environment = useEtiquetas()

describe('GET /etiquetas/{guias}', () => {
  it('answers every altered byte the same, and tells nothing apart', FULL_RUN_ONLY, async () => {
    const other = await createGuiaForEtiqueta()
    const { url } = await etiquetasComercio.api.guias.etiquetas([guia, other])
    const bad = await fetchRefusal(`${environment.url}/etiquetas/${guia}`)
    expect([bad.status, bad.codigo]).toEqual([403, 'enlace_invalido'])
    const from = environment.url.length + '/etiquetas/'.length
    for (let i = from; i < url.length; i++) {
      for (const letter of ['0', 'A', '-', '&']) {
        if (url[i] === letter) continue
        const altered = url.slice(0, i) + letter + url.slice(i + 1)
        expect([altered, await fetchRefusal(altered)]).toEqual([altered, bad])
      }
    }
    const [base, query] = url.split('?')
    for (const badUrl of [
      `${base}?${query}&x=1`,
      `${base}?${query}&v=1`,
      `${base}-${guia}?${query}`,
      // The same guides, otherwise: another order, fewer, in small letters.
      `${environment.url}/etiquetas/${other}-${guia}?${query}`,
      `${environment.url}/etiquetas/${guia}?${query}`,
      `${environment.url}/etiquetas/${guia.toLowerCase()}-${other}?${query}`,
      url.replace('disp=inline', 'disp=attachment'),
      url.replace(/exp=\d+/, 'exp=9999999999'),
    ])
      expect([badUrl, await fetchRefusal(badUrl)]).toEqual([badUrl, bad])
    expect((await downloadEtiquetas(url)).status).toBe(200)
  })

  it('opens a letter sheet with a link that was signed for it, and with no other', async () => {
    const { guias } = etiquetasComercio.api
    const { url } = await guias.etiquetas([guia], { formato: 'carta' })
    const { url: normal } = await guias.etiquetas([guia])
    const { url: message } = await guias.etiquetas([guia], { formato: '10x15' })
    const medidas = []
    for (const one of [url, normal, message]) medidas.push(parsePdf((await downloadEtiquetas(one)).pdf).measurement)
    expect(medidas).toEqual([[612, 792], medidas[1], medidas[1]])
    expect(medidas[1]![0]).toBeCloseTo(283.46, 1)
    const etiquetas = await Promise.all([url, normal].map((one) => fetch(one, { method: 'HEAD' })))
    expect(new Set(etiquetas.map(({ headers }) => headers.get('etag'))).size).toBe(2)
    for (const bad of [
      url.replace('&formato=carta', ''),
      url.replace('formato=carta', 'formato=10x15'),
      url.replace('formato=carta', 'formato='),
      normal.replace('&firma=', '&formato=carta&firma='),
    ])
      expect([bad, (await fetchRefusal(bad)).codigo]).toEqual([bad, 'enlace_invalido'])
  })

  it('opens nothing with a file’s signature, nor a file with its own', async () => {
    const { foto } = await createDeliveredGuia(environment, etiquetasComercio)
    const parts = {
      secretos: createSecrets([Buffer.from(MASTER_KEY, 'base64')]),
      clock: () => new Date(),
      publicUrl: environment.url,
      minutes: 1,
    }
    const [ofArchivos, ofEtiquetas] = [
      createSignedLinks({ ...parts, folder: 'archivos' }),
      createSignedLinks({ ...parts, folder: 'etiquetas' }),
    ]
    expect(
      (await downloadEtiquetas(ofEtiquetas.create(guia, 'attachment').url)).headers.get('content-disposition'),
    ).toBe(`attachment; filename="etiqueta-${guia}.pdf"`)
    expect((await downloadEtiquetas(ofArchivos.create(foto, 'inline').url)).status).toBe(200)
    for (const url of [
      ofArchivos.create(guia, 'inline').url.replace('/archivos/', '/etiquetas/'),
      ofEtiquetas.create(foto, 'inline').url.replace('/etiquetas/', '/archivos/'),
      // Well signed, and nobody's.
      ofEtiquetas.create('000000000000', 'inline').url,
      ofEtiquetas.create('', 'inline').url.replace('/etiquetas/?', '/etiquetas/-?'),
      createSignedLinks({ ...parts, folder: 'etiquetas', minutes: 0 }).create(guia, 'inline').url,
    ])
      expect([url, (await fetchRefusal(url)).codigo]).toEqual([url, 'enlace_invalido'])
  })

  it('shows the pickup’s address, who is asked for there, and its indications', async () => {
    const contact = { contacto: 'Luis Batz', telefono: '5555 1234', direccion: '12 avenida 3-40' }
    const ownGuia = await createGuiaForEtiqueta({ recogida: { ...RECOGIDA, ...contact, indicaciones: 'Portón azul' } })
    const { texto: text } = parsePdf(
      (await downloadEtiquetas((await etiquetasComercio.api.guias.etiqueta(ownGuia)).url)).pdf,
    )
    for (const message of ['Luis Batz', 'Tel. 5555 1234', '12 avenida 3-40', 'Portón azul'])
      expect(text).toContain(message)
  })

  it('knows GET and HEAD, says so before it looks at the link, and expires', async () => {
    const { url } = await etiquetasComercio.api.guias.etiqueta(guia)
    for (const method of ['POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'])
      for (const destino of [url, `${environment.url}/etiquetas/${guia}`]) {
        const { status, headers } = await downloadEtiquetas(destino, { method })
        expect([method, status, headers.get('allow')]).toEqual([method, 405, 'GET, HEAD'])
      }
    const { pdf } = await downloadEtiquetas(url)
    const head = await downloadEtiquetas(url, { method: 'HEAD' })
    expect([head.status, head.pdf.length, Number(head.headers.get('content-length'))]).toEqual([200, 0, pdf.length])
    environment.advance(15 * 60_000 + 1_000)
    expect((await fetchRefusal(url)).codigo).toBe('enlace_invalido')
    expect((await downloadEtiquetas((await etiquetasComercio.api.guias.etiqueta(guia)).url)).status).toBe(200)
    expect(environment.log.join('')).not.toContain(/firma=(.+)$/.exec(url)![1]!)
  })

  /** Links of a hundred labels, less one for each that came before. */
  const createLinksOfHundred = async (owner: Comercio, links: number) => {
    const guias = Array.from({ length: 100 }, () => buildGuia())
    const lote = await owner.api.guias.crearLote({ recogida: RECOGIDA, guias })
    const created = lote.resultados.map((one) => (one.ok ? one.guia : ''))
    const urls = []
    for (let i = 0; i < links; i++) urls.push((await owner.api.guias.etiquetas(created.slice(i))).url)
    return urls
  }

  it('is drawn once for all who open it, and not at all for HEAD', async () => {
    const [url = ''] = await createLinksOfHundred(etiquetasComercio, 1)
    const headResponses = await Promise.all(
      Array.from({ length: 40 }, () => downloadEtiquetas(url, { method: 'HEAD' })),
    )
    for (const { status, headers } of headResponses)
      expect([status, headers.get('content-type'), headers.get('content-length')]).toEqual([
        200,
        'application/pdf',
        null,
      ])
    const all = await Promise.all(Array.from({ length: 60 }, () => downloadEtiquetas(url)))
    const [{ pdf, headers }] = all as [(typeof all)[0]]
    for (const one of all) expect([one.status, one.pdf.equals(pdf)]).toEqual([200, true])
    const head = await downloadEtiquetas(url, { method: 'HEAD' })
    expect(head.headers.get('content-length')).toBe(String(pdf.length))
    for (const { headers: downloadHeaders } of [...headResponses, head])
      expect(downloadHeaders.get('etag')).toBe(headers.get('etag'))
  })

  it('writes a guide once for those who opened it together, and again after a correction', async () => {
    const { api } = etiquetasComercio
    const codigo = await createGuiaForEtiqueta()
    const read = () => readEtiquetas(environment.db, 'todos', [codigo])
    const version = async () =>
      (await environment.db.pool.query('select xmin::text as xmin from guia where guia = $1', [codigo])).rows[0].xmin
    const firstRead = await read()
    await recordEtiquetas(environment.db, firstRead, environment.clock())
    const notedVersion = await version()
    await recordEtiquetas(environment.db, firstRead, environment.clock())
    expect(await version()).toBe(notedVersion)

    await api.guias.corregir(codigo, { destinatario: 'Otra Persona' })
    await recordEtiquetas(environment.db, firstRead, environment.clock())
    expect((await api.guias.obtener(codigo)).advertencias).toMatchObject([{ codigo: 'etiqueta_desactualizada' }])
    await recordEtiquetas(environment.db, await read(), environment.clock())
    expect((await api.guias.obtener(codigo)).advertencias).toEqual([])
  })

  it(
    'tells those that are too many to come back, and lets no merchant wait behind another’s',
    FULL_RUN_ONLY,
    async () => {
      const urls = await createLinksOfHundred(etiquetasComercio, 40)
      const other = await environment.createComercio()
      const { url: ofOther } = await other.api.guias.etiqueta((await other.api.guias.crear(buildGuia())).guia)
      let refusals = 0
      let drawnItems = 0
      const downloads = urls.map(async (url) => {
        const download = await downloadEtiquetas(url)
        if (download.status === 200) drawnItems++
        else refusals++
        return download
      })
      // One that was refused shows that the line is full.
      await waitUntil(async () => refusals > 0)
      const before = drawnItems
      // On a slow machine he may be told to come back, too.
      await waitUntil(async () => (await downloadEtiquetas(ofOther)).status === 200)
      expect(drawnItems - before).toBeLessThan(20)
      const all = await Promise.all(downloads)
      const successes = all.filter(({ status }) => status === 200)
      const remainder = all.filter(({ status }) => status !== 200)
      expect(successes.length).toBeGreaterThan(0)
      // One is drawn at once, or two; 32 wait, some of them in vain where the machine is slow.
      expect(remainder.length).toBeGreaterThanOrEqual(40 - 2 - 32)
      for (const { status, headers } of remainder) expect([status, headers.get('retry-after')]).toEqual([503, '2'])
    },
  )

  it('keeps no place for who went away', FULL_RUN_ONLY, async () => {
    const [url = '', ...urls] = await createLinksOfHundred(etiquetasComercio, 41)
    const control = new AbortController()
    let refusals = 0
    const outgoingRequests = urls.map((one) =>
      fetch(one, { signal: control.signal }).then(
        ({ status }) => {
          if (status === 503) refusals++
        },
        () => {},
      ),
    )
    const countCutResponses = () => environment.log.filter((line) => line.includes('"cortada":true')).length
    const before = countCutResponses()
    // Once it is full, somebody is refused.
    await waitUntil(async () => refusals > 0)
    control.abort()
    await Promise.all(outgoingRequests)
    await waitUntil(async () => countCutResponses() > before)
    expect((await downloadEtiquetas(url)).status).toBe(200)
  })

  it('has an entity tag that changes with the logo, and stays the same without one', async () => {
    // The label shows the address of the service.
    const PORT = `${await findFreePort()}`
    const etagWith = async (BRAND_LOGO: string) => {
      await environment.reset({ PORT, BRAND_LOGO })
      const { llave } = etiquetasComercio
      const { body } = await environment.request('GET', `/api/v1/guias/${guia}/etiqueta`, { llave })
      const { status, headers } = await downloadEtiquetas(body.url, { method: 'HEAD' })
      expect(status).toBe(200)
      return headers.get('etag')
    }
    const [one, other] = [200, 300].map((width) => writeLogoFile(`${width}.svg`, buildLogoSvg(width, 90)))
    const etags = [await etagWith(''), await etagWith(one!), await etagWith(other!)]
    expect(new Set(etags).size).toBe(3)
    expect(await etagWith('')).toBe(etags[0])
  })
})
