import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { STATE_MACHINE } from '../../server/generated/contract/vocabulary.ts'
import { newGuideCode } from '../../server/platform/codes/codes.ts'
import { HOUR_MS } from '../../server/platform/time/units.ts'
import { createDeliveredGuia, createGuiaOnRoute, registerEntrega } from '../archivos/images.ts'
import { useIntentos } from '../decisiones/move.ts'
import { useEnvironment } from '../environment.ts'
import { buildEstadoReport, buildGuia, hasta } from '../factories.ts'

const entorno = useEnvironment()
const { conIntento, createGuia: nueva } = useIntentos(entorno)
const RAZON = 'Era otro paquete'
type Estado = keyof typeof STATE_MACHINE.transiciones

const leer = async (guia: string) => (await entorno.operar('GET', `/guias/${guia}`)).cuerpo
const rectificar = async (guia: string, mas: object = {}, clave?: string) => {
  const { secuencia } = await leer(guia)
  return entorno.operar('POST', `/guias/${guia}/rectificar`, { razon: RAZON, secuencia, ...mas }, clave)
}
const negada = async (respuesta: ReturnType<typeof rectificar>) => {
  const { status, cuerpo } = await respuesta
  return [status, cuerpo.codigo, cuerpo.mensaje]
}

describe('POST /operaciones/v1/guias/{guia}/rectificar', () => {
  it('undoes a delivery; the merchant reads why, and hears of it', async () => {
    const comercio = await entorno.nuevoComercio()
    const { webhook } = await comercio.api.webhooks.crear({ url: 'http://127.0.0.1:9/', tipos: ['guia.rectificada'] })
    const { guia } = await createDeliveredGuia(entorno, comercio)
    const { status, cuerpo } = await rectificar(guia)
    expect([status, cuerpo.estado, cuerpo.secuencia]).toEqual([200, 'en_ruta', 5])
    const { eventos } = await comercio.api.guias.obtener(guia)
    expect(eventos.datos.at(-1)).toMatchObject({
      tipo: 'guia.rectificada',
      estado: 'en_ruta',
      estado_anterior: 'entregado',
      descripcion: RAZON,
    })
    const { datos } = await comercio.api.webhooks.avisos(webhook)
    expect(datos.map(({ tipo }) => tipo)).toEqual(['guia.rectificada'])
  })

  it('keeps the proof of a delivery that was undone apart from that of the next one', async () => {
    const comercio = await entorno.nuevoComercio()
    const { guia } = await createDeliveredGuia(entorno, comercio)
    const conPdf = () =>
      hasta(async () => {
        const prueba = await comercio.api.guias.pruebaEntrega(guia)
        return prueba.pdf !== null && { ...prueba, sha256: prueba.pdf.sha256 }
      })
    const primera = await conPdf()
    await rectificar(guia)
    await expect(comercio.api.guias.pruebaEntrega(guia)).rejects.toMatchObject({ codigo: 'prueba_no_disponible' })
    await registerEntrega(entorno, guia, { recibido_por: { nombre: 'Ana Tzul' } })
    const segunda = await conPdf()
    expect(segunda.recibido_por.nombre).toBe('Ana Tzul')
    const comprobar = async (sha256: string) =>
      (await entorno.request('POST', `/verificar/${guia}/comprobar`, { cuerpo: { sha256 } })).cuerpo
    expect(await comprobar(primera.sha256)).toMatchObject({ resultado: 'rectificada', manifiesto: primera.manifiesto })
    expect(await comprobar(segunda.sha256)).toMatchObject({ resultado: 'autentica', manifiesto: segunda.manifiesto })
    const pagina = await (await fetch(`${entorno.url}/verificar/${guia}`)).text()
    expect(pagina).toContain('Una entrega fue un error')
    expect(pagina).toContain('id="verificador"')
  })

  it('answers a repetition of the undone delivery with its own distance', async () => {
    const guia = await createGuiaOnRoute(entorno, await entorno.nuevoComercio())
    const { foto, firma, evento } = await registerEntrega(entorno, guia, {}, 'primera')
    await rectificar(guia)
    await registerEntrega(entorno, guia, { lat: 14.73 })
    const primera = {
      recibido_por: { nombre: 'María López', relacion: 'familiar' },
      fotos: [foto],
      firma,
      lat: 14.7189,
      lng: -90.6442,
      precision_m: 8.5,
    }
    const repetida = await entorno.operar('POST', `/guias/${guia}/entrega`, primera, 'primera')
    expect([repetida.status, repetida.cuerpo]).toEqual([200, evento])
  })

  it('counts no failed attempt that was undone, and supersedes its decision', async () => {
    const { guia, comercio, scan: escanear } = await conIntento()
    expect((await leer(guia)).decision.estado).toBe('pendiente')
    const { cuerpo } = await rectificar(guia)
    expect([cuerpo.estado, cuerpo.intentos, cuerpo.decision.estado]).toEqual(['en_ruta', 0, 'superada'])
    expect((await comercio.api.guias.intentos(guia)).datos).toEqual([])
    await escanear('intento_fallido')
    const { intentos, decision } = await leer(guia)
    expect([intentos, decision.estado]).toEqual([1, 'pendiente'])
    const { datos } = await comercio.api.guias.intentos(guia)
    expect(datos.map(({ numero_intento }) => numero_intento)).toEqual([1])
  })

  it('opens the decision again that the undone state had closed', async () => {
    const { guia, comercio, scan: escanear } = await conIntento()
    await comercio.api.guias.reintentar(guia)
    await escanear('en_ruta')
    const aplicada = await leer(guia)
    expect(aplicada.decision.estado).toBe('aplicada')
    const { cuerpo } = await rectificar(guia)
    expect([cuerpo.estado, cuerpo.decision]).toEqual(['intento_fallido', { ...aplicada.decision, estado: 'tomada' }])
    await escanear('en_ruta')
    expect((await leer(guia)).decision.estado).toBe('aplicada')
  })

  it('asks anew about a return that was undone', async () => {
    const { guia, scan: escanear } = await conIntento()
    await entorno.operar('POST', `/guias/${guia}/devolver`, { razon: 'Se mojó' })
    expect((await leer(guia)).estado).toBe('en_devolucion')
    const { cuerpo } = await rectificar(guia)
    expect(cuerpo).toMatchObject({ estado: 'intento_fallido', decision: { estado: 'pendiente', accion: null } })
    await escanear('en_ruta')
    expect((await leer(guia)).estado).toBe('en_ruta')
  })

  it('asks anew about a return that was undone after the deadline, and returns nothing by itself', async () => {
    const { guia } = await conIntento()
    await entorno.operar('POST', `/guias/${guia}/devolver`, { razon: 'Se mojó' })
    entorno.advance(7 * 24 * HOUR_MS)
    const { cuerpo } = await rectificar(guia)
    expect([cuerpo.estado, cuerpo.decision.estado]).toEqual(['intento_fallido', 'pendiente'])
    await entorno.waitForQuiet()
    expect((await leer(guia)).estado).toBe('intento_fallido')
  })

  it('keeps a decision that was taken after the undone state', async () => {
    const { guia, scan: escanear } = await nueva(undefined, 'recolectado', 'en_bodega', 'en_transito')
    await entorno.operar('POST', `/guias/${guia}/devolver`, { razon: 'Se mojó' })
    const { cuerpo } = await rectificar(guia)
    expect([cuerpo.estado, cuerpo.decision.estado]).toEqual(['en_bodega', 'tomada'])
    await escanear('en_transito')
    expect((await leer(guia)).estado).toBe('en_devolucion')
  })

  it('gives the parcel back to the courier who had it, who may report what happened meanwhile', async () => {
    const comercio = await entorno.nuevoComercio()
    const [antes, despues] = [await repartidor(), await repartidor()]
    const guia = await createGuiaOnRoute(entorno, comercio, antes)
    await entorno.operar('POST', `/guias/${guia}/eventos`, buildEstadoReport('en_bodega'))
    const ocurrido_en = entorno.clock().toISOString()
    await entorno.operar('POST', `/guias/${guia}/eventos`, { estado: 'en_ruta', repartidor: despues })
    expect((await leer(guia)).repartidor.repartidor).toBe(despues)
    const { cuerpo } = await rectificar(guia)
    expect([cuerpo.estado, cuerpo.repartidor?.repartidor]).toEqual(['en_bodega', antes])
    const tarde = { estado: 'en_ruta', repartidor: antes, ocurrido_en }
    const { cuerpo: evento } = await entorno.operar('POST', `/guias/${guia}/eventos`, tarde)
    expect([evento.tipo, evento.estado]).toEqual(['guia.en_ruta', 'en_ruta'])
  })

  it('lets a late take count that happened after the last take that stands', async () => {
    const comercio = await entorno.nuevoComercio()
    const [antes, equivocado, despues] = [await repartidor(), await repartidor(), await repartidor()]
    const guia = await createGuiaOnRoute(entorno, comercio, antes)
    entorno.advance(1_000)
    const ocurrido_en = entorno.clock().toISOString()
    entorno.advance(1_000)
    await entorno.operar('POST', `/guias/${guia}/eventos`, buildEstadoReport('en_bodega'))
    await entorno.operar('POST', `/guias/${guia}/eventos`, { estado: 'en_ruta', repartidor: equivocado })
    expect((await rectificar(guia)).cuerpo.estado).toBe('en_bodega')
    const tarde = { estado: 'en_ruta', repartidor: despues, ocurrido_en }
    const { cuerpo } = await entorno.operar('POST', `/guias/${guia}/eventos`, tarde)
    expect([cuerpo.tipo, (await leer(guia)).repartidor.repartidor]).toEqual(['guia.escaneo_tardio', despues])
  })

  it('is as if the undone states had never been, in any walk', async () => {
    const { transiciones, rectificables } = STATE_MACHINE
    const comercio = await entorno.nuevoComercio()
    await fc.assert(
      fc.asyncProperty(fc.array(fc.nat(100), { minLength: 1, maxLength: 12 }), async (elecciones) => {
        const { guia } = await comercio.api.guias.crear(buildGuia())
        const pila: { estado: Estado; intentos: number }[] = [{ estado: 'aceptado', intentos: 0 }]
        for (const eleccion of elecciones) {
          const { estado, intentos } = pila.at(-1)!
          const posibles = (transiciones[estado] as readonly Estado[]).filter((uno) => uno !== 'cancelado')
          // Every third choice undoes.
          const deshace = posibles.length === 0 || (eleccion % 3 === 0 && pila.length > 1)
          if (deshace) {
            const { status } = await rectificar(guia)
            const puede = (rectificables as readonly Estado[]).includes(estado)
            expect([estado, status]).toEqual([estado, puede ? 200 : 409])
            if (!puede) break
            pila.pop()
          } else {
            const nuevo = posibles[eleccion % posibles.length]!
            const forzar = nuevo === 'entregado' ? { forzar: { razon: 'Sin prueba' } } : {}
            const { status } = await entorno.operar('POST', `/guias/${guia}/eventos`, {
              ...buildEstadoReport(nuevo),
              ...forzar,
            })
            expect([nuevo, status]).toEqual([nuevo, 201])
            pila.push({ estado: nuevo, intentos: intentos + (nuevo === 'intento_fallido' ? 1 : 0) })
          }
          expect(await leer(guia)).toMatchObject(pila.at(-1)!)
        }
      }),
      { numRuns: 25 },
    )
  })

  it.each([
    ['aceptado', [], /^La guía está en aceptado: todavía no hay ningún cambio que deshacer\.$/],
    ['devuelto', ['recolectado', 'en_devolucion', 'devuelto'], /^La guía está en devuelto, que no se deshace\. /],
  ])('refuses a guide in %s', async (_estado, estados, mensaje) => {
    const { guia } = await nueva(undefined, ...estados)
    expect(await negada(rectificar(guia))).toEqual([409, 'transicion_invalida', expect.stringMatching(mensaje)])
  })

  it('refuses a cancelled guide', async () => {
    const { guia, api } = await nueva()
    await api.guias.cancelar(guia)
    expect(await negada(rectificar(guia))).toEqual([
      409,
      'transicion_invalida',
      expect.stringMatching(/^La guía está en cancelado, /),
    ])
  })

  it('refuses a delivery of more than 24 hours, and takes one of less', async () => {
    const comercio = await entorno.nuevoComercio()
    const [a, b] = [await createDeliveredGuia(entorno, comercio), await createDeliveredGuia(entorno, comercio)]
    const mover = (guia: string, horas: number) =>
      entorno.db.pool.query(`update evento set registrado_en = $2::timestamptz where guia = $1`, [
        guia,
        new Date(entorno.clock().getTime() - horas * 3_600_000),
      ])
    await mover(a.guia, 24.01)
    expect(await negada(rectificar(a.guia))).toEqual([
      409,
      'transicion_invalida',
      expect.stringMatching(/^La entrega se registró el \S+Z, y solo se deshace durante 24 h\. /),
    ])
    await mover(b.guia, 23.99)
    expect((await rectificar(b.guia)).status).toBe(200)
  })

  it('refuses a guide whose personal data were erased', async () => {
    const { guia } = await createDeliveredGuia(entorno, await entorno.nuevoComercio())
    await entorno.db.pool.query('update guia set datos_borrados_en = now() where guia = $1', [guia])
    expect(await negada(rectificar(guia))).toEqual([
      409,
      'transicion_invalida',
      'La guía está en entregado: los datos de la persona ya se borraron.',
    ])
  })

  it('undoes one state for two who ask at once', async () => {
    const { guia } = await conIntento()
    const { secuencia } = await leer(guia)
    const dos = await Promise.all([rectificar(guia, { secuencia }), rectificar(guia, { secuencia })])
    expect(dos.map(({ status, cuerpo }) => [status, cuerpo.codigo]).sort()).toEqual([
      [200, undefined],
      [409, 'carrera_perdida'],
    ])
    expect((await leer(guia)).estado).toBe('en_ruta')
  })

  it('answers a repetition with the guide, and undoes nothing more', async () => {
    const { guia } = await conIntento()
    const { secuencia } = await leer(guia)
    expect((await rectificar(guia, { secuencia }, 'rectificar-1')).status).toBe(200)
    const repetida = await rectificar(guia, { secuencia }, 'rectificar-1')
    expect([repetida.status, repetida.cabeceras.get('Idempotent-Replayed'), repetida.cuerpo.estado]).toEqual([
      200,
      'true',
      'en_ruta',
    ])
  })

  it('needs the sequence that was read', async () => {
    const { guia } = await conIntento()
    const { status, cuerpo } = await entorno.operar('POST', `/guias/${guia}/rectificar`, { razon: RAZON })
    expect([status, cuerpo.errores[0].campo]).toEqual([422, '/secuencia'])
  })

  it('returns 404 for an unknown guide', async () => {
    const { status, cuerpo } = await entorno.operar('POST', `/guias/${newGuideCode()}/rectificar`, {
      razon: RAZON,
      secuencia: 1,
    })
    expect([status, cuerpo.codigo]).toEqual([404, 'guia_desconocida'])
  })
})

async function repartidor(): Promise<string> {
  const { cuerpo } = await entorno.operar('POST', '/repartidores', { nombre: 'Luis Batz' })
  return cuerpo.repartidor
}
