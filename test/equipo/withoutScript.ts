import type { TestEnvironment } from '../environment.ts'
import { toCookieHeader } from './persona.ts'

/** A browser without a program: it keeps cookies, follows redirects and sends forms. */
export function createScriptlessBrowser({ url }: Pick<TestEnvironment, 'url'>, cookie = '') {
  const cookies = new Map<string, string>()
  if (cookie) cookies.set(...(cookie.split('=') as [string, string]))
  const visit = async (
    path: string,
    fields?: Record<string, string> | [string, string][],
    cabeceras: Record<string, string> = {},
  ) => {
    const cookieHeader = [...cookies].map((pair) => pair.join('=')).join('; ')
    const response = await fetch(new URL(path, url), {
      redirect: 'manual',
      headers: { ...(cookieHeader && { Cookie: cookieHeader }), ...(fields && { Origin: url }), ...cabeceras },
      ...(fields && { method: 'POST', body: new URLSearchParams(fields) }),
    })
    for (const pair of toCookieHeader(response.headers).split('; ').filter(Boolean)) {
      const [name = '', value = ''] = pair.split('=')
      if (value === '') cookies.delete(name)
      else cookies.set(name, value)
    }
    const a = response.headers.get('location')
    const { status, headers } = response
    const destino = a === null ? null : new URL(a, response.url)
    return {
      status,
      a: destino?.pathname,
      destino: destino?.href,
      texto: await response.text(),
      headers,
    }
  }
  return { visit, cookies }
}
