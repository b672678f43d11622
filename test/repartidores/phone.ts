import type { TestEnvironment } from '../environment.ts'

type RequestOptions = NonNullable<Parameters<TestEnvironment['request']>[2]>

/** A courier's phone: it is signed in, and its page calls from the service's own address. */
export interface Mobile {
  /** rep_… */
  repartidor: string
  codigo: string
  cookie: string
  request(
    metodo: string,
    ruta: string,
    cuerpo?: unknown,
    opciones?: RequestOptions,
  ): ReturnType<TestEnvironment['request']>
  registrar(guia: string, cuerpo: object): ReturnType<TestEnvironment['request']>
  deliver(guia: string, cuerpo: object): ReturnType<TestEnvironment['request']>
  upload(guia: string, tipo: 'foto' | 'firma', bytes: Uint8Array): ReturnType<TestEnvironment['request']>
}

/** What its page sends to sign in. */
export const signInByMobile = (environment: TestEnvironment, codigo: string, opciones: RequestOptions = {}) =>
  environment.request('POST', '/repartidor/v1/sesion', {
    cuerpo: { codigo },
    ...opciones,
    cabeceras: { Origin: environment.url, ...opciones.cabeceras },
  })

/** From `Set-Cookie` to what a browser sends back. */
export const cookieDe = (cabeceras: Headers) => (cabeceras.getSetCookie()[0] ?? '').split(';')[0]!

export async function createMobile(
  environment: TestEnvironment,
  de?: { repartidor: string; codigo: string },
): Promise<Mobile> {
  const { repartidor, codigo } =
    de ?? (await environment.operar('POST', '/repartidores', { nombre: 'Carlos Méndez' })).cuerpo
  const sesion = await signInByMobile(environment, codigo)
  if (sesion.status !== 201) throw new Error(`signing in was answered ${sesion.status}`)
  const cookie = cookieDe(sesion.cabeceras)
  const pedir: Mobile['request'] = (metodo, ruta, cuerpo, opciones = {}) =>
    environment.request(metodo, `/repartidor/v1${ruta}`, {
      cuerpo,
      ...opciones,
      cabeceras: { Cookie: cookie, Origin: environment.url, ...opciones.cabeceras },
    })
  return {
    repartidor,
    codigo,
    cookie,
    request: pedir,
    registrar: (guia, cuerpo) => pedir('POST', `/guias/${guia}/eventos`, cuerpo),
    deliver: (guia, cuerpo) => pedir('POST', `/guias/${guia}/entrega`, cuerpo),
    upload: (guia, tipo, bytes) =>
      pedir('POST', `/guias/${guia}/archivos?tipo=${tipo}`, undefined, {
        raw: new Uint8Array(bytes),
        cabeceras: { 'Content-Type': tipo === 'foto' ? 'image/jpeg' : 'image/png' },
      }),
  }
}

/** Makes couriers, as operators do. */
export const useRepartidorSignUps = (environment: TestEnvironment) => ({
  create: (cuerpo: object = { nombre: 'Carlos Méndez' }) => environment.operar('POST', '/repartidores', cuerpo),
})
