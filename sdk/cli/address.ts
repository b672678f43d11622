import type { OptionValues } from './arguments.ts'

/** Address of the service, and the setting from which it comes; `de` is undefined for the default address. */
export interface ServiceAddress {
  url: string
  source: '--url' | 'GUIAS_URL' | undefined
}

const LOCAL_URL = 'http://127.0.0.1:3000'

/** Returns the service address: `--url`, else `GUIAS_URL`, else `http://127.0.0.1:3000`. */
export function readAddress(values: OptionValues): ServiceAddress {
  const givenUrl = values.url as string | undefined
  if (givenUrl !== undefined) return { url: givenUrl, source: '--url' }
  const variable = process.env.GUIAS_URL
  return variable ? { url: variable, source: 'GUIAS_URL' } : { url: LOCAL_URL, source: undefined }
}
