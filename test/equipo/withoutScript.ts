import type { TestEnvironment } from '../environment.ts'
import { toCookieHeader } from './persona.ts'

/** A browser without a program: it keeps cookies, follows redirects and sends forms. */
export function createScriptlessBrowser({ url }: Pick<TestEnvironment, 'url'>, cookie = '') {
  const cookies = new Map<string, string>()
  if (cookie) cookies.set(...(cookie.split('=') as [string, string]))
  const visit = async (
    ruta: string,
    campos?: Record<string, string> | [string, string][],
    cabeceras: Record<string, string> = {},
  ) => {
    const cookieHeader = [...cookies].map((par) => par.join('=')).join('; ')
    const respuesta = await fetch(new URL(ruta, url), {
      redirect: 'manual',
      headers: { ...(cookieHeader && { Cookie: cookieHeader }), ...(campos && { Origin: url }), ...cabeceras },
      ...(campos && { method: 'POST', body: new URLSearchParams(campos) }),
    })
    for (const pair of toCookieHeader(respuesta.headers).split('; ').filter(Boolean)) {
      const [nombre = '', valor = ''] = pair.split('=')
      if (valor === '') cookies.delete(nombre)
      else cookies.set(nombre, valor)
    }
    const a = respuesta.headers.get('location')
    const { status, headers } = respuesta
    const destino = a === null ? null : new URL(a, respuesta.url)
    return {
      status,
      a: destino?.pathname,
      destino: destino?.href,
      texto: await respuesta.text(),
      cabeceras: headers,
    }
  }
  return { visit, cookies }
}
