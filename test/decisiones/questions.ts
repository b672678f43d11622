import { expect } from 'vitest'
import { tokenOf } from '../../server/domain/ubicacion/ubicacion.ts'
import type { Comercio, TestEnvironment } from '../environment.ts'
import { SECRETOS } from '../ubicacion/requests.ts'
import { useIntentos } from './move.ts'

/** Guides whose recipients are asked after a failed attempt, and what recipients do with their links. */
export function useQuestions(environment: TestEnvironment) {
  const { createGuia } = useIntentos(environment)
  const mensajes = async (guia: string) =>
    (
      await environment.db.pool.query(
        `select * from mensaje where guia = $1 and tipo = 'solicitud_decision' order by numero`,
        [guia],
      )
    ).rows
  const helpers = {
    mensajes,
    /** A merchant whose recipients decide, too. */
    async createComercio(intentos: object = {}, modo: Comercio['modo'] = 'test') {
      const comercio = await environment.createComercio(modo)
      await helpers.politica(comercio, { destinatario_decide: true, ...intentos })
      return comercio
    },
    async politica({ comercio }: Comercio, intentos: object) {
      const { status } = await environment.asOperador('PATCH', `/comercios/${comercio}`, {
        politica_de_intentos: intentos,
      })
      expect(status).toBe(200)
    },
    /** The link of a guide's newest message about a decision. */
    async linkOf(guia: string) {
      const { id, kid } = (await mensajes(guia)).at(-1)!
      return `/d/${tokenOf(SECRETOS, id, kid)!.token}`
    },
    /** A guide after a failed attempt, and the link of its recipient. */
    async createAskedGuia(comercio?: Comercio) {
      const guia = await createGuia(
        comercio ?? (await helpers.createComercio()),
        'recolectado',
        'en_ruta',
        'intento_fallido',
      )
      await environment.waitForQuiet()
      return { ...guia, enlace: await helpers.linkOf(guia.guia) }
    },
    async ver(link: string) {
      const response = await fetch(environment.url + link)
      return { status: response.status, html: await response.text() }
    },
    /** Sends the form of the page. */
    async send(link: string, fields: Record<string, string>) {
      const response = await fetch(environment.url + link, {
        method: 'POST',
        redirect: 'manual',
        body: new URLSearchParams(fields),
      })
      return { status: response.status, html: await response.text() }
    },
  }
  return helpers
}

export const REFUSAL_CHOICE = { eleccion: 'rechazo', seguro: '1' }
export const OTHER_DAY_CHOICE = { eleccion: 'otro_dia' }
export const CON_ROSA = { eleccion: 'vecino', nombre: 'Rosa Caal', donde: 'casa verde de enfrente' }
