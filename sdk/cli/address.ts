import type { OptionValues } from './arguments.ts'

/** Address of the service, and the setting from which it comes; `de` is undefined for the default address. */
export interface Direccion {
  url: string
  de: '--url' | 'GUIAS_URL' | undefined
}

const LOCAL_URL = 'http://127.0.0.1:3000'

/** Returns the service address: `--url`, else `GUIAS_URL`, else `http://127.0.0.1:3000`. */
export function readAddress(values: OptionValues): Direccion {
  const givenUrl = values.url as string | undefined
  if (givenUrl !== undefined) return { url: givenUrl, de: '--url' }
  const variable = process.env.GUIAS_URL
  return variable ? { url: variable, de: 'GUIAS_URL' } : { url: LOCAL_URL, de: undefined }
}
