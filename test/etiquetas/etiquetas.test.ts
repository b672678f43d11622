import { hash } from 'node:crypto'
import { ErrorConflicto, ErrorGuias, ErrorNoEncontrado, ErrorValidacion, type GuiaIndividual } from '@guias/sdk'
import { beforeAll, describe, expect, it } from 'vitest'
import { crearEnlaces } from '../../server/archivos/enlaces.ts'
import { crearTurnos } from '../../server/http/turnos.ts'
import { crearSecretos } from '../../server/secretos.ts'
import { entregada } from '../archivos/imagenes.ts'
import { type Comercio, MASTER_KEY, usarEntorno } from '../entorno.ts'
import { RECOGIDA, unaGuia } from '../fabricas.ts'
import { leerPdf } from '../pruebasEntrega/leerPdf.ts'
import { barrasDibujadas, leerBarras, leerQr, qrDibujado } from './lectores.ts'

const entorno = usarEntorno({}, () => ({ COURIER_NAME: 'Envíos del Altiplano' }))
let comercio: Comercio
let guia: string
beforeAll(async () => {
  comercio = await entorno.nuevoComercio()
  guia = await nueva()
})

const nueva = async (cambios: Partial<GuiaIndividual> = {}, de = comercio) =>
  (await de.api.guias.crear(unaGuia(cambios))).guia
const descargar = async (url: string, init?: RequestInit) => {
  const respuesta = await fetch(url, init)
  return { status: respuesta.status, cabeceras: respuesta.headers, pdf: Buffer.from(await respuesta.arrayBuffer()) }
}
const problemaDe = (promesa: PromiseLike<unknown>) =>
  Promise.resolve(promesa).then(
    () => {
      throw new Error('it was accepted')
    },
    (error: { codigo: string; status: number; estado?: string; errores: { campo: string }[] }) => error,
  )
/** An answer of the link without what differs in every answer. */
const negada = async (url: string) => {
  const { status, pdf } = await descargar(url)
  const { id_solicitud: _1, ...resto } = JSON.parse(pdf.toString())
  return { status, ...resto }
}

describe('GET /api/v1/guias/{guia}/etiqueta', () => {
  it('links to a label whose bars and QR a scanner reads', async () => {
    const codigo = await nueva({
      external_ref: 'PEDIDO-ÑANDÚ-7',
      destinatario: 'María José Ajú',
      direccion: '5a avenida norte 12, casa 3',
      indicaciones: 'Portón verde, frente a la tienda',
      contenido: '2 pares de zapatos',
    })
    const { url, vence_en, guias } = await comercio.api.guias.etiqueta(codigo)
    expect([guias, new URL(url).pathname]).toEqual([[codigo], `/etiquetas/${codigo}`])
    expect(new Date(vence_en).getTime() - Date.now()).toBeLessThanOrEqual(15 * 60_000)
    expect(new Date(vence_en).getTime() - Date.now()).toBeGreaterThan(14 * 60_000)
    const { status, cabeceras, pdf } = await descargar(url)
    expect(status).toBe(200)
    expect(Object.fromEntries(cabeceras)).toMatchObject({
      'content-type': 'application/pdf',
      'content-length': String(pdf.length),
      'content-disposition': `inline; filename="etiqueta-${codigo}.pdf"`,
      etag: `"${hash('sha256', pdf, 'base64url')}"`,
      'cache-control': 'no-store',
      'x-content-type-options': 'nosniff',
      'content-security-policy': "default-src 'none'; sandbox; frame-ancestors 'none'",
      'cross-origin-resource-policy': 'cross-origin',
      'referrer-policy': 'no-referrer',
    })
    const { paginas, texto, medida, contenidos } = leerPdf(pdf)
    expect(paginas).toBe(1)
    expect(medida.map((puntos) => (puntos / 72) * 25.4)).toEqual([expect.closeTo(100, 1), expect.closeTo(150, 1)])
    for (const dicho of [
      ...['Envíos del Altiplano', 'Tienda La Ceiba', 'PEDIDO-ÑANDÚ-7', RECOGIDA.nombre, 'María José Ajú'],
      ...['Tel. +50231481676', 'San Juan Sacatepéquez', 'Guatemala', '5a avenida norte 12, casa 3'],
      ...['Indicaciones: Portón verde, frente a la tienda', '2 pares de zapatos', 'PRUEBA'],
      codigo.replace(/(.{4})(?=.)/g, '$1 '),
    ])
      expect(texto).toContain(dicho)
    expect(leerBarras(barrasDibujadas(contenidos[0]!))).toBe(codigo)
    const rastreo = leerQr(qrDibujado(contenidos[0]!))
    expect(rastreo).toBe(`${entorno.url}/r/${codigo}`)
    const pagina = await fetch(rastreo)
    expect([pagina.status, await pagina.text()]).toEqual([200, expect.stringContaining(codigo.slice(0, 4))])
  })

  it('is drawn when it is opened: the same bytes until the guide changes', async () => {
    const codigo = await nueva({ direccion: 'Calle vieja 1' })
    const { url } = await comercio.api.guias.etiqueta(codigo.toLowerCase())
    const primera = await descargar(url)
    await entorno.operar('POST', `/guias/${codigo}/eventos`, { estado: 'recolectado' })
    const otra = await descargar((await comercio.api.guias.etiqueta(codigo)).url)
    expect(otra.pdf.equals(primera.pdf)).toBe(true)
    const ETag = primera.cabeceras.get('etag')!
    for (const suyo of [ETag, `W/${ETag}`, `"x", ${ETag}`, '*']) {
      const igual = await descargar(url, { headers: { 'If-None-Match': suyo } })
      expect([suyo, igual.status, igual.pdf.length, igual.cabeceras.get('etag')]).toEqual([suyo, 304, 0, ETag])
    }
    await entorno.db.pool.query(`update guia set direccion = 'Calle nueva 2' where guia = $1`, [codigo])
    const cambiada = await descargar(url, { headers: { 'If-None-Match': ETag } })
    expect([cambiada.status, leerPdf(cambiada.pdf).texto]).toEqual([200, expect.stringContaining('Calle nueva 2')])
  })

  it('of a live guide says nothing of a test, and holds whatever names are', async () => {
    const real = await entorno.nuevoComercio('live')
    await entorno.db.pool.query('update comercio set nombre = $2 where id = $1', [real.id, 'Ñ'.repeat(120)])
    const codigo = await nueva(
      { destinatario: 'W'.repeat(120), direccion: `${'Calle larga '.repeat(20)}fin`, external_ref: 'R'.repeat(128) },
      real,
    )
    const { texto, contenidos, paginas } = leerPdf((await descargar((await real.api.guias.etiqueta(codigo)).url)).pdf)
    expect([paginas, texto.includes('PRUEBA'), leerBarras(barrasDibujadas(contenidos[0]!))]).toEqual([1, false, codigo])
  })

  it('is not for a cancelled guide, nor is a link from before', async () => {
    const codigo = await nueva()
    const { url } = await comercio.api.guias.etiqueta(codigo)
    const { url: tanda } = await comercio.api.guias.etiquetas([guia, codigo])
    await comercio.api.guias.cancelar(codigo)
    const error = await problemaDe(comercio.api.guias.etiqueta(codigo))
    expect(error).toBeInstanceOf(ErrorConflicto)
    expect([error.codigo, error.estado]).toEqual(['guia_cancelada', 'cancelado'])
    for (const viejo of [url, tanda]) expect((await negada(viejo)).codigo).toBe('enlace_invalido')
    // A delivered one may be printed again.
    const { guia: entregado } = await entregada(entorno, comercio)
    expect((await descargar((await comercio.api.guias.etiqueta(entregado)).url)).status).toBe(200)
  })
})

describe('POST /api/v1/etiquetas', () => {
  it('links to one PDF of a hundred labels, in the order given', { timeout: 60_000 }, async () => {
    const lote = await comercio.api.guias.crearLote({
      recogida: RECOGIDA,
      guias: Array.from({ length: 100 }, () => unaGuia()),
    })
    const codigos = lote.resultados.map((uno) => (uno.ok ? uno.guia : '')).reverse()
    const { url, guias } = await comercio.api.guias.etiquetas(codigos)
    expect(guias).toEqual(codigos)
    expect(url.length).toBeLessThan(2_048)
    const { status, cabeceras, pdf } = await descargar(url)
    expect([status, cabeceras.get('content-disposition')]).toEqual([200, 'inline; filename="etiquetas-100.pdf"'])
    const { paginas, contenidos } = leerPdf(pdf)
    expect(paginas).toBe(100)
    expect(contenidos.map((contenido) => leerBarras(barrasDibujadas(contenido)))).toEqual(codigos)
  })

  it('takes codes as people type them', async () => {
    const otra = await nueva()
    const tecleada = `${guia.slice(0, 4)}-${guia.slice(4, 8)} ${guia.slice(8)}`.toLowerCase()
    const { guias, url } = await comercio.api.guias.etiquetas([otra, tecleada])
    expect(guias).toEqual([otra, guia])
    expect(leerPdf((await descargar(url)).pdf).paginas).toBe(2)
  })

  it('names each position that can’t be, and does nothing by halves', async () => {
    const extrano = await entorno.nuevoComercio()
    const [ajena, cancelada] = [await nueva({}, extrano), await nueva()]
    await comercio.api.guias.cancelar(cancelada)
    const llave = await entorno.nuevaLlave(comercio, { modo: 'live' })
    const enReal = (await entorno.pedir('POST', '/api/v1/guias', { llave, cuerpo: unaGuia() })).cuerpo.guia
    const error = await problemaDe(
      comercio.api.guias.etiquetas([guia, ajena, 'nada', cancelada, guia.toLowerCase(), '000000000000', enReal]),
    )
    expect(error).toBeInstanceOf(ErrorValidacion)
    expect(error.errores).toMatchObject([
      { campo: '/guias/1', codigo: 'valor_no_admitido', mensaje: expect.stringContaining('no es una guía suya') },
      { campo: '/guias/2', mensaje: expect.stringContaining('no es una guía suya') },
      { campo: '/guias/3', mensaje: expect.stringContaining('cancelada') },
      { campo: '/guias/4', mensaje: expect.stringContaining('posición 0') },
      { campo: '/guias/5', mensaje: expect.stringContaining('no es una guía suya') },
      { campo: '/guias/6', mensaje: expect.stringContaining('no es una guía suya') },
    ])
    for (const [cuerpo, campo] of [
      [{}, '/guias'],
      [{ guias: [] }, '/guias'],
      [{ guias: Array.from({ length: 101 }, () => guia) }, '/guias'],
      [{ guias: [guia, 7] }, '/guias/1'],
      [{ guias: [guia], formato: 'zpl' }, '/formato'],
    ] as const) {
      const { status, cuerpo: problema } = await entorno.pedir('POST', '/api/v1/etiquetas', {
        llave: comercio.llave,
        cuerpo,
      })
      expect([status, problema.errores?.[0].campo]).toEqual([422, campo])
    }
  })

  it('isn’t asked at all for what is no list', () => {
    expect(() => comercio.api.guias.etiquetas(guia as never)).toThrow(ErrorGuias)
    expect(() => comercio.api.guias.etiquetas(undefined as never)).toThrow('deben ser una lista')
  })

  it('needs its scope, and one’s own guides', async () => {
    const sin = await entorno.nuevaLlave(comercio, { alcances: ['guias:escribir', 'pruebas_entrega:leer'] })
    const negado = await entorno.pedir('POST', '/api/v1/etiquetas', { llave: sin, cuerpo: { guias: [guia] } })
    expect([negado.status, negado.cuerpo.codigo]).toEqual([403, 'alcance_insuficiente'])
    const extrano = await entorno.nuevoComercio()
    expect(await problemaDe(extrano.api.guias.etiqueta(guia))).toBeInstanceOf(ErrorNoEncontrado)
  })
})

describe('GET /etiquetas/{guias}', () => {
  it('answers every altered byte the same, and tells nothing apart', { timeout: 60_000 }, async () => {
    const otra = await nueva()
    const { url } = await comercio.api.guias.etiquetas([guia, otra])
    const mala = await negada(`${entorno.url}/etiquetas/${guia}`)
    expect([mala.status, mala.codigo]).toEqual([403, 'enlace_invalido'])
    const desde = entorno.url.length + '/etiquetas/'.length
    for (let i = desde; i < url.length; i++) {
      for (const letra of ['0', 'A', '-', '&']) {
        if (url[i] === letra) continue
        const alterado = url.slice(0, i) + letra + url.slice(i + 1)
        expect([alterado, await negada(alterado)]).toEqual([alterado, mala])
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
      expect([malo, await negada(malo)]).toEqual([malo, mala])
    expect((await descargar(url)).status).toBe(200)
  })

  it('opens nothing with a file’s signature, nor a file with its own', async () => {
    const { foto } = await entregada(entorno, comercio)
    const partes = {
      secretos: crearSecretos([Buffer.from(MASTER_KEY, 'base64')]),
      reloj: () => new Date(),
      urlPublica: entorno.url,
      minutos: 1,
    }
    const [deArchivos, deEtiquetas] = [
      crearEnlaces({ ...partes, carpeta: 'archivos' }),
      crearEnlaces({ ...partes, carpeta: 'etiquetas' }),
    ]
    expect((await descargar(deEtiquetas.crear(guia, 'attachment').url)).cabeceras.get('content-disposition')).toBe(
      `attachment; filename="etiqueta-${guia}.pdf"`,
    )
    expect((await descargar(deArchivos.crear(foto, 'inline').url)).status).toBe(200)
    for (const url of [
      deArchivos.crear(guia, 'inline').url.replace('/archivos/', '/etiquetas/'),
      deEtiquetas.crear(foto, 'inline').url.replace('/etiquetas/', '/archivos/'),
      // Well signed, and nobody's.
      deEtiquetas.crear('000000000000', 'inline').url,
      deEtiquetas.crear('', 'inline').url.replace('/etiquetas/?', '/etiquetas/-?'),
      crearEnlaces({ ...partes, carpeta: 'etiquetas', minutos: 0 }).crear(guia, 'inline').url,
    ])
      expect([url, (await negada(url)).codigo]).toEqual([url, 'enlace_invalido'])
  })

  it('knows GET and HEAD, says so before it looks at the link, and expires', async () => {
    const { url } = await comercio.api.guias.etiqueta(guia)
    for (const metodo of ['POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'])
      for (const destino of [url, `${entorno.url}/etiquetas/${guia}`]) {
        const { status, cabeceras } = await descargar(destino, { method: metodo })
        expect([metodo, status, cabeceras.get('allow')]).toEqual([metodo, 405, 'GET, HEAD'])
      }
    const cabeza = await descargar(url, { method: 'HEAD' })
    const { pdf } = await descargar(url)
    expect([cabeza.status, cabeza.pdf.length, Number(cabeza.cabeceras.get('content-length'))]).toEqual([
      200,
      0,
      pdf.length,
    ])
    entorno.adelantar(15 * 60_000 + 1_000)
    expect((await negada(url)).codigo).toBe('enlace_invalido')
    expect((await descargar((await comercio.api.guias.etiqueta(guia)).url)).status).toBe(200)
    expect(entorno.log.join('')).not.toContain(/firma=(.+)$/.exec(url)![1]!)
  })

  it('draws two at once, lets sixteen wait, and tells the others to come back', async () => {
    const lote = await comercio.api.guias.crearLote({
      recogida: RECOGIDA,
      guias: Array.from({ length: 20 }, () => unaGuia()),
    })
    const { url } = await comercio.api.guias.etiquetas(lote.resultados.map((uno) => (uno.ok ? uno.guia : '')))
    const todas = await Promise.all(Array.from({ length: 24 }, () => descargar(url)))
    const buenas = todas.filter(({ status }) => status === 200)
    const demas = todas.filter(({ status }) => status !== 200)
    expect(buenas.length).toBeGreaterThanOrEqual(18)
    expect(demas.length).toBeGreaterThan(0)
    for (const { status, cabeceras } of demas) expect([status, cabeceras.get('retry-after')]).toEqual([503, '2'])
    expect(new Set(buenas.map(({ pdf }) => hash('sha256', pdf))).size).toBe(1)
    expect((await descargar(url)).status).toBe(200)
  })
})

describe('turns', () => {
  it('go in order, so many at once, and go on after a failure', async () => {
    const turno = crearTurnos(2, 3)
    const pasos: string[] = []
    let enCurso = 0
    const hacer = (nombre: string, falla = false) =>
      turno(async () => {
        expect(++enCurso).toBeLessThanOrEqual(2)
        await new Promise((resolve) => setTimeout(resolve, 5))
        enCurso--
        pasos.push(nombre)
        if (falla) throw new Error(nombre)
      })
    const todos = await Promise.allSettled(
      ['a', 'b', 'c', 'd', 'e', 'f'].map((nombre) => hacer(nombre, ['a', 'c'].includes(nombre))),
    )
    expect(todos.map(({ status }) => status === 'fulfilled')).toEqual([false, true, false, true, true, false])
    expect(todos[5]).toMatchObject({ reason: { codigo: 'no_disponible' } })
    expect(pasos).toEqual(['a', 'b', 'c', 'd', 'e'])
    await hacer('g')
    expect(pasos.at(-1)).toBe('g')
  })
})
