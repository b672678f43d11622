// Keeps the guides on the phone fresh while there is coverage, because they are all that the courier has without
// coverage.

import { pedirGuias, pedirSuyas } from './api.ts'
import { esEstadoFinal } from './dominio.ts'
import { leerAjuste } from './store/base.ts'
import { guardarGuias, guardarSinAsignar, guardarSinDatos, guiasDe } from './store/guias.ts'

const FRESCA_MS = 2 * 60_000
/** Maximum number of guides in one request to the service. */
const DE_UNA_VEZ = 100

let enCurso = false
/**
 * Time and session of the last list of the courier's guides that was fetched. A new session has no list, so it fetches
 * one at once.
 */
let listadas = { sesion: '', en: 0 }

/**
 * Fetches the guides that the courier carries or that are assigned to the courier, unless the list is fresh. Also
 * fetches the other guides whose data is old.
 */
export async function refrescar() {
  const sesion = await leerAjuste('sesion')
  if (!sesion?.vigente || enCurso || !navigator.onLine) return
  enCurso = true
  try {
    const { repartidor, vence_en } = sesion
    const desde = Date.now() - FRESCA_MS
    if (listadas.sesion !== vence_en || listadas.en < desde) {
      const suyas = await pedirSuyas()
      if (suyas.status !== 200) return
      await guardarGuias(repartidor, suyas.cuerpo.datos, suyas.servidor, suyas.cuerpo)
      listadas = { sesion: vence_en, en: Date.now() }
    }
    const viejas = (await guiasDe(repartidor)).filter(
      ({ datos, leida, desconocida }) => !desconocida && (!datos || (leida < desde && !esEstadoFinal(datos.estado))),
    )
    for (let i = 0; i < viejas.length; i += DE_UNA_VEZ) {
      const { status, cuerpo, servidor } = await pedirGuias(viejas.slice(i, i + DE_UNA_VEZ).map(({ guia }) => guia))
      if (status !== 200) return
      await guardarGuias(repartidor, cuerpo.datos, servidor)
      for (const guia of cuerpo.desconocidas) await guardarSinDatos(repartidor, guia, true)
      for (const guia of cuerpo.sin_asignar) await guardarSinAsignar(repartidor, guia)
    }
  } catch {
    // Without coverage, the guides on the phone stay as they are.
  } finally {
    enCurso = false
  }
}

/**
 * Refreshes the guides every 2 minutes, when the phone goes online, and when the page becomes visible. Called once per
 * page.
 */
export function vigilarGuias() {
  addEventListener('online', refrescar)
  document.addEventListener('visibilitychange', () => document.visibilityState === 'visible' && refrescar())
  setInterval(() => document.visibilityState === 'visible' && refrescar(), FRESCA_MS)
  refrescar()
}
