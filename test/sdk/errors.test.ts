import {
  ErrorAlcance,
  ErrorApi,
  ErrorConflicto,
  ErrorCuerpo,
  ErrorGuias,
  ErrorLimite,
  ErrorNoAutenticado,
  ErrorNoEncontrado,
  ErrorParametro,
  ErrorRespuesta,
  ErrorServicio,
  ErrorTiempo,
  ErrorValidacion,
} from '@guias/sdk'
import { describe, expect, it } from 'vitest'
import { fault, GUIA, json, problema, respondProblema, text, useFakeServer } from './server.ts'

const { client, respondWith: answer, faultWith } = useFakeServer()

describe('errors of the API', () => {
  it.each([
    [400, 'cursor_invalido', ErrorParametro],
    [401, 'no_autenticado', ErrorNoAutenticado],
    [403, 'alcance_insuficiente', ErrorAlcance],
    [404, 'guia_desconocida', ErrorNoEncontrado],
    [405, 'metodo_no_permitido', ErrorApi],
    [409, 'carrera_perdida', ErrorConflicto],
    [413, 'cuerpo_demasiado_grande', ErrorCuerpo],
    [415, 'tipo_no_admitido', ErrorCuerpo],
    [422, 'validacion', ErrorValidacion],
    [429, 'codigo_de_manana', ErrorLimite],
    [500, 'error_interno', ErrorServicio],
    [503, 'codigo_de_manana', ErrorServicio],
  ])('%i %s', async (status, codigo, Clase) => {
    const error = await faultWith(Clase, respondProblema(status, codigo))
    expect(error.constructor).toBe(Clase)
    expect(error).toBeInstanceOf(ErrorApi)
    expect(error).toMatchObject({
      name: Clase.name,
      estadoHttp: status,
      codigo,
      idSolicitud: 'sol-1',
      errores: [],
      esperarSegundos: null,
    })
    expect(error.message).toBe(`Haga esto. (codigo: ${codigo}, HTTP ${status}, id_solicitud: sol-1)`)
  })

  it('lists what to correct in the message, within reason', async () => {
    const errores = Array.from({ length: 12 }, (_, i) => ({
      campo: `/c${i}`,
      codigo: 'codigo_de_manana',
      mensaje: `falta ${i}`,
    }))
    const error = await faultWith(
      ErrorValidacion,
      json(422, problema(422, 'validacion', { errores, errores_omitidos: 5 })),
    )
    expect(error.errores).toEqual(errores)
    expect(error.message.split('; ').slice(1)).toEqual([
      ...errores.slice(0, 10).map((e) => `${e.campo}: ${e.mensaje}`),
      'y 7 más',
    ])
  })

  it('has one line in the message of every error', async () => {
    const mensaje = 'Haga esto.\r\n  Y esto.'
    const faults = [{ campo: '/c', codigo: 'formato', mensaje: 'una\nfalta' }]
    answer(json(422, problema(422, 'validacion', { mensaje, errores: faults })))
    const errores = [
      await fault(client().guias.obtener('A')),
      await faultWith(ErrorRespuesta, text(200, '<html>\n\n<body>\n')),
      await fault(client({ fetch: () => Promise.reject(new Error('una\notra')) }).guias.obtener('A')),
    ]
    expect(errores.map(({ message }) => message)).toEqual([
      'Haga esto. Y esto. (codigo: validacion, HTTP 422, id_solicitud: sol-1); /c: una falta',
      expect.stringMatching(/ Empieza así: <html> <body> $/),
      expect.stringContaining('una otra'),
    ])
    for (const { message } of errores) expect(message).not.toMatch(/[\r\n]| {2}/)
  })

  it('carries what conflicts', async () => {
    const other = await faultWith(
      ErrorConflicto,
      json(409, problema(409, 'external_ref_en_conflicto', { guia: 'ABC' })),
    )
    expect(other).toMatchObject({ guia: 'ABC', estado: null, transiciones: [] })
    const late = await faultWith(
      ErrorConflicto,
      json(409, problema(409, 'transicion_invalida', { estado: 'en_luna', transiciones: ['en_ruta'] })),
    )
    expect(late).toMatchObject({ guia: null, estado: 'en_luna', transiciones: ['en_ruta'] })
    const isAdmitted = ['aceptado', 'recolectado'] as const
    for (const [codigo, message, read = message] of [
      ['no_corregible', { admitida_en: isAdmitted }, { admitidaEn: isAdmitted }],
      ['decision_no_admitida', { opciones: ['devolver'] }],
      ['decision_tomada', { decision: { estado: 'tomada', accion: 'devolver' } }],
    ] as const) {
      const error = await faultWith(ErrorConflicto, json(409, problema(409, codigo, message)))
      expect(error).toMatchObject({
        transiciones: [],
        admitidaEn: [],
        opciones: [],
        decision: null,
        ...read,
      })
    }
  })

  it('carries how long to wait, and members it does not know', async () => {
    const error = await faultWith(
      ErrorServicio,
      json(503, problema(503, 'no_disponible', { nuevo: 1 }), { 'Retry-After': '2' }),
    )
    expect([error.esperarSegundos, error.documentacion, error.problema, error.cabeceras.get('retry-after')]).toEqual([
      2,
      'https://guias.ejemplo.com/docs/errores#error-no_disponible',
      problema(503, 'no_disponible', { nuevo: 1 }),
      '2',
    ])
  })

  it('manages with a problem that lacks everything but its code', async () => {
    const error = await faultWith(ErrorApi, json(418, { codigo: 'x' }))
    expect(error).toMatchObject({
      estadoHttp: 418,
      codigo: 'x',
      idSolicitud: 'sol-1',
      errores: [],
      documentacion: null,
    })
    expect(error.message).toBe('El servicio rechazó la solicitud (codigo: x, HTTP 418, id_solicitud: sol-1)')
  })

  it('takes states and members of a newer server', async () => {
    const fresh = { ...GUIA, estado: 'en_luna', cohete: { nombre: 'X' } }
    answer(json(200, fresh))
    expect(await client().guias.obtener(GUIA.guia)).toEqual(fresh)
  })

  it('narrows by class (this compiles)', async () => {
    const error = await faultWith(ErrorApi, respondProblema(404, 'guia_desconocida'))
    const read = (e: Error) => {
      if (e instanceof ErrorValidacion) return e.errores.length
      if (e instanceof ErrorApi) return e.codigo
      if (e instanceof ErrorTiempo) return e.tiempoLimite
      if (e instanceof ErrorGuias) return e.name
      return e.message
    }
    expect(read(error)).toBe('guia_desconocida')
  })
})
