// A path is an operation, a page or a file only as it is written: every other spelling is the 404 of an unknown path.
import { beforeAll, describe, expect, it } from 'vitest'
import { readDocument, readOperations } from '../../server/api/contract/contract.ts'
import { createDeliveredGuia, createGuiaOnRoute } from '../archivos/images.ts'
import { type Comercio, useEnvironment } from '../environment.ts'

// Nothing comes back while the limits' clock stands, and a network has enough for all of this.
const entorno = useEnvironment({ limitsClock: () => 0 }, () => ({
  REQUESTS_PER_NETWORK: '10000',
  MAILBOX: '1',
  SECURITY_CONTACT: 'mailto:seguridad@ejemplo.com',
}))
const operaciones = readOperations(readDocument())

let comercio: Comercio
/** Links that open, as paths with their query. */
const enlaces: Record<'etiquetas' | 'archivos', string> = { etiquetas: '', archivos: '' }
/** Pages and files that answer, as paths. */
const paginas: string[] = []
beforeAll(async () => {
  comercio = await entorno.nuevoComercio()
  const { guia } = await createDeliveredGuia(entorno, comercio)
  const otra = await createGuiaOnRoute(entorno, comercio)
  enlaces.etiquetas = (await comercio.api.guias.etiqueta(otra)).url.slice(entorno.url.length)
  const prueba = `/api/v1/guias/${guia}/prueba-entrega`
  const { cuerpo } = await entorno.request('GET', prueba, { llave: comercio.llave })
  enlaces.archivos = cuerpo.fotos[0].url.slice(entorno.url.length)
  paginas.push(`/r/${guia}`, `/verificar/${guia}`, '/docs', '/docs/consola', '/docs/marca.css', '/repartidor')
  paginas.push('/repartidor/manifiesto.webmanifest', '/llms.txt', '/openapi.json', '/coleccion.json')
  paginas.push('/buzon', '/.well-known/security.txt', `/u/${'A'.repeat(22)}`, `/d/${'A'.repeat(22)}`)
  const html = await (await fetch(`${entorno.url}/repartidor`)).text()
  paginas.push(`/${/repartidor\/recursos\/estilo\.\w+\.css/.exec(html)![0]}`)
})

/** The path with each of its written letters in the other case, one at a time; codes, tokens and queries stay. */
function otrasEscrituras(ruta: string, fijo: (segmento: string, anterior?: string) => boolean): string[] {
  const [camino = '', consulta] = ruta.split('?')
  const segmentos = camino.split('/')
  return segmentos.flatMap((segmento, i) => {
    const letra = /[a-z]/.exec(segmento)?.index
    if (letra === undefined || fijo(segmento, segmentos[i - 1])) return []
    const otro = segmento.slice(0, letra) + segmento[letra]!.toUpperCase() + segmento.slice(letra + 1)
    return segmentos.with(i, otro).join('/') + (consulta === undefined ? '' : `?${consulta}`)
  })
}

async function pedir(metodo: string, ruta: string) {
  const opciones = {
    headers: { Authorization: `Bearer ${comercio.llave}` },
    method: metodo,
    redirect: 'manual',
  } as const
  const respuesta = await fetch(entorno.url + ruta, opciones)
  const texto = await respuesta.text()
  const codigo: unknown = texto.startsWith('{') ? JSON.parse(texto).codigo : undefined
  return [respuesta.status, codigo]
}
const DESCONOCIDA = [404, 'ruta_desconocida']

describe('a path in another case, or with a slash at its end', () => {
  it.each(operaciones.map((operacion) => [operacion.id, operacion] as const))('is not %s', async (_id, operacion) => {
    const metodo = operacion.method.toUpperCase()
    const ruta = operacion.path.replace(/\{\w+\}/g, '0')
    // `/guias/Bulk` is a guide's path, and `/passkeys/Reto` a passkey's.
    const escrituras = otrasEscrituras(
      ruta,
      (segmento, anterior) => segmento === '0' || segmento === 'bulk' || anterior === 'passkeys',
    )
    expect(escrituras.length).toBeGreaterThan(0)
    for (const otra of [...escrituras, `${ruta}/`])
      expect([otra, ...(await pedir(metodo, otra))]).toEqual([otra, ...DESCONOCIDA])
    expect(await pedir(metodo, ruta)).not.toEqual(DESCONOCIDA)
  })

  it.each(['etiquetas', 'archivos'] as const)('opens no signed link of /%s/', async (cual) => {
    const enlace = enlaces[cual]
    const [camino, consulta] = enlace.split('?')
    const otras = [...otrasEscrituras(enlace, (segmento) => segmento !== cual), `${camino}/?${consulta}`]
    expect(otras).toHaveLength(2)
    for (const otra of otras) expect([otra, ...(await pedir('GET', otra))]).toEqual([otra, ...DESCONOCIDA])
    expect(await pedir('GET', enlace)).toEqual([200, undefined])
  })

  it('is no page and no file', async () => {
    for (const ruta of paginas) {
      // Codes are read in either case, and a token is its own matter.
      const otras = otrasEscrituras(ruta, (segmento) => /^[0-9A-Z]{12}$|^A{22}$/.test(segmento))
      expect([ruta, otras.length > 0]).toEqual([ruta, true])
      // What stands below a page answers for itself.
      for (const otra of otras.slice(0, 1))
        expect([otra, ...(await pedir('GET', otra))]).toEqual([otra, ...DESCONOCIDA])
      expect([ruta, await pedir('GET', ruta)]).not.toEqual([ruta, DESCONOCIDA])
    }
  })

  it('is told to leave the slash away', async () => {
    const { cuerpo } = await entorno.request('GET', '/api/v1/guias/', { llave: comercio.llave })
    expect(cuerpo.mensaje).toContain('Quite la / del final')
  })
})

describe('an unknown path', () => {
  const G = '7K3M9QX2A1B4'
  it.each([
    ['/api/v1/guia', '/api/v1/guias'],
    ['/api/v1/Guias', '/api/v1/guias'],
    ['/guias', '/api/v1/guias'],
    ['/v1/guias/bulks', '/api/v1/guias/bulk'],
    ['/api/v2/webhook', '/api/v1/webhooks'],
    [`/api/v1/guia/${G}/`, `/api/v1/guias/${G}`],
    [`/api/v1/guias/${G}/cancela`, `/api/v1/guias/${G}/cancelar`],
    ['/api/v1/catalogo/departamento', '/api/v1/catalogo/departamentos'],
    ['/api/v1/municipios', '/api/v1/catalogo/municipios'],
    ['/bulk', '/api/v1/guias/bulk'],
    [`/api/v1/guias/${G}/prueba`, `/api/v1/guias/${G}/prueba-entrega`],
    [`/api/v1/guia/${G}/reenviar`, `/api/v1/guias/${G}/reenviar-solicitud`],
  ])('%s gets the path that was probably meant, %s', async (ruta, parecida) => {
    const { status, cuerpo } = await entorno.request('GET', ruta, { llave: comercio.llave })
    expect([status, cuerpo.codigo]).toEqual(DESCONOCIDA)
    expect(cuerpo.mensaje).toContain(`¿Quiso decir ${parecida}?`)
  })

  it.each([
    '/api/v1/pedidos',
    '/operaciones/v1/guia',
    `/api/v1/${G}`,
    `/api/v1/${G}/cancelar`,
    `/api/v1/guias/${G}/a/b/c/d`,
    `/api/v1/${'guias/'.repeat(400)}x`,
  ])('%s gets none, as no path is similar', async (ruta) => {
    const { cuerpo } = await entorno.request('GET', ruta, { llave: comercio.llave })
    expect([cuerpo.codigo, cuerpo.mensaje]).toEqual(['ruta_desconocida', expect.not.stringContaining('¿')])
  })
})
