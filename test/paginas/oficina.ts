import type { TestEnvironment } from '../entorno.ts'
import type { TestPersona } from '../equipo/persona.ts'
import { createScriptlessBrowser } from '../equipo/sinPrograma.ts'
import { hasta } from '../fabricas.ts'

/** Returns the value of a hidden field in the form of an action. */
const oculto = (texto: string, accion: string, cual: string, nombre: string) =>
  new RegExp(
    `name="accion" value="${accion}"><input type="hidden" name="cual" value="${cual}".*?name="${nombre}" value="([^"]*)"`,
    's',
  ).exec(texto)?.[1] ?? ''

/** People of the office, in browsers without a program. */
export function useOffice(entorno: TestEnvironment) {
  /** A browser in which that person is signed in. */
  const navegadorDe = ({ cookie }: Pick<TestPersona, 'cookie'>) => createScriptlessBrowser(entorno, cookie)

  /** Fills the form of an action and sends it, as a browser does. */
  async function hacer(
    quien: TestPersona,
    ruta: string,
    { accion, cual = '', ...campos }: { accion: string; cual?: string } & Record<string, string>,
  ) {
    const { ir } = navegadorDe(quien)
    const { texto } = await ir(ruta)
    const [idempotencia, secuencia] = ['idempotencia', 'secuencia'].map((uno) => oculto(texto, accion, cual, uno))
    const formulario = { accion, cual, idempotencia: idempotencia!, secuencia: secuencia!, ...campos }
    return { send: () => ir(ruta, formulario), respuesta: await ir(ruta, formulario), formulario }
  }

  /** Makes the last proof of presence of a person older than five minutes. */
  async function hacerTarde({ persona, request: pedir }: TestPersona) {
    await entorno.db.pool.query(
      `update sesion_persona s set presencia_en = presencia_en - interval '6 minutes' from persona p
       where p.id = s.persona_id and p.persona = $1`,
      [persona],
    )
    await hasta(async () => {
      const { cuerpo } = await pedir('GET', '/operaciones/v1/sesion')
      return entorno.clock().getTime() - Date.parse(cuerpo.presencia_en) > 5 * 60_000
    })
  }

  return { navegadorDe, perform: hacer, hacerTarde }
}
