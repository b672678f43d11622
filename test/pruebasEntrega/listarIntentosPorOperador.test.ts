import { describe, expect, it } from 'vitest'
import { newGuideCode } from '../../server/platform/codes/codes.ts'
import { createGuiaOnRoute, uploadArchivo } from '../archivos/images.ts'
import { shareEnvironment } from '../environment.ts'

const entorno = shareEnvironment()
const leer = (guia: string, consulta = '') => entorno.operar('GET', `/guias/${guia}/intentos${consulta}`)
const registrar = (guia: string, cuerpo: object) => entorno.operar('POST', `/guias/${guia}/eventos`, cuerpo)

describe('GET /operaciones/v1/guias/{guia}/intentos', () => {
  it('lists a guide’s failed attempts in pages, the oldest first, with photos that open', async () => {
    const comercio = await entorno.nuevoComercio()
    const guia = await createGuiaOnRoute(entorno, comercio)
    const foto = (await uploadArchivo(entorno, guia)).cuerpo.archivo
    await registrar(guia, { estado: 'intento_fallido', motivo: 'destinatario_ausente', fotos: [foto] })
    await registrar(guia, { estado: 'en_ruta' })
    await registrar(guia, { estado: 'intento_fallido', motivo: 'direccion_inexistente' })
    const { status, cuerpo } = await leer(guia, '?limite=1')
    expect([status, cuerpo.datos]).toMatchObject([
      200,
      [{ motivo: 'destinatario_ausente', fotos: [{ archivo: foto }] }],
    ])
    expect((await fetch(cuerpo.datos[0].fotos[0].url)).status).toBe(200)
    const segunda = (await leer(guia, `?cursor=${cuerpo.cursor_siguiente}`)).cuerpo
    expect([segunda.datos, segunda.cursor_siguiente]).toMatchObject([[{ motivo: 'direccion_inexistente' }], null])
    const otra = await createGuiaOnRoute(entorno, comercio)
    expect((await leer(otra, `?cursor=${cuerpo.cursor_siguiente}`)).cuerpo.codigo).toBe('cursor_invalido')
    expect((await leer(otra)).cuerpo.datos).toEqual([])
  })

  it('returns 404 for an unknown guide', async () => {
    expect((await leer(newGuideCode())).cuerpo.codigo).toBe('guia_desconocida')
  })
})
