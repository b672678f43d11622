import { describe, expect, it } from 'vitest'
import { createSignedLinks } from '../../server/domain/archivos/links.ts'
import { readEtiquetas, recordEtiquetas } from '../../server/domain/etiquetas/etiqueta.ts'
import { createSecrets } from '../../server/platform/secrets.ts'
import { createDeliveredGuia } from '../archivos/images.ts'
import { buildLogoSvg, writeLogoFile } from '../brand/logos.ts'
import { type Comercio, MASTER_KEY } from '../environment.ts'
import { buildGuia, FULL_RUN_ONLY, hasta, RECOGIDA } from '../factories.ts'
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

const entorno = useEtiquetas()

describe('GET /etiquetas/{guias}', () => {
  it('answers every altered byte the same, and tells nothing apart', FULL_RUN_ONLY, async () => {
    const otra = await createGuiaForEtiqueta()
    const { url } = await etiquetasComercio.api.guias.etiquetas([guia, otra])
    const mala = await fetchRefusal(`${entorno.url}/etiquetas/${guia}`)
    expect([mala.status, mala.codigo]).toEqual([403, 'enlace_invalido'])
    const desde = entorno.url.length + '/etiquetas/'.length
    for (let i = desde; i < url.length; i++) {
      for (const letra of ['0', 'A', '-', '&']) {
        if (url[i] === letra) continue
        const alterado = url.slice(0, i) + letra + url.slice(i + 1)
        expect([alterado, await fetchRefusal(alterado)]).toEqual([alterado, mala])
      }
    }
    const [base, consulta] = url.split('?')
    for (const malo of [
      `${base}?${consulta}&x=1`,
      `${base}?${consulta}&v=1`,
      `${base}-${guia}?${consulta}`,
      // The same guides, otherwise: another order, fewer, in small letters.
      `${entorno.url}/etiquetas/${otra}-${guia}?${consulta}`,
      `${entorno.url}/etiquetas/${guia}?${consulta}`,
      `${entorno.url}/etiquetas/${guia.toLowerCase()}-${otra}?${consulta}`,
      url.replace('disp=inline', 'disp=attachment'),
      url.replace(/exp=\d+/, 'exp=9999999999'),
    ])
      expect([malo, await fetchRefusal(malo)]).toEqual([malo, mala])
    expect((await downloadEtiquetas(url)).status).toBe(200)
  })

  it('opens a letter sheet with a link that was signed for it, and with no other', async () => {
    const { guias } = etiquetasComercio.api
    const { url } = await guias.etiquetas([guia], { formato: 'carta' })
    const { url: normal } = await guias.etiquetas([guia])
    const { url: dicho } = await guias.etiquetas([guia], { formato: '10x15' })
    const medidas = []
    for (const una of [url, normal, dicho]) medidas.push(parsePdf((await downloadEtiquetas(una)).pdf).measurement)
    expect(medidas).toEqual([[612, 792], medidas[1], medidas[1]])
    expect(medidas[1]![0]).toBeCloseTo(283.46, 1)
    const etiquetas = await Promise.all([url, normal].map((una) => fetch(una, { method: 'HEAD' })))
    expect(new Set(etiquetas.map(({ headers }) => headers.get('etag'))).size).toBe(2)
    for (const malo of [
      url.replace('&formato=carta', ''),
      url.replace('formato=carta', 'formato=10x15'),
      url.replace('formato=carta', 'formato='),
      normal.replace('&firma=', '&formato=carta&firma='),
    ])
      expect([malo, (await fetchRefusal(malo)).codigo]).toEqual([malo, 'enlace_invalido'])
  })

  it('opens nothing with a file’s signature, nor a file with its own', async () => {
    const { foto } = await createDeliveredGuia(entorno, etiquetasComercio)
    const partes = {
      secretos: createSecrets([Buffer.from(MASTER_KEY, 'base64')]),
      clock: () => new Date(),
      publicUrl: entorno.url,
      minutes: 1,
    }
    const [deArchivos, deEtiquetas] = [
      createSignedLinks({ ...partes, folder: 'archivos' }),
      createSignedLinks({ ...partes, folder: 'etiquetas' }),
    ]
    expect(
      (await downloadEtiquetas(deEtiquetas.create(guia, 'attachment').url)).cabeceras.get('content-disposition'),
    ).toBe(`attachment; filename="etiqueta-${guia}.pdf"`)
    expect((await downloadEtiquetas(deArchivos.create(foto, 'inline').url)).status).toBe(200)
    for (const url of [
      deArchivos.create(guia, 'inline').url.replace('/archivos/', '/etiquetas/'),
      deEtiquetas.create(foto, 'inline').url.replace('/etiquetas/', '/archivos/'),
      // Well signed, and nobody's.
      deEtiquetas.create('000000000000', 'inline').url,
      deEtiquetas.create('', 'inline').url.replace('/etiquetas/?', '/etiquetas/-?'),
      createSignedLinks({ ...partes, folder: 'etiquetas', minutes: 0 }).create(guia, 'inline').url,
    ])
      expect([url, (await fetchRefusal(url)).codigo]).toEqual([url, 'enlace_invalido'])
  })

  it('shows the pickup’s address, who is asked for there, and its indications', async () => {
    const deQuien = { contacto: 'Luis Batz', telefono: '5555 1234', direccion: '12 avenida 3-40' }
    const suya = await createGuiaForEtiqueta({ recogida: { ...RECOGIDA, ...deQuien, indicaciones: 'Portón azul' } })
    const { texto } = parsePdf((await downloadEtiquetas((await etiquetasComercio.api.guias.etiqueta(suya)).url)).pdf)
    for (const dicho of ['Luis Batz', 'Tel. 5555 1234', '12 avenida 3-40', 'Portón azul'])
      expect(texto).toContain(dicho)
  })

  it('knows GET and HEAD, says so before it looks at the link, and expires', async () => {
    const { url } = await etiquetasComercio.api.guias.etiqueta(guia)
    for (const metodo of ['POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'])
      for (const destino of [url, `${entorno.url}/etiquetas/${guia}`]) {
        const { status, cabeceras } = await downloadEtiquetas(destino, { method: metodo })
        expect([metodo, status, cabeceras.get('allow')]).toEqual([metodo, 405, 'GET, HEAD'])
      }
    const { pdf } = await downloadEtiquetas(url)
    const cabeza = await downloadEtiquetas(url, { method: 'HEAD' })
    expect([cabeza.status, cabeza.pdf.length, Number(cabeza.cabeceras.get('content-length'))]).toEqual([
      200,
      0,
      pdf.length,
    ])
    entorno.advance(15 * 60_000 + 1_000)
    expect((await fetchRefusal(url)).codigo).toBe('enlace_invalido')
    expect((await downloadEtiquetas((await etiquetasComercio.api.guias.etiqueta(guia)).url)).status).toBe(200)
    expect(entorno.log.join('')).not.toContain(/firma=(.+)$/.exec(url)![1]!)
  })

  /** Links of a hundred labels, less one for each that came before. */
  const deCien = async (de: Comercio, enlaces: number) => {
    const guias = Array.from({ length: 100 }, () => buildGuia())
    const lote = await de.api.guias.crearLote({ recogida: RECOGIDA, guias })
    const creadas = lote.resultados.map((uno) => (uno.ok ? uno.guia : ''))
    const urls = []
    for (let i = 0; i < enlaces; i++) urls.push((await de.api.guias.etiquetas(creadas.slice(i))).url)
    return urls
  }

  it('is drawn once for all who open it, and not at all for HEAD', async () => {
    const [url = ''] = await deCien(etiquetasComercio, 1)
    const cabezas = await Promise.all(Array.from({ length: 40 }, () => downloadEtiquetas(url, { method: 'HEAD' })))
    for (const { status, cabeceras } of cabezas)
      expect([status, cabeceras.get('content-type'), cabeceras.get('content-length')]).toEqual([
        200,
        'application/pdf',
        null,
      ])
    const todas = await Promise.all(Array.from({ length: 60 }, () => downloadEtiquetas(url)))
    const [{ pdf, cabeceras }] = todas as [(typeof todas)[0]]
    for (const una of todas) expect([una.status, una.pdf.equals(pdf)]).toEqual([200, true])
    const cabeza = await downloadEtiquetas(url, { method: 'HEAD' })
    expect(cabeza.cabeceras.get('content-length')).toBe(String(pdf.length))
    for (const { cabeceras: suyas } of [...cabezas, cabeza]) expect(suyas.get('etag')).toBe(cabeceras.get('etag'))
  })

  it('writes a guide once for those who opened it together, and again after a correction', async () => {
    const { api } = etiquetasComercio
    const codigo = await createGuiaForEtiqueta()
    const leer = () => readEtiquetas(entorno.db, 'todos', [codigo])
    const version = async () =>
      (await entorno.db.pool.query('select xmin::text as xmin from guia where guia = $1', [codigo])).rows[0].xmin
    const leidas = await leer()
    await recordEtiquetas(entorno.db, leidas, entorno.clock())
    const anotada = await version()
    await recordEtiquetas(entorno.db, leidas, entorno.clock())
    expect(await version()).toBe(anotada)

    await api.guias.corregir(codigo, { destinatario: 'Otra Persona' })
    await recordEtiquetas(entorno.db, leidas, entorno.clock())
    expect((await api.guias.obtener(codigo)).advertencias).toMatchObject([{ codigo: 'etiqueta_desactualizada' }])
    await recordEtiquetas(entorno.db, await leer(), entorno.clock())
    expect((await api.guias.obtener(codigo)).advertencias).toEqual([])
  })

  it(
    'tells those that are too many to come back, and lets no merchant wait behind another’s',
    FULL_RUN_ONLY,
    async () => {
      const urls = await deCien(etiquetasComercio, 40)
      const otro = await entorno.nuevoComercio()
      const { url: deOtro } = await otro.api.guias.etiqueta((await otro.api.guias.crear(buildGuia())).guia)
      let negadas = 0
      let dibujadas = 0
      const muchas = urls.map(async (url) => {
        const bajada = await downloadEtiquetas(url)
        if (bajada.status === 200) dibujadas++
        else negadas++
        return bajada
      })
      // One that was refused shows that the line is full.
      await hasta(async () => negadas > 0)
      const antes = dibujadas
      // On a slow machine he may be told to come back, too.
      await hasta(async () => (await downloadEtiquetas(deOtro)).status === 200)
      expect(dibujadas - antes).toBeLessThan(20)
      const todas = await Promise.all(muchas)
      const buenas = todas.filter(({ status }) => status === 200)
      const demas = todas.filter(({ status }) => status !== 200)
      expect(buenas.length).toBeGreaterThan(0)
      // One is drawn at once, or two; 32 wait, some of them in vain where the machine is slow.
      expect(demas.length).toBeGreaterThanOrEqual(40 - 2 - 32)
      for (const { status, cabeceras } of demas) expect([status, cabeceras.get('retry-after')]).toEqual([503, '2'])
    },
  )

  it('keeps no place for who went away', FULL_RUN_ONLY, async () => {
    const [url = '', ...urls] = await deCien(etiquetasComercio, 41)
    const control = new AbortController()
    let negadas = 0
    const idas = urls.map((una) =>
      fetch(una, { signal: control.signal }).then(
        ({ status }) => {
          if (status === 503) negadas++
        },
        () => {},
      ),
    )
    const cortadas = () => entorno.log.filter((linea) => linea.includes('"cortada":true')).length
    const antes = cortadas()
    // Once it is full, somebody is refused.
    await hasta(async () => negadas > 0)
    control.abort()
    await Promise.all(idas)
    await hasta(async () => cortadas() > antes)
    expect((await downloadEtiquetas(url)).status).toBe(200)
  })

  it('has an entity tag that changes with the logo, and stays the same without one', async () => {
    // The label shows the address of the service.
    const PORT = `${await findFreePort()}`
    const etagCon = async (BRAND_LOGO: string) => {
      await entorno.reset({ PORT, BRAND_LOGO })
      const { llave } = etiquetasComercio
      const { cuerpo } = await entorno.request('GET', `/api/v1/guias/${guia}/etiqueta`, { llave })
      const { status, cabeceras } = await downloadEtiquetas(cuerpo.url, { method: 'HEAD' })
      expect(status).toBe(200)
      return cabeceras.get('etag')
    }
    const [uno, otro] = [200, 300].map((ancho) => writeLogoFile(`${ancho}.svg`, buildLogoSvg(ancho, 90)))
    const etags = [await etagCon(''), await etagCon(uno!), await etagCon(otro!)]
    expect(new Set(etags).size).toBe(3)
    expect(await etagCon('')).toBe(etags[0])
  })
})
