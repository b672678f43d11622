import { beforeAll, describe, expect, it } from 'vitest'
import { MAQUINA_DE_ESTADOS, MOTIVOS } from '../../server/contrato/generado/vocabulario.ts'
import { enRuta, unaFirma, unaFoto } from '../archivos/imagenes.ts'
import { type Comercio, usarEntorno } from '../entorno.ts'
import { sinDestino, unaGuia } from '../fabricas.ts'
import { type Movil, nuevoMovil } from './movil.ts'

const entorno = usarEntorno()
const MINUTO = 60_000
/** When it happens, for what is told later. */
const hace = (minutos: number) => new Date(entorno.reloj().getTime() - minutos * MINUTO).toISOString()

let movil: Movil
let comercio: Comercio
beforeAll(async () => {
  movil = await nuevoMovil(entorno)
  comercio = await entorno.nuevoComercio()
})
let claves = 0
/** What the phone makes up for each action. */
const clave = () => `movil-${++claves}`
const ver = async (guia: string) => (await movil.pedir('GET', `/guias/${guia}`)).cuerpo
const eventos = async (guia: string) =>
  (await entorno.db.pool.query('select * from evento where guia = $1 order by secuencia', [guia])).rows
const foto = async (guia: string) => (await movil.subir(guia, 'foto', await unaFoto())).cuerpo.archivo as string

describe('GET /repartidor/v1/guias/{guia}', () => {
  it('says what a courier needs, and nothing else', async () => {
    const { guia } = await comercio.api.guias.crear(
      unaGuia({ destinatario: 'María', direccion: '5a avenida 1', indicaciones: 'Portón verde', contenido: 'Zapatos' }),
    )
    const { status, cuerpo, cabeceras } = await movil.pedir('GET', `/guias/${guia}`)
    expect(status).toBe(200)
    expect(cuerpo).toEqual({
      guia,
      estado: 'aceptado',
      modo: 'test',
      destinatario: 'María',
      telefono: '+50231481676',
      departamento: 'Guatemala',
      municipio: 'San Juan Sacatepéquez',
      direccion: '5a avenida 1',
      indicaciones: 'Portón verde',
      contenido: 'Zapatos',
      ubicacion: { estado: 'confirmada', lat: 14.71889, lng: -90.64417, maps_url: null, referencia: null },
      intentos: 0,
      secuencia: 1,
      zona_horaria: 'America/Guatemala',
      siguientes: [{ estado: 'recolectado', motivos: [], con_prueba: false, con_ubicacion: false }],
    })
    // Its clock is what the phone sets its own by, and the answer stays out of every cache.
    expect(Math.abs(Date.parse(cabeceras.get('date')!) - Date.now())).toBeLessThan(3_000)
    expect(cabeceras.get('cache-control')).toBe('no-store')
  })

  it('offers in each state what the contract’s machine does, but not what is the merchant’s', async () => {
    const { guia } = await comercio.api.guias.crear(unaGuia())
    const { transiciones } = MAQUINA_DE_ESTADOS
    for (const estado of Object.keys(transiciones) as (keyof typeof transiciones)[]) {
      await entorno.db.pool.query('update guia set estado = $1 where guia = $2', [estado, guia])
      const { siguientes } = await ver(guia)
      expect(siguientes).toEqual(
        transiciones[estado]
          .filter((otro) => otro !== 'cancelado')
          .map((otro) => ({
            estado: otro,
            motivos: Object.keys((MOTIVOS as Record<string, object>)[otro] ?? {}),
            con_prueba: otro === 'entregado',
            con_ubicacion: otro === 'en_ruta',
          })),
      )
    }
  })

  it('tells the place once it is confirmed', async () => {
    const { guia } = await comercio.api.guias.crear(sinDestino())
    const sin = { lat: null, lng: null, maps_url: null, referencia: null }
    expect((await ver(guia)).ubicacion).toEqual({ estado: 'solicitada', ...sin })
    await comercio.api.guias.confirmarUbicacion(guia, {
      maps_url: 'https://www.google.com/maps?q=14.7,-90.6',
      referencia: 'Casa azul',
    })
    expect((await ver(guia)).ubicacion).toEqual({
      estado: 'confirmada',
      lat: 14.7,
      lng: -90.6,
      maps_url: 'https://www.google.com/maps?q=14.7,-90.6',
      referencia: 'Casa azul',
    })
  })

  it('is of every merchant and mode, read as it is typed, and 404 for what names none', async () => {
    const deVerdad = await entorno.nuevoComercio('live')
    const { guia } = await deVerdad.api.guias.crear(unaGuia())
    const tecleada = `${guia.slice(0, 4)}-${guia.slice(4, 8)} ${guia.slice(8)}`.toLowerCase()
    expect(await ver(encodeURIComponent(tecleada))).toMatchObject({ guia, modo: 'live' })
    for (const otra of ['000000000000', 'nada', `${guia}0`]) {
      const { status, cuerpo } = await movil.pedir('GET', `/guias/${otra}`)
      expect([otra, status, cuerpo.codigo]).toEqual([otra, 404, 'guia_desconocida'])
    }
  })
})

describe('GET /repartidor/v1/guias', () => {
  it('gives a day’s guides at once, in the order asked for, and names what is none', async () => {
    const otro = await entorno.nuevoComercio('live')
    const guias: string[] = []
    for (let i = 0; i < 6; i++) guias.push((await (i % 2 ? otro : comercio).api.guias.crear(unaGuia())).guia)
    const pedidas = [...guias.toReversed(), guias[0]!.toLowerCase(), 'nada', '000000000000']
    const { status, cuerpo } = await movil.pedir('GET', `/guias?guia=${pedidas.join('&guia=')}`)
    expect(status).toBe(200)
    expect(cuerpo.datos.map(({ guia }: { guia: string }) => guia)).toEqual(guias.toReversed())
    expect(cuerpo.datos[0]).toEqual(await ver(guias[5]!))
    // 000000000000 is well formed, and still nobody's.
    expect(cuerpo.desconocidas).toEqual(['nada', '000000000000'])
    expect((await movil.pedir('GET', `/guias?guia=${guias[0]}`)).cuerpo.datos).toHaveLength(1)
  })

  it('takes from 1 to 100', async () => {
    const lista = (n: number) => Array.from({ length: n }, (_, i) => `guia=X${i}`).join('&')
    expect((await movil.pedir('GET', `/guias?${lista(100)}`)).cuerpo.desconocidas).toHaveLength(100)
    for (const consulta of ['', '?guia=', `?${lista(101)}`, `?guia=${'A'.repeat(65)}`, '?guia=A&guia=A'])
      expect([consulta, (await movil.pedir('GET', `/guias${consulta}`)).status]).toEqual([consulta, 400])
  })
})

describe('POST /repartidor/v1/guias/{guia}/eventos', () => {
  it('registers in the courier’s name what happened, when it happened', async () => {
    const { guia } = await comercio.api.guias.crear(unaGuia())
    await movil.registrar(guia, { estado: 'recolectado', ocurrido_en: hace(0), idempotencia: clave() })
    const cuando = hace(-1)
    const { status, cuerpo } = await movil.registrar(guia, {
      estado: 'en_ruta',
      ocurrido_en: cuando,
      lat: 14.7,
      lng: -90.6,
      idempotencia: clave(),
    })
    expect([status, cuerpo]).toMatchObject([201, { estado: 'en_ruta', ocurrido_en: cuando, aplicado: true }])
    const fallido = await movil.registrar(guia, {
      estado: 'intento_fallido',
      motivo: 'destinatario_ausente',
      ocurrido_en: hace(-2),
      idempotencia: clave(),
    })
    expect(fallido.cuerpo).toMatchObject({ numero_intento: 1, requiere_accion: false })
    expect(await ver(guia)).toMatchObject({ estado: 'intento_fallido', intentos: 1, secuencia: 4 })
    const autores = (await eventos(guia)).map(({ autor }) => autor)
    expect(autores).toEqual([null, movil.repartidor, movil.repartidor, movil.repartidor])
    expect((await comercio.api.guias.obtener(guia)).estado).toBe('intento_fallido')
  })

  it('does not do what is not a courier’s', async () => {
    const { guia } = await comercio.api.guias.crear(sinDestino())
    await movil.registrar(guia, { estado: 'recolectado', idempotencia: clave() })
    const faltas = async (cuerpo: object) => {
      const respuesta = await movil.registrar(guia, { idempotencia: clave(), ...cuerpo })
      expect(respuesta.status).toBe(422)
      return respuesta.cuerpo.errores
    }
    expect(await faltas({ estado: 'en_ruta', forzar: { razon: 'Me urge' } })).toMatchObject([{ campo: '/forzar' }])
    expect(await faltas({ estado: 'entregado' })).toMatchObject([
      { campo: '/estado', mensaje: expect.stringContaining('/entrega') },
    ])
    expect(await faltas({ estado: 'en_devolucion', motivo: 'robo' })).toMatchObject([{ campo: '/motivo' }])
    expect(await faltas({ estado: 'en_bodega', autor: 'rep_000000000000' })).toMatchObject([{ codigo: 'desconocido' }])
    const sinClave = await movil.registrar(guia, { estado: 'en_bodega' })
    expect(sinClave.cuerpo.errores).toMatchObject([{ campo: '/idempotencia', codigo: 'requerido' }])
    const sinLugar = await movil.registrar(guia, { estado: 'en_ruta', idempotencia: clave() })
    expect([sinLugar.status, sinLugar.cuerpo.codigo]).toEqual([409, 'ubicacion_sin_confirmar'])
    expect(sinLugar.cuerpo.mensaje).toContain('central')
    const cancelada = await movil.registrar(guia, { estado: 'cancelado', idempotencia: clave() })
    expect([cancelada.status, cancelada.cuerpo.codigo]).toEqual([409, 'transicion_invalida'])
    expect(await ver(guia)).toMatchObject({ estado: 'recolectado' })
  })

  it('tells a wrong clock so that the phone can show it', async () => {
    const { guia } = await comercio.api.guias.crear(unaGuia())
    const { status, cuerpo } = await movil.registrar(guia, {
      estado: 'recolectado',
      ocurrido_en: hace(-6),
      idempotencia: clave(),
    })
    expect([status, cuerpo.errores]).toEqual([
      422,
      [
        {
          campo: '/ocurrido_en',
          codigo: 'fuera_de_rango',
          mensaje: expect.stringMatching(/5 minutos en el futuro; revise el reloj/),
        },
      ],
    ])
  })

  it('notes down what comes late, and moves nothing back', async () => {
    const { guia } = await comercio.api.guias.crear(unaGuia())
    for (const estado of ['recolectado', 'en_transito'])
      await entorno.operar('POST', `/guias/${guia}/eventos`, { estado })
    const { status, cuerpo } = await movil.registrar(guia, {
      estado: 'en_bodega',
      ocurrido_en: hace(30),
      idempotencia: clave(),
    })
    expect([status, cuerpo]).toMatchObject([
      201,
      { tipo: 'guia.escaneo_tardio', estado: 'en_transito', estado_reportado: 'en_bodega', aplicado: false },
    ])
    expect((await ver(guia)).estado).toBe('en_transito')
  })

  it('is one event, however often and at once it is sent; another of the same key is a conflict', async () => {
    const { guia } = await comercio.api.guias.crear(unaGuia())
    const idempotencia = clave()
    const accion = { estado: 'recolectado', ocurrido_en: hace(0), idempotencia }
    const vistas = await Promise.all(Array.from({ length: 20 }, () => movil.registrar(guia, accion)))
    expect(vistas.map(({ status }) => status).sort()).toEqual([...Array(19).fill(200), 201])
    const repetida = await movil.registrar(guia, accion)
    expect([repetida.status, repetida.cabeceras.get('idempotent-replayed')]).toEqual([200, 'true'])
    for (const { cuerpo } of vistas) expect(cuerpo).toEqual(repetida.cuerpo)
    expect(await eventos(guia)).toHaveLength(2)
    // Also once the guide has gone on.
    await movil.registrar(guia, { estado: 'en_ruta', idempotencia: clave() })
    expect((await movil.registrar(guia, accion)).cuerpo).toEqual(repetida.cuerpo)
    const otra = await movil.registrar(guia, { ...accion, estado: 'en_bodega' })
    expect([otra.status, otra.cuerpo.codigo]).toEqual([409, 'idempotencia_en_conflicto'])
    expect(await eventos(guia)).toHaveLength(3)
  })
})

describe('POST /repartidor/v1/guias/{guia}/entrega', () => {
  const recibido_por = { nombre: 'María López', relacion: 'familiar' }

  it('delivers with photo, signature and place, in the courier’s name', async () => {
    const guia = await enRuta(entorno, comercio)
    const subida = await movil.subir(guia, 'foto', await unaFoto())
    expect([subida.status, subida.cuerpo.tipo]).toEqual([201, 'foto'])
    const firma = await movil.subir(guia, 'firma', await unaFirma())
    const entrega = {
      recibido_por,
      fotos: [subida.cuerpo.archivo],
      firma: firma.cuerpo.archivo,
      lat: 14.7189,
      lng: -90.6442,
      precision_m: 8,
      idempotencia: clave(),
    }
    const { status, cuerpo } = await movil.entregar(guia, entrega)
    expect([status, cuerpo]).toMatchObject([
      201,
      { estado: 'entregado', aplicado: true, distancia_m: expect.any(Number) },
    ])
    const repetida = await movil.entregar(guia, entrega)
    expect([repetida.status, repetida.cabeceras.get('idempotent-replayed'), repetida.cuerpo]).toEqual([
      200,
      'true',
      cuerpo,
    ])
    expect(await ver(guia)).toMatchObject({ estado: 'entregado', siguientes: [] })
    expect((await eventos(guia)).at(-1)).toMatchObject({ autor: movil.repartidor })
    const { rows } = await entorno.db.pool.query('select distinct autor from archivo where archivo = any($1)', [
      [...entrega.fotos, entrega.firma],
    ])
    expect(rows).toEqual([{ autor: movil.repartidor }])
    const prueba = await entorno.pedir('GET', `/api/v1/guias/${guia}/prueba-entrega`, { llave: comercio.llave })
    expect(prueba.cuerpo).toMatchObject({ recibido_por, fotos: [{ archivo: entrega.fotos[0] }] })
  })

  it('counts with its own time when it was made without coverage', async () => {
    const guia = await enRuta(entorno, comercio)
    const fotos = [await foto(guia)]
    entorno.adelantar(60 * MINUTO)
    // Meanwhile somebody scanned the parcel at the depot.
    await entorno.operar('POST', `/guias/${guia}/eventos`, { estado: 'en_bodega' })
    const ocurrido_en = hace(20)
    const { status, cuerpo } = await movil.entregar(guia, { recibido_por, fotos, ocurrido_en, idempotencia: clave() })
    expect([status, cuerpo]).toMatchObject([
      201,
      { estado: 'entregado', estado_anterior: 'en_bodega', ocurrido_en, tardio: true, aplicado: true },
    ])
  })

  it('is not applied once the guide is over, nor without its files or its key', async () => {
    const guia = await enRuta(entorno, comercio)
    const fotos = [await foto(guia)]
    const ajena = await foto(await enRuta(entorno, comercio))
    const mal = await movil.entregar(guia, { recibido_por, fotos: [ajena], idempotencia: clave() })
    expect([mal.status, mal.cuerpo.errores]).toMatchObject([
      422,
      [{ campo: '/fotos/0', mensaje: expect.stringContaining(`POST /repartidor/v1/guias/${guia}/archivos`) }],
    ])
    expect((await movil.entregar(guia, { recibido_por, fotos })).cuerpo.errores).toMatchObject([
      { campo: '/idempotencia' },
    ])
    for (const estado of ['en_devolucion', 'devuelto'])
      await entorno.operar('POST', `/guias/${guia}/eventos`, { estado })
    const tarde = await movil.entregar(guia, { recibido_por, fotos, ocurrido_en: hace(5), idempotencia: clave() })
    expect([tarde.status, tarde.cuerpo.codigo]).toEqual([409, 'transicion_invalida'])
  })

  it('is one delivery when it comes twenty times at once', async () => {
    const guia = await enRuta(entorno, comercio)
    const entrega = { recibido_por, fotos: [await foto(guia)], idempotencia: clave() }
    const vistas = await Promise.all(Array.from({ length: 20 }, () => movil.entregar(guia, entrega)))
    expect(vistas.filter(({ status }) => status === 201)).toHaveLength(1)
    expect([...new Set(vistas.map(({ status }) => status))].sort()).toEqual([200, 201])
    const { rows } = await entorno.db.pool.query(
      `select (select count(*) from evento e where e.guia = g.guia and e.estado = 'entregado')::int eventos,
        (select count(*) from prueba_entrega p where p.guia_id = g.id)::int pruebas from guia g where guia = $1`,
      [guia],
    )
    expect(rows).toEqual([{ eventos: 1, pruebas: 1 }])
    const otra = await movil.entregar(guia, { ...entrega, recibido_por: { nombre: 'Otra persona' } })
    expect([otra.status, otra.cuerpo.codigo]).toEqual([409, 'idempotencia_en_conflicto'])
  })

  it('has one winner against whatever else is done to the guide', async () => {
    for (let vez = 0; vez < 12; vez++) {
      const guia = await enRuta(entorno, comercio)
      const fotos = [await foto(guia)]
      const [entrega, otro] = await Promise.all([
        movil.entregar(guia, { recibido_por, fotos, idempotencia: clave() }),
        entorno.operar('POST', `/guias/${guia}/eventos`, { estado: vez % 2 ? 'extraviado' : 'en_devolucion' }),
      ])
      const fin = (await ver(guia)).estado
      const ganoLaEntrega = entrega.status === 201
      expect([vez, fin === 'entregado']).toEqual([vez, ganoLaEntrega])
      expect([vez, otro.status]).toEqual([vez, ganoLaEntrega ? expect.any(Number) : 201])
      const historia = await eventos(guia)
      expect(historia.map(({ secuencia }) => secuencia)).toEqual(historia.map((_, i) => i + 1))
    }
  })

  it('takes a collection or the merchant’s cancellation, never both', async () => {
    for (let vez = 0; vez < 12; vez++) {
      const { guia } = await comercio.api.guias.crear(unaGuia())
      const [recogida, cancelacion] = await Promise.all([
        movil.registrar(guia, { estado: 'recolectado', idempotencia: clave() }),
        entorno.pedir('POST', `/api/v1/guias/${guia}/cancelar`, { llave: comercio.llave }),
      ])
      expect([recogida.status, cancelacion.status].sort()).toEqual([expect.any(Number), 409])
      expect((await ver(guia)).estado).toBe(recogida.status === 201 ? 'recolectado' : 'cancelado')
    }
  })
})

describe('POST /repartidor/v1/guias/{guia}/archivos', () => {
  it('takes only pictures, of guides that exist; again is another copy', async () => {
    const guia = await enRuta(entorno, comercio)
    expect((await movil.subir('000000000000', 'foto', await unaFoto())).cuerpo.codigo).toBe('guia_desconocida')
    const mala = await movil.subir(guia, 'foto', Buffer.from('<svg onload="alert(1)"/>'))
    expect([mala.status, mala.cuerpo.codigo]).toEqual([422, 'imagen_invalida'])
    const [una, otra] = [await foto(guia), await foto(guia)]
    expect(una).not.toBe(otra)
  })

  it('is 404 for every unknown guide', async () => {
    for (const que of ['eventos', 'entrega'] as const) {
      const cuerpo =
        que === 'eventos'
          ? { estado: 'recolectado', idempotencia: clave() }
          : { recibido_por: { nombre: 'x' }, fotos: ['arch_0000000000000000'], idempotencia: clave() }
      const { status } = await movil.pedir('POST', `/guias/000000000000/${que}`, cuerpo)
      expect([que, status]).toEqual([que, 404])
    }
  })
})
