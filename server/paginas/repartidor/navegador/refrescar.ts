// Keeps what is at hand fresh while there is coverage: what is on the phone is what there will be without.
import { leerAjuste } from './almacen/base.ts'
import { guardarGuias, guardarSinDatos, guiasDe } from './almacen/guias.ts'
import { leerGuias, leerSuyas } from './api.ts'
import { esFinal } from './dominio.ts'

const FRESCA_MS = 2 * 60_000
/** How many guides the service gives at once. */
const DE_UNA_VEZ = 100

let enCurso = false
/** When what the courier carries was listed last, and in which session: another one begins with nothing at hand. */
let listadas = { sesion: '', en: 0 }

/** Fetches what the courier carries, unless that is fresh, and what of the rest is old. */
export async function refrescar() {
  const sesion = await leerAjuste('sesion')
  if (!sesion?.vigente || enCurso || !navigator.onLine) return
  enCurso = true
  try {
    const { repartidor, vence_en } = sesion
    const desde = Date.now() - FRESCA_MS
    if (listadas.sesion !== vence_en || listadas.en < desde) {
      const suyas = await leerSuyas()
      if (suyas.status !== 200) return
      await guardarGuias(repartidor, suyas.cuerpo.datos, suyas.servidor)
      listadas = { sesion: vence_en, en: Date.now() }
    }
    const viejas = (await guiasDe(repartidor)).filter(
      ({ datos, leida, desconocida }) => !desconocida && (!datos || (leida < desde && !esFinal(datos.estado))),
    )
    for (let i = 0; i < viejas.length; i += DE_UNA_VEZ) {
      const { status, cuerpo, servidor } = await leerGuias(viejas.slice(i, i + DE_UNA_VEZ).map(({ guia }) => guia))
      if (status !== 200) return
      await guardarGuias(repartidor, cuerpo.datos, servidor)
      for (const guia of cuerpo.desconocidas) await guardarSinDatos(repartidor, guia, true)
    }
  } catch {
    // Without coverage: what is here stays.
  } finally {
    enCurso = false
  }
}

export function vigilarGuias() {
  addEventListener('online', refrescar)
  document.addEventListener('visibilitychange', () => document.visibilityState === 'visible' && refrescar())
  setInterval(() => document.visibilityState === 'visible' && refrescar(), FRESCA_MS)
  refrescar()
}
