// Keeps the guides on the phone fresh while there is coverage, because they are all that the courier has without
// coverage.

import { requestGuias, requestOwnGuias } from './api.ts'
import { readSetting } from './store/base.ts'
import { readGuiasOf, storeGuias, storeUnassigned, storeWithoutData } from './store/guias.ts'
import { isFinalEstado } from './vocabulary.ts'

const FRESH_MS = 2 * 60_000
/** Maximum number of guides in one request to the service. */
const MAX_GUIAS_PER_REQUEST = 100

let isRefreshing = false
/**
 * Time and session of the last list of the courier's guides that was fetched. A new session has no list, so it fetches
 * one at once.
 */
let lastList = { sesion: '', en: 0 }

/**
 * Fetches the guides that the courier carries or that are assigned to the courier, unless the list is fresh. Also
 * fetches the other guides whose data is old.
 */
export async function refreshGuias() {
  const sesion = await readSetting('sesion')
  if (!sesion?.isActive || isRefreshing || !navigator.onLine) return
  isRefreshing = true
  try {
    const { repartidor, vence_en } = sesion
    const from = Date.now() - FRESH_MS
    if (lastList.sesion !== vence_en || lastList.en < from) {
      const ownGuias = await requestOwnGuias()
      if (ownGuias.status !== 200) return
      await storeGuias(repartidor, ownGuias.body.datos, ownGuias.serverTime, ownGuias.body)
      lastList = { sesion: vence_en, en: Date.now() }
    }
    const staleGuias = (await readGuiasOf(repartidor)).filter(
      ({ datos, readAt, isUnknown }) => !isUnknown && (!datos || (readAt < from && !isFinalEstado(datos.estado))),
    )
    for (let i = 0; i < staleGuias.length; i += MAX_GUIAS_PER_REQUEST) {
      const { status, body, serverTime } = await requestGuias(
        staleGuias.slice(i, i + MAX_GUIAS_PER_REQUEST).map(({ guia }) => guia),
      )
      if (status !== 200) return
      await storeGuias(repartidor, body.datos, serverTime)
      for (const guia of body.desconocidas) await storeWithoutData(repartidor, guia, true)
      for (const guia of body.sin_asignar) await storeUnassigned(repartidor, guia)
    }
  } catch {
    // Without coverage, the guides on the phone stay as they are.
  } finally {
    isRefreshing = false
  }
}

/**
 * Refreshes the guides every 2 minutes, when the phone goes online, and when the page becomes visible. Called once per
 * page.
 */
export function watchGuias() {
  addEventListener('online', refreshGuias)
  document.addEventListener('visibilitychange', () => document.visibilityState === 'visible' && refreshGuias())
  setInterval(() => document.visibilityState === 'visible' && refreshGuias(), FRESH_MS)
  refreshGuias()
}
