import type { TestEnvironment } from '../environment.ts'
import type { TestPersona } from '../equipo/persona.ts'
import { createScriptlessBrowser } from '../equipo/withoutScript.ts'
import { waitUntil } from '../factories.ts'

/** Returns the value of a hidden field in the form of an action. */
const readHiddenField = (text: string, accion: string, target: string, name: string) =>
  new RegExp(
    `name="accion" value="${accion}"><input type="hidden" name="cual" value="${target}".*?name="${name}" value="([^"]*)"`,
    's',
  ).exec(text)?.[1] ?? ''

/** People of the office, in browsers without a program. */
export function useOffice(environment: TestEnvironment) {
  /** A browser in which that person is signed in. */
  const createBrowserOf = ({ cookie }: Pick<TestPersona, 'cookie'>) => createScriptlessBrowser(environment, cookie)

  /** Fills the form of an action and sends it, as a browser does. */
  async function performAction(
    caller: TestPersona,
    path: string,
    { accion, target = '', ...fields }: { accion: string; target?: string } & Record<string, string>,
  ) {
    const { visit } = createBrowserOf(caller)
    const { texto: text } = await visit(path)
    const [idempotencia, secuencia] = ['idempotencia', 'secuencia'].map((fieldName) =>
      readHiddenField(text, accion, target, fieldName),
    )
    const form = { accion, cual: target, idempotencia: idempotencia!, secuencia: secuencia!, ...fields }
    return { send: () => visit(path, form), respuesta: await visit(path, form), form }
  }

  /** Makes the last proof of presence of a person older than five minutes. */
  async function performLate({ persona, request }: TestPersona) {
    await environment.db.pool.query(
      `update sesion_persona s set presencia_en = presencia_en - interval '6 minutes' from persona p
       where p.id = s.persona_id and p.persona = $1`,
      [persona],
    )
    await waitUntil(async () => {
      const { body } = await request('GET', '/operaciones/v1/sesion')
      return environment.clock().getTime() - Date.parse(body.presencia_en) > 5 * 60_000
    })
  }

  return { createBrowserOf, perform: performAction, performLate }
}
