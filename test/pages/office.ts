import type { TestEnvironment } from '../environment.ts'
import type { TestPersona } from '../equipo/persona.ts'
import { createScriptlessBrowser } from '../equipo/withoutScript.ts'
import { hasta } from '../factories.ts'

/** Returns the value of a hidden field in the form of an action. */
const readHiddenField = (texto: string, accion: string, target: string, nombre: string) =>
  new RegExp(
    `name="accion" value="${accion}"><input type="hidden" name="cual" value="${target}".*?name="${nombre}" value="([^"]*)"`,
    's',
  ).exec(texto)?.[1] ?? ''

/** People of the office, in browsers without a program. */
export function useOffice(environment: TestEnvironment) {
  /** A browser in which that person is signed in. */
  const createBrowserOf = ({ cookie }: Pick<TestPersona, 'cookie'>) => createScriptlessBrowser(environment, cookie)

  /** Fills the form of an action and sends it, as a browser does. */
  async function performAction(
    quien: TestPersona,
    ruta: string,
    { accion, cual = '', ...campos }: { accion: string; cual?: string } & Record<string, string>,
  ) {
    const { visit } = createBrowserOf(quien)
    const { texto } = await visit(ruta)
    const [idempotencia, secuencia] = ['idempotencia', 'secuencia'].map((fieldName) =>
      readHiddenField(texto, accion, cual, fieldName),
    )
    const form = { accion, cual, idempotencia: idempotencia!, secuencia: secuencia!, ...campos }
    return { send: () => visit(ruta, form), respuesta: await visit(ruta, form), form }
  }

  /** Makes the last proof of presence of a person older than five minutes. */
  async function performLate({ persona, request: pedir }: TestPersona) {
    await environment.db.pool.query(
      `update sesion_persona s set presencia_en = presencia_en - interval '6 minutes' from persona p
       where p.id = s.persona_id and p.persona = $1`,
      [persona],
    )
    await hasta(async () => {
      const { cuerpo } = await pedir('GET', '/operaciones/v1/sesion')
      return environment.clock().getTime() - Date.parse(cuerpo.presencia_en) > 5 * 60_000
    })
  }

  return { createBrowserOf, perform: performAction, performLate }
}
