import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { STATE_MACHINE } from '../../server/generated/contract/vocabulary.ts'
import { newGuideCode } from '../../server/platform/codes/codes.ts'
import { HOUR_MS } from '../../server/platform/time/units.ts'
import { createDeliveredGuia, createGuiaOnRoute, registerEntrega } from '../archivos/images.ts'
import { useIntentos } from '../decisiones/move.ts'
import { useEnvironment } from '../environment.ts'
import { buildEstadoReport, buildGuia, waitUntil } from '../factories.ts'

const environment = useEnvironment()
const { createGuiaWithIntento, createGuia: fresh } = useIntentos(environment)
const RAZON = 'Era otro paquete'
type Estado = keyof typeof STATE_MACHINE.transiciones

const read = async (guia: string) => (await environment.asOperador('GET', `/guias/${guia}`)).body
const rectificar = async (guia: string, more: object = {}, key?: string) => {
  const { secuencia } = await read(guia)
  return environment.asOperador('POST', `/guias/${guia}/rectificar`, { razon: RAZON, secuencia, ...more }, key)
}
const refusal = async (response: ReturnType<typeof rectificar>) => {
  const { status, body } = await response
  return [status, body.codigo, body.mensaje]
}

describe('POST /operaciones/v1/guias/{guia}/rectificar', () => {
  it('undoes a delivery; the merchant reads why, and hears of it', async () => {
    const comercio = await environment.createComercio()
    const { webhook } = await comercio.api.webhooks.crear({ url: 'http://127.0.0.1:9/', tipos: ['guia.rectificada'] })
    const { guia } = await createDeliveredGuia(environment, comercio)
    const { status, body } = await rectificar(guia)
    expect([status, body.estado, body.secuencia]).toEqual([200, 'en_ruta', 5])
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
    const comercio = await environment.createComercio()
    const { guia } = await createDeliveredGuia(environment, comercio)
    const waitForPdf = () =>
      waitUntil(async () => {
        const prueba = await comercio.api.guias.pruebaEntrega(guia)
        return prueba.pdf !== null && { ...prueba, sha256: prueba.pdf.sha256 }
      })
    const first = await waitForPdf()
    await rectificar(guia)
    await expect(comercio.api.guias.pruebaEntrega(guia)).rejects.toMatchObject({ codigo: 'prueba_no_disponible' })
    await registerEntrega(environment, guia, { recibido_por: { nombre: 'Ana Tzul' } })
    const second = await waitForPdf()
    expect(second.recibido_por.nombre).toBe('Ana Tzul')
    const comprobar = async (sha256: string) =>
      (await environment.request('POST', `/verificar/${guia}/comprobar`, { body: { sha256 } })).body
    expect(await comprobar(first.sha256)).toMatchObject({ resultado: 'rectificada', manifiesto: first.manifiesto })
    expect(await comprobar(second.sha256)).toMatchObject({ resultado: 'autentica', manifiesto: second.manifiesto })
    const page = await (await fetch(`${environment.url}/verificar/${guia}`)).text()
    expect(page).toContain('Una entrega fue un error')
    expect(page).toContain('id="verificador"')
  })

  it('answers a repetition of the undone delivery with its own distance', async () => {
    const guia = await createGuiaOnRoute(environment, await environment.createComercio())
    const { foto, firma, evento } = await registerEntrega(environment, guia, {}, 'primera')
    await rectificar(guia)
    await registerEntrega(environment, guia, { lat: 14.73 })
    const first = {
      recibido_por: { nombre: 'María López', relacion: 'familiar' },
      fotos: [foto],
      firma,
      lat: 14.7189,
      lng: -90.6442,
      precision_m: 8.5,
    }
    const repeated = await environment.asOperador('POST', `/guias/${guia}/entrega`, first, 'primera')
    expect([repeated.status, repeated.body]).toEqual([200, evento])
  })

  it('counts no failed attempt that was undone, and supersedes its decision', async () => {
    const { guia, comercio, scan } = await createGuiaWithIntento()
    expect((await read(guia)).decision.estado).toBe('pendiente')
    const { body } = await rectificar(guia)
    expect([body.estado, body.intentos, body.decision.estado]).toEqual(['en_ruta', 0, 'superada'])
    expect((await comercio.api.guias.intentos(guia)).datos).toEqual([])
    await scan('intento_fallido')
    const { intentos, decision } = await read(guia)
    expect([intentos, decision.estado]).toEqual([1, 'pendiente'])
    const { datos } = await comercio.api.guias.intentos(guia)
    expect(datos.map(({ numero_intento }) => numero_intento)).toEqual([1])
  })

  it('opens the decision again that the undone state had closed', async () => {
    const { guia, comercio, scan } = await createGuiaWithIntento()
    await comercio.api.guias.reintentar(guia)
    await scan('en_ruta')
    const aplicada = await read(guia)
    expect(aplicada.decision.estado).toBe('aplicada')
    const { body } = await rectificar(guia)
    expect([body.estado, body.decision]).toEqual(['intento_fallido', { ...aplicada.decision, estado: 'tomada' }])
    await scan('en_ruta')
    expect((await read(guia)).decision.estado).toBe('aplicada')
  })

  it('asks anew about a return that was undone', async () => {
    const { guia, scan } = await createGuiaWithIntento()
    await environment.asOperador('POST', `/guias/${guia}/devolver`, { razon: 'Se mojó' })
    expect((await read(guia)).estado).toBe('en_devolucion')
    const { body } = await rectificar(guia)
    expect(body).toMatchObject({ estado: 'intento_fallido', decision: { estado: 'pendiente', accion: null } })
    await scan('en_ruta')
    expect((await read(guia)).estado).toBe('en_ruta')
  })

  it('asks anew about a return that was undone after the deadline, and returns nothing by itself', async () => {
    const { guia } = await createGuiaWithIntento()
    await environment.asOperador('POST', `/guias/${guia}/devolver`, { razon: 'Se mojó' })
    environment.advance(7 * 24 * HOUR_MS)
    const { body } = await rectificar(guia)
    expect([body.estado, body.decision.estado]).toEqual(['intento_fallido', 'pendiente'])
    await environment.waitForQuiet()
    expect((await read(guia)).estado).toBe('intento_fallido')
  })

  it('keeps a decision that was taken after the undone state', async () => {
    const { guia, scan } = await fresh(undefined, 'recolectado', 'en_bodega', 'en_transito')
    await environment.asOperador('POST', `/guias/${guia}/devolver`, { razon: 'Se mojó' })
    const { body } = await rectificar(guia)
    expect([body.estado, body.decision.estado]).toEqual(['en_bodega', 'tomada'])
    await scan('en_transito')
    expect((await read(guia)).estado).toBe('en_devolucion')
  })

  it('gives the parcel back to the courier who had it, who may report what happened meanwhile', async () => {
    const comercio = await environment.createComercio()
    const [before, after] = [await repartidor(), await repartidor()]
    const guia = await createGuiaOnRoute(environment, comercio, before)
    await environment.asOperador('POST', `/guias/${guia}/eventos`, buildEstadoReport('en_bodega'))
    const ocurrido_en = environment.clock().toISOString()
    await environment.asOperador('POST', `/guias/${guia}/eventos`, { estado: 'en_ruta', repartidor: after })
    expect((await read(guia)).repartidor.repartidor).toBe(after)
    const { body } = await rectificar(guia)
    expect([body.estado, body.repartidor?.repartidor]).toEqual(['en_bodega', before])
    const late = { estado: 'en_ruta', repartidor: before, ocurrido_en }
    const { body: evento } = await environment.asOperador('POST', `/guias/${guia}/eventos`, late)
    expect([evento.tipo, evento.estado]).toEqual(['guia.en_ruta', 'en_ruta'])
  })

  it('lets a late take count that happened after the last take that stands', async () => {
    const comercio = await environment.createComercio()
    const [before, wrongRepartidor, after] = [await repartidor(), await repartidor(), await repartidor()]
    const guia = await createGuiaOnRoute(environment, comercio, before)
    environment.advance(1_000)
    const ocurrido_en = environment.clock().toISOString()
    environment.advance(1_000)
    await environment.asOperador('POST', `/guias/${guia}/eventos`, buildEstadoReport('en_bodega'))
    await environment.asOperador('POST', `/guias/${guia}/eventos`, { estado: 'en_ruta', repartidor: wrongRepartidor })
    expect((await rectificar(guia)).body.estado).toBe('en_bodega')
    const late = { estado: 'en_ruta', repartidor: after, ocurrido_en }
    const { body } = await environment.asOperador('POST', `/guias/${guia}/eventos`, late)
    expect([body.tipo, (await read(guia)).repartidor.repartidor]).toEqual(['guia.escaneo_tardio', after])
  })

  it('is as if the undone states had never been, in any walk', async () => {
    const { transiciones, rectificables } = STATE_MACHINE
    const comercio = await environment.createComercio()
    await fc.assert(
      fc.asyncProperty(fc.array(fc.nat(100), { minLength: 1, maxLength: 12 }), async (elecciones) => {
        const { guia } = await comercio.api.guias.crear(buildGuia())
        const stack: { estado: Estado; intentos: number }[] = [{ estado: 'aceptado', intentos: 0 }]
        for (const eleccion of elecciones) {
          const { estado, intentos } = stack.at(-1)!
          const possibleEstados = (transiciones[estado] as readonly Estado[]).filter((one) => one !== 'cancelado')
          // Every third choice undoes.
          const undoes = possibleEstados.length === 0 || (eleccion % 3 === 0 && stack.length > 1)
          if (undoes) {
            const { status } = await rectificar(guia)
            const puede = (rectificables as readonly Estado[]).includes(estado)
            expect([estado, status]).toEqual([estado, puede ? 200 : 409])
            if (!puede) break
            stack.pop()
          } else {
            const newEstado = possibleEstados[eleccion % possibleEstados.length]!
            const forzar = newEstado === 'entregado' ? { forzar: { razon: 'Sin prueba' } } : {}
            const { status } = await environment.asOperador('POST', `/guias/${guia}/eventos`, {
              ...buildEstadoReport(newEstado),
              ...forzar,
            })
            expect([newEstado, status]).toEqual([newEstado, 201])
            stack.push({ estado: newEstado, intentos: intentos + (newEstado === 'intento_fallido' ? 1 : 0) })
          }
          expect(await read(guia)).toMatchObject(stack.at(-1)!)
        }
      }),
      { numRuns: 25 },
    )
  })

  it.each([
    ['aceptado', [], /^La guía está en aceptado: todavía no hay ningún cambio que deshacer\.$/],
    ['devuelto', ['recolectado', 'en_devolucion', 'devuelto'], /^La guía está en devuelto, que no se deshace\. /],
  ])('refuses a guide in %s', async (_estado, estados, mensaje) => {
    const { guia } = await fresh(undefined, ...estados)
    expect(await refusal(rectificar(guia))).toEqual([409, 'transicion_invalida', expect.stringMatching(mensaje)])
  })

  it('refuses a cancelled guide', async () => {
    const { guia, api } = await fresh()
    await api.guias.cancelar(guia)
    expect(await refusal(rectificar(guia))).toEqual([
      409,
      'transicion_invalida',
      expect.stringMatching(/^La guía está en cancelado, /),
    ])
  })

  it('refuses a delivery of more than 24 hours, and takes one of less', async () => {
    const comercio = await environment.createComercio()
    const [a, b] = [await createDeliveredGuia(environment, comercio), await createDeliveredGuia(environment, comercio)]
    const mover = (guia: string, horas: number) =>
      environment.db.pool.query(`update evento set registrado_en = $2::timestamptz where guia = $1`, [
        guia,
        new Date(environment.clock().getTime() - horas * 3_600_000),
      ])
    await mover(a.guia, 24.01)
    expect(await refusal(rectificar(a.guia))).toEqual([
      409,
      'transicion_invalida',
      expect.stringMatching(/^La entrega se registró el \S+Z, y solo se deshace durante 24 h\. /),
    ])
    await mover(b.guia, 23.99)
    expect((await rectificar(b.guia)).status).toBe(200)
  })

  it('refuses a guide whose personal data were erased', async () => {
    const { guia } = await createDeliveredGuia(environment, await environment.createComercio())
    await environment.db.pool.query('update guia set datos_borrados_en = now() where guia = $1', [guia])
    expect(await refusal(rectificar(guia))).toEqual([
      409,
      'transicion_invalida',
      'La guía está en entregado: los datos de la persona ya se borraron.',
    ])
  })

  it('undoes one state for two who ask at once', async () => {
    const { guia } = await createGuiaWithIntento()
    const { secuencia } = await read(guia)
    const dos = await Promise.all([rectificar(guia, { secuencia }), rectificar(guia, { secuencia })])
    expect(dos.map(({ status, body }) => [status, body.codigo]).sort()).toEqual([
      [200, undefined],
      [409, 'carrera_perdida'],
    ])
    expect((await read(guia)).estado).toBe('en_ruta')
  })

  it('answers a repetition with the guide, and undoes nothing more', async () => {
    const { guia } = await createGuiaWithIntento()
    const { secuencia } = await read(guia)
    expect((await rectificar(guia, { secuencia }, 'rectificar-1')).status).toBe(200)
    const repeated = await rectificar(guia, { secuencia }, 'rectificar-1')
    expect([repeated.status, repeated.headers.get('Idempotent-Replayed'), repeated.body.estado]).toEqual([
      200,
      'true',
      'en_ruta',
    ])
  })

  it('needs the sequence that was read', async () => {
    const { guia } = await createGuiaWithIntento()
    const { status, body } = await environment.asOperador('POST', `/guias/${guia}/rectificar`, { razon: RAZON })
    expect([status, body.errores[0].campo]).toEqual([422, '/secuencia'])
  })

  it('returns 404 for an unknown guide', async () => {
    const { status, body } = await environment.asOperador('POST', `/guias/${newGuideCode()}/rectificar`, {
      razon: RAZON,
      secuencia: 1,
    })
    expect([status, body.codigo]).toEqual([404, 'guia_desconocida'])
  })
})

async function repartidor(): Promise<string> {
  const { body } = await environment.asOperador('POST', '/repartidores', { nombre: 'Luis Batz' })
  return body.repartidor
}
