import { ErrorGuias, ErrorNoEncontrado, ErrorValidacion } from '@guias/sdk'
import { describe, expect, it } from 'vitest'
import { RECOGIDA, unaGuia } from '../fabricas.ts'
import { problemaDe } from '../problema.ts'
import { leerPdf } from '../pruebasEntrega/leerPdf.ts'
import { bajarEtiquetas, comercioDeEtiquetas, guia, nueva, usarEtiquetas } from './etiquetas.ts'
import { barrasDibujadas, leerBarras } from './lectores.ts'

const entorno = usarEtiquetas()

describe('POST /api/v1/etiquetas', () => {
  it('links to one PDF of a hundred labels, in the order given', { timeout: 60_000 }, async () => {
    const lote = await comercioDeEtiquetas.api.guias.crearLote({
      recogida: RECOGIDA,
      guias: Array.from({ length: 100 }, () => unaGuia()),
    })
    const codigos = lote.resultados.map((uno) => (uno.ok ? uno.guia : '')).reverse()
    const { url, guias } = await comercioDeEtiquetas.api.guias.etiquetas(codigos)
    expect(guias).toEqual(codigos)
    expect(url.length).toBeLessThan(2_048)
    const { status, cabeceras, pdf } = await bajarEtiquetas(url)
    expect([status, cabeceras.get('content-disposition')]).toEqual([200, 'inline; filename="etiquetas-100.pdf"'])
    const { paginas, contenidos } = leerPdf(pdf)
    expect(paginas).toBe(100)
    expect(contenidos.map((contenido) => leerBarras(barrasDibujadas(contenido)))).toEqual(codigos)
  })

  it('takes codes as people type them', async () => {
    const otra = await nueva()
    const tecleada = `${guia.slice(0, 4)}-${guia.slice(4, 8)} ${guia.slice(8)}`.toLowerCase()
    const { guias, url } = await comercioDeEtiquetas.api.guias.etiquetas([otra, tecleada])
    expect(guias).toEqual([otra, guia])
    expect(leerPdf((await bajarEtiquetas(url)).pdf).paginas).toBe(2)
  })

  it('names each position that can’t be, and does nothing by halves', async () => {
    const extrano = await entorno.nuevoComercio()
    const [ajena, cancelada] = [await nueva({}, extrano), await nueva()]
    await comercioDeEtiquetas.api.guias.cancelar(cancelada)
    const llave = await entorno.nuevaLlave(comercioDeEtiquetas, { modo: 'live' })
    const enReal = (await entorno.pedir('POST', '/api/v1/guias', { llave, cuerpo: unaGuia() })).cuerpo.guia
    const error = await problemaDe(
      comercioDeEtiquetas.api.guias.etiquetas([
        guia,
        ajena,
        'nada',
        cancelada,
        guia.toLowerCase(),
        '000000000000',
        enReal,
      ]),
    )
    expect(error).toBeInstanceOf(ErrorValidacion)
    expect(error.errores).toMatchObject([
      { campo: '/guias/1', codigo: 'valor_no_admitido', mensaje: expect.stringContaining('no es una guía suya') },
      { campo: '/guias/2', mensaje: expect.stringContaining('no puede ser de una guía') },
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
        llave: comercioDeEtiquetas.llave,
        cuerpo,
      })
      expect([status, problema.errores?.[0].campo]).toEqual([422, campo])
    }
  })

  it('isn’t asked at all for what is no list', () => {
    expect(() => comercioDeEtiquetas.api.guias.etiquetas(guia as never)).toThrow(ErrorGuias)
    expect(() => comercioDeEtiquetas.api.guias.etiquetas(undefined as never)).toThrow('deben ser una lista')
  })

  it('needs its scope, and one’s own guides', async () => {
    const sin = await entorno.nuevaLlave(comercioDeEtiquetas, { alcances: ['guias:escribir', 'pruebas_entrega:leer'] })
    const negado = await entorno.pedir('POST', '/api/v1/etiquetas', { llave: sin, cuerpo: { guias: [guia] } })
    expect([negado.status, negado.cuerpo.codigo]).toEqual([403, 'alcance_insuficiente'])
    const extrano = await entorno.nuevoComercio()
    expect(await problemaDe(extrano.api.guias.etiqueta(guia))).toBeInstanceOf(ErrorNoEncontrado)
  })
})
