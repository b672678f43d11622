import { beforeAll } from 'vitest'
import { unaFoto } from '../archivos/imagenes.ts'
import { MINUTO } from '../duraciones.ts'
import { type Comercio, usarEntorno } from '../entorno.ts'
import { type Movil, nuevoMovil } from './movil.ts'

/** The courier's phone and the merchant of a file's tests. */
export let movil: Movil
export let comercio: Comercio
let claves = 0
/** What the phone makes up for each action. */
export const clave = () => `movil-${++claves}`

export function usarReparto() {
  const entorno = usarEntorno()
  beforeAll(async () => {
    movil = await nuevoMovil(entorno)
    comercio = await entorno.nuevoComercio()
  })
  /** When it happens, for what is told later. */
  const hace = (minutos: number) => new Date(entorno.reloj().getTime() - minutos * MINUTO).toISOString()
  const ver = async (guia: string) => (await movil.pedir('GET', `/guias/${guia}`)).cuerpo
  const eventos = async (guia: string) =>
    (await entorno.db.pool.query('select * from evento where guia = $1 order by secuencia', [guia])).rows
  const foto = async (guia: string) => (await movil.subir(guia, 'foto', await unaFoto())).cuerpo.archivo as string

  return { entorno, hace, ver, eventos, foto }
}
