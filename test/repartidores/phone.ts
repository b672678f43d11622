import type { TestEnvironment } from '../environment.ts'

type RequestOptions = NonNullable<Parameters<TestEnvironment['request']>[2]>

/** A courier's phone: it is signed in, and its page calls from the service's own address. */
export interface Mobile {
  /** rep_… */
  repartidor: string
  codigo: string
  cookie: string
  request(
    method: string,
    path: string,
    body?: unknown,
    options?: RequestOptions,
  ): ReturnType<TestEnvironment['request']>
  registrar(guia: string, body: object): ReturnType<TestEnvironment['request']>
  deliver(guia: string, body: object): ReturnType<TestEnvironment['request']>
  upload(guia: string, tipo: 'foto' | 'firma', bytes: Uint8Array): ReturnType<TestEnvironment['request']>
}

/** What its page sends to sign in. */
export const signInByMobile = (environment: TestEnvironment, codigo: string, options: RequestOptions = {}) =>
  environment.request('POST', '/repartidor/v1/sesion', {
    body: { codigo },
    ...options,
    headers: { Origin: environment.url, ...options.headers },
  })

/** From `Set-Cookie` to what a browser sends back. */
export const cookieOf = (headers: Headers) => (headers.getSetCookie()[0] ?? '').split(';')[0]!

export async function createMobile(
  environment: TestEnvironment,
  owner?: { repartidor: string; codigo: string },
): Promise<Mobile> {
  const { repartidor, codigo } =
    owner ?? (await environment.asOperador('POST', '/repartidores', { nombre: 'Carlos Méndez' })).body
  const sesion = await signInByMobile(environment, codigo)
  if (sesion.status !== 201) throw new Error(`signing in was answered ${sesion.status}`)
  const cookie = cookieOf(sesion.headers)
  const request: Mobile['request'] = (method, path, body, options = {}) =>
    environment.request(method, `/repartidor/v1${path}`, {
      body,
      ...options,
      headers: { Cookie: cookie, Origin: environment.url, ...options.headers },
    })
  return {
    repartidor,
    codigo,
    cookie,
    request,
    registrar: (guia, body) => request('POST', `/guias/${guia}/eventos`, body),
    deliver: (guia, body) => request('POST', `/guias/${guia}/entrega`, body),
    upload: (guia, tipo, bytes) =>
      request('POST', `/guias/${guia}/archivos?tipo=${tipo}`, undefined, {
        raw: new Uint8Array(bytes),
        headers: { 'Content-Type': tipo === 'foto' ? 'image/jpeg' : 'image/png' },
      }),
  }
}

/** Makes couriers, as operators do. */
export const useRepartidorSignUps = (environment: TestEnvironment) => ({
  create: (body: object = { nombre: 'Carlos Méndez' }) => environment.asOperador('POST', '/repartidores', body),
})
