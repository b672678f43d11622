import type { EstadoDeDecision, FiltrosDeGuias, Guia } from '@guias/sdk'
import { escribirMetadatos, leerMetadatos } from '@guias/sdk/hoja'
import { SHOWN_MEMBERS } from '../../src/generated/fields.ts'
import { type CliCommand, EXIT_CODE, readInstantOption, UsageError } from '../command.ts'
import { LIST_OPTIONS, type ListDescription, showList } from '../table.ts'
import { hora, toneOfState } from '../terminal.ts'
import { ESTADOS, UBICACION_ESTADOS } from './disparar.ts'

const LIST_OF_GUIAS: ListDescription<Guia> = {
  columns: [
    { title: 'GUÍA', text: ({ guia }) => guia },
    { title: 'ESTADO', text: ({ estado }) => estado, tone: ({ estado }) => toneOfState(estado) },
    { title: 'CREADA', text: ({ creado_en, zona_horaria }) => hora(creado_en, zona_horaria, 'corta') },
    { title: 'REFERENCIA', text: ({ external_ref }) => external_ref ?? '', canShrink: true },
    {
      title: 'DESTINO',
      text: ({ destinatario, municipio }) => [destinatario, municipio].filter(Boolean).join(', '),
      canShrink: true,
    },
  ],
  names: [...SHOWN_MEMBERS.filter((name) => name !== 'recogida'), 'zona_horaria', 'url_rastreo'],
  campos: ({ ubicacion, decision, advertencias, metadatos, recogida: _, ...guia }) => ({
    ...guia,
    metadatos: escribirMetadatos(metadatos),
    ubicacion: ubicacion.estado,
    lat: ubicacion.lat,
    lng: ubicacion.lng,
    decision: decision?.estado ?? null,
    advertencias: advertencias.map(({ codigo }) => codigo).join(' '),
  }),
  emptyMessage: 'No hay guías que mostrar.',
}

/** A value for each filter of the contract, so that the command lacks none. */
type EveryFilter = Readonly<Record<Exclude<keyof FiltrosDeGuias, 'limite' | 'cursor'>, unknown>>

const ESTADOS_DE_DECISION: readonly EstadoDeDecision[] = ['pendiente', 'tomada', 'aplicada', 'superada']

/**
 * Reads the metadata filter of the list. ¶
 * @throws UsageError if the text is not metadata
 */
function requireMetadatos(text: string) {
  const metadatos = leerMetadatos(text)
  if (metadatos) return metadatos
  throw new UsageError(`--metadatos debe ser como canal=web y llegó «${text}».`)
}

export const listar: CliCommand = {
  summary: 'lista sus guías, de la más reciente a la más antigua',
  usage: ['listar [opciones]'],
  explanation: `Lista las guías del modo de su llave, de la más reciente a la más antigua. La
hora de cada una es la de su destino.`,
  options: {
    estado: {
      placeholder: '<estado>',
      description: 'solo en ese estado; varios, separados por comas',
      values: ESTADOS,
      multiple: true,
    },
    'external-ref': { placeholder: '<ref>', description: 'solo la que tiene esa referencia suya' },
    telefono: { placeholder: '<número>', description: 'solo las de ese teléfono, como 3148 1676 o +50231481676' },
    ubicacion: {
      placeholder: '<estado>',
      description: 'solo con la ubicación en ese estado; varios, separados por comas',
      values: UBICACION_ESTADOS,
      multiple: true,
    },
    decision: {
      placeholder: '<estado>',
      description: 'solo con la última decisión en ese estado; varios, separados por comas',
      values: ESTADOS_DE_DECISION,
      multiple: true,
    },
    metadatos: {
      placeholder: '<clave=texto>',
      description: 'solo con ese texto en esa clave; varias, separadas por «;»',
    },
    'creado-desde': { placeholder: '<fecha>', description: 'creadas ese día o instante, o después' },
    'creado-hasta': { placeholder: '<fecha>', description: 'creadas antes de ese día o instante' },
    'actualizado-desde': { placeholder: '<fecha>', description: 'que cambiaron ese día o instante, o después' },
    ...LIST_OPTIONS,
  },
  positionals: [0, 0],
  readOnly: true,
  examples: [
    'listar --estado en_ruta,intento_fallido',
    'listar --creado-desde 0000-12-02 --todas --csv > guias.csv',
    'listar --decision pendiente',
    'listar --metadatos canal=web --ubicacion vencida',
    'listar --todas --json | jq -r .guia',
  ],
  async run(context) {
    const { texto, texts, signal } = context
    const read = <T>(name: string, parse: (value: string) => T) => {
      const value = texto(name)
      return value === undefined ? undefined : parse(value)
    }
    const date = (name: string) => read(name, (value) => readInstantOption(name, value))
    const filters: FiltrosDeGuias & EveryFilter = {
      estado: texts('estado'),
      external_ref: texto('external-ref'),
      telefono: texto('telefono'),
      ubicacion: texts('ubicacion'),
      decision: texts('decision'),
      metadatos: read('metadatos', requireMetadatos),
      creado_desde: date('creado-desde'),
      creado_hasta: date('creado-hasta'),
      actualizado_desde: date('actualizado-desde'),
    }
    const isFiltered = Object.values(filters).some((value) => value !== undefined)
    const emptyMessage = isFiltered
      ? 'No hay guías así.'
      : 'No hay guías todavía: créelas con guias crear o guias lote.'
    const { guias } = context.api()
    await showList(context, { ...LIST_OF_GUIAS, emptyMessage }, (page) =>
      guias.listar({ ...filters, ...page }, { signal }),
    )
    return EXIT_CODE.ok
  },
}
