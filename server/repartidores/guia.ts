import type { GuiaDeReparto } from '../contrato/generado/tipos/index.ts'
import { exigeUbicacion, motivosDe, reportables } from '../estados/estados.ts'
import { type FilaGuia, presentar } from '../guias/guia.ts'
import { zonaDe } from '../tiempo/zona.ts'

/** A guide as a courier sees it: what he needs to carry it, and no more. */
export function presentarGuia(fila: FilaGuia, zonaHoraria: string | undefined): GuiaDeReparto {
  const { ubicacion, ...guia } = presentar(fila)
  return {
    guia: guia.guia,
    estado: guia.estado,
    modo: guia.modo,
    destinatario: guia.destinatario,
    telefono: guia.telefono,
    departamento: guia.departamento,
    municipio: guia.municipio,
    direccion: guia.direccion,
    indicaciones: guia.indicaciones,
    contenido: guia.contenido,
    ubicacion: {
      estado: ubicacion.estado,
      lat: ubicacion.lat,
      lng: ubicacion.lng,
      maps_url: ubicacion.maps_url,
      referencia: ubicacion.referencia,
    },
    intentos: guia.intentos,
    secuencia: guia.secuencia,
    zona_horaria: zonaDe(fila, zonaHoraria),
    siguientes: reportables(fila.estado).map((estado) => ({
      estado,
      motivos: [...motivosDe(estado)],
      con_prueba: estado === 'entregado',
      con_ubicacion: exigeUbicacion(estado),
    })),
  }
}
