import { inspect } from 'node:util'
import { ErrorConexion, ErrorGuias, ErrorNoAutenticado, ErrorRespuesta, Guias, type OpcionesDeGuias } from '@guias/sdk'
import { describe, expect, it, vi } from 'vitest'
import { GUIA, json, LLAVE, respondProblema, text, useFakeServer } from './server.ts'

const server = useFakeServer()
const foreignService = 'https://guias.ejemplo.com'
const { client, respondWith: answer, faultWith, capturedRequests: received } = server

describe('construction', () => {
  it.each([
    ['no key', { llave: '' }, 'Falta la llave'],
    ['an undefined key', { llave: undefined }, 'Falta la llave'],
    ['a key with a line inside', { llave: 'guia_test_abc\nsecreto' }, 'cópiela de nuevo'],
    ['an address without scheme', { baseUrl: 'guias.ejemplo.com' }, 'baseUrl'],
    ['another scheme', { baseUrl: 'ftp://guias.ejemplo.com' }, 'https://'],
    ['credentials', { baseUrl: 'https://u:secreto@guias.ejemplo.com' }, 'usuario'],
    ['a query', { baseUrl: 'https://guias.ejemplo.com?a=1' }, 'baseUrl'],
    ['the prefix', { baseUrl: 'https://guias.ejemplo.com/api/v1/' }, 'sin /api/v1'],
    ['no time', { tiempoLimite: 0 }, 'tiempoLimite'],
    ['not a time', { tiempoLimite: Number.NaN }, 'tiempoLimite'],
  ])('refuses %s', (_, options, dice) => {
    let error: unknown
    try {
      client(options as OpcionesDeGuias)
    } catch (e) {
      error = e
    }
    expect(error).toBeInstanceOf(ErrorGuias)
    expect((error as Error).message).toContain(dice)
    expect(inspect(error)).not.toContain('secreto')
  })

  it('refuses being built from nothing', () => {
    expect(() => new Guias()).toThrow(ErrorGuias)
  })

  it('never shows the key', async () => {
    const api = client()
    const errores = [
      await faultWith(ErrorConexion, (res) => res.destroy()),
      await faultWith(ErrorRespuesta, text(200, '<html>')),
      await faultWith(ErrorNoAutenticado, respondProblema(401, 'no_autenticado')),
    ]
    for (const value of [api, api.guias, ...errores]) {
      expect(inspect(value, { depth: 10, showHidden: true })).not.toContain('secreto')
      expect(JSON.stringify(value)).not.toContain('secreto')
    }
  })
})

describe('the environment', () => {
  it('gives the key and the address that are not passed', async () => {
    answer(json(200, GUIA))
    vi.stubEnv('GUIAS_LLAVE', ' guia_test_del_entorno\n')
    vi.stubEnv('GUIAS_URL', `${server.baseUrl}/`)
    try {
      await new Guias().guias.obtener('A')
      await new Guias({ llave: LLAVE, baseUrl: undefined }).guias.obtener('A')
      expect(received.map(({ headers }) => headers.authorization)).toEqual([
        'Bearer guia_test_del_entorno',
        `Bearer ${LLAVE}`,
      ])
      vi.stubEnv('GUIAS_URL', '')
      expect(() => new Guias({ llave: '' })).toThrow('Falta la llave')
    } finally {
      vi.unstubAllEnvs()
    }
  })

  it('without an address leaves a test key on this machine, and a live one nowhere', () => {
    vi.stubEnv('GUIAS_URL', '')
    try {
      expect(new Guias({ llave: LLAVE })).toBeInstanceOf(Guias)
      for (const llave of ['guia_live_abc_secreto', 'otra']) {
        expect(() => new Guias({ llave })).toThrow('Falta la dirección del servicio: new Guias({ baseUrl })')
        vi.stubEnv('GUIAS_LLAVE', llave)
        expect(() => new Guias()).toThrow('GUIAS_URL')
        expect(new Guias({ baseUrl: foreignService })).toBeInstanceOf(Guias)
      }
    } finally {
      vi.unstubAllEnvs()
    }
  })

  it('which is a page gets no key of real guides, unless it is said', async () => {
    vi.stubGlobal('document', {})
    try {
      expect(() => new Guias({ llave: 'guia_live_abc_secreto' })).toThrow('permitirNavegador')
      const withPermission = { llave: 'guia_live_abc_secreto', baseUrl: foreignService, permitirNavegador: true }
      expect(new Guias(withPermission)).toBeInstanceOf(Guias)
      expect(new Guias({ llave: LLAVE })).toBeInstanceOf(Guias)
    } finally {
      vi.unstubAllGlobals()
    }
  })
})
