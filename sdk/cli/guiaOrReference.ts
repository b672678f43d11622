import { ErrorNoEncontrado, type Guias } from '@guias/sdk'

/**
 * Runs `ask` with a guide's code. If no guide has the code, runs it with the code of the guide that has the text as its
 * reference.
 *
 * @throws ErrorNoEncontrado naming the text, if it is neither
 */
export async function byCodeOrReference<T>(
  { guias }: Guias,
  text: string,
  signal: AbortSignal,
  ask: (guia: string) => PromiseLike<T>,
): Promise<T> {
  try {
    return await ask(text)
  } catch (error) {
    if (!(error instanceof ErrorNoEncontrado) || error.codigo !== 'guia_desconocida') throw error
    const code = await findByReference(guias, text, signal)
    if (code !== undefined) return ask(code)
    const mensaje = `«${text}» no es el código ni la referencia de ninguna guía suya, en el modo de esta llave. Revise si tiene una letra o un número cambiado.`
    const { estadoHttp, cabeceras } = error
    throw new ErrorNoEncontrado({ ...error.problema, mensaje }, { estadoHttp, cabeceras })
  }
}

/** Maximum length of a reference, in characters. */
const MAX_REFERENCE = 128

/** Returns the code of the guide that has the text as its reference; undefined if none has it. */
export async function findByReference(guias: Guias['guias'], text: string, signal: AbortSignal) {
  if (text.length > MAX_REFERENCE) return undefined
  const { datos } = await guias.listar({ external_ref: text, limite: 1 }, { signal })
  return datos[0]?.guia
}
