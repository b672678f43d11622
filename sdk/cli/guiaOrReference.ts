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
    const found =
      text.length <= MAX_REFERENCE ? await guias.listar({ external_ref: text, limite: 1 }, { signal }) : null
    const [match] = found?.datos ?? []
    if (match) return ask(match.guia)
    const mensaje = `«${text}» no es el código ni la referencia de ninguna guía suya, en el modo de esta llave. Revise si tiene una letra o un número cambiado.`
    const { status, cabeceras } = error
    throw new ErrorNoEncontrado({ ...error.problema, mensaje }, { status, cabeceras })
  }
}

/** Maximum length of a reference, in characters. */
const MAX_REFERENCE = 128
