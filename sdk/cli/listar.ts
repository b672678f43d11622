import type { FiltrosDeGuias, Guia } from '@guias/sdk'
import { ESTADOS } from './disparar.ts'
import { instante, type Orden, SALIDA } from './orden.ts'
import { type Lista, mostrarLista, OPCIONES_DE_LISTA } from './tabla.ts'
import { hora, tonoDe } from './terminal.ts'

const LISTA: Lista<Guia> = {
  columnas: [
    { titulo: 'GUÍA', de: ({ guia }) => guia },
    { titulo: 'ESTADO', de: ({ estado }) => estado, tono: ({ estado }) => tonoDe(estado) },
    { titulo: 'CREADA', de: ({ creado_en }) => hora(creado_en).slice(0, 16) },
    { titulo: 'REFERENCIA', de: ({ external_ref }) => external_ref ?? '', cede: true },
    {
      titulo: 'DESTINO',
      de: ({ destinatario, municipio }) => [destinatario, municipio].filter(Boolean).join(', '),
      cede: true,
    },
  ],
  nombres: [
    ...['guia', 'estado', 'modo', 'external_ref', 'telefono', 'destinatario', 'departamento', 'municipio', 'direccion'],
    ...[
      'indicaciones',
      'contenido',
      'ubicacion',
      'lat',
      'lng',
      'intentos',
      'resolucion',
      'advertencias',
      'creado_en',
      'actualizado_en',
    ],
  ],
  campos: ({ ubicacion, resolucion, advertencias, recogida: _, ...guia }) => ({
    ...guia,
    ubicacion: ubicacion.estado,
    lat: ubicacion.lat,
    lng: ubicacion.lng,
    resolucion: resolucion?.estado ?? null,
    advertencias: advertencias.map(({ codigo }) => codigo).join(' '),
  }),
  vacia: 'No hay guías que mostrar.',
}

export const listar: Orden = {
  resumen: 'lista sus guías, de la más reciente a la más antigua',
  uso: ['listar [opciones]'],
  explica: 'Lista las guías del modo de su llave, de la más reciente a la más antigua.',
  opciones: {
    estado: {
      valor: '<estado>',
      dice: 'solo en ese estado; varios, separados por comas',
      valores: ESTADOS,
      varias: true,
    },
    'external-ref': { valor: '<ref>', dice: 'solo la que tiene esa referencia suya' },
    'creado-desde': { valor: '<fecha>', dice: 'creadas ese día o instante, o después' },
    'creado-hasta': { valor: '<fecha>', dice: 'creadas antes de ese día o instante' },
    ...OPCIONES_DE_LISTA,
  },
  posicionales: [0, 0],
  muestra: true,
  ejemplos: [
    'listar --estado en_ruta,intento_fallido',
    'listar --creado-desde 2026-11-20 --todas --csv > noviembre.csv',
    'listar --todas --json | jq -r .guia',
  ],
  async ejecutar(contexto) {
    const { texto, textos, signal } = contexto
    const [desde, hasta, external_ref] = [texto('creado-desde'), texto('creado-hasta'), texto('external-ref')]
    const filtros: FiltrosDeGuias = {
      estado: textos('estado'),
      external_ref,
      creado_desde: desde === undefined ? desde : instante('creado-desde', desde),
      creado_hasta: hasta === undefined ? hasta : instante('creado-hasta', hasta),
    }
    const filtra = Object.values(filtros).some((uno) => uno !== undefined)
    const vacia = filtra ? 'No hay guías así.' : 'No hay guías todavía: créelas con guias crear o guias lote.'
    const { guias } = contexto.api()
    await mostrarLista(contexto, { ...LISTA, vacia }, (pagina) => guias.listar({ ...filtros, ...pagina }, { signal }))
    return SALIDA.bien
  },
}
