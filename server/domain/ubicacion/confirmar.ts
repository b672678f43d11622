import { problemOfFaults } from '../../platform/errors.ts'
import { readMapLink } from '../../platform/maps/links.ts'
import { darPaso, sinCarrera } from '../eventos/evento.ts'
import { explicarInverosimil } from '../guias/advertencias.ts'
import { buscarGuia, presentar } from '../guias/guia.ts'
import type { Handler } from '../operation.ts'
import { enlacePorSeguir, exigirAbierta, mismoLugar, pasoDeLugar } from './ubicacion.ts'

export const confirmarUbicacion: Handler<'confirmarUbicacion'> = async (
  { path, body, identidad },
  { db, reloj, nuevoId, avisarTrabajo },
) => {
  // Coordinates take precedence over a link.
  const enlace = body.maps_url === undefined || body.lat !== undefined ? undefined : readMapLink(body.maps_url)
  const leidas = enlace?.tipo === 'coordenadas' ? enlace.coordenadas : undefined
  const propuesta = {
    enlace: enlace ? body.maps_url! : null,
    lat: body.lat ?? leidas?.lat ?? null,
    lng: body.lng ?? leidas?.lng ?? null,
    referencia: body.referencia ?? null,
    precision_m: null,
    origen: 'comercio' as const,
  }
  const guia = await sinCarrera(async () => {
    const leida = await buscarGuia(db, identidad, path.guia)
    if (mismoLugar(leida, propuesta)) return leida
    exigirAbierta(leida)
    const deLugar = pasoDeLugar(leida, propuesta, reloj())
    const fallas = explicarInverosimil({ ...leida, ...deLugar.ubicacion }, propuesta.enlace !== null)
    if (identidad.estricto && fallas.length > 0) throw problemOfFaults('validacion', fallas)
    const paso = await darPaso({ db, avisarTrabajo }, leida, {
      ...deLugar,
      autor: identidad.comercio,
      enlaceCorto: enlacePorSeguir(propuesta.enlace, nuevoId),
    })
    return paso?.guia
  })
  return { status: 200, body: presentar(guia) }
}
