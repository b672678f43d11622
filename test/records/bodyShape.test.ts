import { hash } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { readDocument } from '../../server/api/contract/contract.ts'
import { presentAdvertencias, type StoredAdvertencia } from '../../server/domain/records/advertencias.ts'
import { MEMBERS_SINCE, removeNewMembers, shapeWith } from '../../server/domain/records/bodyShape.ts'
import { DESCRIPCIONES_DE_ESTADO, DESCRIPCIONES_DE_EVENTO } from '../../server/generated/contract/vocabulary.ts'

/** Members of the first version of a body's `datos`, by path. They never change. */
const MEMBERS_OF_FIRST_VERSION = `
evento.campos evento.decision evento.decision.accion evento.decision.estado evento.decision.fecha
evento.decision.fecha_desde evento.decision.franja evento.decision.franja.desde evento.decision.franja.hasta
evento.decision.opciones evento.decision.por evento.decision.vence_en evento.descripcion evento.estado
evento.estado_anterior evento.estado_reportado evento.external_ref evento.forzado evento.forzado.razon evento.guia
evento.id evento.lat evento.lng evento.motivo evento.numero_intento evento.ocurrido_en evento.registrado_en
evento.repartidor evento.repartidor.nombre evento.repartidor.repartidor evento.requiere_accion evento.secuencia
evento.tardio evento.tipo
guia.actualizado_en guia.advertencias guia.advertencias.campo guia.advertencias.codigo guia.advertencias.mensaje
guia.advertencias.sugerencia guia.advertencias.sugerencia.departamentos guia.advertencias.sugerencia.lat
guia.advertencias.sugerencia.lng guia.advertencias.sugerencia.municipios guia.contenido guia.creado_en
guia.datos_borrados_en guia.decision guia.decision.accion guia.decision.estado guia.decision.fecha
guia.decision.fecha_desde guia.decision.franja guia.decision.franja.desde guia.decision.franja.hasta
guia.decision.opciones guia.decision.por guia.decision.vence_en guia.departamento guia.destinatario guia.direccion
guia.estado guia.external_ref guia.guia guia.indicaciones guia.intentos guia.lat guia.lng guia.maps_url guia.metadatos
guia.modo guia.municipio guia.recogida guia.recogida.contacto guia.recogida.direccion guia.recogida.indicaciones
guia.recogida.lat guia.recogida.lng guia.recogida.maps_url guia.recogida.nombre guia.recogida.telefono guia.secuencia
guia.telefono guia.ubicacion guia.ubicacion.confirmado_en guia.ubicacion.distancia_km guia.ubicacion.estado
guia.ubicacion.lat guia.ubicacion.lng guia.ubicacion.maps_url guia.ubicacion.origen guia.ubicacion.precision_m
guia.ubicacion.referencia guia.ubicacion.solicitud guia.ubicacion.solicitud.canal guia.ubicacion.solicitud.creado_en
guia.ubicacion.solicitud.entregado_en guia.ubicacion.solicitud.enviado_en guia.ubicacion.solicitud.estado
guia.ubicacion.solicitud.leido_en guia.ubicacion.solicitud.motivo guia.ubicacion.solicitud.numero
guia.ubicacion.solicitud.vence_en
`
  .trim()
  .split(/\s+/)

interface Schema {
  $ref?: string
  enum?: string[]
  properties?: Record<string, Schema>
  items?: Schema
  anyOf?: Schema[]
  oneOf?: Schema[]
  allOf?: Schema[]
}

const { schemas } = (readDocument() as unknown as { components: { schemas: Record<string, Schema> } }).components

/** Paths of all members that a schema describes. */
function paths(schema: Schema, prefix: string): string[] {
  const { $ref, properties = {}, items, anyOf = [], oneOf = [], allOf = [] } = schema
  const parts = [...anyOf, ...oneOf, ...allOf, ...(items ? [items] : [])]
  if ($ref) parts.push(schemas[$ref.split('/').at(-1)!]!)
  return [
    ...parts.flatMap((part) => paths(part, prefix)),
    ...Object.entries(properties).flatMap(([name, member]) => {
      const path = `${prefix}.${name}`
      return [path, ...paths(member, path)]
    }),
  ]
}

describe('members of webhook bodies', () => {
  it('are those of the first version, and those that DESDE gives a later one', () => {
    const memberPaths = new Set([...paths(schemas.GuiaDeAviso!, 'guia'), ...paths(schemas.Evento!, 'evento')])
    expect([...memberPaths].sort()).toEqual([...MEMBERS_OF_FIRST_VERSION, ...Object.keys(MEMBERS_SINCE)].sort())
  })

  it('are removed from an older body if they are newer, at any depth', () => {
    const from = {
      'guia.recogida.telefono': 2,
      'guia.advertencias.grado': 2,
      'guia.decision': 3,
      'guia.nada.mas': 3,
    }
    const datos = () => ({
      guia: {
        recogida: { nombre: 'Bodega', telefono: '+50255550000' },
        advertencias: [
          { codigo: 'uno', grado: 1 },
          { codigo: 'dos', grado: 2 },
        ],
        decision: { estado: 'pendiente' },
        nada: null,
      },
    })
    const version = (saved: number | null) => {
      const data = datos()
      removeNewMembers(data, saved, from)
      return data.guia
    }
    const { decision: _, ...second } = datos().guia
    expect(shapeWith(from)).toBe(3)
    expect(version(3)).toEqual(datos().guia)
    expect(version(2)).toEqual(second)
    expect(version(null)).toEqual({
      ...second,
      recogida: { nombre: 'Bodega' },
      advertencias: [{ codigo: 'uno' }, { codigo: 'dos' }],
    })
  })
})

// Bodies have texts of the present code. A changed text would change older bodies, so it needs a version of its own.
describe('texts of webhook bodies', () => {
  it('never change', () => {
    const guia = {
      departamento: 'Guatemala',
      municipio: 'Mixco',
      ubicacion_lat: 0,
      ubicacion_lng: 0,
      ubicacion_extra: { distancia_km: 12.5 },
      advertencias: schemas
        .CodigoDeAdvertencia!.enum!.filter((codigo) => !NOT_IN_BODIES.includes(codigo))
        .map((codigo) => ({ codigo, campo: '/ubicacion' }) as StoredAdvertencia),
    }
    const texts = {
      ...DESCRIPCIONES_DE_ESTADO,
      ...DESCRIPCIONES_DE_EVENTO,
      ...Object.fromEntries(presentAdvertencias(guia).map(({ codigo, mensaje }) => [codigo, mensaje])),
    }
    const digests = Object.entries(texts).map(([version, text]) => `${version} ${hash('sha256', text).slice(0, 8)}`)
    expect(digests.sort()).toEqual(TEXTS_OF_FIRST_VERSION)
  })
})

/** Warnings that no webhook has, and the one whose suggestions come from the catalogue, which may grow. */
const NOT_IN_BODIES = [
  'campo_desconocido',
  'llave_por_vencer',
  'ya_cancelada',
  'ya_devuelta',
  'ya_extraviada',
  'destino_desconocido',
]
/** Digests of the texts of the first version. A new text enters here; an old one keeps its digest. */
const TEXTS_OF_FIRST_VERSION = [
  'aceptado 428c5a57',
  'cancelado 93111c12',
  'coordenadas_en_cero e1f4b2d2',
  'coordenadas_invertidas 339e6722',
  'coordenadas_sin_signo 339e6722',
  'devuelto e9b48f40',
  'en_bodega 685ab647',
  'en_devolucion ac6c7093',
  'en_ruta d99432ed',
  'en_transito 0ca29d0c',
  'enlace_sin_coordenadas ca432834',
  'entregado c6f180b8',
  'etiqueta_desactualizada 1fac0d2d',
  'extraviado 81856b62',
  'fuera_del_departamento 339e6722',
  'guia.corregida 9b051ba8',
  'guia.decision_pendiente 851e8189',
  'guia.decision_tomada 9d1d0e92',
  'guia.escaneo_tardio 39bd6fa9',
  'guia.nota 1d53a083',
  'guia.rectificada 1c7f0058',
  'guia.traspasada 933ab17e',
  'intento_fallido 84611721',
  'lugar_descrito baa63f79',
  'lugar_nulo fd99c7a0',
  'lugar_por_revisar 0235f743',
  'metadatos_distintos 8a11ea10',
  'recolectado fc32fa08',
  'referencia_nula 5e5a2932',
  'sin_mensajeria 97be4110',
  'telefono_dudoso 0c577e3f',
  'telefono_fijo 93949b47',
  'ubicacion.confirmada 8d1325fc',
  'ubicacion.fallida 5806a45b',
  'ubicacion.solicitada bc54af35',
  'ubicacion.vencida b3547519',
  'ubicacion_lejana 0b7127ed',
]
