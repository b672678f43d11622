import type { Entorno } from '../entorno.ts'

type Pedido = NonNullable<Parameters<Entorno['pedir']>[2]>

/** A courier's phone: it is signed in, and its page calls from the service's own address. */
export interface Movil {
  /** rep_… */
  repartidor: string
  codigo: string
  cookie: string
  pedir(metodo: string, ruta: string, cuerpo?: unknown, opciones?: Pedido): ReturnType<Entorno['pedir']>
  registrar(guia: string, cuerpo: object): ReturnType<Entorno['pedir']>
  entregar(guia: string, cuerpo: object): ReturnType<Entorno['pedir']>
  subir(guia: string, tipo: 'foto' | 'firma', bytes: Uint8Array): ReturnType<Entorno['pedir']>
}

/** What its page sends to sign in. */
export const entrarPorMovil = (entorno: Entorno, codigo: string, opciones: Pedido = {}) =>
  entorno.pedir('POST', '/repartidor/v1/sesion', {
    cuerpo: { codigo },
    ...opciones,
    cabeceras: { Origin: entorno.url, ...opciones.cabeceras },
  })

/** From `Set-Cookie` to what a browser sends back. */
export const cookieDe = (cabeceras: Headers) => (cabeceras.getSetCookie()[0] ?? '').split(';')[0]!

export async function nuevoMovil(entorno: Entorno, de?: { repartidor: string; codigo: string }): Promise<Movil> {
  const { repartidor, codigo } =
    de ?? (await entorno.operar('POST', '/repartidores', { nombre: 'Carlos Méndez' })).cuerpo
  const sesion = await entrarPorMovil(entorno, codigo)
  if (sesion.status !== 201) throw new Error(`signing in was answered ${sesion.status}`)
  const cookie = cookieDe(sesion.cabeceras)
  const pedir: Movil['pedir'] = (metodo, ruta, cuerpo, opciones = {}) =>
    entorno.pedir(metodo, `/repartidor/v1${ruta}`, {
      cuerpo,
      ...opciones,
      cabeceras: { Cookie: cookie, Origin: entorno.url, ...opciones.cabeceras },
    })
  return {
    repartidor,
    codigo,
    cookie,
    pedir,
    registrar: (guia, cuerpo) => pedir('POST', `/guias/${guia}/eventos`, cuerpo),
    entregar: (guia, cuerpo) => pedir('POST', `/guias/${guia}/entrega`, cuerpo),
    subir: (guia, tipo, bytes) =>
      pedir('POST', `/guias/${guia}/archivos?tipo=${tipo}`, undefined, {
        crudo: new Uint8Array(bytes),
        cabeceras: { 'Content-Type': tipo === 'foto' ? 'image/jpeg' : 'image/png' },
      }),
  }
}

/** Makes couriers, as operators do. */
export const usarAltas = (entorno: Entorno) => ({
  crear: (cuerpo: object = { nombre: 'Carlos Méndez' }) => entorno.operar('POST', '/repartidores', cuerpo),
})
