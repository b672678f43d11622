import { hash } from 'node:crypto'
import { ErrorAlcance, ErrorConflicto, ErrorNoEncontrado, ErrorValidacion, type Estado } from '@guias/sdk'
import sharp from 'sharp'
import { describe, expect, it } from 'vitest'
import { MAQUINA_DE_ESTADOS, MOTIVOS } from '../../server/contrato/generado/vocabulario.ts'
import { crearSecretos } from '../../server/secretos.ts'
import { tokenDe } from '../../server/ubicacion/ubicacion.ts'
import { type Comercio, compartirEntorno, MASTER_KEY } from '../entorno.ts'
import { hasta, sinDestino, unaGuia } from '../fabricas.ts'
import { usarReceptores } from '../webhooks/receptor.ts'

const entorno = compartirEntorno()
const nuevoReceptor = usarReceptores()
const secretos = crearSecretos([Buffer.from(MASTER_KEY, 'base64')])

const transiciones: Readonly<Record<string, readonly Estado[]>> = MAQUINA_DE_ESTADOS.transiciones
const ESTADOS = Object.keys(transiciones) as Estado[]
const motivoDe = (estado: Estado) => {
  const suyos: Readonly<Record<string, object>> = MOTIVOS
  return Object.keys(suyos[estado] ?? {})[0] as never
}
const MOTIVOS_DE_CADA = Object.entries(MOTIVOS).flatMap(([estado, suyos]) =>
  Object.entries<{ requiere_accion: boolean }>(suyos).map(
    ([motivo, { requiere_accion }]) => [estado as Estado, motivo as never, requiere_accion] as const,
  ),
)
/** The shortest way from a new guide to that state. */
function caminoA(meta: Estado): Estado[] {
  const caminos: Estado[][] = [['aceptado']]
  for (const camino of caminos) {
    if (camino.at(-1) === meta) return camino.slice(1)
    for (const otro of transiciones[camino.at(-1)!]!) if (!camino.includes(otro)) caminos.push([...camino, otro])
  }
  throw new Error(`there is no way to ${meta}`)
}
const avanzar = ({ api }: Comercio, guia: string, estado: Estado) =>
  estado === 'cancelado' ? api.guias.cancelar(guia) : api.simulador.avanzar(guia, { estado, motivo: motivoDe(estado) })
const llevar = async (comercio: Comercio, guia: string, meta: Estado) => {
  for (const estado of caminoA(meta)) await avanzar(comercio, guia, estado)
}
const problemaDe = (promesa: PromiseLike<unknown>) =>
  Promise.resolve(promesa).then(
    () => {
      throw new Error('it was accepted')
    },
    (error: { codigo: string; status: number; transiciones?: string[] }) => error,
  )
const tiposDe = async ({ api }: Comercio, guia: string) => (await api.guias.eventos(guia)).datos.map(({ tipo }) => tipo)

describe('avanzar', () => {
  it.each(ESTADOS)('from %s: goes where the machine says, and nowhere else', async (estado) => {
    const comercio = await entorno.nuevoComercio()
    const nueva = async () => {
      const { guia } = await comercio.api.guias.crear(unaGuia())
      await llevar(comercio, guia, estado)
      return guia
    }
    const quieta = await nueva()
    const { secuencia } = await comercio.api.guias.obtener(quieta)
    const admitidos = transiciones[estado]!.filter((otro) => otro !== 'cancelado')
    for (const otro of ESTADOS) {
      if (admitidos.includes(otro)) {
        const movida = await comercio.api.simulador.avanzar(await nueva(), { estado: otro, motivo: motivoDe(otro) })
        expect(movida).toMatchObject({ estado: otro, secuencia: secuencia + 1, modo: 'test' })
      } else {
        const error = await problemaDe(comercio.api.simulador.avanzar(quieta, { estado: otro, motivo: motivoDe(otro) }))
        expect(error).toBeInstanceOf(ErrorConflicto)
        expect([otro, error.codigo, error.transiciones ?? []]).toEqual([otro, 'transicion_invalida', admitidos])
      }
    }
    expect(await comercio.api.guias.obtener(quieta)).toMatchObject({ estado, secuencia })
  })

  it('writes what an operator’s scan would, and the webhooks arrive', async () => {
    const comercio = await entorno.nuevoComercio()
    const receptor = await nuevoReceptor()
    await comercio.api.webhooks.crear({ url: receptor.url })
    const { guia } = await comercio.api.guias.crear(unaGuia())
    for (const estado of ['recolectado', 'en_ruta'] as const) await comercio.api.simulador.avanzar(guia, { estado })
    const descripcion = 'No había nadie; se dejó aviso'
    const tras = await comercio.api.simulador.avanzar(guia, {
      estado: 'intento_fallido',
      motivo: 'direccion_incorrecta',
      descripcion,
    })
    expect(tras).toMatchObject({ guia, estado: 'intento_fallido', intentos: 1, secuencia: 4 })
    await comercio.api.simulador.avanzar(guia, { estado: 'en_ruta' })
    await comercio.api.simulador.avanzar(guia, { estado: 'entregado' })
    const { datos } = await comercio.api.guias.eventos(guia)
    expect(datos[3]).toMatchObject({
      tipo: 'guia.intento_fallido',
      motivo: 'direccion_incorrecta',
      descripcion,
      numero_intento: 1,
      requiere_accion: true,
    })
    const tipos = ['aceptado', 'recolectado', 'en_ruta', 'intento_fallido', 'en_ruta', 'entregado'].map(
      (e) => `guia.${e}`,
    )
    expect(datos.map(({ tipo }) => tipo)).toEqual(tipos)
    const recibidos = await hasta(async () => receptor.recibidos.length >= 6 && receptor.recibidos)
    const porSecuencia = recibidos.map(({ json }) => json.datos.evento).sort((a, b) => a.secuencia - b.secuencia)
    expect(porSecuencia).toEqual(datos)
  })

  it.each(MOTIVOS_DE_CADA)('%s for %s: with what the merchant has to do', async (estado, motivo, requiere_accion) => {
    const comercio = await entorno.nuevoComercio()
    const { guia } = await comercio.api.guias.crear(unaGuia())
    const camino = caminoA(estado)
    for (const otro of camino.slice(0, -1)) await avanzar(comercio, guia, otro)
    expect(await comercio.api.simulador.avanzar(guia, { estado, motivo })).toMatchObject({ estado })
    const evento = (await comercio.api.guias.eventos(guia)).datos.at(-1)!
    expect(evento).toMatchObject({ tipo: `guia.${estado}`, motivo })
    if (estado === 'intento_fallido') expect(evento.requiere_accion).toBe(requiere_accion)
  })

  it('delivers with a sample proof, which reads as a real one does', async () => {
    const comercio = await entorno.nuevoComercio()
    const { api } = comercio
    for (const lugar of [
      { lat: 14.71889, lng: -90.64417 },
      { lat: -33.45, lng: -70.66 },
      { lat: 90, lng: 0 },
    ]) {
      const { guia } = await api.guias.crear(unaGuia(lugar))
      await llevar(comercio, guia, 'en_ruta')
      expect(await problemaDe(api.guias.pruebaEntrega(guia))).toMatchObject({ codigo: 'prueba_no_disponible' })
      await api.simulador.avanzar(guia, { estado: 'entregado', descripcion: 'Entregado en recepción' })
      const prueba = await api.guias.pruebaEntrega(guia)
      expect(prueba).toMatchObject({
        recibido_por: { nombre: 'Persona de prueba', documento: null, relacion: 'destinatario' },
        lat: expect.closeTo(lugar.lat, 3),
        lng: lugar.lng,
        precision_m: 8,
        distancia_m: 11,
        fotos: [{ tipo: 'foto', mime: 'image/jpeg', ancho: 1_280, alto: 960, capturado_en: prueba.entregado_en }],
        firma: { tipo: 'firma', mime: 'image/png', ancho: 800, alto: 300, capturado_en: null },
      })
      const evento = (await api.guias.eventos(guia)).datos.at(-1)
      expect(evento).toMatchObject({
        tipo: 'guia.entregado',
        descripcion: 'Entregado en recepción',
        ocurrido_en: prueba.entregado_en,
        lat: prueba.lat,
        lng: prueba.lng,
      })
      for (const { url, sha256, ancho, alto } of [...prueba.fotos, prueba.firma!]) {
        const bytes = Buffer.from(await (await fetch(url)).arrayBuffer())
        expect(hash('sha256', bytes)).toBe(sha256)
        // What an upload would have left, and no other size than is said.
        const leida = await sharp(bytes).metadata()
        expect([leida.width, leida.height, leida.exif, leida.icc]).toEqual([ancho, alto, undefined, undefined])
      }
    }
  })

  it('delivers somewhere else without a place, and nowhere where there is none', async () => {
    const comercio = await entorno.nuevoComercio()
    const { api } = comercio
    const sinCoordenadas = { maps_url: 'https://www.google.com/maps/place/Mixco' }
    const { guia } = await api.guias.crear(sinDestino({ municipio: 'Mixco', ...sinCoordenadas }))
    await llevar(comercio, guia, 'entregado')
    expect(await api.guias.pruebaEntrega(guia)).toMatchObject({ lat: expect.closeTo(14.63, 1), distancia_m: null })
    const otra = await api.guias.crear(sinDestino({ municipio: 'Villa Inexistente del Monte', ...sinCoordenadas }))
    await llevar(comercio, otra.guia, 'entregado')
    expect(await api.guias.pruebaEntrega(otra.guia)).toMatchObject({ lat: null, lng: null, precision_m: null })
  })

  it('fails with a sample photo', async () => {
    const comercio = await entorno.nuevoComercio()
    const { guia } = await comercio.api.guias.crear(unaGuia())
    await llevar(comercio, guia, 'intento_fallido')
    const [intento, ...demas] = (await comercio.api.guias.intentos(guia)).datos
    expect([demas, intento]).toMatchObject([[], { numero_intento: 1, fotos: [{ ancho: 1_280, alto: 960 }] }])
    expect((await fetch(intento!.fotos[0]!.url)).status).toBe(200)
  })

  it('writes a note where the guide is, and its webhook arrives', async () => {
    const comercio = await entorno.nuevoComercio()
    const receptor = await nuevoReceptor()
    await comercio.api.webhooks.crear({ url: receptor.url, tipos: ['guia.nota'] })
    const { guia } = await comercio.api.guias.crear(unaGuia())
    const descripcion = 'El destinatario pide que llamen antes'
    expect(await comercio.api.simulador.avanzar(guia, { tipo: 'guia.nota', descripcion })).toMatchObject({
      estado: 'aceptado',
      secuencia: 2,
    })
    const [aviso] = await hasta(async () => receptor.recibidos.length > 0 && receptor.recibidos)
    expect(aviso!.json).toMatchObject({ tipo: 'guia.nota', datos: { evento: { descripcion } } })
  })

  it('notes a late scan and leaves the guide where it is', async () => {
    const { api } = await entorno.nuevoComercio()
    const { guia } = await api.guias.crear(unaGuia())
    await api.simulador.avanzar(guia, { estado: 'recolectado' })
    const ocurrido_en = new Date(Date.now() - 3_600_000).toISOString()
    expect(await api.simulador.avanzar(guia, { estado: 'en_bodega', ocurrido_en })).toMatchObject({
      estado: 'recolectado',
      secuencia: 3,
    })
    expect((await api.guias.eventos(guia)).datos.at(-1)).toMatchObject({
      tipo: 'guia.escaneo_tardio',
      estado_reportado: 'en_bodega',
      ocurrido_en,
    })
  })

  it('sends nobody out to a place that isn’t confirmed, and says what to do', async () => {
    const { api } = await entorno.nuevoComercio()
    const { guia } = await api.guias.crear(sinDestino())
    await api.simulador.avanzar(guia, { estado: 'recolectado' })
    const error = await problemaDe(api.simulador.avanzar(guia, { estado: 'en_ruta' }))
    expect(error).toMatchObject({
      codigo: 'ubicacion_sin_confirmar',
      message: expect.stringMatching(/\/simulador\/guias\/\{guia\}\/confirmar-ubicacion/),
    })
    await api.simulador.confirmarUbicacion(guia)
    expect((await api.simulador.avanzar(guia, { estado: 'en_ruta' })).estado).toBe('en_ruta')
  })

  it.each<[string, object, string]>([
    ['a reason of another state', { estado: 'recolectado', motivo: 'robo' }, '/motivo'],
    [
      'the future',
      { estado: 'recolectado', ocurrido_en: new Date(Date.now() + 3_600_000).toISOString() },
      '/ocurrido_en',
    ],
    ['neither a state nor a note', { descripcion: 'x' }, ''],
    ['both', { estado: 'recolectado', tipo: 'guia.nota', descripcion: 'x' }, ''],
    ['a note that says nothing', { tipo: 'guia.nota' }, '/descripcion'],
    ['a note with a reason', { tipo: 'guia.nota', descripcion: 'x', motivo: 'robo' }, '/motivo'],
    ['an operator’s force', { estado: 'en_ruta', forzar: { razon: 'porque sí' } }, '/forzar'],
    ['a state that doesn’t exist', { estado: 'volando' }, '/estado'],
  ])('refuses %s', async (_que, cambio, campo) => {
    const { api } = await entorno.nuevoComercio()
    const { guia } = await api.guias.crear(unaGuia())
    const error = await problemaDe(api.simulador.avanzar(guia, cambio as never))
    expect(error).toBeInstanceOf(ErrorValidacion)
    expect(error).toMatchObject({ errores: expect.arrayContaining([expect.objectContaining({ campo })]) })
    expect((await api.guias.obtener(guia)).secuencia).toBe(1)
  })

  it('writes every one of many at once, or says that it didn’t', async () => {
    const { api } = await entorno.nuevoComercio()
    const { guia } = await api.guias.crear(unaGuia())
    const todas = await Promise.allSettled(
      Array.from({ length: 8 }, () => api.simulador.avanzar(guia, { estado: 'recolectado' })),
    )
    expect(todas.filter(({ status }) => status === 'fulfilled')).toHaveLength(1)
    expect((await api.guias.obtener(guia)).secuencia).toBe(2)
  })
})

/** The link that the guide's newest message carries. */
const enlaceDe = async (guia: string) => {
  const { rows } = await entorno.db.pool.query(
    `select id, kid from mensaje where guia = $1 order by numero desc limit 1`,
    [guia],
  )
  return `${entorno.url}/u/${tokenDe(secretos, rows[0].id, rows[0].kid)!.token}`
}

describe('confirmar-ubicacion', () => {
  it('without a body is the middle of the declared municipality, as the recipient’s word', async () => {
    const comercio = await entorno.nuevoComercio()
    const { guia } = await comercio.api.guias.crear(sinDestino({ municipio: 'Chinautla' }))
    const confirmada = await comercio.api.simulador.confirmarUbicacion(guia)
    expect(confirmada.ubicacion).toMatchObject({ estado: 'confirmada', origen: 'destinatario', distancia_km: 0 })
    expect(confirmada.ubicacion.lat).toBeCloseTo(14.7, 0)
    expect(confirmada.secuencia).toBe(3)
    // Again: nothing happens.
    expect(await comercio.api.simulador.confirmarUbicacion(guia)).toEqual(confirmada)
    expect(await tiposDe(comercio, guia)).toEqual(['guia.aceptado', 'ubicacion.solicitada', 'ubicacion.confirmada'])
    expect(await (await fetch(await enlaceDe(guia))).text()).toContain('Gracias')
  })

  it('is where the recipient says, far or near', async () => {
    const { api } = await entorno.nuevoComercio()
    const { guia } = await api.guias.crear(sinDestino({ municipio: 'Chinautla' }))
    const lejos = await api.simulador.confirmarUbicacion(guia, {
      lat: 15.7,
      lng: -88.6,
      referencia: 'Frente al muelle',
    })
    expect(lejos.ubicacion).toMatchObject({ lat: 15.7, lng: -88.6, referencia: 'Frente al muelle' })
    expect(lejos.advertencias).toMatchObject([{ codigo: 'ubicacion_lejana', campo: '/ubicacion' }])
    // The recipient is asked no more, as his page says; the merchant may correct.
    expect(await problemaDe(api.simulador.confirmarUbicacion(guia))).toMatchObject({
      codigo: 'ubicacion_ya_confirmada',
    })
    expect((await api.guias.confirmarUbicacion(guia, { lat: 14.7, lng: -90.5 })).ubicacion.origen).toBe('comercio')
  })

  it('needs a place where the catalogue knows none', async () => {
    const { api } = await entorno.nuevoComercio()
    const { guia } = await api.guias.crear(sinDestino({ municipio: 'Villa Inexistente del Monte' }))
    const error = await problemaDe(api.simulador.confirmarUbicacion(guia))
    expect(error).toBeInstanceOf(ErrorValidacion)
    expect(error).toMatchObject({ errores: [{ campo: '/lat', codigo: 'requerido' }] })
    expect((await api.simulador.confirmarUbicacion(guia, { lat: 14.7, lng: -90.5 })).ubicacion.estado).toBe(
      'confirmada',
    )
  })

  it.each(['confirmada', 'vencida', 'fallida'] as const)(
    'drives %s the same every time, at once, and its webhook arrives',
    async (resultado) => {
      const comercio = await entorno.nuevoComercio()
      const receptor = await nuevoReceptor()
      await comercio.api.webhooks.crear({ url: receptor.url, tipos: ['ubicacion.*'] })
      const guias = await Promise.all(
        Array.from({ length: 6 }, async () => {
          // Not waiting for the message: whether or not a worker was faster makes no difference.
          const { guia } = await comercio.api.guias.crear(sinDestino())
          const { ubicacion, secuencia } = await comercio.api.simulador.confirmarUbicacion(guia, { resultado })
          expect([ubicacion.estado, secuencia]).toEqual([resultado, 3])
          return guia
        }),
      )
      await entorno.quietud(comercio)
      const tipos = ['guia.aceptado', 'ubicacion.solicitada', `ubicacion.${resultado}`]
      for (const guia of guias) {
        expect(await tiposDe(comercio, guia)).toEqual(tipos)
        expect((await comercio.api.guias.obtener(guia)).ubicacion.estado).toBe(resultado)
        const suyos = await hasta(async () => {
          const recibidos = receptor.recibidos.filter(({ json }) => json.datos.guia.guia === guia)
          return recibidos.length >= 2 && recibidos
        })
        expect(suyos.map(({ json }) => json.tipo).sort()).toEqual(tipos.slice(1).sort())
      }
    },
  )

  it('lets the recipient’s link expire with the request, and a new one confirm', async () => {
    const comercio = await entorno.nuevoComercio()
    const { api } = comercio
    // A phone of its own: only so many requests a day go to one.
    const { guia } = await api.guias.crear(sinDestino({ telefono: '+50230001234' }))
    const vencida = await api.simulador.confirmarUbicacion(guia, { resultado: 'vencida' })
    expect(Date.parse(vencida.ubicacion.solicitud!.vence_en!)).toBeLessThanOrEqual(Date.now())
    expect((await fetch(await enlaceDe(guia))).status).toBe(410)
    expect(await api.simulador.confirmarUbicacion(guia, { resultado: 'vencida' })).toEqual(vencida)
    const imposible = await problemaDe(api.simulador.confirmarUbicacion(guia, { resultado: 'fallida' }))
    expect([imposible.status, imposible.codigo]).toEqual([409, 'transicion_invalida'])
    await api.guias.reenviarSolicitud(guia)
    const fallida = await api.simulador.confirmarUbicacion(guia, { resultado: 'fallida' })
    expect(fallida.ubicacion.solicitud).toMatchObject({ estado: 'fallido', numero: 2 })
    expect(await api.simulador.confirmarUbicacion(guia, { resultado: 'fallida' })).toEqual(fallida)
    expect((await problemaDe(api.simulador.confirmarUbicacion(guia, { resultado: 'vencida' }))).codigo).toBe(
      'transicion_invalida',
    )
    await api.guias.reenviarSolicitud(guia)
    expect((await api.simulador.confirmarUbicacion(guia)).ubicacion.estado).toBe('confirmada')
    expect(await tiposDe(comercio, guia)).toEqual([
      'guia.aceptado',
      ...['solicitada', 'vencida', 'solicitada', 'fallida', 'solicitada', 'confirmada'].map(
        (que) => `ubicacion.${que}`,
      ),
    ])
  })

  it.each([{ lat: 14.6, lng: -90.5 }, { referencia: 'Portón verde' }])(
    'takes no place from somebody who didn’t answer',
    async (lugar) => {
      const { api } = await entorno.nuevoComercio()
      const { guia } = await api.guias.crear(sinDestino())
      const error = await problemaDe(api.simulador.confirmarUbicacion(guia, { resultado: 'vencida', ...lugar }))
      expect(error).toMatchObject({
        status: 422,
        errores: Object.keys(lugar).map((campo) => ({ campo: `/${campo}`, codigo: 'incompatible' })),
      })
    },
  )

  it('is closed where nobody is asked: confirmed from the start, or over', async () => {
    const { api } = await entorno.nuevoComercio()
    const { guia } = await api.guias.crear(unaGuia())
    for (const resultado of ['confirmada', 'vencida', 'fallida'] as const)
      expect((await problemaDe(api.simulador.confirmarUbicacion(guia, { resultado }))).codigo).toBe(
        'ubicacion_ya_confirmada',
      )
    const otra = await api.guias.crear(sinDestino())
    await api.guias.cancelar(otra.guia)
    expect((await problemaDe(api.simulador.confirmarUbicacion(otra.guia))).codigo).toBe('ubicacion_cerrada')
  })
})

describe('both', () => {
  it('are for test keys alone, whatever the guide', async () => {
    const { api } = await entorno.nuevoComercio('live')
    const { guia } = await api.guias.crear(sinDestino())
    for (const cual of [guia, '000000000000']) {
      for (const intentar of [
        () => api.simulador.avanzar(cual, { estado: 'recolectado' }),
        () => api.simulador.confirmarUbicacion(cual),
      ]) {
        const error = await problemaDe(intentar())
        expect(error).toBeInstanceOf(ErrorAlcance)
        expect([error.status, error.codigo]).toEqual([403, 'solo_en_test'])
      }
    }
    const ahora = await api.guias.obtener(guia)
    expect([ahora.estado, ahora.ubicacion.estado]).toEqual(['aceptado', 'solicitada'])
  })

  it('know no guide but one’s own', async () => {
    const [uno, otro] = [await entorno.nuevoComercio(), await entorno.nuevoComercio()]
    const { guia } = await uno.api.guias.crear(sinDestino())
    for (const intentar of [
      () => otro.api.simulador.avanzar(guia, { estado: 'recolectado' }),
      () => otro.api.simulador.confirmarUbicacion(guia),
    ])
      expect(await problemaDe(intentar())).toBeInstanceOf(ErrorNoEncontrado)
    // As it is typed.
    const tecleada = `${guia.slice(0, 4)}-${guia.slice(4, 8)}-${guia.slice(8)}`.toLowerCase()
    expect((await uno.api.simulador.avanzar(tecleada, { estado: 'recolectado' })).guia).toBe(guia)
  })
})
