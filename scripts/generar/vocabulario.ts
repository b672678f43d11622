import { isDeepStrictEqual } from 'node:util'
import type { Json, Objeto } from '../documentacion/contrato.ts'

const congelar = (nombre: string, valor: Json) =>
  `export const ${nombre} = ${JSON.stringify(valor, null, 2)} as const\n`

/**
 * Returns the source of the contract's vocabularies as constants: states and their machine, reasons, problems, scopes,
 * retries.
 * @throws if the enum of problem codes differs from `x-problemas`
 */
export function vocabulario(contrato: Objeto): string {
  const esquemas = (contrato.components as Objeto).schemas as Record<string, Objeto>
  const de = (esquema: string, extension: string) => esquemas[esquema]?.[extension] as Json
  const problemas = de('CodigoDeProblema', 'x-problemas') as Objeto
  if (!isDeepStrictEqual(Object.keys(problemas).sort(), [...(de('CodigoDeProblema', 'enum') as string[])].sort())) {
    throw new Error('CodigoDeProblema: enum and x-problemas differ')
  }
  const motivos = Object.entries(de('Estado', 'x-motivos') as Record<string, Objeto>)
  return [
    congelar('MAQUINA_DE_ESTADOS', de('Estado', 'x-transiciones')),
    congelar('MAQUINA_DE_UBICACION', de('EstadoDeUbicacion', 'x-transiciones')),
    congelar('MOTIVOS', de('Estado', 'x-motivos')),
    congelar('NOMBRES_DE_MOTIVOS', Object.fromEntries(motivos.map(([estado, suyos]) => [estado, Object.keys(suyos)]))),
    congelar('TIPOS_DE_EVENTO', de('TipoDeEvento', 'enum')),
    congelar('DESCRIPCIONES_DE_ESTADO', de('Estado', 'x-descripciones')),
    congelar('DESCRIPCIONES_DE_MOTIVO', de('Motivo', 'x-descripciones')),
    congelar('DESCRIPCIONES_DE_EVENTO', de('TipoDeEvento', 'x-descripciones')),
    congelar('DESCRIPCIONES_DE_SIN_FIRMA', de('MotivoSinFirma', 'x-descripciones')),
    congelar('DESCRIPCIONES_DE_FALTA', de('EvidenciaQueFalta', 'x-descripciones')),
    congelar('ALCANCES', de('Alcance', 'enum')),
    congelar('ALCANCES_DE_OPERACION', de('AlcanceDeOperacion', 'enum')),
    congelar('PROBLEMAS', problemas),
    congelar('REINTENTOS', de('EstadoDeAvisoDeWebhook', 'x-reintentos')),
  ].join('\n')
}
