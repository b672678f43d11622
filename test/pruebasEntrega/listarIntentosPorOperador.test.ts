import { describe, expect, it } from 'vitest'
import { newGuideCode } from '../../server/platform/codes/codes.ts'
import { createGuiaOnRoute, uploadArchivo } from '../archivos/images.ts'
import { shareEnvironment } from '../environment.ts'

const environment = shareEnvironment()
const read = (guia: string, query = '') => environment.asOperador('GET', `/guias/${guia}/intentos${query}`)
const registrar = (guia: string, body: object) => environment.asOperador('POST', `/guias/${guia}/eventos`, body)

describe('GET /operaciones/v1/guias/{guia}/intentos', () => {
  it('lists a guide’s failed attempts in pages, the oldest first, with photos that open', async () => {
    const comercio = await environment.createComercio()
    const guia = await createGuiaOnRoute(environment, comercio)
    const foto = (await uploadArchivo(environment, guia)).body.archivo
    await registrar(guia, { estado: 'intento_fallido', motivo: 'destinatario_ausente', fotos: [foto] })
    await registrar(guia, { estado: 'en_ruta' })
    await registrar(guia, { estado: 'intento_fallido', motivo: 'direccion_inexistente' })
    const { status, body } = await read(guia, '?limite=1')
    expect([status, body.datos]).toMatchObject([200, [{ motivo: 'destinatario_ausente', fotos: [{ archivo: foto }] }]])
    expect((await fetch(body.datos[0].fotos[0].url)).status).toBe(200)
    const second = (await read(guia, `?cursor=${body.cursor_siguiente}`)).body
    expect([second.datos, second.cursor_siguiente]).toMatchObject([[{ motivo: 'direccion_inexistente' }], null])
    const other = await createGuiaOnRoute(environment, comercio)
    expect((await read(other, `?cursor=${body.cursor_siguiente}`)).body.codigo).toBe('cursor_invalido')
    expect((await read(other)).body.datos).toEqual([])
  })

  it('returns 404 for an unknown guide', async () => {
    expect((await read(newGuideCode())).body.codigo).toBe('guia_desconocida')
  })
})
