import { randomBytes } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { iniciarServicio, type Servicio } from '../../server/arranque/servicio.ts'
import { leerConfig } from '../../server/config/config.ts'
import { leerDocumento, leerOperaciones } from '../../server/contrato/contrato.ts'
import { crearLog } from '../../server/log.ts'
import { limpiarSesiones } from '../../server/repartidores/repartidor.ts'
import { MASTER_KEY, usarEntorno } from '../entorno.ts'
import { hasta, unaGuia } from '../fabricas.ts'
import { puertoLibre } from '../puertos.ts'
import { cookieDe, entrar, type Movil, nuevoMovil } from './movil.ts'

const HORA = 3_600_000
const entorno = usarEntorno()

/** Another process over the same database, with other settings. */
const otros: Servicio[] = []
async function otroServicio(env: Record<string, string> = {}) {
  const base = { DATABASE_URL: entorno.databaseUrl, MASTER_KEYS: MASTER_KEY, DATA_DIR: entorno.dataDir }
  const PORT = `${await puertoLibre()}`
  const config = leerConfig({ ...base, PORT, WORKERS: '0', ...env }, process.cwd())
  otros.push(await iniciarServicio(config, crearLog('silent'), undefined, { reloj: entorno.reloj, despedida: 0 }))
  return { url: `http://127.0.0.1:${PORT}` }
}
afterAll(async () => {
  await Promise.all(otros.map((otro) => otro.detener()))
})

/** Signing in at a service that isn't the environment's own, or with headers of its own. */
async function entrarEn(url: string, codigo: unknown, cabeceras: Record<string, string>) {
  const respuesta = await fetch(`${url}/repartidor/v1/sesion`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', ...cabeceras },
    body: JSON.stringify({ codigo }),
  })
  return { status: respuesta.status, cabeceras: respuesta.headers, cuerpo: JSON.parse(await respuesta.text()) }
}

const nuevo = async () => (await entorno.operar('POST', '/repartidores', { nombre: 'Carlos Méndez' })).cuerpo
const conocida = (movil: Movil) => movil.pedir('GET', '/sesion')

describe('signing in', () => {
  it('opens a session for twelve hours, in a cookie that no page reads', async () => {
    const { repartidor, codigo } = await nuevo()
    const { status, cuerpo, cabeceras } = await entrar(entorno, codigo)
    expect([status, cuerpo]).toEqual([
      201,
      { repartidor, nombre: 'Carlos Méndez', vence_en: expect.stringMatching(/Z$/) },
    ])
    expect(Math.abs(Date.parse(cuerpo.vence_en) - Date.now() - 12 * HORA)).toBeLessThan(5_000)
    expect(cabeceras.getSetCookie()).toEqual([
      expect.stringMatching(
        /^guias_repartidor=[\w-]{43}; Max-Age=43200; Path=\/repartidor; HttpOnly; SameSite=Strict$/,
      ),
    ])
    const cookie = cookieDe(cabeceras)
    const vista = await entorno.pedir('GET', '/repartidor/v1/sesion', { cabeceras: { Cookie: cookie } })
    expect([vista.status, vista.cuerpo]).toEqual([200, cuerpo])
    // Only its digest is kept.
    const { rows } = await entorno.db.pool.query('select * from sesion_repartidor')
    expect(rows.length).toBeGreaterThan(0)
    expect(JSON.stringify(rows)).not.toContain(cookie.split('=')[1])
  })

  it('is for https alone where the service is', async () => {
    const { codigo } = await nuevo()
    const { url } = await otroServicio({ PUBLIC_URL: 'https://envios.ejemplo.com/guias' })
    const { status, cabeceras } = await entrarEn(url, codigo, { Origin: 'https://envios.ejemplo.com' })
    expect(status).toBe(201)
    const [puesta = ''] = cabeceras.getSetCookie()
    expect(puesta).toMatch(
      /^__Secure-guias_repartidor=[\w-]{43}; Max-Age=43200; Path=\/guias\/repartidor; HttpOnly; Secure; SameSite=Strict$/,
    )
    const pedir = (Cookie: string) => fetch(`${url}/repartidor/v1/sesion`, { headers: { Cookie } })
    const [cookie = ''] = puesta.split(';')
    expect((await pedir(cookie)).status).toBe(200)
    // What a page without https may have put there is not looked at.
    expect((await pedir(cookie.replace('__Secure-', ''))).status).toBe(401)
    for (const Origin of ['http://envios.ejemplo.com', 'http://127.0.0.1', 'https://ejemplo.com'])
      expect((await entrarEn(url, codigo, { Origin })).cuerpo.codigo).toBe('origen_no_permitido')
  })

  it('takes the code as a thumb types it', async () => {
    const { codigo } = await nuevo()
    const tecleado = ` ${codigo.toLowerCase().replace('-', ' ').replaceAll('0', 'o').replaceAll('1', 'l')} `
    expect((await entrar(entorno, tecleado)).status).toBe(201)
  })

  it('says the same of every code that is none', async () => {
    const { repartidor, codigo } = await nuevo()
    await entorno.operar('POST', `/repartidores/${repartidor}/desactivar`)
    const vistas = []
    for (const malo of [codigo, '00000-00000', 'x', '¿?', 'A'.repeat(100), `${codigo}0`]) {
      const { status, cuerpo, cabeceras } = await entrar(entorno, malo)
      const { id_solicitud: _1, ...resto } = cuerpo
      vistas.push(JSON.stringify([status, resto, cabeceras.get('www-authenticate'), cabeceras.getSetCookie()]))
    }
    expect(new Set(vistas).size).toBe(1)
    expect(vistas[0]).toContain('codigo_incorrecto')
  })

  it('makes a token of its own every time, and forgets the phone that came first after ten', async () => {
    const de = await nuevo()
    const moviles: Movil[] = []
    for (let i = 0; i < 11; i++) moviles.push(await nuevoMovil(entorno, de))
    expect(new Set(moviles.map(({ cookie }) => cookie)).size).toBe(11)
    const estados = await Promise.all(moviles.map(async (movil) => (await conocida(movil)).status))
    expect(estados).toEqual([401, ...Array(10).fill(200)])
  })

  it('moves a code to the present master key, so that the old one can go', async () => {
    const { codigo } = await nuevo()
    const llave = randomBytes(32).toString('base64')
    const dos = await otroServicio({ MASTER_KEYS: `${llave},${MASTER_KEY}` })
    expect((await entrarEn(dos.url, codigo, { Origin: dos.url })).status).toBe(201)
    const una = await otroServicio({ MASTER_KEYS: llave })
    expect((await entrarEn(una.url, codigo, { Origin: una.url })).status).toBe(201)
  })
})

describe('a session', () => {
  beforeAll(() => entorno.reiniciar())

  it('ends where the courier says so, on that phone alone', async () => {
    const movil = await nuevoMovil(entorno)
    const otro = await nuevoMovil(entorno, movil)
    const { status, cuerpo, cabeceras } = await movil.pedir('DELETE', '/sesion')
    expect([status, cuerpo]).toEqual([204, undefined])
    expect(cabeceras.getSetCookie()).toEqual([
      'guias_repartidor=; Max-Age=0; Path=/repartidor; HttpOnly; SameSite=Strict',
    ])
    await hasta(async () => (await conocida(movil)).cuerpo.codigo === 'sesion_invalida')
    expect((await conocida(otro)).status).toBe(200)
  })

  it.each(['codigo', 'desactivar'])('ends everywhere after %s', async (que) => {
    const movil = await nuevoMovil(entorno)
    const servicios = [entorno.url, (await otroServicio()).url]
    const vale = async (url: string) =>
      (await fetch(`${url}/repartidor/v1/sesion`, { headers: { Cookie: movil.cookie } })).status === 200
    // It is in use all the while, so that it has just been looked up when it ends.
    for (const url of servicios) expect(await vale(url)).toBe(true)
    expect((await entorno.operar('POST', `/repartidores/${movil.repartidor}/${que}`)).status).toBeLessThan(300)
    for (const url of servicios) await hasta(async () => !(await vale(url)))
  })

  it('is born dead when its code is renewed at that very moment', async () => {
    const nacidas = await Promise.all(
      Array.from({ length: 10 }, async () => {
        const { repartidor, codigo } = await nuevo()
        const [sesion] = await Promise.all([
          entrar(entorno, codigo),
          entorno.operar('POST', `/repartidores/${repartidor}/codigo`),
        ])
        return cookieDe(sesion.cabeceras)
      }),
    )
    for (const Cookie of nacidas)
      await hasta(
        async () => (await entorno.pedir('GET', '/repartidor/v1/sesion', { cabeceras: { Cookie } })).status === 401,
      )
  })

  it('is over after twelve hours, and then swept', async () => {
    const movil = await nuevoMovil(entorno)
    const cuantas = async () => (await entorno.db.pool.query('select from sesion_repartidor')).rowCount!
    entorno.adelantar(11 * HORA)
    expect((await conocida(movil)).status).toBe(200)
    await limpiarSesiones(entorno)
    expect(await cuantas()).toBeGreaterThan(0)
    entorno.adelantar(HORA)
    expect((await conocida(movil)).cuerpo.codigo).toBe('sesion_invalida')
    await limpiarSesiones(entorno)
    expect(await cuantas()).toBe(0)
  })

  it('is the only thing that counts here, and counts nowhere else', async () => {
    const movil = await nuevoMovil(entorno)
    const comercio = await entorno.nuevoComercio()
    const { guia } = await comercio.api.guias.crear(unaGuia())
    for (const llave of [comercio.llave, entorno.llaveDeOperacion]) {
      const conLlave = await entorno.pedir('GET', `/repartidor/v1/guias/${guia}`, { llave })
      expect([conLlave.status, conLlave.cuerpo.codigo]).toEqual([401, 'sesion_invalida'])
      expect(conLlave.cabeceras.get('www-authenticate')).toBe('Cookie realm="repartidor"')
    }
    const [, token = ''] = movil.cookie.split('=')
    for (const ruta of [`/api/v1/guias/${guia}`, `/operaciones/v1/guias/${guia}`, '/operaciones/v1/repartidores']) {
      const conCookie = await entorno.pedir('GET', ruta, { cabeceras: { Cookie: movil.cookie } })
      expect([ruta, conCookie.cuerpo.codigo]).toEqual([ruta, 'no_autenticado'])
      expect((await entorno.pedir('GET', ruta, { llave: token })).cuerpo.codigo).toBe('no_autenticado')
      expect((await entorno.pedir('GET', ruta, { llave: movil.codigo })).cuerpo.codigo).toBe('no_autenticado')
    }
  })

  it('is none when the cookie is odd', async () => {
    const movil = await nuevoMovil(entorno)
    const nombre = 'guias_repartidor'
    for (const Cookie of [
      '',
      nombre,
      `${nombre}=`,
      `${nombre}=${'A'.repeat(43)}`,
      `${nombre}=${'A'.repeat(10_000)}`,
      `${movil.cookie}x`,
      `x${movil.cookie}`,
      `${nombre}="${movil.cookie.split('=')[1]}"`,
      // Two of the same name: one of them may be what a sibling domain put there.
      `${movil.cookie}; ${movil.cookie}`,
      `${nombre}=${'A'.repeat(43)}; ${movil.cookie}`,
    ]) {
      const { status, cuerpo } = await entorno.pedir('GET', '/repartidor/v1/sesion', { cabeceras: { Cookie } })
      expect([Cookie.slice(0, 40), status, cuerpo.codigo]).toEqual([Cookie.slice(0, 40), 401, 'sesion_invalida'])
    }
    const entreOtras = { Cookie: `a=1; ${movil.cookie};b=2` }
    expect((await entorno.pedir('GET', '/repartidor/v1/sesion', { cabeceras: entreOtras })).status).toBe(200)
  })
})

describe('what another site’s page makes a browser send', () => {
  const operaciones = leerOperaciones(leerDocumento()).filter(({ ruta }) => ruta.startsWith('/repartidor/'))
  const queCambian = operaciones.filter(({ metodo }) => metodo !== 'get')
  let movil: Movil
  let guia: string
  beforeAll(async () => {
    await entorno.reiniciar()
    movil = await nuevoMovil(entorno)
    guia = (await (await entorno.nuevoComercio()).api.guias.crear(unaGuia())).guia
  })

  /** Also the machinery's own rule is looked at: an operation that forgets it would be found here. */
  it('has operations to try, and not one that changes something and takes it from anywhere', () => {
    expect(queCambian.length).toBe(5)
    expect(operaciones.filter(({ mismoOrigen }) => mismoOrigen)).toEqual(queCambian)
  })

  const malas = (url: string): Record<string, string>[] => [
    {},
    { Origin: 'https://malo.ejemplo' },
    { Origin: 'null' },
    { Origin: url.replace('http:', 'https:') },
    { Origin: `${url}.malo.ejemplo` },
    { Origin: url.replace(/\d+$/, '1') },
    { Origin: `${url}, ${url}` },
    { Origin: '' },
    { 'Sec-Fetch-Site': 'cross-site' },
    { 'Sec-Fetch-Site': 'same-site' },
    { 'Sec-Fetch-Site': 'none' },
    { Origin: url, 'Sec-Fetch-Site': 'cross-site' },
    { Origin: url, 'Sec-Fetch-Site': 'same-site' },
    { Origin: 'https://malo.ejemplo', 'Sec-Fetch-Site': 'same-origin' },
    { Referer: `${url}/repartidor` },
  ]

  it.each(queCambian.map((operacion) => [operacion.id, operacion] as const))('%s: 403', async (_id, operacion) => {
    const ruta = operacion.ruta.replace('{guia}', guia) + (operacion.enFlujo ? '?tipo=foto' : '')
    for (const cabeceras of malas(entorno.url)) {
      const [tipo] = operacion.tipos
      const { status, cuerpo } = await entorno.pedir(operacion.metodo.toUpperCase(), ruta, {
        cabeceras: { Cookie: movil.cookie, ...(tipo ? { 'Content-Type': tipo } : {}), ...cabeceras },
        ...(tipo ? { crudo: JSON.stringify({ codigo: movil.codigo }) } : {}),
      })
      expect([cabeceras, status, cuerpo.codigo]).toEqual([cabeceras, 403, 'origen_no_permitido'])
    }
    expect((await conocida(movil)).status).toBe(200)
  })

  it('opens no session in somebody else’s name, and changes nothing', async () => {
    const antes = (await entorno.db.pool.query('select from sesion_repartidor')).rowCount
    const { status, cabeceras } = await entrar(entorno, movil.codigo, { cabeceras: { Origin: 'https://malo.ejemplo' } })
    expect([status, cabeceras.getSetCookie()]).toEqual([403, []])
    expect((await entorno.db.pool.query('select from sesion_repartidor')).rowCount).toBe(antes)
    expect((await entorno.operar('GET', `/guias/${guia}`)).cuerpo.secuencia).toBe(1)
  })

  it('cannot be the type that a form sends, nor be read where it may only read', async () => {
    for (const tipo of ['text/plain', 'application/x-www-form-urlencoded', 'multipart/form-data; boundary=x']) {
      const crudo = JSON.stringify({ tipo: 'guia.nota', descripcion: 'x', idempotencia: 'x' })
      const cabeceras = { 'Content-Type': tipo }
      expect((await movil.pedir('POST', `/guias/${guia}/eventos`, undefined, { crudo, cabeceras })).status).toBe(415)
    }
    const { cabeceras } = await movil.pedir('GET', `/guias/${guia}`, undefined, {
      cabeceras: { Origin: 'https://malo.ejemplo' },
    })
    expect(cabeceras.get('access-control-allow-origin')).toBeNull()
    expect(cabeceras.get('cross-origin-resource-policy')).toBe('same-origin')
  })

  it('is told from our own pages, however these are reached', async () => {
    const puerto = new URL(entorno.url).port
    const nota = (n: number) => ({ tipo: 'guia.nota', descripcion: 'x', idempotencia: `propia-${n}` })
    const propias: Record<string, string>[] = [
      { Origin: entorno.url },
      { Origin: entorno.url, 'Sec-Fetch-Site': 'same-origin' },
      { 'Sec-Fetch-Site': 'same-origin' },
    ]
    for (const [n, cabeceras] of propias.entries()) {
      const { status } = await entorno.pedir('POST', `/repartidor/v1/guias/${guia}/eventos`, {
        cuerpo: nota(n),
        cabeceras: { Cookie: movil.cookie, ...cabeceras },
      })
      expect([cabeceras, status]).toEqual([cabeceras, 201])
    }
    // By another of its names, as a phone in the same network does.
    const local = await fetch(`http://localhost:${puerto}/repartidor/v1/guias/${guia}/eventos`, {
      method: 'POST',
      headers: {
        'Content-Type': 'application/json',
        Cookie: movil.cookie,
        Origin: `http://localhost:${puerto}`,
      },
      body: JSON.stringify(nota(9)),
    })
    expect(local.status).toBe(201)
  })
})

describe('guessing codes', () => {
  beforeAll(() => entorno.reiniciar())

  it('has to wait after thirty in a minute, also with a good one; who is in stays in', async () => {
    const movil = await nuevoMovil(entorno)
    const respuestas = await Promise.all(Array.from({ length: 60 }, (_, i) => entrar(entorno, `MALO${i}`)))
    const deEspera = respuestas.filter(({ status }) => status === 429)
    expect(deEspera.length).toBeGreaterThan(25)
    expect(deEspera.length + respuestas.filter(({ status }) => status === 401).length).toBe(60)
    for (const { cuerpo, cabeceras } of deEspera) {
      expect(cuerpo.codigo).toBe('demasiadas_solicitudes')
      expect(Number(cabeceras.get('retry-after'))).toBeGreaterThan(0)
    }
    expect((await entrar(entorno, movil.codigo)).status).toBe(429)
    expect((await conocida(movil)).status).toBe(200)
    // The address that is counted is the connection's: nobody chooses another by a header.
    const cabeceras = { 'X-Forwarded-For': '203.0.113.7' }
    expect((await entrar(entorno, movil.codigo, { cabeceras })).status).toBe(429)
    // Then it goes on.
    await hasta(async () => (await entrar(entorno, movil.codigo)).status === 201)
  })

  it('is slowed down over all addresses together', async () => {
    // A proxy that is believed: each request seems to come from somewhere else.
    const { url } = await otroServicio({ TRUST_PROXY: '1' })
    const estados: number[] = []
    const inicio = performance.now()
    for (let i = 0; i < 1_000; i += 100) {
      const tanda = Array.from({ length: 100 }, (_, n) =>
        entrarEn(url, 'MALO', {
          Origin: url,
          'X-Forwarded-For': `198.51.${Math.floor((i + n) / 250)}.${(i + n) % 250}`,
        }),
      )
      for (const { status } of await Promise.all(tanda)) estados.push(status)
    }
    const segundos = (performance.now() - inicio) / 1_000
    const probados = estados.filter((status) => status === 401).length
    expect(estados.filter((status) => status === 429).length).toBe(1_000 - probados)
    expect(probados).toBeGreaterThanOrEqual(600)
    // As many again in each further minute, however slow the machine is.
    expect(probados).toBeLessThanOrEqual(600 + Math.ceil(segundos * 10))
  })
})

describe('the log', () => {
  it('names the courier, and holds neither code nor cookie nor anything of a recipient', async () => {
    await entorno.reiniciar()
    const movil = await nuevoMovil(entorno)
    const { guia } = await (await entorno.nuevoComercio()).api.guias.crear(unaGuia({ destinatario: 'Zacarías Único' }))
    await movil.pedir('GET', `/guias/${guia}`)
    await movil.pedir('GET', `/guias?guia=${guia}`)
    await movil.registrar(guia, { estado: 'recolectado', lat: 14.123456, lng: -90.654321, idempotencia: 'a' })
    await movil.pedir('DELETE', '/sesion')
    await entrar(entorno, 'CODIGOMALO')
    await hasta(async () => entorno.log.some((linea) => /"abrirSesion".*"status":401/.test(linea)))
    const log = entorno.log.join('\n')
    expect(log).toContain(`"repartidor":"${movil.repartidor}"`)
    const [, token = 'x'] = movil.cookie.split('=')
    const secretos = [movil.codigo, movil.codigo.replace('-', ''), token, 'CODIGOMALO', 'guias_repartidor=']
    for (const secreto of [...secretos, 'Zacarías', '+50231481676', '14.123456', 'Carlos'])
      expect([secreto, log.includes(secreto)]).toEqual([secreto, false])
  })
})
